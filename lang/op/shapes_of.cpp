// Dimensions of the call become dimensions over names of a context of its own, which goes when the
// table is made. Equal dimensions are one pointer there, and one size.
#include "lang/op/shapes_of.h"

#include "lang/op/op.h"
#include "lang/types/dim_sizes.h"

#include <algorithm>
#include <map>
#include <set>

namespace lang {

using checks::Shapes;
using checks::SizeKind;

namespace {

/// The type with `change` applied to the dimensions of its tensors in order, made in `types`.
template <typename Change>
const Type* withDims(TypeContext& types, const Type* type, const Change& change) {
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

class ShapesMaker {
public:
  /// Whether what Relay lets stand for anything is one size.
  explicit ShapesMaker(bool isForeignOneSize) : isForeignOneSize_(isForeignOneSize) {}

  std::optional<Shapes> ofCall(const OperatorRow& row, Types operands, const Attributes& attributes,
                               Types results) {
    auto named = namedOperands(operands);
    if (!named)
      return std::nullopt;
    const SizeSteps steps{
        [&](SizeKind kind, const Dim* left, const Dim* right) { return nameOf(kind, left, right); },
        [&](const Dim* left, const Dim* right) { needEqual(left, right); }};
    RelationResult answer = applyRelation(row, {types_, *named, attributes, {}, &steps});
    if (answer.outcome != RelationResult::Outcome::Solved || !answer.output)
      return std::nullopt;
    needOperands(answer, *named);
    for (const DimBound& bound : answer.bounds)
      needBound(bound);
    addResults(answer.output, results);
    bool isGood = fits_ && areResultsGiven(made_) &&
                  !problemOf(made_, made_.operands.size(), made_.results.size());
    return isGood ? std::optional(std::move(made_)) : std::nullopt;
  }

  Shapes ofTypes(Types operands, Types results) {
    namedOperands(operands);
    for (const Type* result : results)
      for (const Dim* dim : result->shape)
        made_.results.push_back(sizes_.of(input(dim)));
    return std::move(made_);
  }

private:
  bool isOneSize(const Dim* dim) const {
    return isForeignOneSize_ ? !dim->isAny() : dim->isOneSize();
  }

  /// The operands with names for sizes that are no numbers; nothing where one is made of other
  /// things than tensors.
  std::optional<std::vector<const Type*>> namedOperands(Types operands) {
    std::vector<const Type*> tensors;
    for (const Type* operand : operands)
      if (!appendTensors(operand, tensors))
        return std::nullopt;
    // A name that stands alone anywhere has its value from there.
    for (const Type* tensor : tensors)
      for (const Dim* dim : tensor->shape)
        if ((dim->kind == DimKind::Symbol || dim->kind == DimKind::Unknown) && isOneSize(dim))
          if (auto [found, isNew] = names_.try_emplace(dim); isNew)
            found->second = freshName({SizeKind::Name});
    std::vector<const Type*> made;
    for (const Type* operand : operands)
      made.push_back(withDims(types_, operand, [&](const Dim* dim) {
        const Dim* form = input(dim);
        made_.operands.push_back(sizes_.of(form));
        return form;
      }));
    return made;
  }

  const Dim* freshName(checks::Size size) {
    const Dim* name = types_.symbol("n" + std::to_string(made_.sizes.size()));
    sizes_.put(name, std::move(size));
    return name;
  }

  /// What stands for an extent. A form stays one where all its names have values; not with a
  /// quotient, since relations take for granted what they cannot tell of such.
  const Dim* input(const Dim* dim) {
    if (dim->isConstant())
      return types_.constant(dim->value);
    if (!isOneSize(dim))
      return freshName({SizeKind::Name});
    if (const Dim* form = dim->hasQuotient ? standIn(dim) : overNames(dim))
      return form;
    return names_.emplace(dim, freshName({SizeKind::Name})).first->second;
  }

  const Dim* standIn(const Dim* dim) const {
    auto found = names_.find(dim);
    return found == names_.end() ? nullptr : found->second;
  }

  /// A form over names that have values; null where it has others.
  const Dim* overNames(const Dim* dim) {
    if (const Dim* name = standIn(dim))
      return name;
    bool isKnown = true;
    const Dim* form = types_.substitute(dim, [&](const Dim* name) {
      const Dim* by = standIn(name);
      isKnown = isKnown && by;
      return by ? by : types_.any();
    });
    return isKnown && !form->isAny() ? form : nullptr;
  }

  /// The place of a dimension of an answer, which must be of the sizes that there are.
  uint32_t place(const Dim* dim) {
    fits_ = fits_ && !dim->isAny() && !dim->hasUnknown;
    return sizes_.of(dim);
  }

  void needEqual(const Dim* left, const Dim* right) {
    auto [first, second] = std::minmax({place(left), place(right)});
    if (first != second && equal_.insert({first, second}).second)
      made_.equal.push_back({first, second});
  }

  /// What is made of two sizes; equal calls give the same name. Only Scaled minds their order.
  const Dim* nameOf(SizeKind kind, const Dim* left, const Dim* right) {
    if (kind == SizeKind::Greatest && right->isConstant() && isAtLeast(left, right->value))
      return left;
    uint32_t first = place(left), second = place(right);
    if (first == second)
      return left;
    if (kind != SizeKind::Scaled && second < first)
      std::swap(first, second);
    auto [found, isNew] = computed_.try_emplace({kind, first, second});
    if (isNew)
      found->second = freshName({.kind = kind, .terms = {{first}, {second}}});
    return found->second;
  }

  /// What the relation learned of an operand, such as the shape of a weight.
  void needOperands(const RelationResult& answer, const std::vector<const Type*>& operands) {
    for (const auto& [index, type] : answer.operands) {
      std::vector<const Type*> wanted, given;
      if (!appendTensors(type, wanted) || !appendTensors(operands[index], given) ||
          wanted.size() != given.size()) {
        fits_ = false;
        return;
      }
      for (size_t i = 0; i < wanted.size(); ++i)
        needTensor(*wanted[i], *given[i]);
    }
  }

  void needTensor(const Type& wanted, const Type& given) {
    fits_ = fits_ && wanted.dtype == given.dtype && wanted.shape.size() == given.shape.size();
    for (size_t i = 0; fits_ && i < wanted.shape.size(); ++i)
      if (!wanted.shape[i]->isAny())
        needEqual(wanted.shape[i], given.shape[i]);
  }

  void needBound(const DimBound& bound) {
    int64_t least = isAtLeast(bound.dim, bound.least) ? INT64_MIN : bound.least;
    if (least != INT64_MIN || bound.divisor != 1)
      made_.bounds.push_back({place(bound.dim), least, bound.divisor});
  }

  void addResults(const Type* output, Types declared) {
    std::vector<const Type*> tensors;
    fits_ = appendTensors(output, tensors) && fits_ &&
            (declared.empty() || declared.size() == tensors.size());
    for (size_t i = 0; fits_ && i < tensors.size(); ++i) {
      fits_ = declared.empty() || declared[i]->shape.size() == tensors[i]->shape.size();
      for (size_t j = 0; fits_ && j < tensors[i]->shape.size(); ++j) {
        const Dim* extent = tensors[i]->shape[j];
        made_.results.push_back(
            place(declared.empty() ? extent : agreed(extent, declared[i]->shape[j])));
      }
    }
  }

  /// An extent of a result as its type declares it, which says what it is equal to, where that is
  /// known; else as it was found.
  const Dim* agreed(const Dim* found, const Dim* declared) {
    if (!isOneSize(declared))
      return found;
    const Dim* form =
        declared->isConstant() ? types_.constant(declared->value) : overNames(declared);
    if (!form) {
      names_.emplace(declared, found);
      return found;
    }
    needEqual(form, found);
    return form;
  }

  TypeContext types_;
  Shapes made_;
  DimSizes sizes_{made_.sizes, DimSizes::Texts::LeftOut};
  bool isForeignOneSize_;
  /// What stands for dimensions of the types.
  std::map<const Dim*, const Dim*> names_;
  /// The names of what was made of two sizes, and the sizes that are known to be equal.
  std::map<std::tuple<SizeKind, uint32_t, uint32_t>, const Dim*> computed_;
  std::set<std::pair<uint32_t, uint32_t>> equal_;
  bool fits_ = true;
};

} // namespace

std::optional<Shapes> shapesOf(const OperatorRow& row, Types operands, const Attributes& attributes,
                               Types results) {
  if (row.shapeNeeds != ShapeNeeds::Shapes)
    return std::nullopt;
  return ShapesMaker(false).ofCall(row, operands, attributes, results);
}

Shapes shapesOf(Types operands, Types results) {
  return ShapesMaker(false).ofTypes(operands, results);
}

Shapes shapesOfFunction(Types operands, Types results) {
  return ShapesMaker(true).ofTypes(operands, results);
}

std::vector<const Type*> withOwnNames(TypeContext& types, Types operands) {
  std::vector<const Type*> made(operands.begin(), operands.end());
  if (std::ranges::none_of(operands, &Type::hasSymbol))
    return made;
  std::map<const Dim*, const Dim*> names;
  auto nameFor = [&](const Dim* size) {
    auto [found, isNew] = names.try_emplace(size);
    if (isNew)
      found->second = types.symbol("n" + std::to_string(names.size()));
    return found->second;
  };
  auto own = [&](const Dim* dim) {
    if (dim->isConstant())
      return types.constant(dim->value);
    return dim->isOneSize() ? types.substitute(dim, nameFor) : types.any();
  };
  for (size_t i = 0; i < made.size(); ++i)
    made[i] =
        i > 0 && operands[i] == operands[i - 1] ? made[i - 1] : withDims(types, operands[i], own);
  return made;
}

} // namespace lang
