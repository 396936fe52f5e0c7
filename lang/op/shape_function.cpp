// Forms become instructions one by one; equal forms are the same pointer and become one value.
#include "lang/op/shape_function.h"

#include "lang/op/op.h"
#include "lang/types/dim_value.h"

#include <algorithm>
#include <map>
#include <set>

namespace lang {

const Type* withDims(TypeContext& types, const Type* type,
                     const std::function<const Dim*(const Dim*)>& change) {
  if (type->isTuple()) {
    std::vector<const Type*> parts;
    for (const Type* part : type->parts)
      parts.push_back(withDims(types, part, change));
    return types.tuple(parts);
  }
  std::vector<const Dim*> dims;
  for (const Dim* dim : type->shape)
    dims.push_back(change(dim));
  return types.tensor(dims, type->dtype, type->isWide);
}

/// Asks the relation about names in a context of its own, which goes when the forms are arithmetic.
class ShapeCompiler {
public:
  std::optional<ShapeFunction> run(const OperatorRow& row, Types operands,
                                   const Attributes& attributes) {
    if (row.shapeNeeds != ShapeNeeds::Shapes)
      return std::nullopt;
    auto named = namedOperands(operands);
    if (!named)
      return std::nullopt;
    const SizeSteps steps{
        [&](Step step, const Dim* left, const Dim* right) { return nameOf(step, left, right); },
        [&](const Dim* left, const Dim* right) { needEqual(left, right); }};
    RelationResult answer = applyRelation(row, {types_, *named, attributes, {}, &steps});
    if (answer.outcome != RelationResult::Outcome::Solved || !answer.output)
      return std::nullopt;
    needOperands(answer, *named);
    for (const DimBound& bound : answer.bounds)
      needBound(bound);
    addResults(answer.output);
    return taken();
  }

  std::optional<ShapeFunction> run(Types inputs, Types results) {
    if (!namedOperands(inputs))
      return std::nullopt;
    for (const Type* result : results)
      for (const Dim* dim : result->shape)
        made_.results.push_back(valueOf(overNames(dim)));
    return taken();
  }

  // What valueOf() asks of an arithmetic.

  using Value = uint16_t;
  using Step = ShapeFunction::Step;

  const uint16_t* known(const Dim* dim) const {
    auto found = values_.find(dim);
    return found == values_.end() ? nullptr : &found->second;
  }
  void keep(const Dim* dim, uint16_t value) { values_.emplace(dim, value); }
  uint16_t open(const Dim*) {
    fits_ = false;
    return 0;
  }
  uint16_t number(int64_t value) { return emit({Step::Number, 0, 0, value}); }
  uint16_t add(uint16_t a, uint16_t b) { return emit({Step::Add, a, b}); }
  uint16_t addNumber(uint16_t a, int64_t number) { return emit({Step::AddNumber, a, 0, number}); }
  uint16_t scaled(uint16_t a, int64_t number) { return emit({Step::Scale, a, 0, number}); }
  uint16_t multiply(uint16_t a, uint16_t b) { return emit({Step::Multiply, a, b}); }
  uint16_t quotient(uint16_t a, int64_t number) { return emit({Step::FloorDivide, a, 0, number}); }

private:
  std::optional<ShapeFunction> taken() {
    return fits_ && next_ <= ShapeFunction::mostValues ? std::optional(std::move(made_))
                                                       : std::nullopt;
  }

  /// The operands with names for sizes that are no numbers; nothing where one is made of other
  /// things than tensors.
  std::optional<std::vector<const Type*>> namedOperands(Types operands) {
    std::vector<const Type*> tensors;
    for (const Type* operand : operands)
      if (!appendTensors(operand, tensors))
        return std::nullopt;
    for (const Type* tensor : tensors)
      for (const Dim* dim : tensor->shape)
        nameExtent(dim);
    made_.operandExtents = next_;
    size_t place = 0;
    std::vector<const Type*> named;
    for (const Type* operand : operands)
      named.push_back(
          withDims(types_, operand, [&](const Dim* dim) { return input(dim, uint16_t(place++)); }));
    return named;
  }

  /// A form over names of operands; `?` where it has others.
  const Dim* overNames(const Dim* dim) {
    if (auto found = names_.find(dim); found != names_.end())
      return found->second;
    return types_.substitute(dim, [&](const Dim* name) {
      auto found = names_.find(name);
      return found == names_.end() ? types_.any() : found->second;
    });
  }

  static bool isName(const Dim* dim) {
    return dim->kind == DimKind::Symbol || dim->kind == DimKind::Unknown;
  }

  /// The next extent of the operands: where a name stands alone it has its value.
  void nameExtent(const Dim* dim) {
    auto place = uint16_t(next_++);
    if (isName(dim) && !names_.contains(dim))
      names_.emplace(dim, freshName(place));
  }

  const Dim* freshName(uint16_t place) {
    const Dim* name = types_.symbol("n" + std::to_string(place));
    values_.emplace(name, place);
    return name;
  }

  /// What the relation is asked about an extent. A form stays one where all its names have values;
  /// not with a quotient, since relations take for granted what they cannot tell of such.
  const Dim* input(const Dim* dim, uint16_t place) {
    if (dim->isConstant()) {
      made_.instructions.push_back({Step::NeedsNumber, place, 0, dim->value});
      return types_.constant(dim->value);
    }
    const Dim* form = dim->isAny() ? freshName(place) : formOf(dim, place);
    addNeed(place, valueOf(form));
    return form;
  }

  const Dim* formOf(const Dim* dim, uint16_t place) {
    bool isKnown = !dim->hasQuotient;
    const Dim* form = !isKnown ? nullptr : types_.substitute(dim, [&](const Dim* name) {
      auto found = names_.find(name);
      isKnown = isKnown && found != names_.end();
      return found == names_.end() ? types_.any() : found->second;
    });
    if (isKnown && !form->isAny())
      return form;
    auto [found, isNew] = names_.try_emplace(dim);
    if (isNew)
      found->second = freshName(place);
    return found->second;
  }

  uint16_t emit(ShapeFunction::Instruction instruction) {
    made_.instructions.push_back(instruction);
    fits_ = fits_ && next_ < ShapeFunction::mostValues;
    return uint16_t(next_++);
  }

  uint16_t valueOf(const Dim* dim) { return lang::valueOf(dim, *this); }

  void needEqual(const Dim* wanted, const Dim* given) {
    if (wanted != given)
      addNeed(valueOf(wanted), valueOf(given));
  }

  /// Notes that two values are equal, once.
  void addNeed(uint16_t left, uint16_t right) {
    auto both = std::minmax(left, right);
    if (left != right && equal_.insert(both).second)
      made_.instructions.push_back({Step::NeedsEqual, both.first, both.second});
  }

  /// What a step that does not mind the order makes of two sizes; equal calls give the same name.
  const Dim* nameOf(Step step, const Dim* left, const Dim* right) {
    if (step == Step::Greater && right->isConstant() && isAtLeast(left, right->value))
      return left;
    auto [first, second] = std::minmax({valueOf(left), valueOf(right)});
    if (first == second)
      return left;
    auto [found, isNew] = computed_.try_emplace({step, first, second});
    if (isNew)
      found->second = freshName(emit({step, first, second}));
    return found->second;
  }

  /// What the relation learned of an operand, such as the shape of a weight.
  void needOperands(const RelationResult& answer, const std::vector<const Type*>& named) {
    for (const auto& [index, type] : answer.operands) {
      std::vector<const Type*> wanted, given;
      if (!appendTensors(type, wanted) || !appendTensors(named[index], given) ||
          wanted.size() != given.size()) {
        fits_ = false;
        return;
      }
      for (size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i]->dtype != given[i]->dtype ||
            wanted[i]->shape.size() != given[i]->shape.size()) {
          fits_ = false;
          return;
        }
        for (size_t j = 0; j < wanted[i]->shape.size(); ++j)
          if (!wanted[i]->shape[j]->isAny())
            needEqual(wanted[i]->shape[j], given[i]->shape[j]);
      }
    }
  }

  void needBound(const DimBound& bound) {
    uint16_t value = valueOf(bound.dim);
    if (!isAtLeast(bound.dim, bound.least))
      made_.instructions.push_back({Step::NeedsAtLeast, value, 0, bound.least});
    if (bound.divisor != 1)
      made_.instructions.push_back({Step::NeedsMultiple, value, 0, bound.divisor});
  }

  void addResults(const Type* output) {
    std::vector<const Type*> tensors;
    fits_ = appendTensors(output, tensors) && fits_;
    for (const Type* tensor : tensors)
      for (const Dim* dim : tensor->shape)
        made_.results.push_back(valueOf(dim));
  }

  TypeContext types_;
  /// The names of the operands' dimensions, and the values of forms.
  std::map<const Dim*, const Dim*> names_;
  std::map<const Dim*, uint16_t> values_;
  /// The names of what steps make of two values, and the values that are known to be equal.
  std::map<std::tuple<Step, uint16_t, uint16_t>, const Dim*> computed_;
  std::set<std::pair<uint16_t, uint16_t>> equal_;
  size_t next_ = 0;
  bool fits_ = true;
  ShapeFunction made_;
};

std::optional<ShapeFunction> shapeFunction(const OperatorRow& row, Types operands,
                                           const Attributes& attributes) {
  return ShapeCompiler().run(row, operands, attributes);
}

std::optional<ShapeFunction> shapeFunction(Types inputs, Types results) {
  return ShapeCompiler().run(inputs, results);
}

} // namespace lang
