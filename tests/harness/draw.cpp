// The distributions: small extents, the usual dtypes more often, and texts that some row knows.
#include "tests/harness/draw.h"

#include <fmt/format.h>
#include <iterator>

namespace harness {

using namespace lang;

namespace {

constexpr std::string_view texts[] = {"NCHW", "NHWC", "OIHW", "NCW",  "NCHW4c",
                                      "",     "max",  "add",  "edge", "linear"};
constexpr std::string_view dtypeNames[] = {"float32", "int32", "", "bool", "float16"};
constexpr runtime::DType dtypes[] = {
    runtime::Float32, runtime::Float32, runtime::Float32, runtime::Int32,   runtime::Int64,
    runtime::UInt8,   runtime::Bool,    runtime::Float64, runtime::Float16, runtime::BFloat16};

/// The words in backquotes of a text: the choices that the documentation of an attribute names.
std::vector<std::string_view> choicesIn(std::string_view doc) {
  std::vector<std::string_view> choices;
  for (size_t start = doc.find('`'); start != doc.npos; start = doc.find('`', start)) {
    size_t end = doc.find('`', ++start);
    if (end == doc.npos)
      break;
    choices.push_back(doc.substr(start, end - start));
    start = end + 1;
  }
  return choices;
}

} // namespace

runtime::DType OperatorDraw::dtype() {
  return dtypes[random_.index(std::size(dtypes))];
}

const Dim* OperatorDraw::dim() {
  if (!symbols_.empty() && random_.chance(40))
    return random_.pick(symbols_);
  return types_.constant(random_.integer(0, 5));
}

const Type* OperatorDraw::freshTensor() {
  std::vector<const Dim*> shape;
  for (int64_t i = random_.integer(0, 5); i > 0; --i)
    shape.push_back(dim());
  return types_.tensor(Dims(shape), dtype());
}

const Type* OperatorDraw::tensor() {
  if (!random_.chance(50) || !last_)
    last_ = freshTensor();
  return last_;
}

const Type* OperatorDraw::operand(const OperandRow& row) {
  if (row.kind != OperandKind::TensorTuple)
    return tensor();
  std::vector<const Type*> fields;
  for (int64_t i = random_.integer(0, 3); i > 0; --i)
    fields.push_back(tensor());
  return types_.tuple(fields);
}

template <typename Make>
AttributeValue OperatorDraw::list(Arena& arena, Make make) {
  std::vector<AttributeValue> items;
  for (int64_t i = random_.integer(0, 4); i > 0; --i)
    items.push_back(make());
  return listAttribute(arena.copy(items));
}

AttributeValue OperatorDraw::attribute(Arena& arena, const AttributeRow& row,
                                       const AttributeValue& usual) {
  if (!row.defaultText.empty() && random_.chance(50))
    return usual;
  auto integer = [&](int64_t low, int64_t high) {
    return intAttribute(random_.integer(low, high));
  };
  auto half = [&](int64_t low, int64_t high) {
    return floatAttribute(double(random_.integer(low, high)) / 2);
  };
  switch (row.kind) {
  case AttributeKind::Int:
    return integer(-3, 4);
  case AttributeKind::Float:
    return half(-4, 8);
  case AttributeKind::Bool:
    return boolAttribute(random_.chance(50));
  case AttributeKind::String:
    if (auto choices = choicesIn(row.doc); !choices.empty() && random_.chance(60))
      return stringAttribute(random_.pick(choices));
    return stringAttribute(texts[random_.index(std::size(texts))]);
  case AttributeKind::DType:
    return stringAttribute(dtypeNames[random_.index(std::size(dtypeNames))]);
  case AttributeKind::IntList:
    return list(arena, [&] { return integer(-2, 4); });
  case AttributeKind::FloatList:
    return list(arena, [&] { return half(-2, 4); });
  case AttributeKind::IntListList:
    return list(arena, [&] { return list(arena, [&] { return integer(-2, 3); }); });
  case AttributeKind::IntOrIntList:
    return random_.chance(50) ? integer(-1, 4) : list(arena, [&] { return integer(0, 4); });
  default:
    return {};
  }
}

std::string attributeText(const AttributeValue& value) {
  switch (value.kind) {
  case AttributeValueKind::Int:
    return std::to_string(value.integer);
  case AttributeValueKind::Float:
    return fmt::format("{}f", value.real);
  case AttributeValueKind::Bool:
    return value.integer ? "True" : "False";
  case AttributeValueKind::String:
    return fmt::format("\"{}\"", value.text);
  case AttributeValueKind::List: {
    std::string text;
    for (const AttributeValue& item : value.items)
      text += (text.empty() ? "" : ", ") + attributeText(item);
    return "[" + text + "]";
  }
  default:
    return "None";
  }
}

} // namespace harness
