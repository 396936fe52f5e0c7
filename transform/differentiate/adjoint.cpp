// Blocks there and back: straight code, tuples, references. Branches, functions and operators are
// in files of their own.
#include "transform/differentiate/adjoint.h"

#include "lang/ir/differentiable.h"
#include "lang/source/way_back.h"

#include <algorithm>

#include <fmt/format.h>

namespace transform {

using namespace lang;

/// The parameter of a pull-back: the cotangent of a value of that type.
Var* Adjoint::incomingOf(const Type* type, Form form) {
  return code_.make.var(VarOrigin::Parameter, "d", code_.types.mapped(type, form));
}

/// The pull-back of a pair; it has a name for where it becomes a let.
Atom Adjoint::backOf(Atom both, BlockBuilder& out) {
  Var* back = code_.make.var(VarOrigin::Temporary, "back");
  out.bind(back, code_.make.project(both, 1));
  return back;
}

/// Writes a block there and back.
void Adjoint::start(RoundTrip& trip, const Block& block, const Type* type, bool isAtOnce) {
  if (isAtOnce) {
    trip.value = thereAndBack(block, type, trip.way);
    return;
  }
  size_t openAround = records_.size();
  trip.value = forward(block, trip.there);
  records_.resize(openAround);
  if (isCarrying_)
    return;
  trip.incoming = incomingOf(type);
  SourceRange outer = turnBack();
  backward(block, split(trip.way.out, trip.incoming, type), trip.way);
  code_.make.range = outer;
}

/// What is written from here on is of the way back; gives the range before.
SourceRange Adjoint::turnBack() {
  return std::exchange(code_.make.range, onWayBack(code_.make.range));
}

/// The block that gives the value and the pull-back, which takes the cotangent and sums, and gives
/// `pack`.
const Block* Adjoint::finish(RoundTrip& trip, Atom pack, std::span<const Var* const> sums) {
  std::vector<const Var*> parameters{trip.incoming};
  for (const Var* var : sums)
    parameters.push_back(trip.way.sums.at(var->number).second);
  SourceRange outer = turnBack();
  const Function* way = code_.make.function(parameters, finish(trip.way.out, pack));
  code_.make.range = outer;
  Atom back = trip.there.bind(way);
  return finish(trip.there, trip.there.tuple({trip.value, back}));
}

void Adjoint::open(Opening opening, BlockBuilder& out) {
  openings_.emplace(out.tuple({}), std::move(opening));
}

/// The block so far with a result; what was opened in it is closed.
const Block* Adjoint::finish(const BlockBuilder& out, Atom result) {
  std::vector<Binding> bindings = out.bindings();
  for (size_t i = bindings.size(); i-- > 0;) {
    auto found = openings_.find(bindings[i].var);
    if (found == openings_.end())
      continue;
    const auto& [scrutinee, pattern, isPartial] = found->second;
    SourceRange outer = std::exchange(code_.make.range, bindings[i].place);
    const Block* rest = code_.make.block(std::span<const Binding>(bindings).subspan(i + 1), result);
    bindings[i].value = code_.make.match(scrutinee, {code_.make.arm(pattern(), rest)}, isPartial);
    bindings.resize(i + 1);
    result = bindings[i].var;
    code_.make.range = outer;
  }
  return code_.make.block(bindings, result);
}

Atom Adjoint::forward(const Block& block, BlockBuilder& out) {
  for (const Binding& binding : block.bindings)
    forward(binding, out);
  return code_.mapped(*block.result.value);
}

void Adjoint::forward(const Binding& binding, BlockBuilder& out) {
  SourceRange outer = std::exchange(code_.make.range, binding.value->range);
  const Expr& value = *binding.value;
  if (const auto* block = value.as<BlockExpr>()) {
    around_.push_back({&binding, false});
    code_.nameAs(binding, forward(*block->block, out), out);
    around_.pop_back();
    code_.varied[binding.var] = code_.isVaried(*block->block->result.value);
  } else if (!code_.isVaried(binding)) {
    code_.copy(binding, out);
  } else {
    code_.varied[binding.var] = true;
    match(
        value, [&](const Expr& atom) { code_.nameAs(binding, code_.mapped(atom), out); },
        [&](const TupleExpr&) { code_.bindAs(binding, code_.rebuilt(value), out); },
        [&](const Project&) { code_.bindAs(binding, code_.rebuilt(value), out); },
        [&](const Call& call) { forwardCall(binding, call, out); },
        [&](const If& branch) { forwardIf(binding, branch, out, /*isAtOnce=*/false); },
        [&](const Match& choice) { forwardMatch(binding, choice, out, /*isAtOnce=*/false); },
        [&](const Function& function) { forwardFunction(binding, function, out); },
        [&](const RefNew&) { forwardReference(binding, out); },
        [&](const RefRead&) { forwardReference(binding, out); },
        [&](const RefWrite&) { forwardReference(binding, out); });
  }
  code_.make.range = outer;
}

/// A cell of floats is a pair of the cell and one for the cotangent of its content.
void Adjoint::forwardReference(const Binding& binding, BlockBuilder& out) {
  if (const auto* made = binding.value->as<RefNew>()) {
    Atom content = code_.mapped(*made->content.value);
    const Type* type = code_.typeOf(*made->content.value);
    if (!holdsFloats(type))
      return code_.bindAs(binding, code_.make.refNew(content), out);
    // It is declared to be what the pair stands for.
    code_.bindAs(binding, code_.make.refNew(content), out, /*isDeclared=*/false);
    SourceRange outer = turnBack();
    Atom cotangent = out.bind(code_.make.refNew(code_.types.zero(out, content, type)));
    code_.make.range = outer;
    code_.known(*binding.var) = out.tuple({code_.known(*binding.var), cotangent});
    return;
  }
  const auto* read = binding.value->as<RefRead>();
  const auto* write = binding.value->as<RefWrite>();
  const Expr& reference = read ? *read->reference.value : *write->reference.value;
  const Type* content = code_.typeOf(reference)->parts[0];
  Atom pair = code_.mapped(reference), cell = pair;
  if (holdsFloats(content))
    cell = out.project(pair, 0);
  bool changesForm = write && holdsFloats(content) && !code_.types.hasOneZero(content);
  if (changesForm)
    steps_[binding.var].before = out.let("before", code_.make.refRead(cell));
  if (read)
    code_.known(*binding.var) = out.let(binding.var->name, code_.make.refRead(cell));
  else
    code_.known(*binding.var) =
        out.let("", code_.make.refWrite(cell, code_.mapped(*write->value.value)));
  if (changesForm) {
    Atom zero = code_.types.zero(out, code_.mapped(*write->value.value), content);
    out.let("", code_.make.refWrite(out.project(pair, 1), zero));
  }
}

void Adjoint::backwardReference(const Binding& binding, const Cotangent& incoming, Way& way) {
  const auto* made = binding.value->as<RefNew>();
  const auto* read = binding.value->as<RefRead>();
  const auto* write = binding.value->as<RefWrite>();
  const Expr& reference = made   ? static_cast<const Expr&>(*binding.var)
                          : read ? *read->reference.value
                                 : *write->reference.value;
  const Type* type = code_.typeOf(reference)->parts[0];
  if (!holdsFloats(type) || (read && incoming.isZero()))
    return;
  Atom cell = way.out.project(code_.mapped(reference), 1);
  Atom gathered = way.out.let("g", code_.make.refRead(cell));
  if (read) {
    Atom more = whole(code_.types, way.out, incoming, code_.mapped(*binding.var), type);
    way.out.let("", code_.make.refWrite(cell, code_.types.sum(way.out, gathered, more, type)));
    return;
  }
  const Expr& value = made ? *made->content.value : *write->value.value;
  give(value, split(way.out, gathered, type), way);
  Atom before = write ? steps_[binding.var].before : nullptr;
  Atom like = before ? before : code_.mapped(value);
  way.out.let("", code_.make.refWrite(cell, code_.types.zero(way.out, like, type)));
}

void Adjoint::backward(const Block& block, const Cotangent& incoming, Way& way) {
  give(*block.result.value, incoming, way);
  for (size_t i = block.bindings.size(); i-- > 0;)
    backward(block.bindings[i], way);
}

void Adjoint::backward(const Binding& binding, Way& way) {
  // A block may write into cells, whatever its value is.
  if (!code_.isVaried(static_cast<const Expr&>(*binding.var)) && !binding.value->as<BlockExpr>())
    return;
  SourceRange outer = std::exchange(code_.make.range, onWayBack(binding.value->range));
  Cotangent incoming = take(*binding.var, way);
  auto viaReference = [&](const Expr&) { backwardReference(binding, incoming, way); };
  match(
      *binding.value, [&](const Expr& atom) { give(atom, incoming, way); },
      [&](const TupleExpr& tuple) {
        for (size_t i = 0; i < incoming.fields.size(); ++i)
          give(*tuple.fields[i].value, incoming.fields[i], way);
      },
      [&](const Project& project) {
        Cotangent fields;
        fields.fields.resize(code_.typeOf(*project.tuple.value)->parts.size());
        fields.fields[project.index] = incoming;
        give(*project.tuple.value, fields, way);
      },
      [&](const Call& call) { backwardCall(binding, call, std::move(incoming), way); },
      [&](const If&) { callBack(binding, incoming, way); },
      [&](const Match& choice) { backwardMatch(binding, choice, incoming, way); },
      [&](const Function&) { readCells(steps_[binding.var], way); },
      [&](const RefNew& ref) { viaReference(ref); }, [&](const RefRead& ref) { viaReference(ref); },
      [&](const RefWrite& ref) { viaReference(ref); },
      [&](const BlockExpr& block) { backward(*block.block, incoming, way); });
  code_.make.range = outer;
}

/// Calls the pull-back of a branch or a call, unless nothing comes of it.
void Adjoint::callBack(const Binding& binding, const Cotangent& incoming, Way& way) {
  const Step& step = steps_[binding.var];
  if (!step.back || (incoming.isZero() && !step.hasEffects))
    return;
  const Type* type = code_.typing.of(*binding.var);
  callBack(step, whole(code_.types, way.out, incoming, code_.mapped(*binding.var), type), way);
}

void Adjoint::callBack(const Step& step, Atom incoming, Way& way) {
  std::vector<Atom> given{incoming};
  std::vector<PartCells::Cell*> cells(step.sums.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    const Var& target = *step.sums[i];
    Atom sum = takeSum(target, step.mayCallFunctions, cells[i], way);
    given.push_back(sum ? sum
                        : code_.types.zero(way.out, code_.mapped(target), code_.typing.of(target)));
  }
  Atom gone = step.hasEffects ? way.out.let("g", code_.make.call(step.back, given))
                              : way.out.call(step.back, given);
  // What goes back into a cell is held by nothing else from here on.
  const bool isTakenApart = std::ranges::any_of(cells, [](auto* cell) { return cell != nullptr; });
  std::vector<Atom> parts(step.targets.size(), gone);
  for (uint32_t i = 0; parts.size() > 1 && i < parts.size(); ++i)
    parts[i] =
        isTakenApart ? way.out.let("g", code_.make.project(gone, i)) : way.out.project(gone, i);
  for (size_t i = 0; i < parts.size(); ++i) {
    const Var* target = step.targets[i];
    auto sum = std::ranges::find(step.sums, target);
    PartCells::Cell* cell =
        sum == step.sums.end() ? nullptr : std::exchange(cells[sum - step.sums.begin()], nullptr);
    if (cell)
      putBack(code_.make, *cell, parts[i], way.out);
    else if (target)
      give(*target, split(way.out, parts[i], code_.typing.of(*target)), way);
  }
}

void Adjoint::give(const Expr& atom, const Cotangent& cotangent, Way& way) {
  if (cotangent.isZero() || !code_.isVaried(atom))
    return;
  const Var& var = *atom.as<Var>();
  auto& [kept, sum] = way.cotangents[var.number];
  kept = &var;
  accumulate(code_.types, way.out, sum, code_.typing.of(var), cotangent);
}

Cotangent Adjoint::take(const Var& var, Way& way) {
  auto found = way.cotangents.find(var.number);
  if (found == way.cotangents.end())
    return {};
  Cotangent sum = std::move(found->second.second);
  way.cotangents.erase(found);
  return sum;
}

} // namespace transform
