// What a call that shows its operand says of it, by its attributes.
#pragma once

#include "lang/ir/expr.h"
#include "lang/op/op.h"
#include "runtime/shown.h"

namespace lang {

/// A call through a variable has no attributes.
inline runtime::Shown shownBy(const Call& call, const OperatorRow& row) {
  bool ends = row.role == Role::Fail;
  if (!call.attributes)
    return {call.range, ends ? row.name : std::string_view(), 1, ends};
  return {call.range, call.attributes->text("label"), ends ? 1 : call.attributes->integer("every"),
          ends};
}

} // namespace lang
