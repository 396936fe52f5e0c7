// What a call that shows its operand says of it, by its attributes.
#pragma once

#include "lang/ir/expr.h"
#include "lang/op/op.h"
#include "runtime/shown.h"

namespace lang {

/// A call through a variable has no attributes.
inline runtime::Shown shownBy(const Call& call, const OperatorRow& row) {
  runtime::Shown shown{call.range};
  shown.ends = row.role == Role::Fail;
  if (call.attributes)
    shown.label = call.attributes->text("label");
  if (call.attributes && !shown.ends)
    shown.every = call.attributes->integer("every");
  if (shown.ends && shown.label.empty())
    shown.label = "the program ends here";
  return shown;
}

} // namespace lang
