// Declaring definitions and bringing them into the module when they are mentioned.
#include "parser/resolve/definitions.h"

namespace parser {

using lang::Message;

void Definitions::declare(Unit& unit, const surface::File& file) {
  unit.notation = file.notation;
  for (const surface::Definition* definition : file.definitions) {
    if (const auto* type = surface::tryAs<surface::TypeDefinition>(definition))
      declareType(unit, *type);
    else if (const auto* function = surface::tryAs<surface::FunctionDefinition>(definition))
      declareFunction(unit, *function);
    else if (const auto* constant = surface::tryAs<surface::ConstantDefinition>(definition))
      declareConstant(unit, *constant);
  }
}

void Definitions::enterAll(Unit& unit, const surface::File& file) {
  for (const surface::Definition* definition : file.definitions) {
    const auto* type = surface::tryAs<surface::TypeDefinition>(definition);
    if (type && !type->alias)
      enterType(unit, unit.types[definition->name.text]);
    else if (definition->kind == surface::DefinitionKind::Function)
      enterGlobal(unit, unit.globals[definition->name.text]);
  }
}

void Definitions::declarePrelude(const surface::File& file) {
  declare(prelude_, file);
}

void Definitions::declareProgram(const surface::File& file, const lang::SourceFile& source,
                                 const Imports* imports) {
  program_.source = &source;
  declare(program_, file);
  if (imports) {
    for (const ImportedText& text : imports->texts) {
      Unit& unit = imported_.emplace_back(Unit{.prefix = text.name + "/", .source = text.source});
      declare(unit, *text.file);
    }
    common_ = imports->common ? &imported_[*imports->common] : nullptr;
    declareImports(program_, file, *imports);
    for (size_t i = 0; i < imported_.size(); ++i)
      declareImports(imported_[i], *imports->texts[i].file, *imports);
  }
  enterAll(program_, file);
  for (size_t i = 0; i < imported_.size(); ++i)
    if (!imports->texts[i].isLibrary)
      enterAll(imported_[i], *imports->texts[i].file);
}

namespace {

/// Where a unit defines a value of that name, or imports another text by it.
std::optional<lang::SourceRange> placeOf(const Unit& unit, std::string_view name) {
  if (auto global = unit.globals.find(name); global != unit.globals.end())
    return global->second.surface->name.range;
  if (auto constant = unit.constants.find(name); constant != unit.constants.end())
    return constant->second->name.range;
  if (auto made = unit.constructors.find(name); made != unit.constructors.end())
    return made->second.owner->constructors[made->second.index].name.range;
  return std::nullopt;
}

} // namespace

void Definitions::declareImports(Unit& unit, const surface::File& file, const Imports& imports) {
  std::unordered_map<std::string_view, lang::SourceRange> known;
  for (const surface::Definition* definition : file.definitions) {
    const auto* import = surface::tryAs<surface::ImportDefinition>(definition);
    if (!import)
      continue;
    const surface::Identifier& name = import->name;
    auto place = imports.places.find(import);
    unit.imports[name.text] = place == imports.places.end() ? nullptr : &imported_[place->second];
    auto [first, isNew] = known.try_emplace(name.text, name.range);
    auto other = isNew ? placeOf(unit, name.text) : first->second;
    if (other)
      diagnostics_.report(Message::TakenImportName, name.range, name.text)
          .label(*other, "named here");
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
  diagnostics_
      .report(Message::RepeatedDefinition, function.name.range,
              lang::globalName(function.name.text))
      .label(entry->second.surface->name.range, "this definition is ignored");
  entry->second.surface = &function;
}

void Definitions::declareConstant(Unit& unit, const surface::ConstantDefinition& constant) {
  auto [entry, isNew] = unit.constants.try_emplace(constant.name.text, &constant);
  if (isNew)
    return;
  diagnostics_
      .report(Message::RepeatedDefinition, constant.name.range,
              lang::globalName(constant.name.text))
      .label(entry->second->name.range, "this definition is ignored");
  entry->second = &constant;
}

const lang::TypeDefinition* Definitions::enterType(Unit& unit, TypeEntry& entry) {
  if (entry.definition)
    return entry.definition;
  const surface::TypeDefinition& surface = *entry.surface;
  auto& definitions = typesOf(unit);
  // TVM prints `extern type Storage` as a type without constructors.
  if (surface.name.text == lang::storageDefinition.name && surface.generics.empty() &&
      surface.constructors.empty()) {
    definitions.push_back(&lang::storageDefinition);
    return entry.definition = &lang::storageDefinition;
  }
  runtime::Arena& arena = module_.arena;
  std::vector<const lang::TypeParameter*> generics;
  for (const surface::Identifier& generic : surface.generics)
    // The use of a parameter tells whether it is a type or a size.
    generics.push_back(arena.make<lang::TypeParameter>(generic.text, lang::ParameterKind::Open));
  auto* definition = arena.make<lang::TypeDefinition>(nameIn(unit, surface.name.text),
                                                      surface.name.range, arena.copy(generics));
  definition->isExtern = surface.isExtern;
  std::vector<const lang::Constructor*> constructors;
  for (const surface::Constructor& constructor : surface.constructors) {
    std::vector<std::string_view> names;
    for (const surface::Identifier& name : constructor.fieldNames)
      names.push_back(name.text);
    constructors.push_back(arena.make<lang::Constructor>(
        lang::Expr{lang::ExprKind::Constructor, constructor.name.range},
        nameIn(unit, constructor.name.text), lang::Types{}, definition,
        uint32_t(constructors.size()), arena.copy(names)));
  }
  definition->constructors = arena.copy(constructors);
  entry.definition = definition;
  typeOrigins_[definition] = {&unit, &surface, definition};
  definitions.push_back(definition);
  pendingTypes.push_back({&unit, &surface, definition});
  return definition;
}

lang::Global* Definitions::enterGlobal(Unit& unit, GlobalEntry& entry) {
  if (entry.global)
    return entry.global;
  entry.global = makeGlobal(nameIn(unit, entry.surface->name.text), entry.surface->name.range);
  globalsOf(unit).push_back(entry.global);
  origins_[entry.global] = {&unit, entry.surface->function, entry.global};
  pendingFunctions.push_back(origins_[entry.global]);
  return entry.global;
}

/// It is called and printed like an imported one, since the program has another of its name.
void Definitions::showOfPrelude(std::string_view name) {
  auto found = prelude_.globals.find(name);
  if (found == prelude_.globals.end() || found->second.global || !program_.globals.contains(name))
    return;
  GlobalEntry& entry = found->second;
  entry.global = makeGlobal(module_.arena.copyText(fmt::format("prelude/{}", name)),
                            entry.surface->name.range);
  ofImports_.globals.push_back(entry.global);
  origins_[entry.global] = {&prelude_, entry.surface->function, entry.global};
  pendingFunctions.push_back(origins_[entry.global]);
}

lang::Global* Definitions::addNameless(std::string_view name, lang::SourceRange range) {
  lang::Global* global = makeGlobal(name, range);
  module_.globals.push_back(global);
  return global;
}

lang::Global* Definitions::makeGlobal(std::string_view name, lang::SourceRange range) {
  uint32_t number =
      uint32_t(ofPrelude_.globals.size() + ofImports_.globals.size() + module_.globals.size());
  return module_.arena.make<lang::Global>(lang::Expr{lang::ExprKind::Global, range}, name, number);
}

std::string_view Definitions::nameIn(const Unit& unit, std::string_view name) {
  return unit.prefix.empty() ? name : module_.arena.copyText(unit.prefix + std::string(name));
}

std::optional<ImportedName> Definitions::imported(const Unit& from, std::string_view name) {
  size_t dot = name.find('.');
  auto found = from.imports.find(name.substr(0, dot));
  if (dot == std::string_view::npos || found == from.imports.end())
    return std::nullopt;
  return ImportedName{found->second, name.substr(dot + 1)};
}

AliasEntry Definitions::findAlias(const Unit& from, std::string_view name) const {
  const Unit* unit = &from;
  if (auto there = imported(from, name)) {
    unit = there->unit;
    name = there->name;
  }
  auto found = unit ? unit->types.find(name) : from.types.end();
  bool isAlias = unit && found != unit->types.end() && found->second.surface->alias;
  return isAlias ? AliasEntry{unit, found->second.surface} : AliasEntry{};
}

std::array<Unit*, 2> Definitions::searched(const Unit& from, std::string_view& name) {
  if (auto there = imported(from, name)) {
    name = there->name;
    return {there->unit, nullptr};
  }
  return {const_cast<Unit*>(&from), &prelude_};
}

const lang::TypeDefinition* Definitions::findType(const Unit& from, std::string_view name) {
  for (Unit* unit : searched(from, name)) {
    if (!unit)
      continue;
    if (auto found = unit->types.find(name); found != unit->types.end())
      return enterType(*unit, found->second);
  }
  return nullptr;
}

const lang::Constructor* Definitions::findConstructor(const Unit& from, std::string_view name) {
  for (Unit* unit : searched(from, name)) {
    if (!unit)
      continue;
    if (auto found = unit->constructors.find(name); found != unit->constructors.end()) {
      TypeEntry& owner = unit->types[found->second.owner->name.text];
      if (owner.surface != found->second.owner)
        return nullptr;
      return enterType(*unit, owner)->constructors[found->second.index];
    }
  }
  return nullptr;
}

const lang::Global* Definitions::findGlobal(const Unit& from, std::string_view name) {
  for (Unit* unit : searched(from, name)) {
    if (!unit)
      continue;
    if (auto found = unit->globals.find(name); found != unit->globals.end())
      return enterGlobal(*unit, found->second);
  }
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
  module_.preludeTypes = ofPrelude_.types.size();
  module_.preludeGlobals = ofPrelude_.globals.size();
  for (const Others* others : {&ofImports_, &ofPrelude_}) {
    auto& types = module_.typeDefinitions;
    types.insert(types.begin(), others->types.begin(), others->types.end());
    auto& globals = module_.globals;
    globals.insert(globals.begin(), others->globals.begin(), others->globals.end());
  }
}

} // namespace parser
