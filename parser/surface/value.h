// Values that travel on the parser's stack: trivial types only, because the stack is moved around
// as plain memory and an error drops whatever lies on it.
#pragma once

#include "parser/surface/surface.h"

namespace parser {

/// Text of a token. (std::string_view has no trivial constructor, which a union member needs.)
struct Text {
  const char* data;
  uint32_t size;

  std::string_view view() const { return {data, size}; }
};

/// A view as it lies on the stack.
inline Text toText(std::string_view view) {
  return {view.data(), uint32_t(view.size())};
}

/// An element type. (runtime::DType has no trivial constructor either.)
struct ElementType {
  runtime::DTypeCode code;
  uint8_t bits;

  runtime::DType dtype() const { return {code, bits}; }
};

struct IntValue {
  int64_t value;
  ElementType type;
  /// Whether it fits its type behind a minus sign only, as `128i8` does.
  bool needsMinus;
};

struct RealValue {
  double value;
  ElementType type;
};

struct MetaValue {
  Text key;
  uint32_t index;

  surface::MetaReference reference() const { return {key.view(), index}; }
};

/// The part of a list stack (list_stack.h) that one list owns.
struct List {
  uint32_t start;
  uint32_t count;
};

union Value {
  Text text;
  IntValue integer;
  RealValue real;
  MetaValue meta;
  uint32_t number;
  List list;
  surface::InfixOp op;
  const surface::Expr* expr;
  const surface::Type* type;
  const surface::Pattern* pattern;
  const surface::Dim* dim;
  const surface::Arm* arm;
  const surface::Parameter* parameter;
  const surface::Constructor* constructor;
  const surface::Subscript* subscript;
  const surface::Definition* definition;
  /// Under construction: the parameters stand, the rest comes with the body.
  surface::Function* function;
  /// Under construction: the arguments stand, the callee comes later.
  surface::Call* call;
};

} // namespace parser
