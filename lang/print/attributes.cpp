// Values of attributes.
#include "lang/print/attributes.h"

#include "lang/op/op.h"
#include "lang/print/literals.h"

#include <algorithm>

namespace lang::printing {

namespace {

double realOf(const AttributeValue& value) {
  return value.kind == AttributeValueKind::Float ? value.real : double(value.integer);
}

bool isNumber(const AttributeValue& value) {
  return value.kind == AttributeValueKind::Int || value.kind == AttributeValueKind::Float ||
         value.kind == AttributeValueKind::Bool;
}

/// A list of plain integers, however wide they were written.
std::string plainIntegers(std::span<const AttributeValue> items) {
  std::string result;
  for (const AttributeValue& item : items)
    result += (result.empty() ? "" : ", ") + std::to_string(item.integer);
  return "[" + result + "]";
}

} // namespace

bool isDefaultAttribute(const AttributeRow& row, const AttributeValue& value,
                        const AttributeValue& standard) {
  if (row.defaultText.empty())
    return false;
  if (!isNumber(value) || !isNumber(standard))
    return value == standard;
  if (row.kind == AttributeKind::Float)
    return realOf(value) == realOf(standard);
  if (row.kind == AttributeKind::Bool)
    return (value.integer != 0) == (standard.integer != 0);
  return value.kind == standard.kind && value.integer == standard.integer &&
         value.real == standard.real;
}

std::string AttributeWriter::value(const AttributeValue& value) const {
  switch (value.kind) {
  case AttributeValueKind::Null:
    break;
  case AttributeValueKind::Int:
    return integerText(value.integer, value.width);
  case AttributeValueKind::Float:
    return floatAttributeText(value.real, value.width);
  case AttributeValueKind::Bool:
    return value.integer != 0 ? "1" : "0";
  case AttributeValueKind::String:
    return quotedText(value.text);
  case AttributeValueKind::List: {
    std::string result = "[";
    for (const AttributeValue& item : value.items)
      result += (&item == value.items.data() ? "" : ", ") + this->value(item);
    return result + "]";
  }
  case AttributeValueKind::Expr:
    return value.expr ? atomText(*value.expr) : "None";
  case AttributeValueKind::Meta:
    if (value.meta)
      return metadata.object(*static_cast<const MetadataNode*>(value.meta));
  }
  return "None";
}

std::vector<std::string> AttributeWriter::named(std::span<const NamedAttribute> attributes) const {
  std::vector<std::string> result;
  for (bool isDevice : {false, true})
    for (const NamedAttribute& attribute : attributes)
      if ((attribute.name == "virtual_device") == isDevice)
        result.push_back(std::string(attribute.name) + "=" + value(attribute.value));
  return result;
}

std::string AttributeWriter::rowValue(const AttributeRow& row, const AttributeValue& value) const {
  if (row.kind == AttributeKind::Bool && isNumber(value))
    return value.integer != 0 ? "True" : "False";
  if (row.kind == AttributeKind::Float && isNumber(value))
    return floatAttributeText(realOf(value), 32);
  if (row.kind == AttributeKind::IntOrIntList && value.kind == AttributeValueKind::Int)
    return std::to_string(value.integer);
  if (row.kind == AttributeKind::IntOrIntList && value.kind == AttributeValueKind::List)
    return plainIntegers(value.items);
  return this->value(value);
}

std::vector<std::string>
AttributeWriter::ofOperator(const OperatorRow& row, const Attributes& attributes,
                            std::span<const AttributeValue> defaults) const {
  std::vector<std::string> result;
  size_t count = std::min(attributes.rows.size(), attributes.values.size());
  for (size_t i = 0; i < count; ++i) {
    const AttributeRow& schema = attributes.rows[i];
    const AttributeValue& value = attributes.values[i];
    if (i >= defaults.size() || !isDefaultAttribute(schema, value, defaults[i]))
      result.push_back(std::string(schema.name) + "=" + rowValue(schema, value));
  }
  if (row.unregisteredAttributes && !row.attributes.empty())
    result.push_back("attrs_type_key=" + quotedText(row.attributesKey));
  return result;
}

} // namespace lang::printing
