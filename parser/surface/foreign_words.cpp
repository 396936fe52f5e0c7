// Words are looked up when something is wrong, so a list is enough.
#include "parser/surface/foreign_words.h"

namespace parser {

namespace {

constexpr ForeignWord beginnings[] = {
    {"True", "`True` is written `true`", "true"},
    {"False", "`False` is written `false`", "false"},
    {"return", "a block ends in its value, without `return`"},
    {"for foreach while loop until repeat",
     "there are no loops: a function calls itself, and `map` and `foldl` go through lists"},
    {"break continue", "there are no loops to leave: a function calls itself to go on"},
    {"raise throw", "a run is ended by `fail(\"why\")`"},
    {"try except catch finally", "a fault ends the run, and is not caught"},
    {"assert", "what must hold is asked by `if`, with `fail(\"why\")`, or claimed in a `test`"},
    {"var val const auto mut", "a value gets a name by `let name = value;`"},
    {"lambda fun func function", "a function that is a value is written `fn (x) = value`"},
    {"not", "`not a` is written `!a`", "!"},
    {"new", "a record is made by its name: `Point(1, 2)`"},
    {"begin do unsafe", "a block stands in braces, with nothing in front"},
    {"case", "an arm is `pattern => value`, with nothing in front"},
    {"switch", "cases are told apart by `match x { pattern => value, ... }`"},
    {"del delete free", "memory is given back by itself"},
    {"global nonlocal", "a value never changes, so no word is needed to use it"},
    {"pass", "a block ends in a value; `?` stands for one that is still to be written"},
    {"self this", "there are no methods: what a function works on is a parameter"},
    {"null nil NULL nullptr undefined",
     "there is no null: what may be missing is an `Option`, `None` or `Some(x)`", "None"},
    {"yield await async",
     "there is nothing to wait for: kernels run on all processors by themselves"},
    {"jit compile vmap pmap",
     "there is no `jit` or `vmap`: all is compiled, and `f32[.., n]` has any dimensions in front"},
};

constexpr ForeignWord types[] = {
    {"Tensor ndarray Array FloatTensor",
     "a tensor is `f32[n, 3]`: its elements, and sizes in brackets"},
    {"unit void NoneType Unit", "the type of `()` is `()`", "()"},
    {"str string String char text", "texts are no values yet; `print` and `fail` take them"},
    {"list vector Vec Sequence array", "a list is `List[A]`", "List"},
    {"tuple Tuple", "a tuple is `(A, B)`"},
    {"dict Dict Map HashMap", "values with names are the fields of a `type`"},
    {"Optional option Maybe", "what may be missing is an `Option[A]`", "Option"},
    {"Callable Function Func", "a function is of a type `fn(A) -> B`"},
    {"Any any object auto", "a type that is left out is found out"},
};

constexpr ForeignWord definitions[] = {
    {"Linear Dense",
     "a layer is a record, `nn.Linear` of `import nn`, which `nn.linear(p, x)` applies"},
    {"Conv1d Conv2d Conv3d",
     "a layer is a record, `nn.Conv` of `import nn`, which `nn.conv(p, x)` applies"},
    {"LayerNorm",
     "a layer is a record, `nn.Norm` of `import nn`, which `nn.layer_norm(p, x)` applies"},
    {"Embedding",
     "a layer is a record, `nn.Embedding` of `import nn`, which `nn.embed(p, words)` applies"},
    {"LSTM LSTMCell",
     "a layer is a record, `nn.Lstm` of `import nn`, which `nn.lstm_step(p, state, x)` applies"},
    {"Sequential Module", "a network is a record of layers, and a function of that and the input"},
    {"Adam AdamW SGD", "optimisers are functions of `import optim`: `optim.adam(p, grad, state)`"},
    {"cross_entropy CrossEntropyLoss NLLLoss",
     "a loss is a function of `import loss`: `loss.cross_entropy(scores, labels)`"},
    {"mse_loss MSELoss", "a loss is a function of `import loss`: `loss.squared(x, y)`"},
    {"l1_loss L1Loss", "a loss is a function of `import loss`: `loss.absolute(x, y)`"},
    {"binary_cross_entropy BCELoss BCEWithLogitsLoss",
     "a loss is a function of `import loss`: `loss.binary_cross_entropy(scores, labels)`"},
    {"rand randn randint normal uniform manual_seed PRNGKey",
     "random numbers are drawn from a key: `random.key(1)` of `import random` makes one"},
    {"gelu silu softplus", "`gelu`, `silu` and `softplus` are of `import math`: `math.gelu(x)`"},
    {"logsumexp", "it is `math.logsumexp` of `import math`", "math.logsumexp"},
    {"pi", "it is `math.pi` of `import math`", "math.pi"},
    {"std stddev var", "`std`, `var` and `linspace` are of `import math`: `math.std(x, axis = 0)`"},
    {"linspace roll", "`linspace` and `roll` are of `import math`: `math.linspace(0, 1, 5)`"},
    {"outer diag diagonal trace norm",
     "`norm`, `outer`, `diag` and `trace` are of `import linalg`: `linalg.norm(x)`"},
    {"inner vdot", "the inner product is `x @ y`"},
    {"isclose allclose",
     "`assert_close(x, y)` asks whether two are alike; `abs(x - y) < 1e-5` goes by element"},
    {"elu", "it is `math.elu` of `import math`", "math.elu"},
    {"median", "the median is `sort(x)[n / 2]`"},
    {"ndim rank", "how many dimensions a tensor has is part of its type, `f32[n, m]`"},
    {"unstack unbind", "the list of the rows is `list.unstack(x)`, of `import list`"},
    {"enumerate", "with numbers it is `list.enumerate(xs)`, of `import list`"},
    {"no_grad", "nothing is differentiated but what `grad` is asked for"},
    {"array tensor asarray", "a tensor is written `[1, 2, 3]`"},
    {"newaxis", "a dimension of size 1 is made by `None`: `x[None, :]`"},
    {"append", "lists are joined by `concat(xs, ys)`"},
    {"log/2", "a logarithm to another base is `log(x) / log(base)`"},
    {"reduce fold", "a list is gone through by `foldl(f, start, xs)`"},
};

constexpr ForeignWord members[] = {
    {"backward grad", "a gradient is a value: `grad(f)(x)` is that of `f` at `x`"},
    {"item numpy cpu cuda contiguous tolist", "a value is used as it is, wherever it lies", "x"},
    {"dtype", "element types are known before a program runs: `def f(x: f32[n])` says one"},
    {"device", "a value is used as it is, wherever it lies"},
    {"at", "values do not change: `scatter_elements` makes a tensor with other elements"},
    {"append", "lists are joined by `concat(xs, ys)`"},
};

template <size_t count>
const ForeignWord* find(const ForeignWord (&rows)[count], std::string_view word) {
  for (const ForeignWord& row : rows)
    if (isAmong(word, row.words))
      return &row;
  return nullptr;
}

} // namespace

bool isAmong(std::string_view word, std::string_view words) {
  for (size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    size_t end = at + word.size();
    bool isWhole = (at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ');
    if (isWhole && !word.empty())
      return true;
  }
  return false;
}

const ForeignWord* foreignWord(std::string_view word) {
  return find(beginnings, word);
}

const ForeignWord* foreignType(std::string_view word) {
  return find(types, word);
}

const ForeignWord* foreignDefinition(std::string_view word) {
  return find(definitions, word);
}

const ForeignWord* foreignMember(std::string_view word) {
  return find(members, word);
}

bool isForeignLibrary(std::string_view word) {
  return isAmong(word,
                 "torch np numpy jnp jax lax F tf tensorflow keras scipy sp math cupy cp optax "
                 "flax functional");
}

} // namespace parser
