// Branches: each gives its value and its pull-back, and all pull-backs give cotangents of the same
// variables, those that any branch has something for.
#include "transform/differentiate/adjoint.h"

#include "lang/ir/differentiable.h"
#include "lang/ir/walk.h"

#include <algorithm>

namespace transform {

using namespace lang;

namespace {

/// How deep matches with one arm may stand in each other.
constexpr size_t mostOpenings = 200;

bool hasBlocks(const Expr& value) {
  return value.kind == ExprKind::If || value.kind == ExprKind::Match ||
         value.kind == ExprKind::Block;
}

} // namespace

/// One branch there and back.
struct Adjoint::Branch {
  RoundTrip trip;
  /// Of an arm for a constructor without fields: what was matched, which needs no more to be zero.
  const Var* matched = nullptr;
  const Constructor* empty = nullptr;
};

/// Lets all branches give the same; the result are their blocks.
std::vector<const Block*> Adjoint::joinBranches(std::deque<Branch>& branches, Step& step) {
  std::map<uint32_t, const Var*> targets, sums;
  for (const Branch& branch : branches) {
    const Way& way = branch.trip.way;
    // What is not in order with others only computes.
    step.hasEffects |= std::ranges::any_of(way.out.bindings(), &Binding::isLet);
    for (const auto& [number, gathered] : way.cotangents)
      targets.emplace(number, gathered.first);
    for (const auto& [number, sum] : way.sums)
      sums.emplace(number, sum.first);
  }
  for (const auto& [number, target] : targets)
    step.targets.push_back(target);
  for (const auto& [number, target] : sums) {
    step.sums.push_back(target);
    for (Branch& branch : branches)
      addSum(*target, branch.trip.way);
  }
  bool hasBack = step.hasEffects || !targets.empty();
  std::vector<const Block*> blocks;
  for (Branch& branch : branches) {
    RoundTrip& trip = branch.trip;
    Way& way = trip.way;
    if (branch.matched && targets.contains(branch.matched->number) &&
        !way.cotangents.contains(branch.matched->number))
      way.cotangents[branch.matched->number] = {branch.matched, {way.out.call(branch.empty, {})}};
    if (step.isAtOnce) {
      std::vector<Atom> parts = packed(step.targets, way);
      if (wantsValue_)
        parts.push_back(trip.value);
      blocks.push_back(finish(way.out, packOf(parts, way.out)));
    } else {
      blocks.push_back(hasBack ? finish(trip, packOf(packed(step.targets, way), way.out), step.sums)
                               : finish(trip.there, trip.value));
    }
  }
  return blocks;
}

void Adjoint::finishBranches(const Binding& binding, const Expr* value, Step step,
                             BlockBuilder& out) {
  if (step.isAtOnce)
    return finishAtOnce(binding, value, std::move(step), out);
  if (!step.hasEffects && step.targets.empty())
    return code_.bindAs(binding, value, out);
  step.mayCallFunctions = false;
  forEachOperandWithin(*binding.value, [&](const Expr& atom) {
    const auto* var = atom.as<Var>();
    step.mayCallFunctions |= var && holdsFunctions(code_.typing.of(*var));
  });
  Atom both = out.bind(value);
  code_.bindAs(binding, code_.make.project(both, 0), out);
  step.back = backOf(both, out);
  steps_[binding.var] = std::move(step);
}

/// The branches gave the cotangents themselves, and then the value if it is wanted.
void Adjoint::finishAtOnce(const Binding& binding, const Expr* value, Step step,
                           BlockBuilder& out) {
  Atom all = out.bind(value);
  size_t count = step.targets.size() + (wantsValue_ ? 1 : 0);
  for (uint32_t i = 0; i < count; ++i)
    step.parts.push_back(count == 1 ? all : out.project(all, i));
  code_.known(*binding.var) = wantsValue_ ? step.parts.back() : nullptr;
  steps_[binding.var] = std::move(step);
}

void Adjoint::forwardIf(const Binding& binding, const If& branch, BlockBuilder& out,
                        bool isAtOnce) {
  const Type* type = code_.typing.of(*binding.var);
  std::deque<Branch> branches;
  around_.push_back({&binding, !isAtOnce});
  for (const Block* block : {branch.thenBlock, branch.elseBlock}) {
    branches.push_back({RoundTrip(code_.make)});
    start(branches.back().trip, *block, type, isAtOnce);
  }
  around_.pop_back();
  Step step;
  step.isAtOnce = isAtOnce;
  std::vector<const Block*> blocks = joinBranches(branches, step);
  finishBranches(binding,
                 code_.make.branch(code_.mapped(*branch.condition.value), blocks[0], blocks[1]),
                 std::move(step), out);
}

void Adjoint::forwardMatch(const Binding& binding, const Match& choice, BlockBuilder& out,
                           bool isAtOnce) {
  if (isOpenable(choice))
    return forwardOnlyArm(binding, choice, out);
  const Type* type = code_.typing.of(*binding.var);
  const Expr& scrutinee = *choice.scrutinee.value;
  const Type* matched = code_.typeOf(scrutinee);
  std::deque<Branch> branches;
  Atom value = code_.mapped(scrutinee);
  around_.push_back({&binding, !isAtOnce});
  for (const Arm& arm : choice.arms) {
    bindPattern(*arm.pattern, scrutinee);
    branches.push_back({RoundTrip(code_.make)});
    Branch& branch = branches.back();
    start(branch.trip, *arm.body, type, isAtOnce);
    if (arm.pattern->kind == PatternKind::Constructor && arm.pattern->parts.empty() &&
        holdsFloats(matched) && !code_.types.isSymbolic(matched)) {
      branch.matched = scrutinee.as<Var>();
      branch.empty = &code_.types.cotangent(*arm.pattern->constructor, matched);
    }
    giveMatched(*arm.pattern, scrutinee, branch.trip.way);
  }
  around_.pop_back();
  Step step;
  step.isAtOnce = isAtOnce;
  std::vector<const Block*> blocks = joinBranches(branches, step);
  std::vector<Arm> arms;
  for (size_t i = 0; i < blocks.size(); ++i)
    arms.push_back(code_.make.arm(code_.dualPattern(*choice.arms[i].pattern, matched), blocks[i]));
  finishBranches(binding, code_.make.match(value, arms, choice.isPartial), std::move(step), out);
}

/// The variables of a pattern in the new code.
void Adjoint::bindPattern(const Pattern& pattern, const Expr& scrutinee) {
  forEachPatternVar(pattern, [&](const Var& old) {
    const Type* type = code_.typing.of(old);
    code_.patternVar(old);
    code_.varied[&old] = holdsFunctions(type) || (code_.isVaried(scrutinee) && holdsFloats(type));
  });
}

/// Whether a record is open already; the variables of the pattern are then those of the other one.
bool Adjoint::isOpen(Atom record, const Pattern& pattern) {
  auto around = std::ranges::find(records_, record, &decltype(records_)::value_type::first);
  auto isName = [](const Pattern* part) {
    return part->kind == PatternKind::Wildcard || (part->var && !part->var->annotation);
  };
  if (around == records_.end() || pattern.kind != PatternKind::Constructor ||
      !std::ranges::all_of(pattern.parts, isName) ||
      !std::ranges::all_of(around->second->parts, isName))
    return false;
  for (size_t i = 0; i < pattern.parts.size(); ++i)
    if (const Var* old = pattern.parts[i]->var)
      code_.known(*old) = code_.named(*around->second->parts[i], code_.known(*old));
  return true;
}

bool Adjoint::isOpenable(const Match& choice) const {
  return choice.arms.size() == 1 && openings_.size() < mostOpenings;
}

/// The rest of the block at hand stands in the only arm.
void Adjoint::openArm(const Match& choice, BlockBuilder& out) {
  const Arm& arm = choice.arms[0];
  const Expr& scrutinee = *choice.scrutinee.value;
  const Type* matched = code_.typeOf(scrutinee);
  Atom value = code_.mapped(scrutinee);
  bindPattern(*arm.pattern, scrutinee);
  if (isOpen(value, *arm.pattern))
    return;
  auto pattern = [this, &arm, matched] { return code_.dualPattern(*arm.pattern, matched); };
  open({value, pattern, choice.isPartial}, out);
  if (code_.types.isRecord(matched) && arm.pattern->kind == PatternKind::Constructor)
    records_.emplace_back(value, arm.pattern);
}

void Adjoint::forwardOnlyArm(const Binding& binding, const Match& choice, BlockBuilder& out) {
  const Block& body = *choice.arms[0].body;
  openArm(choice, out);
  around_.push_back({&binding, false});
  code_.nameAs(binding, forward(body, out), out);
  around_.pop_back();
  code_.varied[binding.var] = code_.isVaried(*body.result.value);
  steps_[binding.var].isOpened = true;
}

/// A block whose way back follows at once, from ones; a branch at its end gives no pull-back, but
/// the cotangents. Answers with the value, null if nobody wants it.
Atom Adjoint::thereAndBack(const Block& block, const Type* type, Way& way) {
  size_t openAround = records_.size();
  std::span<const Binding> before = block.bindings;
  const Binding* last = before.empty() ? nullptr : &before.back();
  bool isLast = last && last->var == block.result.value && hasBlocks(*last->value);
  if (isLast)
    before = before.first(before.size() - 1);
  for (const Binding& binding : before)
    forward(binding, way.out);
  Atom value = nullptr;
  if (isLast && code_.isVaried(*last)) {
    value = lastThereAndBack(*last, type, way);
  } else {
    if (isLast)
      forward(*last, way.out);
    const Expr& result = *block.result.value;
    value = code_.mapped(result);
    SourceRange outer = turnBack();
    give(result, split(way.out, code_.types.one(way.out, value, type), type), way);
    code_.make.range = outer;
    if (isLast)
      backward(*last, way);
  }
  for (size_t i = before.size(); i-- > 0;)
    backward(before[i], way);
  records_.resize(openAround);
  return value;
}

Atom Adjoint::lastThereAndBack(const Binding& last, const Type* type, Way& way) {
  SourceRange outer = std::exchange(code_.make.range, last.value->range);
  const auto* choice = last.value->as<Match>();
  Atom value = nullptr;
  if (const auto* block = last.value->as<BlockExpr>()) {
    value = thereAndBack(*block->block, type, way);
  } else if (choice && isOpenable(*choice)) {
    openArm(*choice, way.out);
    value = thereAndBack(*choice->arms[0].body, type, way);
    giveMatched(*choice->arms[0].pattern, *choice->scrutinee.value, way);
  } else {
    if (choice)
      forwardMatch(last, *choice, way.out, /*isAtOnce=*/true);
    else
      forwardIf(last, static_cast<const If&>(*last.value), way.out, /*isAtOnce=*/true);
    const Step& step = steps_[last.var];
    turnBack();
    for (size_t i = 0; i < step.targets.size(); ++i)
      give(*step.targets[i], split(way.out, step.parts[i], code_.typing.of(*step.targets[i])), way);
    value = code_.known(*last.var);
  }
  code_.make.range = outer;
  return value;
}

void Adjoint::backwardMatch(const Binding& binding, const Match& choice, const Cotangent& incoming,
                            Way& way) {
  if (!steps_[binding.var].isOpened)
    return callBack(binding, incoming, way);
  backward(*choice.arms[0].body, incoming, way);
  giveMatched(*choice.arms[0].pattern, *choice.scrutinee.value, way);
}

/// Hands on what the variables of a pattern have gathered.
void Adjoint::giveMatched(const Pattern& pattern, const Expr& scrutinee, Way& way) {
  if (!hasCotangent(pattern, way))
    return;
  SourceRange outer = turnBack();
  give(scrutinee, patternCotangent(pattern, code_.typeOf(scrutinee), way), way);
  code_.make.range = outer;
}

bool Adjoint::hasCotangent(const Pattern& pattern, const Way& way) const {
  bool found = false;
  forEachPatternVar(pattern, [&](const Var& var) { found |= way.cotangents.contains(var.number); });
  return found;
}

/// The cotangent of what a pattern took apart, put together again.
Cotangent Adjoint::patternCotangent(const Pattern& pattern, const Type* type, Way& way) {
  Cotangent sum;
  if (pattern.kind == PatternKind::Var)
    return take(*pattern.var, way);
  if (!hasCotangent(pattern, way))
    return sum;
  bool isTuple = pattern.kind == PatternKind::Tuple;
  std::vector<const Type*> fields(type->parts.begin(), type->parts.end());
  if (!isTuple)
    fields = code_.types.fields(*pattern.constructor, type);
  if (isTuple || code_.types.isRecord(type)) {
    for (size_t i = 0; i < fields.size(); ++i)
      sum.fields.push_back(patternCotangent(*pattern.parts[i], fields[i], way));
    return sum;
  }
  std::vector<Atom> parts;
  for (size_t i = 0; i < fields.size(); ++i) {
    Cotangent part = patternCotangent(*pattern.parts[i], fields[i], way);
    Atom value = part.sum ? nullptr : code_.takenApart(*pattern.parts[i], fields[i], way.out);
    parts.push_back(whole(code_.types, way.out, part, value, fields[i]));
  }
  sum.sum = way.out.call(&code_.types.cotangent(*pattern.constructor, type), parts);
  return sum;
}

} // namespace transform
