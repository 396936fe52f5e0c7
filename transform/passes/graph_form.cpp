// Graph form: lets that do nothing but give a value become temporaries, which are printed as
// Relay's graph is, in place or as lines `%0 = ...;` where they are needed.
//
//   let %a = %x + 1f;               %0 = ref(%x);
//   let %b = %a * %a;               let %v = ref_write(%0, 2f);
//   let %c = ref(%x);        =>     %1 = add(%x, 1f);
//   ref_write(%c, 2f);              %2 = multiply(%1, %1);
//   (%b, ref_read(%c))              %3 = ref_read(%0);
//                                   (%2, %3)
//
// A let keeps its place when it does more than give a value, when it declares a type, which a
// temporary cannot, or when only a function inside uses it, which would compute it again at every
// call. A let that nothing uses becomes a temporary that nothing needs, and is gone.
#include "transform/analysis/placement.h"
#include "transform/passes.h"

namespace transform {

std::unique_ptr<lang::Module> graphForm(const lang::Module& module, const PassContext& context) {
  return place(module, context.operators, {.loosensLets = true});
}

} // namespace transform
