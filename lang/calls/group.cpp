// The functions of the operators' rows are put together one after the other. A size of theirs is
// the extent of a dimension, and equal dimensions are equal extents; so each is found by its
// dimension, as arithmetic on the sizes of the whole, which the parameters have.
#include "lang/calls/group.h"

#include "lang/calls/call_function.h"
#include "lang/ir/walk.h"
#include "lang/op/leaves.h"
#include "lang/op/op.h"
#include "lang/types/dim_value.h"
#include "lower/tensor/access.h"
#include "lower/tensor/compose.h"
#include "lower/tensor/fold.h"
#include "runtime/element.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace lang {

using tensor::Composed;
using tensor::ScalarFunction;
using tensor::ScalarNode;
using tensor::ScalarNodes;

namespace {

/// Dimensions as expressions over the sizes of the whole.
class Extents {
public:
  explicit Extents(tensor::Composition& whole) : whole_(whole), arena_(whole.arena()) {}

  /// The shape of the next input, whose names it gives values.
  ScalarNodes ofInput(const Type& tensor) {
    ScalarNodes shape;
    for (uint32_t i = 0; i < tensor.shape.size(); ++i) {
      const Dim* dim = tensor.shape[i];
      const ScalarNode*& known = nodes_[dim];
      if (!known)
        known = dim->isConstant() ? tensor::makeInteger(arena_, dim->value)
                                  : whole_.addSize({.tensor = inputs_, .dim = i});
      shape.push_back(known);
    }
    ++inputs_;
    return shape;
  }

  std::optional<ScalarNodes> shapeOf(const Type& tensor) {
    ScalarNodes shape;
    for (const Dim* dim : tensor.shape)
      if (const ScalarNode* extent = valueOf(dim, *this))
        shape.push_back(extent);
      else
        return std::nullopt;
    return shape;
  }

  // What valueOf() asks of an arithmetic. Null where a name has no value.

  using Value = const ScalarNode*;

  const Value* known(const Dim* dim) const {
    auto found = nodes_.find(dim);
    return found == nodes_.end() ? nullptr : &found->second;
  }
  void keep(const Dim* dim, Value node) { nodes_.emplace(dim, node); }
  static Value open(const Dim*) { return nullptr; }
  Value number(int64_t value) { return tensor::makeInteger(arena_, value); }
  Value add(Value a, Value b) { return apply(ScalarFunction::Add, a, b); }
  Value addNumber(Value a, int64_t value) { return add(a, number(value)); }
  Value multiply(Value a, Value b) { return apply(ScalarFunction::Multiply, a, b); }
  Value scaled(Value a, int64_t value) { return multiply(a, number(value)); }
  Value quotient(Value a, int64_t value) {
    return apply(ScalarFunction::FloorDivide, a, number(value));
  }

private:
  Value apply(ScalarFunction function, Value a, Value b) {
    return a && b ? tensor::makeApply(arena_, function, runtime::Int64, std::array{a, b}) : nullptr;
  }

  tensor::Composition& whole_;
  runtime::Arena& arena_;
  std::unordered_map<const Dim*, Value> nodes_;
  uint32_t inputs_ = 0;
};

class GroupMaker {
public:
  explicit GroupMaker(const Typing& typing) : typing_(typing) {}

  std::optional<tensor::TensorFunction> run(std::span<const Expr* const> inputs,
                                            std::span<const Binding> bindings, const Expr& result) {
    for (const Expr* input : inputs)
      if (!addInput(*input))
        return std::nullopt;
    for (const Binding& binding : bindings)
      if (const auto* call = binding.value->as<Call>(); call && !readFunction(binding, *call))
        return std::nullopt;
    const std::set<const Expr*> made = madeIn(bindings, result);
    for (const Binding& binding : bindings) {
      if (!add(binding))
        return std::nullopt;
      if (made.contains(binding.var))
        for (const Composed& leaf : leaves_.at(binding.var))
          if (!leaf.everywhere)
            whole_.keep(leaf);
    }
    auto results = leavesOf(result);
    auto isConstant = [](const Composed& each) { return each.everywhere != nullptr; };
    if (!results || results->empty() || std::ranges::any_of(*results, isConstant))
      return std::nullopt;
    return whole_.take(*results);
  }

private:
  using Leaves = std::vector<Composed>;

  /// What a call computes, and what that takes.
  struct Computation {
    tensor::TensorFunction function;
    /// Whether its operands are not written into who reads its result.
    bool isStage = false;
    /// Whether it may be computed again where that saves a tensor.
    bool isCheap = true;
  };

  bool readFunction(const Binding& binding, const Call& call) {
    auto function = functionOfCall(call, typing_.of(*binding.var), typing_);
    if (!function || !tensorFunctionRow(call))
      return false;
    Computation made{std::move(*function)};
    size_t loads = 0;
    for (const tensor::Stage& stage : made.function.stages) {
      bool isMap = stage.kind == tensor::StageKind::Map;
      const tensor::Work work = isMap ? tensor::workOf(stage.body) : tensor::Work();
      made.isStage |= !isMap || work.reduces;
      made.isCheap &= isMap && work.isCheap();
      loads += work.loads;
    }
    made.isCheap &= loads <= 1;
    computations_.emplace(binding.var, std::move(made));
    return true;
  }

  /// The values that are made in any case: the fields of a result that is a tuple made here, and
  /// what several stages would have to compute, each for itself.
  std::set<const Expr*> madeIn(std::span<const Binding> bindings, const Expr& result) const {
    std::set<const Expr*> made;
    // The stages that a value is a part of when it is written into its readers. Two tell as much as
    // more.
    std::unordered_map<const Expr*, std::set<const Expr*>> stagesOf;
    constexpr size_t several = 2;
    for (size_t i = bindings.size(); i-- > 0;) {
      const Binding& binding = bindings[i];
      std::set<const Expr*> stages = std::move(stagesOf[binding.var]);
      auto computation = computations_.find(binding.var);
      bool isComputed = computation != computations_.end();
      if (isComputed && !computation->second.isCheap && stages.size() == several)
        made.insert(binding.var);
      if (binding.var == &result && binding.value->kind == ExprKind::Tuple)
        for (const Operand& field : binding.value->as<TupleExpr>()->fields)
          made.insert(field.value);
      if (binding.var == &result || made.contains(binding.var) ||
          (isComputed && computation->second.isStage))
        stages = {binding.var};
      forEachOperand(*binding.value, [&](const Operand& operand) {
        std::set<const Expr*>& all = stagesOf[operand.value];
        for (const Expr* stage : stages)
          if (all.size() < several)
            all.insert(stage);
      });
    }
    return made;
  }

  bool addInput(const Expr& input) {
    std::vector<const Type*> tensors;
    const Type* type = typing_.of(input);
    if (!type || !appendTensors(type, tensors))
      return false;
    Leaves leaves;
    for (const Type* tensor : tensors) {
      if (!std::ranges::all_of(tensor->shape, &Dim::isOneSize))
        return false;
      leaves.push_back(whole_.addInput(tensor->dtype, extents_.ofInput(*tensor)));
    }
    leaves_.emplace(&input, std::move(leaves));
    return true;
  }

  /// The tensors of an atom.
  std::optional<Leaves> leavesOf(const Expr& atom) {
    if (auto found = leaves_.find(&atom); found != leaves_.end())
      return found->second;
    const auto* constant = atom.as<Constant>();
    if (!constant)
      return std::nullopt;
    runtime::Tensor tensor = constantTensor(*constant);
    if (tensor.rank() > 0 || !tensor.dtype().isComputable())
      return std::nullopt;
    return Leaves{{.everywhere = numberOf(tensor)}};
  }

  const ScalarNode* numberOf(const runtime::Tensor& scalar) {
    runtime::DType dtype = scalar.dtype();
    tensor::ScalarNumber number{{tensor::ScalarKind::Number, dtype}, 0, 0};
    if (dtype.isFloat())
      number.real = runtime::readFloat(dtype, scalar.bytes());
    else
      number.integer = runtime::readWhole(dtype, scalar.bytes());
    return whole_.arena().make<tensor::ScalarNumber>(number);
  }

  bool add(const Binding& binding) {
    std::optional<Leaves> made;
    if (const auto* call = binding.value->as<Call>())
      made = called(binding, *call);
    else if (const auto* tuple = binding.value->as<TupleExpr>())
      made = together(tuple->fields);
    else if (const auto* part = binding.value->as<Project>())
      made = field(*part);
    if (!made)
      return false;
    leaves_.emplace(binding.var, *std::move(made));
    return true;
  }

  std::optional<Leaves> together(std::span<const Operand> parts) {
    Leaves all;
    for (const Operand& part : parts) {
      auto leaves = leavesOf(*part.value);
      if (!leaves)
        return std::nullopt;
      all.insert(all.end(), leaves->begin(), leaves->end());
    }
    return all;
  }

  std::optional<Leaves> field(const Project& part) {
    const Type* type = typing_.of(*part.tuple.value);
    auto leaves = leavesOf(*part.tuple.value);
    if (!type || !type->isTuple() || !leaves)
      return std::nullopt;
    size_t first = 0;
    for (uint32_t i = 0; i < part.index; ++i)
      first += tensorCount(type->parts[i]);
    auto begin = leaves->begin() + ptrdiff_t(first);
    return Leaves(begin, begin + ptrdiff_t(tensorCount(type->parts[part.index])));
  }

  std::optional<Leaves> called(const Binding& binding, const Call& call) {
    std::vector<const Type*> results;
    if (!appendTensors(typing_.of(*binding.var), results))
      return std::nullopt;
    std::vector<ScalarNodes> shapes;
    for (const Type* tensor : results) {
      auto shape = extents_.shapeOf(*tensor);
      if (!shape)
        return std::nullopt;
      shapes.push_back(*std::move(shape));
    }
    auto operands = together(call.arguments);
    const tensor::TensorFunction& function = computations_.at(binding.var).function;
    if (!operands || function.inputCount != operands->size())
      return std::nullopt;
    return whole_.add(function, *operands, shapes);
  }

  const Typing& typing_;
  tensor::Composition whole_;
  Extents extents_{whole_};
  std::unordered_map<const Expr*, Leaves> leaves_;
  /// By variable.
  std::unordered_map<const Expr*, Computation> computations_;
};

} // namespace

bool isGroup(const Function& function) {
  return std::ranges::any_of(function.attributes, [](const NamedAttribute& attribute) {
    return attribute.name == "Primitive";
  });
}

std::optional<tensor::TensorFunction> groupFunction(const Function& function,
                                                    const Typing& typing) {
  std::vector<const Expr*> inputs(function.parameters.begin(), function.parameters.end());
  return groupFunction(inputs, function.body->bindings, *function.body->result.value, typing);
}

std::optional<tensor::TensorFunction> groupFunction(std::span<const Expr* const> inputs,
                                                    std::span<const Binding> bindings,
                                                    const Expr& result, const Typing& typing) {
  return GroupMaker(typing).run(inputs, bindings, result);
}

} // namespace lang
