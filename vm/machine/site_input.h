// Where the tensors that a site takes are.
#pragma once

#include "vm/machine/program.h"

namespace vm {

/// Where an input is, from its operand on; null when it is in objects of other layouts.
inline const Slot* inputAt(const Slot* slot, const SiteInput& input) {
  for (SiteStep step : input.path) {
    if (slot->object->layout != step.layout)
      return nullptr;
    slot = &slot->object->fields()[step.field];
  }
  return slot;
}

} // namespace vm
