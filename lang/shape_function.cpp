// Forms become instructions one by one; equal forms are the same pointer and become one value.
#include "lang/shape_function.h"

#include <map>

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
                                   const Attributes& attributes, std::span<const int64_t> example) {
    if (row.shapeNeeds != ShapeNeeds::Shapes)
      return std::nullopt;
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
    const std::function<int64_t(const Dim*)> number = [&](const Dim* form) {
      return types_
          .substitute(form,
                      [&](const Dim* name) { return types_.constant(example[values_.at(name)]); })
          ->value;
    };
    RelationResult answer =
        applyRelation(row, {types_, named, attributes, {}, example.empty() ? nullptr : &number});
    if (answer.outcome != RelationResult::Outcome::Solved || !answer.output)
      return std::nullopt;
    needOperands(answer, named);
    for (const DimBound& bound : answer.bounds)
      needBound(bound);
    addResults(answer.output);
    return fits_ && next_ <= ShapeFunction::mostValues ? std::optional(std::move(made_))
                                                       : std::nullopt;
  }

private:
  using Step = ShapeFunction::Step;

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
    if (uint16_t value = valueOf(form); value != place)
      made_.instructions.push_back({Step::NeedsEqual, place, value});
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

  /// The value of a form; recursion follows the form, whose depth TypeContext bounds.
  uint16_t valueOf(const Dim* dim) {
    if (auto known = values_.find(dim); known != values_.end())
      return known->second;
    uint16_t value = 0;
    switch (dim->kind) {
    case DimKind::Constant:
      value = emit({Step::Number, 0, 0, dim->value});
      break;
    case DimKind::Product:
      value = productOf(dim);
      break;
    case DimKind::Quotient:
      value =
          emit({Step::FloorDivide, valueOf(dim->terms[0].variable), 0, dim->terms[0].coefficient});
      break;
    case DimKind::Linear:
      value = sumOf(dim);
      break;
    default:
      fits_ = false;
      break;
    }
    values_.emplace(dim, value);
    return value;
  }

  uint16_t productOf(const Dim* dim) {
    std::optional<uint16_t> product;
    for (const DimTerm& factor : dim->terms)
      for (int64_t i = 0; i < factor.coefficient; ++i) {
        uint16_t value = valueOf(factor.variable);
        product = product ? emit({Step::Multiply, *product, value}) : value;
      }
    return *product;
  }

  uint16_t sumOf(const Dim* dim) {
    std::optional<uint16_t> sum;
    for (const DimTerm& term : dim->terms) {
      uint16_t value = valueOf(term.variable);
      if (term.coefficient != 1)
        value = emit({Step::Scale, value, 0, term.coefficient});
      sum = sum ? emit({Step::Add, *sum, value}) : value;
    }
    return dim->value == 0 ? *sum : emit({Step::AddNumber, *sum, 0, dim->value});
  }

  void needEqual(const Dim* wanted, const Dim* given) {
    if (wanted == given || wanted->isAny())
      return;
    made_.instructions.push_back({Step::NeedsEqual, valueOf(wanted), valueOf(given)});
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
  size_t next_ = 0;
  bool fits_ = true;
  ShapeFunction made_;
};

std::optional<ShapeFunction> shapeFunction(const OperatorRow& row, Types operands,
                                           const Attributes& attributes,
                                           std::span<const int64_t> example) {
  return ShapeCompiler().run(row, operands, attributes, example);
}

} // namespace lang
