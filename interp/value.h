// Values of the language: what the symbols of runtime/value.h stand for.
#pragma once

#include "lang/expr.h"
#include "lang/op.h"
#include "runtime/value.h"

namespace interp {

using runtime::Value;
using runtime::ValueKind;

inline Value constructorValue(const lang::Constructor& constructor, std::vector<Value> fields) {
  return runtime::symbolValue(ValueKind::Constructor, {&constructor, constructor.name},
                              std::move(fields));
}
/// A constructor that is used as a function.
inline Value makerValue(const lang::Constructor& constructor) {
  return runtime::symbolValue(ValueKind::Maker, {&constructor, constructor.name});
}
inline Value closureValue(const lang::Function& function, std::vector<Value> captured) {
  return runtime::symbolValue(ValueKind::Closure, {&function}, std::move(captured));
}
/// An operator that is used as a value.
inline Value operatorValue(const lang::OperatorRow& row) {
  return runtime::symbolValue(ValueKind::Operator, {&row, row.name});
}

/// Of a Constructor the constructor, of a Maker the one that it applies.
inline const lang::Constructor& constructorOf(const Value& value) {
  return *static_cast<const lang::Constructor*>(value.symbol().definition);
}
/// Of a Closure.
inline const lang::Function& functionOf(const Value& value) {
  return *static_cast<const lang::Function*>(value.symbol().definition);
}
/// Of an Operator.
inline const lang::OperatorRow& operatorOf(const Value& value) {
  return *static_cast<const lang::OperatorRow*>(value.symbol().definition);
}

} // namespace interp
