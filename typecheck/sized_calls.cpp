// What is not known yet is asked for again, as nobody tells when sizes are solved.
#include "typecheck/sized_calls.h"

#include "lang/ir/open_marks.h"

namespace typecheck {

std::vector<std::optional<lang::Dims>>
SizedCalls::sizesOf(const PendingRelation& relation, std::vector<std::vector<const Dim*>>& lists) {
  std::vector<std::optional<lang::Dims>> sizes(relation.isComputed ? relation.places.size() : 0);
  lists.reserve(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i)
    if (auto known = sizes_->sizesOf(*relation.places[i].value)) {
      lists.push_back(std::move(*known));
      sizes[i] = lang::Dims(lists.back());
    }
  return sizes;
}

std::vector<const Type*> SizedCalls::withoutSizes(const PendingRelation& relation,
                                                  lang::Types operands) {
  std::vector<const Type*> shown(operands.begin(), operands.end());
  std::vector<std::vector<const Dim*>> lists;
  auto sizes = sizesOf(relation, lists);
  for (size_t i = 0; i < std::min(shown.size(), sizes.size()); ++i)
    if (sizes[i])
      shown[i] = unifier_.types().tuple({});
  return shown;
}

void SizedCalls::forgetNumbers(lang::RelationResult& result) {
  auto known = [&](const Dim* dim) { return dim->hasForeign ? unifier_.types().any() : dim; };
  if (result.output)
    result.output = unifier_.mapDims(result.output, known);
  std::erase_if(result.bounds, [](const lang::DimBound& bound) { return bound.dim->hasForeign; });
}

std::optional<size_t> SizedCalls::settleAttributes(PendingRelation& relation) {
  const lang::Call& call = *relation.attributed;
  std::vector<std::string_view> names = lang::attributeMarksOf(call);
  const lang::Attributes* attributes = relation.attributes;
  for (size_t i = 0; i < names.size(); ++i) {
    auto numbers = numbersOf(*call.arguments[call.arguments.size() - names.size() + i].value);
    auto row = std::ranges::find(attributes->rows, names[i], &lang::AttributeRow::name);
    bool isOne = row != attributes->rows.end() && row->kind == lang::AttributeKind::Int;
    if (!numbers || (isOne && numbers->size() != 1))
      return i;
    attributes = withAttribute(*attributes, names[i], *numbers);
  }
  relation.attributes = attributes;
  sizes_->setAttributes(call, attributes);
  relation.attributed = nullptr;
  return std::nullopt;
}

bool SizedCalls::isCount(const PendingRelation& relation, const Type* operand) {
  const OpenNumbers::Number* number = unifier_.numbers().of(operand);
  bool isInteger =
      number ? number->shape.empty() && unifier_.numbers().classOf(*number) == OpenClass::Integer
             : operand->isTensor() && operand->shape.empty() && operand->dtype.isInteger();
  return isInteger || sizes_->sizeOf(*relation.places[0].value);
}

std::vector<std::vector<const Dim*>> SizedCalls::numbersOf(const PendingRelation& relation,
                                                           const std::vector<bool>& isAsked) {
  std::vector<std::vector<const Dim*>> numbers(sizes_ ? isAsked.size() : 0);
  for (size_t i = 0; i < numbers.size() && i < relation.places.size(); ++i)
    if (isAsked[i])
      numbers[i] = numbersOf(*relation.places[i].value).value_or(std::vector<const Dim*>());
  return numbers;
}

/// The numbers that the sizes in an operand are; nothing where they are none.
std::optional<std::vector<const Dim*>> SizedCalls::numbersOf(const lang::Expr& atom) {
  auto sizes = sizes_->sizesOf(atom);
  if (!sizes)
    return std::nullopt;
  for (const Dim*& size : *sizes) {
    size = unifier_.dims().resolve(size);
    if (!size->isConstant())
      return std::nullopt;
  }
  return sizes;
}

/// Attributes with numbers as one of them.
const lang::Attributes* SizedCalls::withAttribute(const lang::Attributes& attributes,
                                                  std::string_view name,
                                                  std::span<const Dim* const> sizes) {
  std::vector<lang::AttributeValue> numbers;
  for (const Dim* size : sizes)
    numbers.push_back(
        lang::intAttribute(size->value, std::in_range<int32_t>(size->value) ? 32 : 64));
  std::vector<lang::AttributeValue> values(attributes.values.begin(), attributes.values.end());
  for (size_t i = 0; i < values.size(); ++i)
    if (attributes.rows[i].name == name)
      values[i] = attributes.rows[i].kind == lang::AttributeKind::Int
                      ? numbers[0]
                      : lang::listAttribute(arena_.copy(numbers));
  return arena_.make<lang::Attributes>(attributes.rows, arena_.copy(values));
}

} // namespace typecheck
