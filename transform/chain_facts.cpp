// Uses are counted over all blocks at once: a block's own counts are those of its bindings, added
// up, and of the branches of one binding the largest counts.
#include "transform/chain_facts.h"

#include <algorithm>

namespace transform {

using namespace lang;

ChainFacts::ChainFacts(const Module& of, const Typing& types)
    : module(of), typing(types), known(of), quiet(of, types), plain(of.types),
      free_(freeVariables(of)), uses_(of.varCount), mentions_(of.varCount) {
  countUses();
}

namespace {

/// How often variables are used in a block, those few that are.
using Counts = std::unordered_map<const Var*, uint32_t>;

void add(Counts& sum, const Expr& atom, uint32_t count = 1) {
  if (const auto* var = atom.as<Var>())
    sum[var] += count;
}

/// The smaller table goes into the larger one, so no use is moved often.
template <typename Join>
void join(Counts& sum, Counts&& more, Join&& how) {
  if (sum.size() < more.size())
    std::swap(sum, more);
  for (const auto& [var, count] : more)
    how(sum[var], count);
}

} // namespace

void ChainFacts::countUses() {
  /// A block right inside of a value, and what binds its variables.
  struct Part {
    const Block* block;
    const Pattern* pattern = nullptr;
    const Function* function = nullptr;
  };
  struct Frame {
    Part part;
    size_t next = 0;
    Counts counts = {};
    /// Of the parts of the binding at hand, and those that are still to come.
    Counts branches = {};
    std::vector<Part> open = {};
  };
  std::vector<Frame> frames;
  auto settle = [&](Counts& counts, const Var& var) {
    if (auto own = counts.extract(&var))
      uses_[var.number] = own.mapped();
  };
  auto finish = [&] {
    Frame done = std::move(frames.back());
    frames.pop_back();
    add(done.counts, *done.part.block->result.value);
    for (const Binding& binding : done.part.block->bindings)
      settle(done.counts, *binding.var);
    if (done.part.pattern)
      forEachPatternVar(*done.part.pattern, [&](const Var& var) { settle(done.counts, var); });
    if (const Function* function = done.part.function) {
      for (const Var* parameter : function->parameters)
        settle(done.counts, *parameter);
      for (auto& [var, count] : done.counts)
        count = 2;
    }
    if (!frames.empty())
      join(frames.back().branches, std::move(done.counts),
           [](uint32_t& most, uint32_t count) { most = std::max(most, count); });
  };
  for (const Global* global : module.globals) {
    if (global->function)
      frames.push_back({{global->function->body, nullptr, global->function}});
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (!frame.open.empty()) {
        Part part = frame.open.back();
        frame.open.pop_back();
        frames.push_back({part});
        continue;
      }
      join(frame.counts, std::exchange(frame.branches, {}),
           [](uint32_t& sum, uint32_t count) { sum += count; });
      if (frame.next == frame.part.block->bindings.size()) {
        finish();
        continue;
      }
      const Expr& value = *frame.part.block->bindings[frame.next++].value;
      if (value.isAtom())
        add(frame.counts, value);
      forEachOperand(value, [&](const Operand& each) { add(frame.counts, *each.value); });
      forEachAttributeAtom(value, [&](const Expr& atom) { add(frame.counts, atom, 2); });
      if (const auto* match = value.as<Match>())
        for (const Arm& arm : match->arms)
          frame.open.push_back({arm.body, arm.pattern});
      else
        forEachBlock(value, [&](const Block& block) {
          frame.open.push_back({&block, nullptr, value.as<Function>()});
        });
    }
  }
  walk(
      module,
      [&](const Binding& binding) {
        forEachAttributeAtom(*binding.value, [&](const Expr& atom) {
          if (const auto* var = atom.as<Var>())
            mentions_[var->number] += 2;
        });
      },
      [&](const Operand& operand) {
        if (const auto* var = operand.value->as<Var>())
          ++mentions_[var->number];
      });
}

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
