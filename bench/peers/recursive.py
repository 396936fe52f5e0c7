"""Workloads that are more than a list of operations: recursion over data, and gradients.

Each has what `net.Net` has for whoever compares: a Relay program, what it is called with, and peers as functions of
nothing, whose results stand in the order of ours.
"""
import numpy as np

from net import session_of


class Program:
    """`values` go into an archive, of which inputs that `fixed` matches are constants for everybody."""

    def __init__(self, text, values, fixed, peers, files=()):
        self.text, self.values, self.fixed, self.calls, self.files = text, values, fixed, peers, dict(files)

    def relay(self):
        return self.text


def uniform(random, *shape, scale):
    return random.uniform(-scale, scale, shape).astype(np.float32)


def weights_of_lstm(random, inputs, cells):
    scale = cells**-0.5
    return {
        "wi": uniform(random, 4 * cells, inputs, scale=scale),
        "wh": uniform(random, 4 * cells, cells, scale=scale),
        "b": uniform(random, 4 * cells, scale=scale),
    }


def typed(names, inputs, cells):
    types = {
        "x": f"(1, {inputs})",
        **{name: f"(1, {cells})" for name in "hc"},
        "wi": f"({4 * cells}, {inputs})",
        "wh": f"({4 * cells}, {cells})",
        "b": f"({4 * cells})",
    }
    return ", ".join(f"%{name}: Tensor[{types[name]}, float32]" for name in names)


def lstm_text(inputs, cells, main):
    weights = typed(["wi", "wh", "b"], inputs, cells)
    return f"""#[version = "0.0.5"]
def @step({typed(["x", "h", "c"], inputs, cells)}, {weights}) {{
  let %g = nn.dense(%x, %wi, units=None) + nn.dense(%h, %wh, units=None) + %b;
  let %s = split(%g, indices_or_sections=4, axis=1);
  let %next = sigmoid(%s.1) * %c + sigmoid(%s.0) * tanh(%s.2);
  (sigmoid(%s.3) * tanh(%next), %next)
}}

def @run(%xs: List[Tensor[(1, {inputs}), float32]], {typed(["h", "c"], inputs, cells)}, {weights})
    -> Tensor[(1, {cells}), float32] {{
  match (%xs) {{
    Nil => %h,
    Cons(%x, %rest) => {{
      let %s = @step(%x, %h, %c, %wi, %wh, %b);
      @run(%rest, %s.0, %s.1, %wi, %wh, %b)
    }}
  }}
}}

def @last(%xs: List[Tensor[(1, {inputs}), float32]], {weights}) {{
  @run(%xs, zeros(shape=[1, {cells}], dtype="float32"), zeros(shape=[1, {cells}], dtype="float32"), %wi, %wh, %b)
}}
{main.format(list=f"%xs: List[Tensor[(1, {inputs}), float32]], {weights}")}"""


def torch_lstm(torch, weights):
    cells, inputs = weights["wh"].shape[1], weights["wi"].shape[1]
    net = torch.nn.LSTM(inputs, cells)
    with torch.no_grad():
        net.weight_ih_l0.copy_(torch.from_numpy(weights["wi"]))
        net.weight_hh_l0.copy_(torch.from_numpy(weights["wh"]))
        net.bias_ih_l0.copy_(torch.from_numpy(weights["b"]))
        net.bias_hh_l0.zero_()
    return net


def onnx_lstm(weights, options):
    from onnx import helper, numpy_helper

    def reordered(array):
        first, forget, cell, out = np.split(array, 4)
        return np.concatenate([first, out, forget, cell])[None]

    cells, inputs = weights["wh"].shape[1], weights["wi"].shape[1]
    bias = np.concatenate([reordered(weights["b"])[0], np.zeros(4 * cells, np.float32)])[None]
    constants = {"w": reordered(weights["wi"]), "r": reordered(weights["wh"]), "b": bias}
    node = helper.make_node("LSTM", ["x", *constants], ["", "h"], hidden_size=cells)
    graph = helper.make_graph(
        [node],
        "net",
        [helper.make_tensor_value_info("x", 1, ["steps", 1, inputs])],
        [helper.make_tensor_value_info("h", 1, [1, 1, cells])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return session_of(model.SerializeToString(), options.threads)


def lstm(inputs, cells, steps=40):
    """The last state, over a list of rows whose length nobody knows beforehand."""
    random = np.random.default_rng(1)
    weights, xs = weights_of_lstm(random, inputs, cells), uniform(random, steps, 1, inputs, scale=1)

    def peers(options):
        import torch

        torch.set_num_threads(options.threads)
        net, x, session = torch_lstm(torch, weights), torch.from_numpy(xs), onnx_lstm(weights, options)
        return {
            "ONNX Runtime": lambda: [session.run(None, {"x": xs})[0][0]],
            "PyTorch": lambda: [net(x)[1][0][0].numpy()],
        }

    text = lstm_text(inputs, cells, "\ndef @main({list}) {{ @last(%xs, %wi, %wh, %b) }}\n")
    return Program(text, {"xs": xs, **weights}, "w*,b", peers)


def lstm_gradients(inputs=256, cells=256, steps=40):
    """Gradients of the sum of squares of the last state by all weights."""
    random = np.random.default_rng(1)
    weights, xs = weights_of_lstm(random, inputs, cells), uniform(random, steps, 1, inputs, scale=1)

    def peers(options):
        import torch

        torch.set_num_threads(options.threads)
        with torch.inference_mode(False):
            net, x = torch_lstm(torch, weights), torch.from_numpy(xs)
            leaves = [net.weight_ih_l0, net.weight_hh_l0, net.bias_ih_l0]

        def call():
            with torch.inference_mode(False), torch.enable_grad():
                loss = (net(x)[1][0] ** 2).sum()
                return [loss.detach().numpy(), *(each.numpy() for each in torch.autograd.grad(loss, leaves))]

        return {"PyTorch": call}

    main = """
def @loss({list}) {{
  let %h = @last(%xs, %wi, %wh, %b);
  sum(%h * %h)
}}

def @main({list}) {{ value_and_grad(@loss, wrt=[1, 2, 3])(%xs, %wi, %wh, %b) }}
"""
    return Program(lstm_text(inputs, cells, main), {"xs": xs, **weights}, None, peers)


def perceptron_gradients(rows=64, sizes=(784, 512, 512, 10)):
    """The loss of a perceptron on a batch, and its gradients by all weights."""
    random = np.random.default_rng(1)
    values = {"x": uniform(random, rows, sizes[0], scale=1), "wanted": uniform(random, rows, sizes[-1], scale=1)}
    layers = list(zip(sizes, sizes[1:]))
    for i, (before, after) in enumerate(layers):
        values[f"w{i}"], values[f"b{i}"] = uniform(random, after, before, scale=before**-0.5), uniform(random, after, scale=0.1)
    types = ", ".join(f"%{name}: Tensor[({', '.join(map(str, value.shape))}), float32]" for name, value in values.items())
    lines, x = [], "%x"
    for i in range(len(layers)):
        y = f"nn.bias_add(nn.dense({x}, %w{i}, units=None), %b{i})"
        x = f"%y{i}"
        lines.append(f"  let {x} = {y if i + 1 == len(layers) else f'nn.relu({y})'};")
    names, wrt = ", ".join("%" + name for name in values), list(range(2, len(values)))
    text = "\n".join(
        [
            '#[version = "0.0.5"]',
            f"def @loss({types}) {{",
            *lines,
            f"  let %far = {x} - %wanted;\n  mean(%far * %far)\n}}\n",
            f"def @main({types}) {{ value_and_grad(@loss, wrt={wrt})({names}) }}\n",
        ]
    )

    def peers(options):
        import torch

        torch.set_num_threads(options.threads)
        with torch.inference_mode(False):
            at = {name: torch.from_numpy(value.copy()) for name, value in values.items()}
            leaves = [each.requires_grad_() for each in list(at.values())[2:]]

        def call():
            with torch.inference_mode(False), torch.enable_grad():
                y = at["x"]
                for i in range(len(layers)):
                    y = torch.nn.functional.linear(y, at[f"w{i}"], at[f"b{i}"])
                    y = y if i + 1 == len(layers) else torch.relu(y)
                loss = ((y - at["wanted"]) ** 2).mean()
                return [loss.detach().numpy(), *(each.numpy() for each in torch.autograd.grad(loss, leaves))]

        return {"PyTorch": call}

    return Program(text, values, None, peers)


def tree_lstm(inputs=300, cells=150, leaves=32):
    """The state at the root of a binary tree of random form: leaves have inputs, nodes two states below."""
    random = np.random.default_rng(1)
    scale = cells**-0.5
    weights = {
        "wx": uniform(random, 3 * cells, inputs, scale=scale),
        "wl": uniform(random, 5 * cells, cells, scale=scale),
        "wr": uniform(random, 5 * cells, cells, scale=scale),
        "b": uniform(random, 5 * cells, scale=scale),
    }

    def grown(count):
        if count == 1:
            return uniform(random, 1, inputs, scale=1)
        left = int(random.integers(1, count))
        return grown(left), grown(count - left)

    def written(tree):
        if isinstance(tree, tuple):
            return f"Join({written(tree[0])}, {written(tree[1])})"
        return "Word([[" + ", ".join(f"{x!r}f" for x in map(float, tree[0])) + "]])"

    tree, state = grown(leaves), f"Tensor[(1, {cells}), float32]"
    types = ", ".join(f"%{name}: Tensor[({', '.join(map(str, value.shape))}), float32]" for name, value in weights.items())
    text = f"""#[version = "0.0.5"]
type Words {{
  Word(Tensor[(1, {inputs}), float32]),
  Join(Words, Words),
}}

def @state(%tree: Words, {types}) -> ({state}, {state}) {{
  match (%tree) {{
    Word(%x) => {{
      let %s = split(nn.dense(%x, %wx, units=None), indices_or_sections=3, axis=1);
      let %c = sigmoid(%s.0) * tanh(%s.1);
      (sigmoid(%s.2) * tanh(%c), %c)
    }},
    Join(%left, %right) => {{
      let %l = @state(%left, %wx, %wl, %wr, %b);
      let %r = @state(%right, %wx, %wl, %wr, %b);
      let %g = nn.dense(%l.0, %wl, units=None) + nn.dense(%r.0, %wr, units=None) + %b;
      let %s = split(%g, indices_or_sections=5, axis=1);
      let %c = sigmoid(%s.0) * tanh(%s.1) + sigmoid(%s.3) * %l.1 + sigmoid(%s.4) * %r.1;
      (sigmoid(%s.2) * tanh(%c), %c)
    }}
  }}
}}

def @main(%tree: Words, {types}) {{ @state(%tree, %wx, %wl, %wr, %b).0 }}
"""

    def peers(options):
        import torch

        torch.set_num_threads(options.threads)
        at = {name: torch.from_numpy(value) for name, value in weights.items()}

        def grown_torch(tree):
            return tuple(map(grown_torch, tree)) if isinstance(tree, tuple) else torch.from_numpy(tree)

        def state(tree):
            linear = torch.nn.functional.linear
            if not isinstance(tree, tuple):
                first, cell, out = linear(tree, at["wx"]).chunk(3, 1)
                c = torch.sigmoid(first) * torch.tanh(cell)
                return torch.sigmoid(out) * torch.tanh(c), c
            (lh, lc), (rh, rc) = state(tree[0]), state(tree[1])
            first, cell, out, lf, rf = (linear(lh, at["wl"], at["b"]) + linear(rh, at["wr"])).chunk(5, 1)
            c = torch.sigmoid(first) * torch.tanh(cell) + torch.sigmoid(lf) * lc + torch.sigmoid(rf) * rc
            return torch.sigmoid(out) * torch.tanh(c), c

        words = grown_torch(tree)
        return {"PyTorch": lambda: [state(words)[0].numpy()]}

    return Program(text, weights, "w*,b", peers, {"tree": ("tree.txt", written(tree))})
