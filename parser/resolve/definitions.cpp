// Declaring definitions and bringing them into the module when they are mentioned.
#include "parser/resolve/definitions.h"

namespace parser {

using lang::Message;

void Definitions::declare(const surface::File& file, bool isPrelude) {
  Unit& unit = isPrelude ? prelude_ : program_;
  unit.notation = file.notation;
  for (const surface::Definition* definition : file.definitions) {
    if (const auto* type = surface::tryAs<surface::TypeDefinition>(definition))
      declareType(unit, *type);
    else if (const auto* function = surface::tryAs<surface::FunctionDefinition>(definition))
      declareFunction(unit, *function);
    else if (const auto* constant = surface::tryAs<surface::ConstantDefinition>(definition))
      declareConstant(unit, *constant);
    else
      diagnostics_.report(Message::ReservedForm, definition->range,
                          definition->kind == surface::DefinitionKind::Test ? "tests" : "imports");
  }
  if (isPrelude)
    return;
  for (const surface::Definition* definition : file.definitions) {
    const auto* type = surface::tryAs<surface::TypeDefinition>(definition);
    if (type && !type->alias)
      enterType(unit, unit.types[definition->name.text]);
    else if (definition->kind == surface::DefinitionKind::Function)
      enterGlobal(unit, unit.globals[definition->name.text]);
  }
}

void Definitions::declareType(Unit& unit, const surface::TypeDefinition& type) {
  auto [entry, isNew] = unit.types.try_emplace(type.name.text, TypeEntry{&type});
  if (!isNew) {
    diagnostics_.report(Message::RepeatedType, type.name.range, type.name.text)
        .label(entry->second.surface->name.range, "first defined here");
    return;
  }
  for (size_t i = 0; i < type.constructors.size(); ++i) {
    const surface::Identifier& name = type.constructors[i].name;
    auto [known, fresh] = unit.constructors.try_emplace(name.text, ConstructorEntry{&type, i});
    if (!fresh)
      diagnostics_.report(Message::RepeatedConstructor, name.range, name.text)
          .label(known->second.owner->constructors[known->second.index].name.range,
                 "first defined here");
  }
}

void Definitions::declareFunction(Unit& unit, const surface::FunctionDefinition& function) {
  auto [entry, isNew] = unit.globals.try_emplace(function.name.text, GlobalEntry{&function});
  if (isNew)
    return;
  diagnostics_.report(Message::RepeatedDefinition, function.name.range, function.name.text)
      .label(entry->second.surface->name.range, "this definition is ignored");
  entry->second.surface = &function;
}

void Definitions::declareConstant(Unit& unit, const surface::ConstantDefinition& constant) {
  auto [entry, isNew] = unit.constants.try_emplace(constant.name.text, &constant);
  if (isNew)
    return;
  diagnostics_.report(Message::RepeatedDefinition, constant.name.range, constant.name.text)
      .label(entry->second->name.range, "this definition is ignored");
  entry->second = &constant;
}

const lang::TypeDefinition* Definitions::enterType(Unit& unit, TypeEntry& entry) {
  if (entry.definition)
    return entry.definition;
  const surface::TypeDefinition& surface = *entry.surface;
  auto& definitions = unit.isPrelude ? preludeTypes_ : module_.typeDefinitions;
  // TVM prints `extern type Storage` as a type without constructors.
  if (surface.name.text == lang::storageDefinition.name && surface.generics.empty() &&
      surface.constructors.empty()) {
    definitions.push_back(&lang::storageDefinition);
    return entry.definition = &lang::storageDefinition;
  }
  runtime::Arena& arena = module_.arena;
  std::vector<const lang::TypeParameter*> generics;
  for (const surface::Identifier& generic : surface.generics)
    // In Baton's notation the use of a parameter tells whether it is a type.
    generics.push_back(arena.make<lang::TypeParameter>(
        generic.text, unit.notation == surface::Notation::Baton ? lang::ParameterKind::Open
                                                                : lang::ParameterKind::Type));
  auto* definition =
      arena.make<lang::TypeDefinition>(surface.name.text, surface.name.range, arena.copy(generics));
  definition->isExtern = surface.isExtern;
  std::vector<const lang::Constructor*> constructors;
  for (const surface::Constructor& constructor : surface.constructors) {
    std::vector<std::string_view> names;
    for (const surface::Identifier& name : constructor.fieldNames)
      names.push_back(name.text);
    constructors.push_back(arena.make<lang::Constructor>(
        lang::Expr{lang::ExprKind::Constructor, constructor.name.range}, constructor.name.text,
        lang::Types{}, definition, uint32_t(constructors.size()), arena.copy(names)));
    fieldCounts_[constructors.back()] = constructor.fields.size();
  }
  definition->constructors = arena.copy(constructors);
  entry.definition = definition;
  definitions.push_back(definition);
  pendingTypes.push_back({&unit, &surface, definition});
  return definition;
}

lang::Global* Definitions::enterGlobal(Unit& unit, GlobalEntry& entry) {
  if (entry.global)
    return entry.global;
  auto& globals = unit.isPrelude ? preludeGlobals_ : module_.globals;
  uint32_t number = uint32_t(preludeGlobals_.size() + module_.globals.size());
  entry.global = module_.arena.make<lang::Global>(
      lang::Expr{lang::ExprKind::Global, entry.surface->name.range}, entry.surface->name.text,
      number);
  globals.push_back(entry.global);
  surfaces_[entry.global] = entry.surface->function;
  pendingFunctions.push_back({&unit, entry.surface->function, entry.global});
  return entry.global;
}

const surface::TypeDefinition* Definitions::findAlias(const Unit& from,
                                                      std::string_view name) const {
  auto found = from.types.find(name);
  bool isAlias = found != from.types.end() && found->second.surface->alias;
  return isAlias ? found->second.surface : nullptr;
}

const lang::TypeDefinition* Definitions::findType(const Unit& from, std::string_view name) {
  for (Unit* unit : {from.isPrelude ? &prelude_ : &program_, &prelude_})
    if (auto found = unit->types.find(name); found != unit->types.end())
      return enterType(*unit, found->second);
  return nullptr;
}

const lang::Constructor* Definitions::findConstructor(const Unit& from, std::string_view name) {
  for (Unit* unit : {from.isPrelude ? &prelude_ : &program_, &prelude_})
    if (auto found = unit->constructors.find(name); found != unit->constructors.end()) {
      TypeEntry& owner = unit->types[found->second.owner->name.text];
      if (owner.surface != found->second.owner)
        return nullptr;
      return enterType(*unit, owner)->constructors[found->second.index];
    }
  return nullptr;
}

const lang::Global* Definitions::findGlobal(const Unit& from, std::string_view name) {
  for (Unit* unit : {from.isPrelude ? &prelude_ : &program_, &prelude_})
    if (auto found = unit->globals.find(name); found != unit->globals.end())
      return enterGlobal(*unit, found->second);
  return nullptr;
}

namespace {

template <typename Map>
void appendNames(const Map& map, std::vector<std::string_view>& names) {
  for (const auto& [name, entry] : map)
    names.push_back(name);
}

} // namespace

std::vector<std::string_view> Definitions::typeNames() const {
  std::vector<std::string_view> names;
  appendNames(program_.types, names);
  appendNames(prelude_.types, names);
  return names;
}

std::vector<std::string_view> Definitions::constructorNames() const {
  std::vector<std::string_view> names;
  appendNames(program_.constructors, names);
  appendNames(prelude_.constructors, names);
  return names;
}

std::vector<std::string_view> Definitions::globalNames() const {
  std::vector<std::string_view> names;
  appendNames(program_.globals, names);
  appendNames(prelude_.globals, names);
  return names;
}

void Definitions::finish() {
  module_.preludeTypes = preludeTypes_.size();
  module_.preludeGlobals = preludeGlobals_.size();
  module_.typeDefinitions.insert(module_.typeDefinitions.begin(), preludeTypes_.begin(),
                                 preludeTypes_.end());
  module_.globals.insert(module_.globals.begin(), preludeGlobals_.begin(), preludeGlobals_.end());
}

} // namespace parser
