// Attributes as arguments: those without their defaults, one integer for a list of equal ones.
#include "parser/restore/pieces.h"

#include "lang/op/attribute_schema.h"
#include "lang/print/attributes.h"
#include "runtime/short_names.h"

#include <algorithm>

namespace parser::restoring {

using lang::AttributeValue;
using lang::AttributeValueKind;

namespace {

surface::Attribute argument(std::string_view name, const surface::Expr* value) {
  surface::Attribute made{{name, {}}, {}};
  made.value.kind = surface::AttributeKind::Expr;
  made.value.expr = value;
  return made;
}

/// The integer that stands for a list of equal ones, if it does for this one.
const AttributeValue* repeated(lang::Arena& arena, const lang::AttributeRow& row,
                               const AttributeValue& value) {
  bool isList = row.kind == lang::AttributeKind::IntList &&
                value.kind == AttributeValueKind::List && !value.items.empty() &&
                value.items[0].kind == AttributeValueKind::Int;
  return isList && lang::storedAttribute(arena, row, value.items[0]) == value ? &value.items[0]
                                                                              : nullptr;
}

} // namespace

bool hasDefaults(const lang::OperatorTable& operators, const lang::OperatorRow& row,
                 const lang::Attributes& attributes) {
  auto defaults = operators.defaults(&row);
  for (size_t i = 0; i < attributes.values.size(); ++i)
    if (!lang::printing::isDefaultAttribute(row.attributes[i], attributes.values[i], defaults[i]))
      return false;
  return true;
}

/// An attribute that is called as an operand is can only be given by its position.
PieceMaker::Attributes PieceMaker::attributesOf(const lang::OperatorRow& row,
                                                const lang::Attributes& attributes) {
  auto defaults = shared_.operators.defaults(&row);
  size_t count = std::min(row.attributes.size(), attributes.values.size());
  size_t positional = 0;
  std::vector<bool> isGiven(count);
  for (size_t i = 0; i < count; ++i) {
    const lang::AttributeRow& schema = row.attributes[i];
    const AttributeValue& value = attributes.values[i];
    bool isNull = value.kind == AttributeValueKind::Null && schema.defaultText.empty();
    // An element type that is left out would be decided by the use.
    isGiven[i] = !isNull && (schema.isByUse ||
                             !lang::printing::isDefaultAttribute(schema, value, defaults[i]));
    if (isGiven[i] &&
        std::ranges::find(row.operands, schema.name, &lang::OperandRow::name) != row.operands.end())
      positional = i + 1;
  }
  Attributes result;
  for (size_t i = 0; i < count; ++i) {
    if (i >= positional && !isGiven[i])
      continue;
    const surface::Expr* value = attributeValue(&row.attributes[i], attributes.values[i]);
    if (i < positional)
      result.positional.push_back({value, widthOf(value), true});
    else
      result.named.push_back(argument(row.attributes[i].name, value));
  }
  return result;
}

std::span<const surface::Attribute>
PieceMaker::namedAttributes(std::span<const lang::NamedAttribute> attributes) {
  std::vector<surface::Attribute> result;
  for (const lang::NamedAttribute& attribute : attributes)
    result.push_back(
        argument(arena_.copyText(attribute.name), attributeValue(nullptr, attribute.value)));
  return arena_.copy(result);
}

const surface::Expr* PieceMaker::attributeValue(const lang::AttributeRow* row,
                                                const AttributeValue& value) {
  switch (value.kind) {
  case AttributeValueKind::Int:
  case AttributeValueKind::Bool: {
    if (value.kind == AttributeValueKind::Bool || (row && row->kind == lang::AttributeKind::Bool))
      return literal(runtime::Bool, value.integer != 0, false).expr;
    auto* made = make<surface::IntLiteral>();
    made->value = value.integer;
    made->dtype = {runtime::DTypeCode::Int, uint8_t(value.width == 32 ? 0 : value.width)};
    return made;
  }
  case AttributeValueKind::Float: {
    auto* made = make<surface::FloatLiteral>();
    made->value = value.real;
    made->dtype = {runtime::DTypeCode::Float, 0};
    return made;
  }
  case AttributeValueKind::String:
    return textValue(row, value.text);
  case AttributeValueKind::List:
    return listValue(row, value);
  case AttributeValueKind::Expr:
    return value.expr ? operand(*value.expr).expr : words("none").expr;
  case AttributeValueKind::Meta:
    return metaTree(arena_,
                    shared_.metadata.object(*static_cast<const lang::MetadataNode*>(value.meta)));
  case AttributeValueKind::Null:
    break;
  }
  return words("none").expr;
}

/// An element type is written as such.
const surface::Expr* PieceMaker::textValue(const lang::AttributeRow* row, std::string_view text) {
  auto dtype =
      row && row->kind == lang::AttributeKind::DType ? runtime::parseDType(text) : std::nullopt;
  if (dtype && runtime::dtypeName(*dtype) == text &&
      !locals_.isExpected(runtime::shortDTypeName(*dtype)))
    return words(runtime::shortDTypeName(*dtype)).expr;
  auto* made = make<surface::TextLiteral>();
  made->text = arena_.copyText(text);
  return made;
}

const surface::Expr* PieceMaker::listValue(const lang::AttributeRow* row,
                                           const AttributeValue& value) {
  if (const AttributeValue* one = row ? repeated(arena_, *row, value) : nullptr)
    return attributeValue(nullptr, *one);
  auto* made = make<surface::TensorLiteral>();
  std::vector<const surface::Expr*> items;
  for (const AttributeValue& item : value.items)
    items.push_back(attributeValue(nullptr, item));
  made->elements = arena_.copy(items);
  return made;
}

} // namespace parser::restoring
