// Instances are copies in the module that is being checked, with numbers of their own, so that one
// typing tells of all of them.
#include "typecheck/open_definitions.h"

#include "lang/ir/rewrite.h"

#include <algorithm>
#include <fmt/format.h>

namespace typecheck {

using namespace lang;

namespace {

/// More instances than a program has use for: one that asks for ever new types is stopped.
constexpr size_t mostInstances = 20'000;

/// The sizes of operands in an instance. Names that callers gave mean sizes of the instance: one
/// that stands alone somewhere keeps its name, any other form becomes a size of its own.
class InstanceSizes {
public:
  InstanceSizes(Unifier& unifier, std::span<const Type* const> operands) : unifier_(unifier) {
    for (const Type* type : operands)
      if (type)
        unifier_.mapDims(type, [&](const Dim* dim) {
          if (dim->isNamed())
            alone_.insert(dim);
          return dim;
        });
  }

  const Type* operator()(const Type* type) {
    return unifier_.mapDims(type, [&](const Dim* form) -> const Dim* {
      if (!form->hasSymbol)
        return form;
      const Dim*& size = sizes_[form];
      if (!size)
        size = isTold(form) ? renamed(form) : fresh();
      return size;
    });
  }

private:
  /// Whether all names of a form stand alone in some operand.
  bool isTold(const Dim* form) {
    bool isTold = true;
    unifier_.types().substitute(form, [&](const Dim* name) {
      isTold = isTold && alone_.contains(name);
      return name;
    });
    return isTold;
  }

  const Dim* renamed(const Dim* form) {
    return unifier_.types().substitute(form, [&](const Dim* name) {
      const Dim*& own = names_[name];
      return own ? own : own = fresh();
    });
  }

  const Dim* fresh() { return unifier_.types().symbol(fmt::format("size{}", ++count_)); }

  Unifier& unifier_;
  std::unordered_set<const Dim*> alone_;
  std::unordered_map<const Dim*, const Dim*> sizes_, names_;
  size_t count_ = 0;
};

/// Copies the functions of a group in their own module.
class InstanceMaker : public Rewriter {
public:
  InstanceMaker(const Module& module, Builder& into, Unifier& unifier)
      : Rewriter(module, into), unifier_(unifier) {}

  std::unordered_map<const Expr*, Global*> globals;

  /// Gives the parameters of one of the functions their types. The names of sizes in its text are
  /// what they are there.
  void declare(const Function& function, std::span<const Type* const> types) {
    for (size_t i = 0; i < types.size(); ++i)
      if (types[i] && function.parameters[i]->annotation)
        bindNames(*function.parameters[i]->annotation, *types[i]);
    for (size_t i = 0; i < types.size(); ++i)
      if (types[i] && !function.parameters[i]->annotation)
        declared_[function.parameters[i]] =
            unifier_.mapDims(types[i], [&](const Dim* form) { return named(form); });
  }

private:
  Atom atom(const Expr& old) override {
    if (auto found = globals.find(&old); found != globals.end())
      return found->second;
    const auto* constant = old.as<Constant>();
    if (!constant || constant->open == OpenNumber::None)
      return Rewriter::atom(old);
    auto [number, isNew] = numbers_.try_emplace(constant);
    if (isNew) {
      auto* made = make.arena.make<Constant>(*constant);
      made->type = unifier_.fresh();
      number->second = made;
    }
    return number->second;
  }

  const Type* declared(const Var& old) override {
    auto found = declared_.find(&old);
    return found == declared_.end() ? ofInstance(old.annotation) : found->second;
  }
  const Type* declaredResult(const Function& old) override {
    return ofInstance(old.resultAnnotation);
  }

  /// What an annotation says in this instance; what it leaves open is open anew in each.
  const Type* ofInstance(const Type* type) {
    if (!type)
      return nullptr;
    type = unifier_.mapDims(type, [&](const Dim* form) {
      return unifier_.types().substitute(form, [&](const Dim* name) {
        auto found = sizes_.find(name);
        return found == sizes_.end() ? name : named(found->second);
      });
    });
    return unifier_.withFreshUnknowns(type, unknowns_);
  }

  /// A form of an operand, in which sizes have the names of the text where it has some.
  const Dim* named(const Dim* form) {
    return unifier_.types().substitute(form, [&](const Dim* size) {
      auto found = names_.find(size);
      return found == names_.end() ? size : found->second;
    });
  }

  /// Recursion follows types, which are bounded.
  void bindNames(const Type& annotation, const Type& type) {
    if (annotation.kind != type.kind || annotation.shape.size() != type.shape.size() ||
        annotation.parts.size() != type.parts.size())
      return;
    for (size_t i = 0; i < type.shape.size(); ++i)
      if (annotation.shape[i]->isNamed() &&
          sizes_.try_emplace(annotation.shape[i], type.shape[i]).second && type.shape[i]->isNamed())
        names_.try_emplace(type.shape[i], annotation.shape[i]);
    for (size_t i = 0; i < type.parts.size(); ++i)
      bindNames(*annotation.parts[i], *type.parts[i]);
    if (annotation.result && type.result)
      bindNames(*annotation.result, *type.result);
  }

  Unifier& unifier_;
  std::unordered_map<const Constant*, const Constant*> numbers_;
  Unifier::FreshUnknowns unknowns_;
  std::unordered_map<const Var*, const Type*> declared_;
  /// What names of the text are, and the names of the text for sizes of operands.
  std::unordered_map<const Dim*, const Dim*> sizes_, names_;
};

} // namespace

void OpenDefinitions::add(std::span<const Global* const> group) {
  auto shared = std::make_shared<const Group>(group.begin(), group.end());
  for (const Global* global : group)
    groups_[global] = shared;
}

Instance* OpenDefinitions::find(const Global& global, std::span<const Type* const> operands) {
  InstanceSizes sizes(unifier_, operands);
  InstanceKey key{&global, {}, {}};
  for (const Type* operand : operands) {
    const OpenNumbers::Number* number = operand ? unifier_.numbers().of(operand) : nullptr;
    if (number)
      operand = unifier_.types().tensor(number->shape, runtime::Int32);
    key.types.push_back(operand ? sizes(operand) : nullptr);
    key.classes.push_back(!number                              ? OpenClass::None
                          : unifier_.numbers().isReal(*number) ? OpenClass::Real
                                                               : OpenClass::Integer);
  }
  auto [found, isNew] = instances_.try_emplace(key);
  if (!isNew)
    return &found->second;
  if (instances_.size() > mostInstances) {
    instances_.erase(found);
    return nullptr;
  }
  found->second = make(key);
  requested_.push_back(&found->second);
  return &found->second;
}

Instance* OpenDefinitions::nextRequested() {
  if (requested_.empty())
    return nullptr;
  Instance* next = requested_.back();
  requested_.pop_back();
  return next;
}

void OpenDefinitions::orderInstances() {
  std::unordered_map<const Global*, std::vector<const Global*>> instances;
  std::unordered_set<const Global*> made;
  for (const auto& [key, instance] : instances_)
    for (size_t i = 0; i < instance.group.size(); ++i) {
      instances[(*groups_.at(key.definition))[i]].push_back(instance.group[i]);
      made.insert(instance.group[i]);
    }
  std::vector<const Global*> ordered;
  size_t ofPrelude = 0;
  for (size_t i = 0; i < module_->globals.size(); ++i) {
    const Global* global = module_->globals[i];
    if (made.contains(global))
      continue;
    ordered.push_back(global);
    auto& own = instances[global];
    std::ranges::sort(own, {}, &Global::number);
    ordered.insert(ordered.end(), own.begin(), own.end());
    ofPrelude += i < module_->preludeGlobals ? 1 + own.size() : 0;
  }
  module_->globals = std::move(ordered);
  module_->preludeGlobals = ofPrelude;
}

std::string OpenDefinitions::nameFor(const Global& global) {
  if (taken_.empty())
    for (const Global* each : module_->globals)
      taken_.insert(each->name);
  // The definition itself leaves its name to the first instance.
  size_t& count = counts_[&global];
  if (count++ == 0)
    return std::string(global.name);
  std::string name;
  do
    name = fmt::format("{}_{}", global.name, count - 1);
  while (!taken_.insert(module_->arena.copyText(name)).second && count++ > 0);
  return name;
}

Instance OpenDefinitions::make(const InstanceKey& key) {
  const Global& global = *key.definition;
  Builder make(*module_, operators_);
  InstanceMaker maker(*module_, make, unifier_);
  Instance instance;
  const Group& group = *groups_.at(&global);
  for (const Global* member : group) {
    Global* made = make.declare(nameFor(*member));
    made->range = member->range;
    maker.globals[member] = made;
    instance.group.push_back(made);
    if (member == &global)
      instance.global = made;
  }
  std::vector<const Type*> types = key.types;
  for (size_t i = 0; i < types.size(); ++i)
    if (key.classes[i] != OpenClass::None)
      types[i] = nullptr;
  maker.declare(*global.function, types);
  for (size_t i = 0; i < group.size(); ++i)
    make.define(maker.globals.at(group[i]), maker.function(*group[i]->function));
  for (size_t i = 0; i < types.size(); ++i)
    if (key.classes[i] != OpenClass::None)
      numbers_[instance.global->function->parameters[i]] = {key.types[i]->shape,
                                                            key.classes[i] == OpenClass::Real};
  return instance;
}

} // namespace typecheck
