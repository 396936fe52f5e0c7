// Instances are copies in the module that is being checked, with numbers of their own, so that one
// typing tells of all of them.
#include "typecheck/open_definitions.h"

#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "typecheck/counted_parameters.h"

#include <algorithm>
#include <fmt/format.h>

namespace typecheck {

using namespace lang;

namespace {

/// More instances than a program has use for: one that asks for ever new types is stopped.
constexpr size_t mostInstances = 20'000;

/// The last sizes of a tensor as its parameter declares them; none of anything else.
Dims declaredSizes(const Var& parameter) {
  if (parameter.partial)
    return parameter.partial->shape;
  return parameter.annotation && parameter.annotation->isTensor() ? parameter.annotation->shape
                                                                  : Dims();
}

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

  /// Where a parameter has a name for a size that is not known, it is a size of the instance.
  const Type* ofOperand(const Type* type, const Var& parameter) {
    type = (*this)(type);
    Dims declared = declaredSizes(parameter);
    if (!type->isTensor() || !type->hasAny || declared.size() > type->shape.size())
      return type;
    std::vector<const Dim*> shape(type->shape.begin(), type->shape.end());
    for (size_t i = 0; i < declared.size(); ++i)
      if (const Dim*& dim = shape[shape.size() - declared.size() + i];
          dim->isAny() && declared[i]->isNamed()) {
        const Dim*& own = byName_[declared[i]];
        dim = own ? own : own = fresh();
      }
    return unifier_.types().tensor(shape, type->dtype, type->isWide);
  }

  /// What names are by an operand where they are known.
  void learn(const Type* type, const Var& parameter) {
    if (parameter.annotation && parameter.annotation->hasSymbol)
      learn(*type, *parameter.annotation);
    Dims declared = declaredSizes(parameter);
    if (!type->isTensor() || declared.size() > type->shape.size())
      return;
    for (size_t i = 0; i < declared.size(); ++i)
      if (const Dim* dim = type->shape[type->shape.size() - declared.size() + i];
          !dim->isAny() && declared[i]->isNamed())
        byName_.try_emplace(declared[i], (*this)(unifier_.types().dimension(dim))->shape[0]);
  }

private:
  /// Recursion follows types, which are bounded.
  void learn(const Type& type, const Type& declared) {
    if (type.kind != declared.kind || type.parts.size() != declared.parts.size())
      return;
    for (size_t i = 0; i < type.parts.size(); ++i)
      learn(*type.parts[i], *declared.parts[i]);
    if (type.kind == TypeKind::Dimension && declared.shape[0]->isNamed() && !type.hasAny)
      byName_.try_emplace(declared.shape[0], (*this)(&type)->shape[0]);
  }

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
  std::unordered_map<const Dim*, const Dim*> sizes_, names_, byName_;
  size_t count_ = 0;
};

/// The names of sizes in a type.
void addSizes(Unifier& unifier, const Type* type, std::unordered_set<const Dim*>& found) {
  unifier.mapDims(type, [&](const Dim* form) {
    return unifier.types().substitute(form, [&](const Dim* name) {
      found.insert(name);
      return name;
    });
  });
}

/// Copies the functions of a group in their own module.
class InstanceMaker : public Rewriter {
public:
  InstanceMaker(const Module& module, Builder& into, Unifier& unifier)
      : Rewriter(module, into), unifier_(unifier) {}

  std::unordered_map<const Expr*, Global*> globals;

  /// Gives the parameters of one of the functions their types. The names of sizes in its text are
  /// what they are there.
  /// The shapes of those that are open numbers are in `operands`, as those of all.
  void declare(const Function& function, std::span<const Type* const> types,
               std::span<const Type* const> operands) {
    if (operands.size() > types.size())
      bindNames(*function.resultAnnotation, *operands.back());
    for (size_t i = 0; i < types.size(); ++i)
      if (types[i] && function.parameters[i]->annotation)
        bindNames(*function.parameters[i]->annotation, *types[i]);
    for (size_t i = 0; i < types.size(); ++i)
      if (operands[i] && function.parameters[i]->partial)
        bindNames(*function.parameters[i]->partial, *operands[i]);
    for (size_t i = 0; i < types.size(); ++i)
      if (types[i] && leavesOpen(function.parameters[i]->annotation))
        declared_[function.parameters[i]] = inText(types[i]);
  }

  /// Lets the use find out what the type parameters of a function are.
  void openParameters(const Function& function) {
    for (const TypeParameter* generic : function.generics)
      if (generic->kind != ParameterKind::Dimension) {
        told_.push_back(generic);
        tellings_.push_back(unifier_.fresh());
      }
  }

  /// A type of an operand with the names that sizes have in the text.
  const Type* inText(const Type* type) {
    return unifier_.mapDims(type, [&](const Dim* form) { return named(form); });
  }

  /// Whether the use tells more of a parameter than what is declared, as of `p: Dense` the sizes.
  static bool leavesOpen(const Type* annotation) {
    return !annotation || (annotation->hasUnknown && !annotation->hasAny);
  }

  /// What is said of a result, in the sizes of this instance; null stays null.
  const PartialTensor* partialOf(const PartialTensor* partial) {
    if (!partial)
      return nullptr;
    Dims shape = ofInstance(unifier_.types().tensor(partial->shape, runtime::Float32))->shape;
    return make.arena.make<PartialTensor>(
        partial->dtype, make.arena.copy(std::vector<const Dim*>(shape.begin(), shape.end())),
        partial->hasLeading);
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
      if (made->size)
        made->size = ofInstance(unifier_.types().dimension(made->size))->shape[0];
      number->second = made;
    }
    return number->second;
  }

  const Type* declared(const Var& old) override {
    auto found = declared_.find(&old);
    return found == declared_.end() ? ofInstance(old.annotation) : found->second;
  }
  /// Parameters that the use tells are none of the instance.
  std::span<const TypeParameter* const> declaredGenerics(const Function& old) override {
    std::vector<const TypeParameter*> kept;
    for (const TypeParameter* generic : old.generics)
      if (generic->kind != ParameterKind::Dimension
              ? std::ranges::count(told_, generic) == 0
              : !sizes_.contains(unifier_.types().symbol(generic)))
        kept.push_back(generic);
    return kept.size() == old.generics.size() ? old.generics : make.arena.copy(kept);
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
    std::vector<const Type*> tellings;
    for (const Type* telling : tellings_)
      tellings.push_back(inText(telling));
    return unifier_.substitute(unifier_.withFreshUnknowns(type, unknowns_), told_, tellings);
  }

  /// A form of an operand, in which sizes have the names of the text where it has some.
  const Dim* named(const Dim* form) {
    return unifier_.types().substitute(form, [&](const Dim* size) {
      auto found = names_.find(size);
      return found == names_.end() ? size : found->second;
    });
  }

  void bindName(const Dim* name, const Dim* size) {
    if (name->kind == DimKind::Symbol && !name->hasForeign &&
        sizes_.try_emplace(name, size).second && size->isNamed())
      names_.try_emplace(size, name);
  }

  /// The last dimensions are those that are said.
  void bindNames(const PartialTensor& partial, const Type& type) {
    if (type.isTensor() && type.shape.size() >= partial.shape.size())
      for (size_t i = 0; i < partial.shape.size(); ++i)
        bindName(partial.shape[i], type.shape[type.shape.size() - partial.shape.size() + i]);
  }

  /// Recursion follows types, which are bounded.
  void bindNames(const Type& annotation, const Type& type) {
    if (annotation.kind == TypeKind::Variable &&
        std::ranges::count(told_, annotation.parameter) == 0) {
      told_.push_back(annotation.parameter);
      tellings_.push_back(&type);
    }
    if (annotation.kind != type.kind || annotation.shape.size() != type.shape.size() ||
        annotation.parts.size() != type.parts.size())
      return;
    for (size_t i = 0; i < type.shape.size(); ++i)
      bindName(annotation.shape[i], type.shape[i]);
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
  /// The type parameters of the text that the operands tell, and what they are.
  std::vector<const TypeParameter*> told_;
  std::vector<const Type*> tellings_;
};

} // namespace

void OpenDefinitions::add(std::span<const Global* const> group, bool readsResults) {
  auto shared = std::make_shared<const Group>(group.begin(), group.end());
  for (const Global* global : group) {
    groups_[global] = shared;
    if (readsResults) {
      Sizes sizes = sizesOnlyOfResult(*global->function);
      sizesOfResults_[global].assign(sizes.begin(), sizes.end());
      std::ranges::sort(sizesOfResults_[global], {}, &Dim::serial);
    }
  }
}

/// The sizes in the declared result of a function that its parameters do not have.
OpenDefinitions::Sizes OpenDefinitions::sizesOnlyOfResult(const Function& function) {
  Sizes told, ofResult;
  for (const Var* parameter : function.parameters) {
    if (parameter->annotation)
      addSizes(unifier_, parameter->annotation, told);
    if (parameter->partial)
      told.insert(parameter->partial->shape.begin(), parameter->partial->shape.end());
  }
  if (function.resultAnnotation)
    addSizes(unifier_, function.resultAnnotation, ofResult);
  std::erase_if(ofResult, [&](const Dim* size) { return told.contains(size); });
  return ofResult;
}

std::span<const Dim* const> OpenDefinitions::sizesOfResult(const Global& global) {
  const Function& function = *global.function;
  if (!mayGrow() || !function.resultAnnotation || !function.resultAnnotation->hasSymbol)
    return {};
  auto [known, isNew] = sizesOfResults_.try_emplace(&global);
  if (!isNew)
    return known->second;
  Sizes ofResult = sizesOnlyOfResult(function);
  std::vector<const Dim*>& found = known->second;
  walk(
      *function.body, [](const Binding&) {},
      [&](const Operand& operand) {
        const auto* constant = operand.value->as<Constant>();
        const Dim* size = constant ? constant->size : nullptr;
        if (size && ofResult.contains(size) && std::ranges::count(found, size) == 0)
          found.push_back(size);
      });
  return found;
}

const std::vector<bool>& OpenDefinitions::countedParameters(const Global& global) {
  static const std::vector<bool> none;
  auto group = groups_.find(&global);
  // Members of a larger group call each other, so nothing that is known of one's parameters holds.
  if (group == groups_.end() || group->second->size() > 1)
    return none;
  auto known = counted_.find(&global);
  if (known == counted_.end()) {
    auto counted = [this](const Global& other) -> const auto& {
      return countedParameters(other);
    };
    std::vector<bool> found = typecheck::countedParameters(global, operators_, counted);
    known = counted_.emplace(&global, std::move(found)).first;
  }
  return known->second;
}

Instance* OpenDefinitions::find(const Global& global, std::span<const Type* const> operands,
                                std::vector<std::vector<const Dim*>> known) {
  InstanceSizes sizes(unifier_, operands);
  InstanceKey key{&global, {}, {}, std::move(known)};
  const auto& parameters = global.function->parameters;
  for (size_t i = 0; i < parameters.size(); ++i)
    if (operands[i])
      sizes.learn(operands[i], *parameters[i]);
  for (size_t i = 0; i < operands.size(); ++i) {
    const Type* operand = operands[i];
    const OpenNumbers::Number* number = operand ? unifier_.numbers().of(operand) : nullptr;
    if (number)
      operand = unifier_.types().tensor(number->shape, runtime::Int32);
    key.types.push_back(!operand                ? nullptr
                        : i < parameters.size() ? sizes.ofOperand(operand, *parameters[i])
                                                : sizes(operand));
    key.classes.push_back(number ? unifier_.numbers().classOf(*number) : OpenClass::None);
  }
  auto [found, isNew] = instances_.try_emplace(key);
  if (!isNew)
    return &found->second;
  if (instances_.size() + own_.size() > mostInstances) {
    instances_.erase(found);
    return nullptr;
  }
  found->second = make(key);
  return &found->second;
}

const Instance* OpenDefinitions::makeOwn(const void* mention, const Global& global,
                                         std::vector<std::vector<const Dim*>> known) {
  if (instances_.size() + own_.size() >= mostInstances)
    return nullptr;
  size_t count = global.function->parameters.size();
  InstanceKey key{&global, std::vector<const Type*>(count),
                  std::vector<OpenClass>(count, OpenClass::None), std::move(known)};
  Instance made = make(key, true);
  made.isBegun = made.isDone = true;
  for (const Global* member : made.group)
    ownFunctions_.insert(member->function);
  return &own_.emplace(mention, std::move(made)).first->second;
}

const Function& OpenDefinitions::copyOf(const Function& value) {
  Builder make(*module_, operators_);
  return *InstanceMaker(*module_, make, unifier_).function(value);
}

const Var* OpenDefinitions::openParameter(const Global& global) const {
  const Global* definition = &global;
  if (auto found = members_.find(&global); found != members_.end()) {
    const auto& [group, made] = found->second;
    definition = (*group)[size_t(std::ranges::find(made, &global) - made.begin())];
  }
  auto isOpen = [](const Var* parameter) { return !parameter->annotation; };
  const auto& parameters = definition->function->parameters;
  auto open = std::ranges::find_if(parameters, isOpen);
  return open == parameters.end() ? nullptr : *open;
}

const Global& OpenDefinitions::memberOf(const Global& instance, const Global& definition) const {
  auto found = members_.find(&instance);
  if (found == members_.end())
    return definition;
  const auto& [group, made] = found->second;
  auto member = std::ranges::find(*group, &definition);
  return member == group->end() ? definition : *made[size_t(member - group->begin())];
}

void OpenDefinitions::orderInstances() {
  std::unordered_map<const Global*, std::vector<const Global*>> instances;
  std::unordered_set<const Global*> made;
  auto add = [&](const Instance& instance) {
    const Group& group = *members_.at(instance.global).first;
    for (size_t i = 0; i < instance.group.size(); ++i) {
      if (instance.isDone && !instance.problem)
        instances[group[i]].push_back(instance.group[i]);
      made.insert(instance.group[i]);
    }
  };
  for (const auto& [key, instance] : instances_)
    add(instance);
  for (const auto& [mention, instance] : own_)
    add(instance);
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
  if (names_.taken.empty())
    for (const Global* each : module_->globals)
      names_.taken.insert(each->name);
  // The definition itself leaves its name to the first instance.
  size_t& count = names_.counts[&global];
  if (count++ == 0)
    return std::string(global.name);
  std::string name;
  do
    name = fmt::format("{}_{}", global.name, count - 1);
  while (!names_.taken.insert(module_->arena.copyText(name)).second && count++ > 0);
  return name;
}

Instance OpenDefinitions::make(const InstanceKey& key, bool isOwn) {
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
  for (const Global* made : instance.group)
    members_[made] = {groups_.at(&global), instance.group};
  std::vector<const Type*> types = key.types;
  for (size_t i = 0; i < types.size(); ++i)
    if (key.classes[i] != OpenClass::None)
      types[i] = nullptr;
  types.resize(global.function->parameters.size());
  maker.declare(*global.function, types, key.types);
  for (size_t i = 0; i < group.size(); ++i) {
    if (isOwn)
      maker.openParameters(*group[i]->function);
    Function* function = maker.function(*group[i]->function);
    function->partialResult = maker.partialOf(group[i]->function->partialResult);
    make.define(maker.globals.at(group[i]), function);
  }
  for (size_t i = 0; i < key.sizes.size(); ++i)
    if (!key.sizes[i].empty())
      parameters_.sizes[instance.global->function->parameters[i]] = key.sizes[i];
  for (size_t i = 0; i < types.size(); ++i)
    if (key.classes[i] != OpenClass::None)
      parameters_.numbers[instance.global->function->parameters[i]] = {
          maker.inText(key.types[i])->shape, key.classes[i]};
  return instance;
}

} // namespace typecheck
