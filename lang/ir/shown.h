// What a call that shows its operand says of it, by its attributes.
#pragma once

#include "lang/ir/expr.h"
#include "runtime/shown.h"

namespace lang {

/// A call through a variable has no attributes.
inline runtime::Shown shownBy(const Call& call) {
  if (!call.attributes)
    return {call.range};
  return {call.range, call.attributes->text("label"), call.attributes->integer("every")};
}

} // namespace lang
