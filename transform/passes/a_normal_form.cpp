// A-normal form: a let for every value, and blocks in parentheses opened into the block around.
//
//   %0 = %x + 1f;                                 let %v = add(%x, 1f);
//   let %y = (let %z = %0 * 2f; %z - %0);   =>    let %z = multiply(%v, 2f);
//   (%y, %0)                                      let %v1 = subtract(%z, %v);
//                                                 let %y = %v1;
//                                                 let %v2 = (%y, %v);
//                                                 %v2
//
// The order of bindings is the order of evaluation already, so nothing moves.
#include "lang/ir/rewrite.h"
#include "transform/passes.h"

namespace transform {

using namespace lang;

namespace {

class Normaliser : public Rewriter {
public:
  using Rewriter::Rewriter;

private:
  Fate enter(const Binding& binding) override {
    return binding.value->kind == ExprKind::Block ? Fate::Splice : Fate::Copy;
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    Var* var = fresh(*old.var);
    var->origin = VarOrigin::Let;
    out.append({var, value, old.place});
    return var;
  }
};

} // namespace

std::unique_ptr<Module> aNormalForm(const Module& module, const PassContext& context) {
  return rewritten<Normaliser>(module, context.operators);
}

} // namespace transform
