// What a function reaches is looked at once; as soon as one part is not quiet, the answer is no.
#include "transform/analysis/quiet_code.h"

#include "lang/calls/call_function.h"
#include "lang/ir/walk.h"
#include "lang/op/compute.h"
#include "lang/op/op.h"
#include "lower/tensor/access.h"
#include "transform/analysis/effects.h"
#include "transform/analysis/known_functions.h"
#include "transform/analysis/type_parts.h"

#include <algorithm>
#include <unordered_set>

namespace transform {

using namespace lang;

namespace {

/// Larger ones are no functions on lists.
constexpr size_t largestBody = 300;

bool isClosed(const Type* type) {
  return type && !type->hasUnknown && !type->hasSymbol && !type->hasAny;
}

} // namespace

QuietCode::QuietCode(const Module& module, const Typing& typing)
    : typing_(typing), tensorsChange_(writesTensors(module)) {}

bool QuietCode::isQuietCall(const Call& call, const Type* type) const {
  const auto* op = call.callee.value->as<OperatorRef>();
  if (!op)
    return true;
  auto isClosedAtom = [&](const Operand& operand) { return isClosed(typing_.of(*operand.value)); };
  if (!tensorFunctionRow(call) || !std::ranges::all_of(call.arguments, isClosedAtom))
    return false;
  auto function = functionOfCall(call, type, typing_);
  return function && !tensor::mayFault(*function);
}

bool QuietCode::isQuietValue(const Expr& value, const Type* type) const {
  bool holdsCode = false;
  forEachAttributeAtom(value, [&](const Expr&) { holdsCode = true; });
  if (holdsCode)
    return false;
  switch (value.kind) {
  case ExprKind::RefNew:
  case ExprKind::RefRead:
  case ExprKind::RefWrite:
  case ExprKind::Hole:
  case ExprKind::Operator:
    return false;
  case ExprKind::Match:
    return !static_cast<const Match&>(value).isPartial;
  case ExprKind::Function:
    return static_cast<const Function&>(value).generics.empty() &&
           static_cast<const Function&>(value).attributes.empty();
  case ExprKind::Call:
    return isQuietCall(static_cast<const Call&>(value), type);
  default:
    return true;
  }
}

bool QuietCode::isQuietPart(const Function& root) {
  Part& made = parts_[&root];
  auto isClosedVar = [&](const Var* var) { return isClosed(typing_.of(*var)); };
  if (!root.attributes.empty() || !isClosed(typing_.result(root)) ||
      !std::ranges::all_of(root.parameters, isClosedVar) || bodySize(root) > largestBody)
    return false;
  bool isQuiet = true;
  // An operator may only be called: as a value it could be called with anything.
  size_t mentioned = 0, called = 0;
  walk(
      *root.body,
      [&](const Binding& binding) {
        const Type* type = typing_.of(*binding.var);
        isQuiet = isQuiet && isClosed(type) && isQuietValue(*binding.value, type);
        if (const auto* match = binding.value->as<Match>())
          for (const Arm& arm : match->arms)
            forEachPatternVar(*arm.pattern,
                              [&](const Var& var) { isQuiet = isQuiet && isClosedVar(&var); });
        const auto* call = binding.value->as<Call>();
        called += call && call->callee.value->kind == ExprKind::Operator;
      },
      [&](const Operand& operand) {
        isQuiet &= operand.value->kind != ExprKind::Hole;
        mentioned += operand.value->kind == ExprKind::Operator;
        // The fields of data are compared where it is made.
        if (const auto* constructor = operand.value->as<Constructor>())
          isQuiet = isQuiet && std::ranges::all_of(constructor->fields, isClosed);
        if (const auto* global = operand.value->as<Global>())
          made.mentions.push_back(global);
      });
  return isQuiet && mentioned == called;
}

const QuietCode::Part& QuietCode::part(const Function& function) {
  auto [found, isNew] = parts_.try_emplace(&function);
  if (isNew) {
    bool isQuiet = isQuietPart(function);
    parts_[&function].isQuiet = isQuiet;
  }
  return parts_[&function];
}

bool QuietCode::isQuiet(const Function& root) {
  if (auto found = known_.find(&root); found != known_.end())
    return found->second;
  if (tensorsChange_)
    return false;
  // What is reached, and by which before it.
  std::vector<const Function*> reached{&root};
  std::unordered_map<const Function*, std::vector<const Function*>> mentioners{{&root, {}}};
  for (size_t i = 0; i < reached.size(); ++i) {
    const Function* next = reached[i];
    auto found = known_.find(next);
    if (found != known_.end() && found->second)
      continue;
    const Part& here = part(*next);
    bool isQuiet = here.isQuiet && found == known_.end() &&
                   std::ranges::all_of(here.mentions, [](auto* each) { return each->function; });
    if (!isQuiet) {
      spreadNoise(*next, mentioners);
      return false;
    }
    for (const Global* global : here.mentions) {
      auto [known, isNew] = mentioners.try_emplace(global->function);
      known->second.push_back(next);
      if (isNew)
        reached.push_back(global->function);
    }
  }
  for (const Function* function : reached)
    known_[function] = true;
  return true;
}

/// Notes that a function is not quiet, nor are those that reach it.
void QuietCode::spreadNoise(
    const Function& function,
    const std::unordered_map<const Function*, std::vector<const Function*>>& mentioners) {
  std::vector<const Function*> open{&function};
  known_[&function] = false;
  while (!open.empty()) {
    const Function* next = open.back();
    open.pop_back();
    for (const Function* mentioner : mentioners.at(next))
      if (known_.try_emplace(mentioner, false).second)
        open.push_back(mentioner);
  }
}

bool QuietCode::isQuiet(const Global& global) {
  return global.function && isQuiet(*global.function);
}

bool QuietCode::isPlain(const Type* root) {
  if (auto found = plain_.find(root); found != plain_.end())
    return found->second;
  bool isPlain = isClosed(root);
  std::vector<const Type*> stack{root};
  std::unordered_set<const Type*> seen;
  std::unordered_set<const TypeDefinition*> definitions;
  while (isPlain && !stack.empty()) {
    const Type* type = stack.back();
    stack.pop_back();
    if (!type || !seen.insert(type).second)
      continue;
    isPlain = type->kind != TypeKind::Function && type->kind != TypeKind::Reference &&
              type->kind != TypeKind::Operator && isClosed(type);
    stack.insert(stack.end(), type->parts.begin(), type->parts.end());
    if (type->definition && definitions.insert(type->definition).second)
      for (const Constructor* constructor : type->definition->constructors)
        stack.insert(stack.end(), constructor->fields.begin(), constructor->fields.end());
  }
  return plain_[root] = isPlain;
}

} // namespace transform
