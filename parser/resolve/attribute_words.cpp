// One phrase for each kind.
#include "parser/resolve/attribute_words.h"

#include "parser/surface/clipped.h"

#include <fmt/format.h>

namespace parser {

using lang::AttributeKind;
using lang::AttributeValue;
using lang::AttributeValueKind;

lang::Words kindText(AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Int:
    return "an integer";
  case AttributeKind::Float:
    return "a number";
  case AttributeKind::Bool:
    return runtime::either("`True` or `False`", "`true` or `false`");
  case AttributeKind::String:
    return "a string";
  case AttributeKind::DType:
    return lang::words("an element type, such as `{}`", runtime::dtypeValue(runtime::Float32));
  case AttributeKind::IntList:
    return "a list of integers";
  case AttributeKind::FloatList:
    return "a list of numbers";
  case AttributeKind::IntListList:
    return "a list of lists of integers";
  case AttributeKind::IntOrIntList:
    return "an integer or a list of integers";
  case AttributeKind::Expr:
  case AttributeKind::Object:
    return "an object";
  }
  return {};
}

lang::Words valueText(const AttributeValue& value) {
  switch (value.kind) {
  case AttributeValueKind::Null:
    return "`None`";
  case AttributeValueKind::Int:
    return fmt::format("the integer {}", value.integer);
  case AttributeValueKind::Float:
    return fmt::format("the number {}", value.real);
  case AttributeValueKind::Bool:
    return value.integer ? runtime::either("`True`", "`true`")
                         : runtime::either("`False`", "`false`");
  case AttributeValueKind::String:
    return fmt::format("the string \"{}\"", clipped(value.text));
  case AttributeValueKind::List:
    return fmt::format("a list of {}", value.items.size());
  case AttributeValueKind::Expr:
    return "an expression";
  case AttributeValueKind::Meta:
    return fmt::format("a `{}`", clipped(value.text));
  }
  return {};
}

} // namespace parser
