// Checkers of properties. All but A-normal form ask whether the placement of bindings would change
// the module.
#include "transform/properties.h"

#include "lang/ir/walk.h"
#include "transform/analysis/placement.h"

#include <utility>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

std::string nameOf(const Var& var) {
  return var.name.empty() ? fmt::format("variable number {}", var.number)
                          : fmt::format("`%{}`", var.name);
}

std::vector<std::string> notNormal(const Module& module) {
  std::vector<std::string> found;
  walk(
      module,
      [&](const Binding& binding) {
        if (!binding.isLet())
          found.push_back(nameOf(*binding.var) + " is a temporary");
        if (binding.value->kind == ExprKind::Block)
          found.push_back("the value of " + nameOf(*binding.var) + " is a block");
      },
      [](const Operand&) {});
  return found;
}

std::vector<std::string> changed(const Module& module, const PlacementRules& rules,
                                 std::string_view what) {
  std::vector<std::string> found;
  for (const Binding* binding : misplaced(module, rules))
    found.push_back(fmt::format("{} {}", nameOf(*binding->var), what));
  return found;
}

} // namespace

std::string_view propertyName(Property property) {
  switch (property) {
  case Property::ANormal:
    return "A-normal form";
  case Property::Placed:
    return "placed temporaries";
  case Property::Live:
    return "no dead code";
  case Property::Graph:
    return "graph form";
  }
  return {};
}

std::vector<std::string> violations(const Module& module, Property property) {
  switch (property) {
  case Property::ANormal:
    return notNormal(module);
  case Property::Placed:
    return changed(module, {}, "does not stand where it would be read");
  case Property::Live:
    return changed(module, {.dropsLets = true}, "is not needed");
  case Property::Graph:
    return changed(module, {.loosensLets = true}, "could be a temporary");
  }
  return {};
}

} // namespace transform
