// A call through a variable whose type is an operator becomes a call of that operator.
//
//   let %g = grad;            =>   let %g = grad;
//   %g(%f)                         grad(%f)
//
// Such a type names the operator, so what the variable is bound to does not matter. A call through
// a value has no attributes, so all are the defaults.
#include "lang/ir/rewrite.h"
#include "transform/analysis/placement.h"
#include "transform/passes.h"

namespace transform {

using namespace lang;

namespace {

class OperatorNamer : public Rewriter {
public:
  OperatorNamer(const Module& from, Builder& into, const Typing& typing)
      : Rewriter(from, into), typing_(typing) {}

private:
  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    const auto* call = old.value->as<Call>();
    const auto* callee = call ? call->callee.value->as<Var>() : nullptr;
    const Type* type = callee ? typing_.of(*callee) : nullptr;
    if (!type || !type->op)
      return Rewriter::bind(old, value, out);
    std::vector<Atom> arguments;
    for (const Operand& argument : value->as<Call>()->arguments)
      arguments.push_back(argument.value);
    return Rewriter::bind(old, make.call(*type->op, arguments), out);
  }

  const Typing& typing_;
};

} // namespace

std::unique_ptr<Module> operatorCalls(const Module& module, const PassContext& context) {
  auto made = rewritten<OperatorNamer>(module, context.operators, context.typing);
  return place(*made, context.operators);
}

} // namespace transform
