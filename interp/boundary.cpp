// Finding what is looked at: once for a module, before it runs.
#include "interp/boundary.h"

#include "lang/walk.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace interp {

namespace {

/// Whether a type names a size of a tensor, outside of parts that are not compared.
bool saysSize(const lang::Type& type) {
  if (type.isTensor())
    return std::ranges::any_of(type.shape, [](const lang::Dim* dim) {
      return !dim->isAny() && dim->kind != lang::DimKind::Unknown;
    });
  return type.isTuple() &&
         std::ranges::any_of(type.parts, [](const lang::Type* part) { return saysSize(*part); });
}

bool saysSize(const lang::Type* type) {
  return type && saysSize(*type);
}

using Symbols = std::set<const lang::Dim*>;

void addSymbols(const lang::Dim& dim, Symbols& symbols) {
  if (dim.kind == lang::DimKind::Symbol)
    symbols.insert(&dim);
  for (const lang::DimTerm& term : dim.terms)
    if (term.variable->hasSymbol)
      addSymbols(*term.variable, symbols);
}

/// The names in the tensors of a type that are compared.
void addSymbols(const lang::Type& type, Symbols& symbols) {
  if (!type.hasSymbol)
    return;
  if (type.isTensor())
    for (const lang::Dim* dim : type.shape)
      addSymbols(*dim, symbols);
  if (type.isTuple())
    for (const lang::Type* part : type.parts)
      addSymbols(*part, symbols);
}

} // namespace

/// Visits functions before those nested in them.
class BoundaryFinder {
public:
  BoundaryFinder(const lang::Module& module, const lang::Typing& typing, Boundaries& found)
      : typing_(typing), found_(found) {
    found_.functions_.resize(module.functionCount);
    found_.vars_.resize(module.varCount);
    for (const lang::TypeDefinition* definition : module.typeDefinitions)
      for (const lang::Constructor* constructor : definition->constructors)
        if (std::ranges::any_of(constructor->fields,
                                [](const lang::Type* field) { return saysSize(field); }))
          found_.constructors_.insert(constructor);
    for (const lang::Global* global : module.globals)
      if (global->function)
        addDefinition(*global->function, fmt::format("@{}", global->name));
  }

private:
  /// A function with the names that its annotations have.
  struct Scope {
    const lang::Function* function;
    std::string name;
    size_t parent;
    /// In its parameters and what it takes from outside; in all that it compares, nested functions
    /// included; in its own lets and result.
    Symbols bound = {}, wanted = {}, used = {};
  };
  static constexpr size_t noParent = SIZE_MAX;

  void addDefinition(const lang::Function& root, std::string name) {
    scopes_ = {{&root, std::move(name), noParent}};
    for (size_t i = 0; i < scopes_.size(); ++i)
      readScope(i);
    for (size_t i = scopes_.size(); i-- > 1;)
      scopes_[scopes_[i].parent].wanted.insert(scopes_[i].wanted.begin(), scopes_[i].wanted.end());
    for (size_t i = 0; i < scopes_.size(); ++i)
      addScope(scopes_[i]);
  }

  void readScope(size_t at) {
    const lang::Function& function = *scopes_[at].function;
    Scope& scope = scopes_[at];
    for (const lang::Var* parameter : function.parameters)
      if (saysSize(parameter->annotation))
        addSymbols(*parameter->annotation, scope.bound);
    if (saysSize(function.resultAnnotation))
      addSymbols(*function.resultAnnotation, scope.used);
    std::vector<const lang::Block*> blocks{function.body};
    while (!blocks.empty()) {
      const lang::Block& block = *blocks.back();
      blocks.pop_back();
      for (const lang::Binding& binding : block.bindings)
        readBinding(binding, at, blocks);
    }
    Scope& done = scopes_[at];
    done.wanted = done.bound;
    done.wanted.insert(done.used.begin(), done.used.end());
  }

  void readBinding(const lang::Binding& binding, size_t at,
                   std::vector<const lang::Block*>& blocks) {
    readVar(*binding.var, at);
    if (const auto* nested = binding.value->as<lang::Function>()) {
      std::string_view name = binding.var->name;
      scopes_.push_back({nested, name.empty() ? "" : fmt::format("%{}", name), at});
      return;
    }
    if (const auto* match = binding.value->as<lang::Match>())
      for (const lang::Arm& arm : match->arms)
        lang::forEachPatternVar(*arm.pattern, [&](const lang::Var& var) { readVar(var, at); });
    lang::forEachBlock(*binding.value, [&](const lang::Block& inner) { blocks.push_back(&inner); });
  }

  void readVar(const lang::Var& var, size_t at) {
    if (!saysSize(var.annotation))
      return;
    found_.vars_[var.number] = true;
    addSymbols(*var.annotation, scopes_[at].used);
  }

  /// What a function takes from outside is found before its nested functions are looked at.
  void addScope(Scope& scope) {
    const lang::Function& function = *scope.function;
    FunctionChecks checks{&function, scope.name};
    for (size_t i = 0; i < function.parameters.size(); ++i)
      if (saysSize(function.parameters[i]->annotation))
        checks.parameters.push_back(uint32_t(i));
    if (saysSize(function.resultAnnotation))
      checks.result = function.resultAnnotation;
    checks.requirements = typing_.requirements(function);
    if (scope.parent != noParent) {
      Scope& parent = scopes_[scope.parent];
      std::ranges::set_intersection(scope.wanted, parent.bound, std::back_inserter(checks.outer));
      if (!checks.outer.empty() && found_.functions_[parent.function->number])
        found_.functions_[parent.function->number]->keepsSizes = true;
      scope.bound.insert(checks.outer.begin(), checks.outer.end());
    }
    checks.keepsSizes = std::ranges::any_of(
        scope.used, [&](const auto* used) { return scope.bound.contains(used); });
    if (!checks.parameters.empty() || checks.result || !checks.outer.empty() ||
        !checks.requirements.empty())
      found_.functions_[function.number] = std::make_unique<FunctionChecks>(std::move(checks));
  }

  const lang::Typing& typing_;
  Boundaries& found_;
  std::vector<Scope> scopes_;
};

Boundaries::Boundaries(const lang::Module& module, const lang::Typing& typing) {
  BoundaryFinder(module, typing, *this);
}

} // namespace interp
