// Values of attributes against their schema. Lists in values are as deep as a schema or the reader
// of metadata allows, so recursion on them is bounded.
#include "lang/op/attribute_schema.h"

#include "runtime/dtype.h"

#include <algorithm>

namespace lang {

namespace {

bool isInt(const AttributeValue& value) {
  return value.kind == AttributeValueKind::Int;
}

bool isNumber(const AttributeValue& value) {
  return isInt(value) || value.kind == AttributeValueKind::Float;
}

bool isList(const AttributeValue& value, bool (*fits)(const AttributeValue&)) {
  return value.kind == AttributeValueKind::List && std::ranges::all_of(value.items, fits);
}

bool isIntList(const AttributeValue& value) {
  return isList(value, isInt);
}

bool fitsKind(AttributeKind kind, const AttributeValue& value) {
  switch (kind) {
  case AttributeKind::Int:
    return isInt(value);
  case AttributeKind::Bool:
    return isInt(value) || value.kind == AttributeValueKind::Bool;
  case AttributeKind::Float:
    return isNumber(value);
  case AttributeKind::String:
    return value.kind == AttributeValueKind::String;
  case AttributeKind::DType:
    return value.kind == AttributeValueKind::String &&
           (value.text.empty() || runtime::parseDType(value.text));
  case AttributeKind::IntList:
    return isInt(value) || isIntList(value);
  case AttributeKind::FloatList:
    return isList(value, isNumber);
  case AttributeKind::IntListList:
    return isList(value, isIntList);
  case AttributeKind::IntOrIntList:
    return isInt(value) || isIntList(value);
  case AttributeKind::Expr:
  case AttributeKind::Object:
    return true;
  }
  return false;
}

} // namespace

bool isNullable(const AttributeRow& row) {
  return row.nullable || row.defaultText == "None";
}

bool fitsSchema(const AttributeRow& row, const AttributeValue& value) {
  return value.kind == AttributeValueKind::Null ? isNullable(row) : fitsKind(row.kind, value);
}

namespace {

/// How many entries the list has that one integer stands for.
size_t entryCount(const AttributeRow& row) {
  bool isList = row.defaultText.starts_with("[") && row.defaultText != "[]";
  return row.length > 0 ? row.length
         : isList       ? size_t(std::ranges::count(row.defaultText, ',')) + 1
                        : 1;
}

} // namespace

AttributeValue storedAttribute(Arena& arena, const AttributeRow& row, const AttributeValue& value) {
  if (value.kind != AttributeValueKind::Int)
    return value;
  if (row.kind == AttributeKind::Float)
    return floatAttribute(double(value.integer));
  if (row.kind == AttributeKind::Bool)
    return boolAttribute(value.integer != 0);
  if (row.kind == AttributeKind::IntList)
    return listAttribute(arena.copy(std::vector<AttributeValue>(entryCount(row), value)));
  return value;
}

AttributeValue copyAttribute(Arena& arena, const AttributeValue& value) {
  AttributeValue copy = value;
  copy.text = arena.copyText(value.text);
  std::vector<AttributeValue> items;
  for (const AttributeValue& item : value.items)
    items.push_back(copyAttribute(arena, item));
  copy.items = arena.copy(items);
  return copy;
}

} // namespace lang
