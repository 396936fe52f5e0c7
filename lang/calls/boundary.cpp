// Finding what is looked at: once for a module, before it runs.
#include "lang/calls/boundary.h"

#include "lang/ir/walk.h"
#include "lang/op/op.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace lang {

namespace {

/// Whether a type names a size of a tensor, outside of parts that are not compared.
bool saysSize(const Type& type) {
  if (type.isTensor())
    return std::ranges::any_of(
        type.shape, [](const Dim* dim) { return !dim->isAny() && dim->kind != DimKind::Unknown; });
  return type.isTuple() &&
         std::ranges::any_of(type.parts, [](const Type* part) { return saysSize(*part); });
}

bool saysSize(const Type* type) {
  return type && saysSize(*type);
}

using Symbols = std::set<const Dim*>;

void addSymbols(const Dim& dim, Symbols& symbols) {
  if (dim.kind == DimKind::Symbol)
    symbols.insert(&dim);
  for (const DimTerm& term : dim.terms)
    if (term.variable->hasSymbol)
      addSymbols(*term.variable, symbols);
}

/// The names in the tensors of a type that are compared.
void addSymbols(const Type& type, Symbols& symbols) {
  if (!type.hasSymbol)
    return;
  if (type.isTensor())
    for (const Dim* dim : type.shape)
      addSymbols(*dim, symbols);
  if (type.isTuple())
    for (const Type* part : type.parts)
      addSymbols(*part, symbols);
}

} // namespace

/// Visits functions before those nested in them.
class BoundaryFinder {
public:
  BoundaryFinder(const Module& module, const Typing& typing, Boundaries& found)
      : typing_(typing), found_(found) {
    found_.functions_.resize(module.functionCount);
    found_.vars_.resize(module.varCount);
    for (const TypeDefinition* definition : module.typeDefinitions)
      for (const Constructor* constructor : definition->constructors)
        if (std::ranges::any_of(constructor->fields,
                                [](const Type* field) { return saysSize(field); }))
          found_.constructors_.insert(constructor);
    for (const Global* global : module.globals)
      if (global->function)
        addDefinition(*global->function, fmt::format("@{}", global->name));
  }

private:
  /// A function with the names that its annotations have.
  struct Scope {
    const Function* function;
    std::string name;
    size_t parent;
    /// In its parameters and what it takes from outside; in all that it compares, nested functions
    /// included; in its own lets and result.
    Symbols bound = {}, wanted = {}, used = {};
  };
  static constexpr size_t noParent = SIZE_MAX;

  void addDefinition(const Function& root, std::string name) {
    scopes_ = {{&root, std::move(name), noParent}};
    for (size_t i = 0; i < scopes_.size(); ++i)
      readScope(i);
    for (size_t i = scopes_.size(); i-- > 1;)
      scopes_[scopes_[i].parent].wanted.insert(scopes_[i].wanted.begin(), scopes_[i].wanted.end());
    for (size_t i = 0; i < scopes_.size(); ++i)
      addScope(scopes_[i]);
  }

  void readScope(size_t at) {
    const Function& function = *scopes_[at].function;
    Scope& scope = scopes_[at];
    for (const Var* parameter : function.parameters)
      if (const Type* type = typeOf(*parameter))
        addSymbols(*type, scope.bound);
    if (const Type* type = resultOf(function))
      addSymbols(*type, scope.used);
    std::vector<const Block*> blocks{function.body};
    while (!blocks.empty()) {
      const Block& block = *blocks.back();
      blocks.pop_back();
      for (const Binding& binding : block.bindings)
        readBinding(binding, &binding == &block.bindings.back() ? block.result.value : nullptr, at,
                    blocks);
    }
    Scope& done = scopes_[at];
    done.wanted = done.bound;
    done.wanted.insert(done.used.begin(), done.used.end());
  }

  /// What a block ends with, a value for `tail`, is compared by whoever takes it.
  void readBinding(const Binding& binding, const Expr* tail, size_t at,
                   std::vector<const Block*>& blocks) {
    bool isOpen = binding.var != tail && comesOut(*binding.value);
    if (isOpen || saysSize(binding.var->annotation))
      readVar(*binding.var, at);
    if (const auto* nested = binding.value->as<Function>()) {
      std::string_view name = binding.var->name;
      scopes_.push_back({nested, name.empty() ? "" : fmt::format("%{}", name), at});
      return;
    }
    if (const auto* match = binding.value->as<Match>())
      for (const Arm& arm : match->arms)
        forEachPatternVar(*arm.pattern, [&](const Var& var) { readVar(var, at); });
    forEachBlock(*binding.value, [&](const Block& inner) { blocks.push_back(&inner); });
  }

  /// Whether the value comes out of what may hold another one than the type says. Operators are
  /// asked for their results at each call, and parts of tuples are compared with them.
  static bool comesOut(const Expr& value) {
    if (const auto* call = value.as<Call>()) {
      const auto* op = call->callee.value->as<OperatorRef>();
      return !op || op->row->action == Action::Call;
    }
    return value.as<RefRead>() || value.as<If>() || value.as<Match>() || value.as<BlockExpr>();
  }

  /// What a declaration says, and what was found where there is none or it leaves something open.
  static const Type* fuller(const Type* declared, const Type* found) {
    const Type* type = declared && !declared->hasUnknown ? declared : found;
    return saysSize(type) ? type : nullptr;
  }

  const Type* typeOf(const Var& var) const { return fuller(var.annotation, typing_.of(var)); }

  const Type* resultOf(const Function& function) const {
    return fuller(function.resultAnnotation, typing_.result(function));
  }

  void readVar(const Var& var, size_t at) {
    found_.vars_[var.number] = typeOf(var);
    if (const Type* type = typeOf(var))
      addSymbols(*type, scopes_[at].used);
  }

  /// What a function takes from outside is found before its nested functions are looked at.
  void addScope(Scope& scope) {
    const Function& function = *scope.function;
    FunctionChecks checks{&function, scope.name};
    for (size_t i = 0; i < function.parameters.size(); ++i)
      if (const Type* type = typeOf(*function.parameters[i]))
        checks.parameters.push_back({uint32_t(i), type});
    checks.result = resultOf(function);
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

  const Typing& typing_;
  Boundaries& found_;
  std::vector<Scope> scopes_;
};

Boundaries::Boundaries(const Module& module, const Typing& typing) {
  BoundaryFinder(module, typing, *this);
}

} // namespace lang
