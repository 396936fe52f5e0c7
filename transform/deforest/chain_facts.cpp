// What is found out is kept, since chains ask for the same functions again and again.
#include "transform/deforest/chain_facts.h"

#include <algorithm>

namespace transform {

using namespace lang;

ChainFacts::ChainFacts(const Module& of, const Typing& types)
    : module(of), typing(types), known(of), quiet(of, types), plain(of.types),
      free_(freeVariables(of)), counts_(countUses(of)) {}

/// The block whose value a block gives if it ends in a branch, and so on: calls `visit` for each
/// binding that gives the value of the whole.
template <typename Visit>
static void forEachTail(const Block& root, Visit&& visit) {
  std::vector<const Block*> stack{&root};
  while (!stack.empty()) {
    const Block* block = stack.back();
    stack.pop_back();
    if (block->bindings.empty() || block->result.value != block->bindings.back().var)
      continue;
    const Binding& last = block->bindings.back();
    visit(last);
    if (last.value->kind != ExprKind::Function)
      forEachBlock(*last.value, [&](const Block& inside) { stack.push_back(&inside); });
  }
}

bool ChainFacts::isTakenApart(const Global& global, size_t parameter) {
  const Function* function = global.function;
  if (!function || parameter >= function->parameters.size())
    return false;
  auto& answers = takenApart_[function];
  answers.resize(function->parameters.size(), -1);
  if (answers[parameter] >= 0)
    return answers[parameter] != 0;
  // On a circle of functions that hand it on, nobody takes it apart.
  answers[parameter] = 0;
  const Var* var = function->parameters[parameter];
  bool isTaken = false;
  if (uses(*var) == 1)
    forEachTail(*function->body, [&](const Binding& last) {
      const auto* match = last.value->as<Match>();
      const Expr* scrutinee = match ? &known.origin(*match->scrutinee.value) : nullptr;
      const auto* made = scrutinee ? scrutinee->as<Var>() : nullptr;
      const Binding* binding = made ? known.binding(*made) : nullptr;
      const auto* tuple = binding ? binding->value->as<TupleExpr>() : nullptr;
      isTaken |= scrutinee == var;
      for (const Operand& field : tuple ? tuple->fields : std::span<const Operand>())
        isTaken |= field.value == var;
    });
  isTaken = isTaken || passesOn(global, parameter);
  takenApart_[function][parameter] = isTaken;
  return isTaken;
}

/// A function that cannot call itself may hand its parameter on.
bool ChainFacts::passesOn(const Global& global, size_t parameter) {
  const Function& function = *global.function;
  const Var* var = function.parameters[parameter];
  if (uses(*var) != 1 || known.isRecursive({&function, &global, nullptr}))
    return false;
  std::vector<std::pair<const Global*, size_t>> takers;
  walk(
      *function.body,
      [&](const Binding& binding) {
        const auto* call = binding.value->as<Call>();
        const auto* callee = call ? call->callee.value->as<Global>() : nullptr;
        for (size_t i = 0; callee && i < call->arguments.size(); ++i)
          if (&known.origin(*call->arguments[i].value) == var)
            takers.emplace_back(callee, i);
      },
      [](const Operand&) {});
  return std::ranges::any_of(
      takers, [&](const auto& taker) { return isTakenApart(*taker.first, taker.second); });
}

const Instance* ChainFacts::instanceOf(const Global& global, std::span<const Term* const> arguments,
                                       const Type* result) {
  const Function& function = *global.function;
  Instance instance(module.types);
  instance.open(typing.generics(function), false);
  for (size_t i = 0; i < arguments.size(); ++i)
    instance.match(typing.of(*function.parameters[i]), arguments[i]->type);
  instance.match(typing.result(function), result);
  for (const TypeParameter* parameter : typing.generics(function))
    if (!instance.of(parameter))
      return nullptr;
  return &instances_.emplace_back(std::move(instance));
}

const Term* ChainFacts::outside(const Expr& atom) {
  const Term*& found = outside_[&atom];
  if (found)
    return found;
  const Expr& origin = known.origin(atom);
  Term term{TermKind::Atom, typing.of(origin), &origin};
  if (const auto* global = origin.as<Global>(); global && global->function) {
    const Type* type = functionType(module.types, *global->function, typing);
    term.type = type && type->generics.empty() ? type : nullptr;
  }
  KnownFunction function = known.of(origin);
  if (function.binding && !known.isRecursive(function)) {
    term = {TermKind::Closure, typing.of(*function.binding->var)};
    term.binding = function.binding;
    term.place = {nullptr, &plain};
  }
  return found = keep(std::move(term));
}

} // namespace transform
