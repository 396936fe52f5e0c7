// Branches: each gives its value and its pull-back, and all pull-backs give cotangents of the same
// variables, those that any branch has something for.
#include "transform/adjoint.h"

#include "lang/differentiable.h"
#include "lang/walk.h"

#include <algorithm>

namespace transform {

using namespace lang;

/// One branch there and back.
struct Adjoint::Branch {
  BlockBuilder there;
  Way way;
  Atom value = nullptr;
  Var* incoming = nullptr;
  /// Of an arm for a constructor without fields: what was matched, which needs no more to be zero.
  const Var* matched = nullptr;
  const Constructor* empty = nullptr;
};

/// Writes a branch there, and back as far as its own bindings go.
void Adjoint::startBranch(Branch& branch, const Block& block, const Type* type) {
  branch.value = forward(block, branch.there);
  branch.incoming = code_.make.var(VarOrigin::Parameter, "d", code_.types.cotangent(type));
  give(*block.result.value, split(branch.way.out, branch.incoming, type), branch.way);
  backward(block, branch.way);
}

/// Lets all branches give the same; the result are their blocks.
std::vector<const Block*> Adjoint::joinBranches(std::deque<Branch>& branches, Step& step) {
  std::map<uint32_t, const Var*> targets;
  for (const Branch& branch : branches) {
    // What is not in order with others only computes.
    step.hasEffects |= std::ranges::any_of(branch.way.out.bindings(), &Binding::isLet);
    for (const auto& [number, gathered] : branch.way.cotangents)
      targets.emplace(number, gathered.first);
  }
  for (const auto& [number, target] : targets)
    step.targets.push_back(target);
  bool hasBack = step.hasEffects || !targets.empty();
  std::vector<const Block*> blocks;
  for (Branch& branch : branches) {
    Atom result = branch.value;
    if (branch.matched && targets.contains(branch.matched->number) &&
        !branch.way.cotangents.contains(branch.matched->number))
      branch.way.cotangents[branch.matched->number] = {branch.matched,
                                                       {branch.way.out.call(branch.empty, {})}};
    if (hasBack) {
      Atom pack = packOf(packed(step.targets, branch.way), branch.way.out);
      Atom back = branch.there.bind(pullBack(branch.incoming, pack, branch.way));
      result = branch.there.tuple({branch.value, back});
    }
    blocks.push_back(branch.there.finish(result));
  }
  return blocks;
}

void Adjoint::finishBranches(const Binding& binding, const Expr* value, Step step,
                             BlockBuilder& out) {
  if (!step.hasEffects && step.targets.empty())
    return code_.bindAs(binding, value, out);
  Atom both = out.bind(value);
  code_.known(*binding.var) = out.project(both, 0);
  step.back = out.project(both, 1);
  steps_[binding.var] = std::move(step);
}

void Adjoint::forwardIf(const Binding& binding, const If& branch, BlockBuilder& out) {
  const Type* type = code_.typing.of(*binding.var);
  std::deque<Branch> branches;
  for (const Block* block : {branch.thenBlock, branch.elseBlock}) {
    branches.push_back({BlockBuilder(code_.make), {BlockBuilder(code_.make)}});
    startBranch(branches.back(), *block, type);
  }
  Step step;
  std::vector<const Block*> blocks = joinBranches(branches, step);
  finishBranches(binding,
                 code_.make.branch(code_.mapped(*branch.condition.value), blocks[0], blocks[1]),
                 std::move(step), out);
}

void Adjoint::forwardMatch(const Binding& binding, const Match& choice, BlockBuilder& out) {
  const Type* type = code_.typing.of(*binding.var);
  const Expr& scrutinee = *choice.scrutinee.value;
  const Type* matched = code_.typeOf(scrutinee);
  std::deque<Branch> branches;
  Atom value = code_.mapped(scrutinee);
  for (const Arm& arm : choice.arms) {
    forEachPatternVar(*arm.pattern, [&](const Var& old) {
      const Type* held = code_.typing.of(old);
      code_.patternVar(old);
      code_.varied[&old] = holdsFunctions(held) || (code_.isVaried(scrutinee) && holdsFloats(held));
    });
    branches.push_back({BlockBuilder(code_.make), {BlockBuilder(code_.make)}});
    Branch& branch = branches.back();
    startBranch(branch, *arm.body, type);
    if (arm.pattern->kind == PatternKind::Constructor && arm.pattern->parts.empty() &&
        holdsFloats(matched)) {
      branch.matched = scrutinee.as<Var>();
      branch.empty = &code_.types.cotangent(*arm.pattern->constructor, matched);
    }
    if (hasCotangent(*arm.pattern, branch.way))
      give(scrutinee, patternCotangent(*arm.pattern, matched, branch.way), branch.way);
  }
  Step step;
  std::vector<const Block*> blocks = joinBranches(branches, step);
  std::vector<Arm> arms;
  for (size_t i = 0; i < blocks.size(); ++i)
    arms.push_back(code_.make.arm(code_.dualPattern(*choice.arms[i].pattern, matched), blocks[i]));
  finishBranches(binding, code_.make.match(value, arms, choice.isPartial), std::move(step), out);
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
  if (pattern.kind == PatternKind::Tuple) {
    for (size_t i = 0; i < pattern.parts.size(); ++i)
      sum.fields.push_back(patternCotangent(*pattern.parts[i], type->parts[i], way));
    return sum;
  }
  std::vector<const Type*> fields = code_.types.fields(*pattern.constructor, type);
  std::vector<Atom> parts;
  for (size_t i = 0; i < fields.size(); ++i) {
    Cotangent part = patternCotangent(*pattern.parts[i], fields[i], way);
    bool isWhole = !part.isZero() && !fields[i]->isTuple();
    Atom value = isWhole ? nullptr : code_.takenApart(*pattern.parts[i], fields[i], way.out);
    parts.push_back(whole(code_.types, way.out, part, value, fields[i]));
  }
  sum.sum = way.out.call(&code_.types.cotangent(*pattern.constructor, type), parts);
  return sum;
}

} // namespace transform
