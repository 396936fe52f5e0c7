#include "typecheck/group_sizes.h"

#include "lang/op/op.h"

#include <algorithm>
#include <fmt/format.h>

namespace typecheck {

using lang::Dim;
using lang::Message;
using lang::Type;

void GroupSizes::clear() {
  names_.clear();
  recursive_.clear();
}

/// What the signature names is quantified: callers choose it.
void GroupSizes::enter(const lang::Global& global) {
  definition_ = &global;
  auto& rigid = names_[&global].rigid;
  auto bindNames = [&](const Type* annotation, const Type* found) {
    if (!annotation && !found)
      return;
    for (const Dim* dim : namedDims(found ? found : annotation))
      rigid.insert(dim);
  };
  for (const lang::Var* parameter : global.function->parameters)
    bindNames(parameter->annotation, group_.foundType(*parameter));
  bindNames(global.function->resultAnnotation, group_.foundResult(*global.function));
}

void GroupSizes::enterOwn(const lang::Global& instance) {
  definition_ = &instance;
  names_[&instance] = {};
}

/// A form that is declared is a size, so it is not negative.
void GroupSizes::requireSizes(const Type* annotation) {
  unifier_.mapDims(annotation, [&](const Dim* dim) {
    if (!dim->isConstant() && !isAtLeast(dim, 0)) {
      lang::DimBound bound = simplified({dim});
      lang::SourceRange range = definition_->range;
      lang::Requirement requirement{bound.dim, bound.least, nullptr, range};
      group_.relations.bounds.push_back({definition_, nullptr, requirement, bound.dim, range});
    }
    return dim;
  });
}

const Type* GroupSizes::own(const Type* annotation) {
  if (!annotation->hasSymbol)
    return annotation;
  Names& dims = names_[definition_];
  const Type* mapped = unifier_.mapDims(annotation, [&](const Dim* form) {
    return unifier_.types().substitute(form, [&](const Dim* dim) {
      if (!dim->isNamed() || dims.rigid.contains(dim))
        return dim;
      const Dim*& flexible = dims.flexible[dim];
      return flexible ? flexible : flexible = unifier_.dims().fresh();
    });
  });
  requireSizes(mapped);
  return mapped;
}

/// A declared type gets an unknown of its own, so that `?` elsewhere can weaken it as in Relay; one
/// with names, which Relay has not, keeps them. No declared type is an open unknown. What the last
/// walk found counts as declared.
const Type* GroupSizes::declared(const Type* annotation, const Type* found) {
  if (!annotation && !found)
    return unifier_.fresh();
  const Type* known = annotation ? own(annotation) : found;
  if (found) {
    // Sizes that are only named here are those of what was found.
    if (annotation && annotation->hasSymbol)
      unifier_.unify(known, found, true);
    known = found;
  }
  return known->hasSymbol && !known->hasUnknown ? known : unifier_.slot(known);
}

const Type* GroupSizes::fresh(const Type* type, SizeMap& sizes) {
  return unifier_.mapDims(type, [&](const Dim* form) {
    return unifier_.types().substitute(form, [&](const Dim* dim) {
      if (!dim->isNamed())
        return dim;
      const Dim*& own = sizes[dim];
      return own ? own : own = unifier_.dims().fresh();
    });
  });
}

const Type* GroupSizes::instance(const Type* type, const lang::Global& global,
                                 lang::SourceRange range) {
  if (!type->hasSymbol)
    return type;
  SizeMap sizes;
  const Type* instance = fresh(type, sizes);
  if (&global == definition_)
    recursive_.insert(recursive_.end(), sizes.begin(), sizes.end());
  for (const lang::Requirement& requirement :
       group_.checking.typing.requirements(*global.function)) {
    const Dim* dim = unifier_.types().substitute(requirement.dim, [&](const Dim* variable) {
      auto found = sizes.find(variable);
      return found == sizes.end() ? unifier_.types().any() : found->second;
    });
    group_.relations.bounds.push_back({definition_, &global, requirement, dim, range});
  }
  return instance;
}

void GroupSizes::closeRecursion() {
  for (const auto& [name, size] : std::exchange(recursive_, {}))
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
bool GroupSizes::isTaken(std::string_view name) const {
  const Dim* symbol = unifier_.types().symbol(name);
  auto knows = [&](const lang::Global* global) {
    const Names& dims = names_.at(global);
    return dims.rigid.contains(symbol) || dims.flexible.contains(symbol);
  };
  auto declares = [&](const lang::Function* function) {
    return std::ranges::count(function->generics, name, &lang::TypeParameter::name) > 0;
  };
  return std::ranges::any_of(group_.definitions, knows) ||
         std::ranges::any_of(group_.seen.functions, declares);
}

/// The name that the bodies of a group give a size, which is no name of a signature, else a new
/// one.
std::string_view GroupSizes::nameFor(const Dim* size) {
  std::string_view name;
  for (const lang::Global* global : group_.definitions)
    for (const auto& [symbol, unknown] : names_[global].flexible)
      if (unifier_.dims().resolve(unknown) == size && (name.empty() || symbol->name < name))
        name = symbol->name;
  auto isRigid = [&](const lang::Global* global) {
    return names_[global].rigid.contains(unifier_.types().symbol(name));
  };
  if (!name.empty() && std::ranges::none_of(group_.definitions, isRigid))
    return name;
  std::string made = "n";
  for (size_t i = 1; isTaken(made); ++i)
    made = "n" + std::to_string(i);
  return unifier_.types().symbol(made)->name;
}

void GroupSizes::nameOpen() {
  std::vector<const Dim*> waiting, open;
  for (const auto& [equation, range] : group_.seen.equations)
    for (const Dim* side : {equation.left, equation.right})
      collectUnknowns(unifier_.dims().resolve(side), waiting);
  for (const lang::Global* global : group_.definitions)
    for (const lang::Var* parameter : global->function->parameters)
      unifier_.mapDims(unifier_.resolve(group_.checking.vars.types[parameter->number]),
                       [&](const Dim* dim) {
                         collectUnknowns(dim, open);
                         return dim;
                       });
  std::erase_if(open, [&](const Dim* size) { return std::ranges::count(waiting, size) > 0; });
  SizeMap names;
  for (const Dim* size : open) {
    names[size] = unifier_.types().symbol(nameFor(size));
    names_[group_.definitions[0]].rigid.insert(names[size]);
  }
  settle(names);
  for (const Dim* size : open)
    unifier_.dims().unify(size, names[size]);
}

/// Lets one of the sizes be one of the others, so that a call is not refused.
static void chooseSize(std::span<const Dim* const> sizes, std::span<const Dim* const> others,
                       SizeMap& names, const std::function<bool()>& isRefused) {
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
void GroupSizes::settle(SizeMap& names) {
  if (names.empty())
    return;
  auto settled = [&](const Dim* form) {
    return unifier_.types().substitute(form, [&](const Dim* size) {
      auto found = names.find(size);
      return found == names.end() ? size : found->second;
    });
  };
  for (const PendingRelation* relation : group_.relations.answeredOpen()) {
    if (!group_.relations.isRefused(*relation, settled))
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
    chooseSize(sizes, others, names,
               [&] { return group_.relations.isRefused(*relation, settled); });
  }
}

void GroupSizes::checkEquations() {
  for (const auto& [equation, range] : group_.seen.equations)
    if (!unifier_.dims().unify(equation.left, equation.right))
      group_.diagnostics.report(Message::TypeMismatch, range,
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

void GroupSizes::reportBound(const OpenBound& bound) {
  const lang::Requirement& source = bound.requirement;
  const lang::Global* definition = bound.callee ? bound.callee : bound.definition;
  lang::Words who = lang::words(
      "`{}`", bound.callee || !source.row ? lang::globalName(definition->name) : source.row->name);
  lang::Words what = lang::words("`{}`", source.dim);
  auto& report = source.divisor > 1
                     ? group_.diagnostics.report(Message::DimensionMultiple, bound.range, who, what,
                                                 source.divisor, bound.dim->value)
                     : group_.diagnostics.report(Message::DimensionBound, bound.range, who, what,
                                                 source.least, bound.dim->value);
  report.label(source.range, source.row ? fmt::format("because of this `{}`", source.row->name)
                                        : "because of a size that is declared in it");
}

void GroupSizes::checkBounds() {
  Requirements needs;
  for (OpenBound& bound : std::exchange(group_.relations.bounds, {})) {
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
    group_.checking.typing.setRequirements(*global->function, std::move(list));
}

} // namespace typecheck
