// A step of the text has the place and the kind of a value in it; a pair and the value that is
// taken out of it have the same place.
#include "driver/session/derived_code.h"

#include "lang/calls/run_value.h"
#include "lang/ir/walk.h"
#include "lang/source/way_back.h"

namespace driver {

using lang::ExprKind;

DerivedCode::DerivedCode(const Program& program)
    : written_(program.written), hidden_(program.module->varCount) {
  if (!written_.isKnown())
    return;
  std::unordered_map<const lang::Expr*, lang::SourceRange> steps;
  lang::walk(
      *program.module,
      [&](const lang::Binding& binding) {
        const lang::SourceRange range = binding.value->range;
        const auto* project = binding.value->as<lang::Project>();
        bool isWritten = isStep(binding);
        if (isWritten)
          steps.emplace(binding.var, range);
        auto pair = project && !isWritten ? steps.find(project->tuple.value) : steps.end();
        if (pair != steps.end() && pair->second == range && !lang::isOnWayBack(range)) {
          auto* var = static_cast<const lang::Var*>(project->tuple.value);
          hidden_[var->number] = true;
          hidden_[binding.var->number] = project->index != 0;
          if (project->index == 0)
            values_.emplace(var, &binding);
          return;
        }
        bool isNamed = binding.isLet() && !binding.var->name.empty() && !lang::isOnWayBack(range);
        hidden_[binding.var->number] = !isWritten && !isNamed;
      },
      [](const lang::Operand&) {});
}

bool DerivedCode::isStep(const lang::Binding& binding) const {
  const lang::SourceRange range = binding.value->range;
  if (!written_.isKnown())
    return true;
  if (!lang::isOnWayBack(range))
    return written_.values.contains(Written::valueOf(binding));
  switch (binding.value->kind) {
  case ExprKind::Call:
    return binding.value->as<lang::Call>()->callee.value->kind != ExprKind::Constructor;
  case ExprKind::If:
  case ExprKind::Match:
    return true;
  default:
    return false;
  }
}

const lang::Binding* DerivedCode::valueBinding(const lang::Var& var) const {
  auto found = values_.find(&var);
  return found == values_.end() ? nullptr : found->second;
}

const runtime::Value& DerivedCode::valueAlone(const runtime::Value& value) {
  if (value.kind() != runtime::ValueKind::Tuple || value.fields().size() != 2)
    return value;
  const runtime::Value& second = value.fields()[1];
  bool hasPullBack = second.kind() == runtime::ValueKind::Closure &&
                     lang::isOnWayBack(lang::functionOf(second).range);
  return hasPullBack ? value.fields()[0] : value;
}

} // namespace driver
