// Random tensor functions: the loops engine against the reference, and this one on reals against
// itself, faults included.
//
// Values are whole numbers small enough that every float operation is exact, so results must be
// equal. The seed of a failing case is in its message.
#include "codegen/strips/compile/sized.h"
#include "interp/reference.h"
#include "lang/op/compute.h"
#include "lower/tensor/walk.h"
#include "tests/harness/in_place.h"
#include "tests/harness/shared_work.h"
#include "tests/unit/tensor_functions.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <unordered_set>

using namespace lang;
using runtime::DType;
using runtime::Tensor;
using runtime::Value;

namespace {

using Shape = std::vector<int64_t>;

class Generator {
public:
  explicit Generator(uint32_t seed) : random_(seed) {
    constexpr std::array dtypes{runtime::Float64, runtime::Int32, runtime::Int8, runtime::UInt8,
                                runtime::Int64};
    dtype_ = dtypes[below(dtypes.size())];
    faulty_ = chance(4);
    for (Tensor& input : inputs_)
      input = randomInput(dtype_, 5);
    inputs_[2] = randomInput(runtime::Int64, 7);
  }

  std::span<const Tensor> inputs() const { return inputs_; }

  TensorFunction make() {
    TypeContext types;
    std::vector<const Type*> operands;
    for (const Tensor& input : inputs_)
      operands.push_back(types.tensorOf(input.shape(), input.dtype()));
    Shape shape = randomShape(3000);
    Attributes attributes;
    ComputeCall call(operands, types.tensorOf(shape, dtype_), attributes);
    call_ = &call;
    tensors_ = {call.input(0), call.input(1)};
    positions_ = call.input(2);
    if (chance(2))
      addStage();
    if (chance(4) && tensors_[1].rank() > 0)
      tensors_.push_back(call.scan(tensors_[1], Combiner::Sum, 0, chance(2)));
    work_ = std::max<int64_t>(1, runtime::elementCount(shape).value());
    call.result([&](const Position& at) {
      indices_ = at;
      shared_ = {};
      return value(3);
    });
    return *call.take();
  }

private:
  uint32_t below(size_t count) { return random_() % uint32_t(count); }
  bool chance(uint32_t oneIn) { return below(oneIn) == 0; }

  Shape randomShape(int64_t most) {
    Shape shape(below(5));
    int64_t count = 1;
    for (int64_t& extent : shape) {
      constexpr std::array<int64_t, 9> extents{1, 2, 3, 4, 5, 7, 16, 33, 700};
      extent = extents[below(extents.size())];
      if (count * extent > most)
        extent = 1;
      count *= extent;
    }
    if (chance(60) && !shape.empty())
      shape[below(shape.size())] = 0;
    return shape;
  }

  Tensor randomInput(DType dtype, uint32_t limit) {
    Tensor tensor(dtype, randomShape(2000));
    for (int64_t i = 0; i < tensor.size(); ++i) {
      int64_t whole = int64_t(below(limit)) - (dtype.isSigned() || dtype.isFloat() ? limit / 2 : 0);
      double real = double(whole);
      std::memcpy(tensor.bytes() + size_t(i) * dtype.bytes(),
                  dtype.isFloat() ? static_cast<const void*>(&real) : &whole, dtype.bytes());
    }
    return tensor;
  }

  TensorHandle pick() {
    TensorHandle tensor = tensors_[below(tensors_.size())];
    return tensor.rank() == 0 && chance(2) ? tensors_[below(tensors_.size())] : tensor;
  }

  void addStage() {
    Shape shape = randomShape(600);
    work_ = 600;
    tensors_.push_back(call_->define(call_->integers(shape), [&](const Position& at) {
      indices_ = at;
      shared_ = {};
      return value(2);
    }));
    if (chance(2)) {
      int64_t count = runtime::elementCount(shape).value();
      tensors_.push_back(call_->reshape(tensors_.back(), {call_->integer(count)}));
    }
  }

  Scalar someIndex() {
    return indices_.empty() ? call_->integer(below(3)) : indices_[below(indices_.size())];
  }

  /// An int64 scalar of any kind.
  Scalar index(int depth) {
    if (depth == 0)
      return chance(4) ? call_->integer(int64_t(below(6)) - 1) : someIndex();
    switch (below(8)) {
    case 0:
      return index(depth - 1) + index(depth - 1);
    case 1:
      return index(depth - 1) - index(depth - 1);
    case 2:
      return index(depth - 1) * call_->integer(int64_t(below(4)) - 1);
    case 3:
      return floorDivide(index(depth - 1), int64_t(below(4)) + 1);
    case 4:
      return floorMod(index(depth - 1), int64_t(below(5)) + 1);
    case 5:
      return call_->integer(int64_t(below(9))) - index(depth - 1);
    case 6:
      return load(positions_, depth - 1);
    default:
      return index(0);
    }
  }

  Scalar inside(Scalar at, Scalar extent) {
    return maximum(call_->integer(0), minimum(at, extent - call_->integer(1)));
  }

  /// A load that is safe in one of several ways, or, in faulty cases, perhaps not.
  Scalar load(TensorHandle tensor, int depth) {
    Position at;
    for (size_t i = 0; i < tensor.rank(); ++i)
      at.push_back(index(chance(3) ? 1 : std::min(depth, 2)));
    if (faulty_ && chance(3))
      return tensor(at);
    bool empty = false;
    for (Scalar extent : tensor.shape())
      empty |= extent.node()->as<tensor::ScalarNumber>()->integer == 0;
    Scalar other = number(call_->number(tensor.dtype(), 0), double(below(3)));
    if (chance(3) || empty)
      return tensor.orElse(at, chance(3) && tensor.dtype() == dtype_ && depth > 0 ? value(depth - 1)
                                                                                  : other);
    if (chance(2)) {
      Scalar holds = cast(call_->integer(1), runtime::Bool);
      for (size_t i = 0; i < at.size(); ++i)
        holds = holds && at[i] >= 0.0 && at[i] < tensor.extent(i);
      return select(holds, tensor(at), other);
    }
    for (size_t i = 0; i < at.size(); ++i)
      at[i] = inside(at[i], tensor.extent(i));
    return tensor(at);
  }

  Scalar condition(int depth) {
    Scalar a = chance(2) ? index(1) : value(depth), b = number(a, double(below(5)));
    Scalar test = chance(2) ? a < b : chance(2) ? a == b : a >= b;
    return chance(4) ? !test : test;
  }

  Scalar reduction(int depth) {
    Position outer = indices_;
    bool reducing = std::exchange(reducing_, true);
    Shape extents(1 + below(2));
    int64_t outerWork = work_;
    for (int64_t& extent : extents) {
      extent = std::array<int64_t, 7>{0, 1, 2, 3, 5, 9, 530}[chance(20) ? 6 : below(6)];
      if (work_ * extent > 20000)
        extent = 1;
      work_ *= std::max<int64_t>(extent, 1);
    }
    Combiner combiner = Combiner(below(10));
    bool all = combiner == Combiner::All || combiner == Combiner::Any;
    if (combiner == Combiner::Product || (combiner >= Combiner::ArgMaximum && extents[0] == 0) ||
        all)
      combiner = Combiner::Sum;
    bool position = combiner >= Combiner::ArgMaximum;
    Scalar result = call_->reduce(
        combiner, call_->integers(extents),
        [&](const Position& k) {
          indices_.insert(indices_.end(), k.begin(), k.end());
          return chance(2) ? load(pick(), 1) * load(pick(), 1) : value(depth - 1);
        },
        position ? std::optional(runtime::Int64) : std::nullopt);
    indices_ = outer;
    reducing_ = reducing;
    work_ = outerWork;
    bool isEmpty = extents[0] == 0 || extents.back() == 0;
    if (isEmpty && (combiner == Combiner::Maximum || combiner == Combiner::Minimum))
      return call_->number(dtype_, 1);
    return cast(result, dtype_);
  }

  Scalar value(int depth) {
    if (depth == 0)
      return chance(5) ? call_->number(dtype_, double(below(4))) : load(pick(), 1);
    // Now and then the same node again, where its indices are known.
    if (shared_.node() && chance(6))
      return shared_;
    Scalar result = compound(depth);
    if (!reducing_ && chance(2))
      shared_ = result;
    return result;
  }

  Scalar compound(int depth) {
    Scalar a;
    switch (below(11)) {
    case 0:
    case 1:
      return value(depth - 1) + value(depth - 1);
    case 2:
      return value(depth - 1) - load(pick(), 1);
    case 3:
      return maximum(value(depth - 1), value(depth - 1));
    case 4:
      a = value(depth - 1);
      return a * load(pick(), 1) + minimum(a, number(a, 2));
    case 5:
      return select(condition(depth - 1), value(depth - 1), value(depth - 1));
    case 6:
      return quotient(depth);
    case 7:
      a = value(depth - 1);
      return select(condition(0), a, a + load(pick(), 1));
    case 8:
      return cast(index(2), dtype_);
    default:
      return reduction(depth);
    }
  }

  Scalar quotient(int depth) {
    Scalar a = value(depth - 1), b = load(pick(), 1);
    if (dtype_.isFloat())
      return floorMod(a, number(a, 3));
    if (faulty_ && chance(3))
      return a / b;
    return select(b == 0.0, a,
                  chance(2) ? floorDivide(a, b) : apply(ScalarFunction::TruncMod, {a, b}));
  }

  std::mt19937 random_;
  DType dtype_;
  bool faulty_ = false, reducing_ = false;
  std::array<Tensor, 3> inputs_;
  ComputeCall* call_ = nullptr;
  std::vector<TensorHandle> tensors_;
  TensorHandle positions_;
  /// How often the reference comes by, for the loops around the current place.
  int64_t work_ = 1;
  Position indices_;
  /// A node over the indices of the stage's result alone.
  Scalar shared_;
};

/// Makes a result of each stage that nothing reads: engines may leave out what is for nothing, and
/// its faults.
void addUnread(TensorFunction& function) {
  std::vector<bool> isRead(function.tensors.size());
  std::unordered_set<const tensor::ScalarNode*> seen;
  std::vector<const tensor::ScalarNode*> stack;
  for (const tensor::Stage& stage : function.stages)
    if (stage.kind == tensor::StageKind::Map)
      stack.push_back(stage.body);
    else
      isRead[stage.source] = true;
  while (!stack.empty()) {
    const tensor::ScalarNode* node = stack.back();
    stack.pop_back();
    if (!seen.insert(node).second)
      continue;
    if (const auto* load = node->as<tensor::ScalarLoad>())
      isRead[load->tensor] = true;
    tensor::forEachOperand(*node, [&](const tensor::ScalarNode* each) { stack.push_back(each); });
  }
  for (uint32_t result : function.results)
    isRead[result] = true;
  for (uint32_t tensor = uint32_t(function.inputCount); tensor < isRead.size(); ++tensor)
    if (!isRead[tensor])
      function.results.push_back(tensor);
}

/// Zeros of either sign are equal.
bool equal(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape())
    return false;
  return std::ranges::equal(tests::numbersOf(a), tests::numbersOf(b), [](auto left, auto right) {
    return left.real == right.real && left.whole == right.whole;
  });
}

/// What differs between an engine and the reference in the case of a seed; empty when all is well.
std::string runCase(uint32_t seed, const tensor::TensorEngine& engine, size_t& faults) {
  std::vector<Value> inputs, results, expected;
  Generator generator(seed);
  TensorFunction function = generator.make();
  addUnread(function);
  for (const Tensor& input : generator.inputs())
    inputs.push_back(runtime::tensorValue(input));
  std::string text = tensor::tensorFunctionText(function);
  auto fault = tests::madeBy(engine, function)(inputs, results);
  auto wanted = tests::madeBy(interp::referenceEngine(), function)(inputs, expected);
  faults += fault.has_value();
  if (fault.has_value() != wanted.has_value())
    return (fault ? "fault " + fault->problem.plain() : std::string("no fault")) + "\n" + text;
  if (fault)
    return "";
  for (size_t i = 0; i < results.size(); ++i)
    if (!equal(results[i].tensor(), expected[i].tensor()))
      return "result differs\n" + text;
  return "";
}

std::string_view bitsOf(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes()), tensor.byteSize()};
}

} // namespace

TEST_CASE("random tensor functions") {
  size_t faults = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    std::string problem = runCase(seed, strips::stripsEngine(), faults);
    if (!problem.empty())
      FAIL("seed " << seed << ": " << problem);
  }
  CHECK(faults > 30);
  CHECK(faults < 1000);
}

TEST_CASE("random tensor functions by several threads give the same bits") {
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    Generator generator(seed);
    TensorFunction function = generator.make();
    std::vector<Value> inputs, alone, shared;
    for (const Tensor& input : generator.inputs())
      inputs.push_back(runtime::tensorValue(input));
    tensor::OwnedKernel kernel(function, strips::makeKernel);
    auto wanted = kernel.run(inputs, alone);
    harness::SharedWork threads;
    auto fault = kernel.run(inputs, shared);
    INFO("seed " << seed << ": " << tensor::tensorFunctionText(function));
    REQUIRE((fault ? fault->problem.plain() : "") == (wanted ? wanted->problem.plain() : ""));
    REQUIRE(shared.size() == alone.size());
    for (size_t i = 0; i < shared.size(); ++i)
      REQUIRE(bitsOf(shared[i].tensor()) == bitsOf(alone[i].tensor()));
  }
}

TEST_CASE("random tensor functions in the memory of their operands") {
  size_t faults = 0, replaced = 0;
  for (uint32_t seed = 0; seed < 6000; ++seed) {
    std::string problem = runCase(seed, harness::inPlaceLoops(replaced), faults);
    if (!problem.empty())
      FAIL("seed " << seed << ": " << problem);
  }
  CHECK(replaced > 100);
}

TEST_CASE("random tensor functions on reals") {
  size_t faults = 0;
  for (uint32_t seed = 10000; seed < 10300; ++seed) {
    std::string problem = runCase(seed, interp::referenceEngine(30), faults);
    if (!problem.empty())
      FAIL("seed " << seed << ": " << problem);
  }
  CHECK(faults > 3);
}
