// Named dimensions in inference: which are rigid, their instances at calls, and what definitions
// need of them.
#include "lang/op/op.h"
#include "typecheck/infer.h"

#include <algorithm>
#include <fmt/format.h>

namespace typecheck {

using lang::Dim;
using lang::Message;
using lang::Type;

/// What the signature names is quantified: callers choose it.
void Inference::enterDefinition(const lang::Global& global) {
  definition_ = &global;
  auto& rigid = definitionDims_[&global].rigid;
  auto bindNames = [&](const Type* annotation, const Type* found) {
    if (!annotation && !found)
      return;
    for (const Dim* dim : namedDims(found ? found : annotation))
      rigid.insert(dim);
  };
  for (const lang::Var* parameter : global.function->parameters)
    bindNames(parameter->annotation, foundType(*parameter));
  bindNames(global.function->resultAnnotation, foundResult(*global.function));
}

/// A form that is declared is a size, so it is not negative.
void Inference::requireSizes(const Type* annotation) {
  unifier_.mapDims(annotation, [&](const Dim* dim) {
    if (!dim->isConstant() && !isAtLeast(dim, 0)) {
      lang::DimBound bound = simplified({dim});
      lang::SourceRange range = definition_->range;
      lang::Requirement requirement{bound.dim, bound.least, nullptr, range};
      relations_.bounds.push_back({definition_, nullptr, requirement, bound.dim, range});
    }
    return dim;
  });
}

/// A declared type in the current definition: names that its signature does not bind are unknowns.
const Type* Inference::ownDims(const Type* annotation) {
  if (!annotation->hasSymbol)
    return annotation;
  DefinitionDims& dims = definitionDims_[definition_];
  const Type* own = unifier_.mapDims(annotation, [&](const Dim* form) {
    return unifier_.types().substitute(form, [&](const Dim* dim) {
      if (!dim->isNamed() || dims.rigid.contains(dim))
        return dim;
      const Dim*& flexible = dims.flexible[dim];
      return flexible ? flexible : flexible = unifier_.dims().fresh();
    });
  });
  requireSizes(own);
  return own;
}

const Type* Inference::freshDims(const Type* type,
                                 std::unordered_map<const Dim*, const Dim*>& sizes) {
  return unifier_.mapDims(type, [&](const Dim* form) {
    return unifier_.types().substitute(form, [&](const Dim* dim) {
      if (!dim->isNamed())
        return dim;
      const Dim*& own = sizes[dim];
      return own ? own : own = unifier_.dims().fresh();
    });
  });
}

/// The type of a global at one use: fresh unknowns for its dimensions, whose bounds come along.
const Type* Inference::instantiateDims(const Type* type, const lang::Global& global) {
  if (!type->hasSymbol)
    return type;
  std::unordered_map<const Dim*, const Dim*> sizes;
  const Type* instance = freshDims(type, sizes);
  if (&global == definition_)
    recursiveDims_.insert(recursiveDims_.end(), sizes.begin(), sizes.end());
  for (const lang::Requirement& requirement : typing_.requirements(*global.function)) {
    const Dim* dim = unifier_.types().substitute(requirement.dim, [&](const Dim* variable) {
      auto found = sizes.find(variable);
      return found == sizes.end() ? unifier_.types().any() : found->second;
    });
    relations_.bounds.push_back({definition_, &global, requirement, dim, useRange_});
  }
  return instance;
}

/// A size of a recursive call that nothing determines is that of the caller, as it would be if the
/// function were not polymorphic in it.
void Inference::closeRecursion() {
  for (const auto& [name, size] : std::exchange(recursiveDims_, {}))
    if (unifier_.dims().resolve(size)->kind == lang::DimKind::Unknown)
      unifier_.dims().unify(size, name);
}

namespace {

void collectUnknowns(const Dim* root, std::vector<const Dim*>& found) {
  std::vector<const Dim*> stack{root};
  while (!stack.empty()) {
    const Dim* dim = stack.back();
    stack.pop_back();
    if (!dim->hasUnknown)
      continue;
    if (dim->kind == lang::DimKind::Unknown && std::ranges::count(found, dim) == 0)
      found.push_back(dim);
    for (size_t i = dim->terms.size(); i-- > 0;)
      stack.push_back(dim->terms[i].variable);
  }
}

} // namespace

/// Whether a name means something in a definition of the group already.
bool Inference::isSizeName(std::string_view name,
                           std::span<const lang::Global* const> group) const {
  const Dim* symbol = module_.types.symbol(name);
  auto knows = [&](const lang::Global* global) {
    const DefinitionDims& dims = definitionDims_.at(global);
    return dims.rigid.contains(symbol) || dims.flexible.contains(symbol);
  };
  auto declares = [&](const lang::Function* function) {
    return std::ranges::count(function->generics, name, &lang::TypeParameter::name) > 0;
  };
  return std::ranges::any_of(group, knows) || std::ranges::any_of(groupFunctions_, declares);
}

/// The name that the bodies of a group give a size, which is no name of a signature, else a new
/// one.
std::string_view Inference::sizeName(const Dim* size, std::span<const lang::Global* const> group) {
  std::string_view name;
  for (const lang::Global* global : group)
    for (const auto& [symbol, unknown] : definitionDims_[global].flexible)
      if (unifier_.dims().resolve(unknown) == size && (name.empty() || symbol->name < name))
        name = symbol->name;
  auto isRigid = [&](const lang::Global* global) {
    return definitionDims_[global].rigid.contains(unifier_.types().symbol(name));
  };
  if (!name.empty() && std::ranges::none_of(group, isRigid))
    return name;
  std::string made = "n";
  for (size_t i = 1; isSizeName(made, group); ++i)
    made = "n" + std::to_string(i);
  return unifier_.types().symbol(made)->name;
}

/// What nothing says of the sizes of parameters is for callers to choose: it becomes a name, as if
/// the signature gave it. Sizes that equations still wait for are left to run time.
void Inference::nameSizes(std::span<const lang::Global* const> group) {
  std::vector<const Dim*> waiting, open;
  for (const auto& [equation, range] : equations_)
    for (const Dim* side : {equation.left, equation.right})
      collectUnknowns(unifier_.dims().resolve(side), waiting);
  for (const lang::Global* global : group)
    for (const lang::Var* parameter : global->function->parameters)
      unifier_.mapDims(unifier_.resolve(varTypes_[parameter->number]), [&](const Dim* dim) {
        collectUnknowns(dim, open);
        return dim;
      });
  std::erase_if(open, [&](const Dim* size) { return std::ranges::count(waiting, size) > 0; });
  std::unordered_map<const Dim*, const Dim*> names;
  for (const Dim* size : open) {
    names[size] = unifier_.types().symbol(sizeName(size, group));
    definitionDims_[group[0]].rigid.insert(names[size]);
  }
  settleSizes(names);
  for (const Dim* size : open)
    unifier_.dims().unify(size, names[size]);
}

/// Lets one of the sizes be one of the others, so that a call is not refused.
static void chooseSize(std::span<const Dim* const> sizes, std::span<const Dim* const> others,
                       std::unordered_map<const Dim*, const Dim*>& names,
                       const std::function<bool()>& isRefused) {
  for (const Dim* size : sizes) {
    auto name = names.find(size);
    if (name == names.end())
      continue;
    const Dim* before = name->second;
    for (const Dim* other : others) {
      name->second = other;
      if (!isRefused())
        return;
    }
    name->second = before;
  }
}

/// An operator that was asked while a size was open takes it for what fits. Where it refuses a
/// name, which is any size, the size is another one of its operands, or else left to run time.
void Inference::settleSizes(std::unordered_map<const Dim*, const Dim*>& names) {
  if (names.empty())
    return;
  auto settled = [&](const Dim* form) {
    return unifier_.types().substitute(form, [&](const Dim* size) {
      auto found = names.find(size);
      return found == names.end() ? size : found->second;
    });
  };
  for (const PendingRelation* relation : relations_.answeredOpen()) {
    if (!relations_.isRefused(*relation, settled))
      continue;
    std::vector<const Dim*> sizes, others;
    for (const Type* operand : relation->operands)
      unifier_.mapDims(unifier_.resolve(operand), [&](const Dim* dim) {
        collectUnknowns(dim, sizes);
        return dim;
      });
    for (const Type* operand : relation->operands)
      if (const Type* known = unifier_.resolve(operand); known->isTensor())
        for (const Dim* dim : known->shape)
          others.push_back(settled(dim));
    others.push_back(unifier_.types().any());
    chooseSize(sizes, others, names, [&] { return relations_.isRefused(*relation, settled); });
  }
}

/// Equations that had too many unknowns when they came up; one that is still open is left to run
/// time.
void Inference::checkEquations() {
  for (const auto& [equation, range] : std::exchange(equations_, {}))
    if (!unifier_.dims().unify(equation.left, equation.right))
      diagnostics_.report(Message::TypeMismatch, range,
                          lang::dimText(unifier_.dims().resolve(equation.left)),
                          lang::dimText(unifier_.dims().resolve(equation.right)));
  unifier_.dims().takeEquations();
}

namespace {

using Requirements = std::unordered_map<const lang::Global*, std::vector<lang::Requirement>>;

void addRequirement(std::vector<lang::Requirement>& list, const lang::Requirement& requirement) {
  auto isSame = [&](const lang::Requirement& other) {
    return other.dim == requirement.dim && other.divisor == requirement.divisor;
  };
  auto known = std::ranges::find_if(list, isSame);
  if (known == list.end())
    list.push_back(requirement);
  else
    known->least = std::max(known->least, requirement.least);
}

bool isFulfilled(const Dim* dim, const lang::Requirement& requirement) {
  if (requirement.divisor == 1)
    return isAtLeast(dim, requirement.least);
  auto divides = [&](int64_t number) { return number % requirement.divisor == 0; };
  if (dim->isConstant())
    return divides(dim->value);
  return dim->kind == lang::DimKind::Linear && divides(dim->value) &&
         std::ranges::all_of(dim->terms, divides, &lang::DimTerm::coefficient);
}

} // namespace

void Inference::reportBound(const OpenBound& bound) {
  const lang::Requirement& source = bound.requirement;
  const lang::Global* definition = bound.callee ? bound.callee : bound.definition;
  std::string who = bound.callee || !source.row ? fmt::format("`@{}`", definition->name)
                                                : fmt::format("`{}`", source.row->name);
  std::string what = fmt::format("`{}`", lang::dimText(source.dim));
  auto& report = source.divisor > 1
                     ? diagnostics_.report(Message::DimensionMultiple, bound.range, who, what,
                                           source.divisor, bound.dim->value)
                     : diagnostics_.report(Message::DimensionBound, bound.range, who, what,
                                           source.least, bound.dim->value);
  report.label(source.range, source.row ? fmt::format("because of this `{}`", source.row->name)
                                        : "because of a size that is declared in it");
}

/// Bounds over numbers are checked, those over names become requirements of the definition, and the
/// others are left to run time.
void Inference::checkBounds() {
  Requirements needs;
  for (OpenBound& bound : std::exchange(relations_.bounds, {})) {
    bound.dim = unifier_.dims().resolve(bound.dim);
    const lang::Requirement& source = bound.requirement;
    if (bound.dim->hasUnknown || bound.dim->isAny() || isFulfilled(bound.dim, source))
      continue;
    if (bound.dim->isConstant())
      reportBound(bound);
    else
      addRequirement(needs[bound.definition],
                     {bound.dim, source.least, source.row, source.range, source.divisor});
  }
  for (auto& [global, list] : needs)
    typing_.setRequirements(*global->function, std::move(list));
}

} // namespace typecheck
