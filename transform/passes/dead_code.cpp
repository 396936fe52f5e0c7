// Dead code elimination: bindings that nothing uses and that do nothing else fall away, and with
// them what only they used.
//
//   let %a = %x + 1f;               let %cell = ref(%x);
//   let %b = %a * %a;        =>     ref_write(%cell, 2f);
//   let %cell = ref(%x);            %x
//   ref_write(%cell, 2f);
//   %x
//
// What an unused binding may do and still go stands in transform/analysis/effects.h: an operator's
// fault goes with it, a call that may not end stays.
#include "transform/analysis/placement.h"
#include "transform/passes.h"

namespace transform {

std::unique_ptr<lang::Module> deadCode(const lang::Module& module, const PassContext& context) {
  return place(module, context.operators, {.dropsLets = true});
}

} // namespace transform
