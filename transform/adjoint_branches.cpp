// Branches: each gives its value and its pull-back, and all pull-backs give cotangents of the same
// variables, those that any branch has something for.
#include "transform/adjoint.h"

#include "lang/differentiable.h"
#include "lang/walk.h"

#include <algorithm>

namespace transform {

using namespace lang;

namespace {

/// How deep matches with one arm may stand in each other.
constexpr size_t mostOpenings = 200;

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
  std::map<uint32_t, const Var*> targets;
  for (const Branch& branch : branches) {
    const Way& way = branch.trip.way;
    // What is not in order with others only computes.
    step.hasEffects |= std::ranges::any_of(way.out.bindings(), &Binding::isLet);
    for (const auto& [number, gathered] : way.cotangents)
      targets.emplace(number, gathered.first);
  }
  for (const auto& [number, target] : targets)
    step.targets.push_back(target);
  bool hasBack = step.hasEffects || !targets.empty();
  std::vector<const Block*> blocks;
  for (Branch& branch : branches) {
    RoundTrip& trip = branch.trip;
    Way& way = trip.way;
    if (branch.matched && targets.contains(branch.matched->number) &&
        !way.cotangents.contains(branch.matched->number))
      way.cotangents[branch.matched->number] = {branch.matched, {way.out.call(branch.empty, {})}};
    blocks.push_back(hasBack ? finish(trip, packOf(packed(step.targets, way), way.out))
                             : finish(trip.there, trip.value));
  }
  return blocks;
}

void Adjoint::finishBranches(const Binding& binding, const Expr* value, Step step,
                             BlockBuilder& out) {
  if (!step.hasEffects && step.targets.empty())
    return code_.bindAs(binding, value, out);
  Atom both = out.bind(value);
  code_.known(*binding.var) = out.project(both, 0);
  step.back = backOf(both, out);
  steps_[binding.var] = std::move(step);
}

void Adjoint::forwardIf(const Binding& binding, const If& branch, BlockBuilder& out) {
  const Type* type = code_.typing.of(*binding.var);
  std::deque<Branch> branches;
  for (const Block* block : {branch.thenBlock, branch.elseBlock}) {
    branches.push_back({RoundTrip(code_.make)});
    start(branches.back().trip, *block, type);
  }
  Step step;
  std::vector<const Block*> blocks = joinBranches(branches, step);
  finishBranches(binding,
                 code_.make.branch(code_.mapped(*branch.condition.value), blocks[0], blocks[1]),
                 std::move(step), out);
}

void Adjoint::forwardMatch(const Binding& binding, const Match& choice, BlockBuilder& out) {
  if (choice.arms.size() == 1 && openings_.size() < mostOpenings)
    return forwardOnlyArm(binding, choice, out);
  const Type* type = code_.typing.of(*binding.var);
  const Expr& scrutinee = *choice.scrutinee.value;
  const Type* matched = code_.typeOf(scrutinee);
  std::deque<Branch> branches;
  Atom value = code_.mapped(scrutinee);
  for (const Arm& arm : choice.arms) {
    bindPattern(*arm.pattern, scrutinee);
    branches.push_back({RoundTrip(code_.make)});
    Branch& branch = branches.back();
    start(branch.trip, *arm.body, type);
    if (arm.pattern->kind == PatternKind::Constructor && arm.pattern->parts.empty() &&
        holdsFloats(matched)) {
      branch.matched = scrutinee.as<Var>();
      branch.empty = &code_.types.cotangent(*arm.pattern->constructor, matched);
    }
    giveMatched(*arm.pattern, scrutinee, branch.trip.way);
  }
  Step step;
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

/// An arm that is taken always, or nothing comes after it, goes on in the block at hand.
void Adjoint::forwardOnlyArm(const Binding& binding, const Match& choice, BlockBuilder& out) {
  const Arm& arm = choice.arms[0];
  const Expr& scrutinee = *choice.scrutinee.value;
  const Type* matched = code_.typeOf(scrutinee);
  Atom value = code_.mapped(scrutinee);
  bindPattern(*arm.pattern, scrutinee);
  if (!isOpen(value, *arm.pattern)) {
    auto pattern = [this, &arm, matched] { return code_.dualPattern(*arm.pattern, matched); };
    open({value, pattern, choice.isPartial}, out);
    if (code_.types.isRecord(matched))
      records_.emplace_back(value, arm.pattern);
  }
  code_.known(*binding.var) = forward(*arm.body, out);
  code_.varied[binding.var] = code_.isVaried(*arm.body->result.value);
  steps_[binding.var].isOpened = true;
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
  if (hasCotangent(pattern, way))
    give(scrutinee, patternCotangent(pattern, code_.typeOf(scrutinee), way), way);
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
