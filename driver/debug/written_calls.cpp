// The last call of a function may stand in branches at its end, and in branches at theirs.
#include "driver/debug/written_calls.h"

#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "lang/source/way_back.h"

namespace driver {

namespace {

/// Visits the calls that a body does last.
template <class Visit>
void forEachLastCall(const lang::Function& function, Visit visit) {
  std::vector<const lang::Block*> open{function.body};
  while (!open.empty()) {
    const lang::Block& block = *open.back();
    open.pop_back();
    const lang::Binding* last = block.bindings.empty() ? nullptr : &block.bindings.back();
    if (!last || last->var != block.result.value)
      continue;
    if (const auto* call = last->value->as<lang::Call>())
      visit(*call);
    else if (last->value->kind != lang::ExprKind::Function)
      lang::forEachBlock(*last->value, [&](const lang::Block& part) { open.push_back(&part); });
  }
}

} // namespace

WrittenCalls::WrittenCalls(const lang::Module& module) {
  auto addLast = [this](const lang::Function& function) {
    forEachLastCall(function, [this](const lang::Call& call) {
      last_.emplace(call.range.begin, call.range.end);
    });
  };
  for (const lang::Global* global : module.globals)
    if (global->function)
      addLast(*global->function);
  lang::walk(
      module,
      [&](const lang::Binding& binding) {
        if (const auto* literal = binding.value->as<lang::Function>())
          addLast(*literal);
        const auto* call = binding.value->as<lang::Call>();
        if (const auto* op = call ? call->callee.value->as<lang::OperatorRef>() : nullptr)
          operators_.emplace(call->range.begin, op->row->name);
      },
      [](const lang::Operand&) {});
}

void WrittenCalls::explain(runtime::RunFault& fault) const {
  bool isBack =
      lang::isOnWayBack(fault.range) || !operators_.contains({fault.range.begin, fault.op});
  if (!fault.op.empty() && isBack)
    fault.notes.push_back("this is on the way back, in the derivative of what stands here");
  if (fault.kind == runtime::FaultKind::Depth &&
      last_.contains({fault.range.begin, lang::inText(fault.range).end}))
    fault.notes.push_back(
        lang::words("the derivative of a recursion keeps a frame for each of its steps, also where "
                    "the function itself needs none; `{}` keeps about as many as the square root "
                    "of the steps",
                    lang::globalName("checkpointed_loop")));
}

} // namespace driver
