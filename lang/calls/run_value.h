// Values of the language: what the symbols of runtime/value.h stand for.
#pragma once

#include "lang/ir/expr.h"
#include "lang/op/declared.h"
#include "runtime/value.h"

namespace lang {

inline runtime::Value constructorValue(const Constructor& constructor,
                                       std::vector<runtime::Value> fields) {
  return runtime::symbolValue(runtime::ValueKind::Constructor, {&constructor, constructor.name},
                              std::move(fields));
}
/// A constructor that is used as a function.
inline runtime::Value makerValue(const Constructor& constructor) {
  return runtime::symbolValue(runtime::ValueKind::Maker, {&constructor, constructor.name});
}
inline runtime::Value closureValue(const Function& function, std::vector<runtime::Value> captured) {
  return runtime::symbolValue(runtime::ValueKind::Closure, {&function}, std::move(captured));
}
/// An operator that is used as a value.
runtime::Value operatorValue(const OperatorRow& row);

/// Of a Constructor the constructor, of a Maker the one that it applies.
inline const Constructor& constructorOf(const runtime::Value& value) {
  return *static_cast<const Constructor*>(value.symbol().definition);
}
/// Of a Closure.
inline const Function& functionOf(const runtime::Value& value) {
  return *static_cast<const Function*>(value.symbol().definition);
}
/// Of an Operator.
inline const OperatorRow& operatorOf(const runtime::Value& value) {
  return *static_cast<const OperatorRow*>(value.symbol().definition);
}

} // namespace lang
