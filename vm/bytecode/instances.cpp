// The work list, and closures with their entries.
#include "vm/bytecode/instances.h"

#include "lang/calls/proven_sizes.h"
#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "vm/bytecode/flat_results.h"
#include "vm/bytecode/function_compiler.h"
#include "vm/bytecode/kernel_sites.h"
#include "vm/bytecode/type_arguments.h"
#include "vm/machine/verify.h"

#include <algorithm>
#include <fmt/format.h>

namespace bytecode {

using namespace lang;

namespace {

/// The entries that nothing mentions.
std::set<const Global*> outermost(const Module& module, std::span<const Global* const> entries) {
  std::set<const Global*> found(entries.begin(), entries.end());
  walk(
      module, [](const Binding&) {},
      [&](const Operand& operand) {
        if (const auto* global = operand.value->as<Global>())
          found.erase(global);
      });
  return found;
}

bool writesIntoTensors(const Module& module) {
  bool writes = false;
  walk(
      module, [](const Binding&) {},
      [&](const Operand& operand) {
        const auto* op = operand.value->as<OperatorRef>();
        writes |= op && op->row->action == Action::CallInto;
      });
  return writes;
}

} // namespace

Instances::Instances(const Module& from, const Typing& types, const OperatorTable& operators,
                     std::span<const Global* const> entries, bool boxesScalars, Compiled& into)
    : module(from), typing(types), table(operators), made(into),
      freeVariables(lang::freeVariables(from).of), owned_(findOwnedParameters(from, typing)),
      outermost_(outermost(from, entries)),
      flat_(findFlatResults(from, types, *into.boundaries, entries)) {
  // What writes into tensors may write into those of rank 0.
  made.layouts.tensorsChange = writesIntoTensors(module);
  made.layouts.boxesScalars = boxesScalars || made.layouts.tensorsChange;
}

const vm::KernelSite* Instances::groupKernel(const Function& group) {
  auto [found, isNew] = groups_.try_emplace(&group);
  if (isNew && made.watching == Watching::Nothing && !made.boundaries->of(group))
    found->second = groupSite(made.layouts, group, typing);
  return found->second ? &*found->second : nullptr;
}

void Instances::compileAll() {
  do {
    while (!waiting_.empty()) {
      Instance next = std::move(waiting_.front());
      waiting_.pop_front();
      compileFunction(*this, next);
    }
  } while (addSeen());
}

void Instances::see(const Type* type, const Environment& environment) {
  bool hasParts = type->result || !type->parts.empty();
  if (!hasParts || !seenKeys_.insert({type, numbersOf(environment)}).second)
    return;
  if (type->kind == TypeKind::Function && type->generics.empty())
    seen_.emplace_back(type, environment);
  for (const Type* part : type->parts)
    see(part, environment);
  if (type->result)
    see(type->result, environment);
}

/// Lets generic closures be called by what was seen, where there are calls of that signature.
/// Whether there is something to compile then.
bool Instances::addSeen() {
  if (generics_.empty())
    return false;
  auto isCalled = [&](const auto& seen) {
    const auto& [type, environment] = seen;
    if (!made.layouts.hasSignature(made.layouts.reps(type->parts, environment),
                                   rep(type->result, environment)))
      return false;
    signature(type, environment, {});
    return true;
  };
  std::erase_if(seen_, isCalled);
  return !waiting_.empty();
}

bool Instances::isAmbiguous() const {
  return isAmbiguous_ || std::ranges::any_of(hidden_, [&](const auto& each) {
           return std::ranges::count(made.program.layouts[each.first].entries, each.second,
                                     &vm::Layout::Entry::signature) == 0;
         });
}

/// Numbers are given at once, so that functions may call what is not compiled yet.
uint32_t Instances::request(Instance instance) {
  const void* what = instance.function ? static_cast<const void*>(instance.function)
                                       : static_cast<const void*>(instance.constructor);
  std::vector<uint32_t> key = numbersOf(instance.environment);
  key.push_back(instance.isClosure);
  key.push_back(instance.closureLayout);
  auto [found, isNew] =
      known_.try_emplace({what, std::move(key)}, uint32_t(made.program.functions.size()));
  if (isNew) {
    instance.number = found->second;
    made.program.functions.emplace_back();
    waiting_.push_back(std::move(instance));
  }
  return found->second;
}

uint32_t Instances::ofGlobal(const Global& global, Environment environment) {
  return request(
      {.function = global.function, .global = &global, .environment = std::move(environment)});
}

uint16_t Instances::closureLayout(const Function& function, const Global* global, const Var* self,
                                  std::vector<Rep> captured, Environment environment) {
  Layouts& layouts = made.layouts;
  size_t before = made.program.layouts.size();
  std::string_view name = global ? global->name : self ? self->name : std::string_view();
  uint16_t layout = layouts.function(vm::LayoutKind::Closure, {&function, name},
                                     std::move(captured), numbersOf(environment));
  if (layout < before)
    return layout;
  Instance instance{.function = &function,
                    .global = global,
                    .environment = std::move(environment),
                    .isClosure = true,
                    .self = self,
                    .closureLayout = layout};
  bool isGeneric = std::ranges::any_of(typing.generics(function), [&](const TypeParameter* each) {
    return each->kind != ParameterKind::Dimension &&
           std::ranges::find(instance.environment, each, &Environment::value_type::first) ==
               instance.environment.end();
  });
  if (!isGeneric) {
    addMonomorphic(layout, std::move(instance));
    return layout;
  }
  addGeneric({layout, std::move(instance), declaredType(function)});
  return layout;
}

uint16_t Instances::givenLayout(const Global& global, Environment environment) {
  return closureLayout(*global.function, &global, nullptr, {}, std::move(environment));
}

std::vector<Rep> Instances::parametersOf(const Instance& instance) const {
  if (instance.constructor)
    return made.layouts.reps(instance.constructor->fields, instance.environment);
  std::vector<Rep> parameters;
  for (const Var* parameter : instance.function->parameters)
    parameters.push_back(rep(typing.of(*parameter), instance.environment));
  return parameters;
}

void Instances::addMonomorphic(uint16_t layout, Instance instance) {
  uint16_t number = made.layouts.signature(
      parametersOf(instance), rep(typing.result(*instance.function), instance.environment), {});
  uint32_t function = request(std::move(instance));
  made.program.layouts[layout].entries.push_back({number, function});
}

void Instances::addGeneric(Generic generic) {
  generics_.push_back(generic);
  for (size_t i = 0; i < signatures_.size(); ++i)
    addEntry(generic, GenericSignature(signatures_[i]));
  for (size_t i = 0; i < plainSignatures_.size(); ++i)
    addEntry(generic, PlainSignature(plainSignatures_[i]));
}

const Type* Instances::declaredType(const Function& function) const {
  return functionType(module.types, function, typing);
}

Environment Instances::representations(const TypeArguments& found, const Environment& outer) const {
  Environment result;
  for (const auto& [parameter, type] : found)
    result.emplace_back(parameter, rep(type, outer));
  return result;
}

Environment Instances::typeArguments(const Type* callee, Types arguments, const Type* result,
                                     const Environment& outer) const {
  return representations(bytecode::typeArguments(module.types, callee, arguments, result, outer),
                         outer);
}

/// The type parameters of a function or constructor that stand for types are its generics in
/// signatures.
void Instances::addEntry(const Generic& generic, const GenericSignature& signature) {
  Instance instance = generic.instance;
  Environment own = ordered(generic.type->generics, {});
  if (own.size() != signature.generics.size())
    return;
  for (size_t i = 0; i < own.size(); ++i)
    instance.environment.emplace_back(own[i].first, signature.generics[i]);
  addFitting(generic, std::move(instance), signature.number);
}

/// An entry for calls by a type that tells what all type parameters stand for. A type may hide it,
/// as that of `%f` does in a function that is given `@length` as a `fn (A) -> B`.
void Instances::addEntry(const Generic& generic, const PlainSignature& signature) {
  const Type& called = *signature.function;
  if (generic.type->parts.size() != called.parts.size())
    return;
  Environment told =
      typeArguments(generic.type, called.parts, called.result, signature.environment);
  Environment own = ordered(generic.type->generics, told);
  Instance instance = generic.instance;
  instance.environment.insert(instance.environment.end(), own.begin(), own.end());
  bool isHidden = !made.layouts.boxesScalars && !hasAll(told, generic.type->generics);
  if (isHidden && fits(instance, signature.number))
    hidden_.emplace_back(generic.layout, signature.number);
  else if (!isHidden)
    addFitting(generic, std::move(instance), signature.number);
}

/// Whether the instance is of that signature.
bool Instances::fits(const Instance& instance, uint16_t signature) const {
  const vm::Signature& wanted = made.program.signatures[signature];
  return wanted.parameters == parametersOf(instance) &&
         wanted.result == (instance.constructor
                               ? reference
                               : rep(typing.result(*instance.function), instance.environment));
}

/// Adds the instance to what closures of the layout are called by, if it is of that signature.
void Instances::addFitting(const Generic& generic, Instance instance, uint16_t signature) {
  if (!fits(instance, signature))
    return;
  if (instance.constructor)
    instance.parameters = parametersOf(instance);
  uint32_t function = request(std::move(instance));
  auto& entries = made.program.layouts[generic.layout].entries;
  auto known = std::ranges::find(entries, signature, &vm::Layout::Entry::signature);
  if (known == entries.end())
    entries.push_back({signature, function});
  else
    isAmbiguous_ |= known->function != function;
}

uint16_t Instances::signature(const Type* function, const Environment& environment,
                              const Environment& generics) {
  Environment all = environment;
  all.insert(all.begin(), generics.begin(), generics.end());
  std::vector<Rep> own;
  for (const auto& [parameter, rep] : generics)
    own.push_back(rep);
  uint16_t number = made.layouts.signature(made.layouts.reps(function->parts, all),
                                           rep(function->result, all), own);
  if (own.empty()) {
    if (plainKeys_.insert({function, numbersOf(environment)}).second) {
      plainSignatures_.push_back({number, function, environment});
      for (size_t i = 0; i < generics_.size(); ++i)
        addEntry(Generic(generics_[i]), PlainSignature(plainSignatures_.back()));
    }
    return number;
  }
  bool isNew =
      std::ranges::none_of(signatures_, [&](const auto& each) { return each.number == number; });
  if (isNew) {
    signatures_.push_back({number, std::move(own)});
    for (size_t i = 0; i < generics_.size(); ++i)
      addEntry(Generic(generics_[i]), GenericSignature(signatures_.back()));
  }
  return number;
}

/// What tells a constructor as a generic function from those of one type.
constexpr uint32_t ofAnyType = UINT32_MAX;

uint16_t Instances::genericMakerLayout(const Constructor& constructor) {
  size_t before = made.program.layouts.size();
  uint16_t layout = made.layouts.function(vm::LayoutKind::Maker, {&constructor, constructor.name},
                                          {}, {ofAnyType});
  if (layout < before)
    return layout;
  addGeneric({layout,
              {.constructor = &constructor, .isClosure = true, .closureLayout = layout},
              constructorType(module.types, constructor)});
  return layout;
}

uint16_t Instances::makerLayout(const Constructor& constructor, const Type* type,
                                const Environment& environment) {
  Environment told = typeArguments(constructorType(module.types, constructor), type->parts,
                                   type->result, environment);
  if (!hasAll(told, constructor.definition->generics))
    return genericMakerLayout(constructor);
  Environment arguments = ordered(constructor.definition->generics, told);
  size_t before = made.program.layouts.size();
  uint16_t layout = made.layouts.function(vm::LayoutKind::Maker, {&constructor, constructor.name},
                                          {}, numbersOf(arguments));
  if (layout < before)
    return layout;
  std::vector<Rep> parameters = made.layouts.reps(type->parts, environment);
  uint16_t number = made.layouts.signature(parameters, rep(type->result, environment), {});
  uint32_t function = request({.constructor = &constructor,
                               .environment = std::move(arguments),
                               .isClosure = true,
                               .closureLayout = layout,
                               .parameters = std::move(parameters)});
  made.program.layouts[layout].entries.push_back({number, function});
  return layout;
}

namespace {

/// Null for a program that needs boxed scalars and may not have them.
std::unique_ptr<Compiled> compileWith(bool boxesScalars, const Module& module, const Typing& typing,
                                      const OperatorTable& operators,
                                      std::span<const Global* const> entries,
                                      Watching watching = Watching::Nothing) {
  auto made = std::make_unique<Compiled>();
  made->watching = watching;
  made->boundaries = std::make_unique<Boundaries>(module, typing);
  dropProvenChecks(module, typing, entries, *made->boundaries);
  made->checks = std::make_unique<RunChecks>(module, *made->boundaries, made->program.checks);
  Instances instances(module, typing, operators, entries, boxesScalars, *made);
  for (const Global* entry : entries)
    made->program.entries.push_back(instances.ofGlobal(*entry, {}));
  instances.compileAll();
  return instances.isAmbiguous() && !boxesScalars ? nullptr : std::move(made);
}

} // namespace

std::unique_ptr<Compiled> compile(const Module& module, const Typing& typing,
                                  const OperatorTable& operators,
                                  std::span<const Global* const> entries, Watching watching) {
  auto made = compileWith(false, module, typing, operators, entries, watching);
  return made ? std::move(made) : compileWith(true, module, typing, operators, entries, watching);
}

bool needsBoxes(const Module& module, const Typing& typing, const OperatorTable& operators,
                std::span<const Global* const> entries) {
  try {
    return !compileWith(false, module, typing, operators, entries);
  } catch (const TooLarge&) {
    return false;
  }
}

void requireSound(const vm::Program& program) {
  if (auto problem = vm::verify(program))
    throw std::logic_error("the compiler made code that cannot run: " + *problem +
                           "; `--engine=interp` runs the program without it");
}

} // namespace bytecode
