// One walk: what gives a variable stands before its uses.
#include "stdlib/logarithms.h"

#include "lang/ir/rewrite.h"

namespace stdlib {

using namespace lang;

namespace {

class LogarithmKeeper : public Rewriter {
public:
  LogarithmKeeper(const Module& from, Builder& into) : Rewriter(from, into) {}

private:
  /// The call of an operator that a value is, or null.
  static const Call* callOf(const Expr* value, std::string_view name) {
    const auto* call = value ? value->as<Call>() : nullptr;
    const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
    return op && op->row->name == name && !call->arguments.empty() ? call : nullptr;
  }

  /// The logarithms of what an atom stands for, if that is probabilities; null otherwise.
  const Call* logarithmsOf(Atom atom) {
    auto found = probabilities_.find(atom);
    if (found == probabilities_.end())
      return nullptr;
    const Call& softmax = *found->second;
    return make.call("nn.log_softmax", {softmax.arguments[0].value},
                     {{"axis", softmax.attributes->get("axis")}});
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    if (const Call* log = callOf(value, "log"))
      if (const Call* logarithms = logarithmsOf(log->arguments[0].value))
        value = logarithms;
    if (const Call* loss = callOf(value, "nn.cross_entropy"))
      if (const Call* logarithms = logarithmsOf(loss->arguments[0].value))
        value = make.call("nn.cross_entropy_with_logits",
                          {out.bind(logarithms), loss->arguments[1].value});
    Atom var = Rewriter::bind(old, value, out);
    if (const Call* softmax = callOf(value, "nn.softmax"); softmax && softmax->attributes)
      probabilities_[var] = softmax;
    return var;
  }

  /// Calls in the copy, by the variables that they are bound to.
  std::unordered_map<Atom, const Call*> probabilities_;
};

} // namespace

std::unique_ptr<Module> withLogarithmsKept(const Module& module, const OperatorTable& operators) {
  return rewritten<LogarithmKeeper>(module, operators);
}

} // namespace stdlib
