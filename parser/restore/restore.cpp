// The definitions of a module.
#include "parser/restore/restore.h"

#include "parser/restore/body.h"
#include "parser/restore/types.h"
#include "parser/surface/node_depth.h"

namespace parser {

namespace {

using restoring::Restoring;

const surface::Definition* typeDefinition(lang::Arena& arena, const lang::TypeDefinition& type) {
  auto* made = newNode<surface::TypeDefinition>(arena, type.range);
  made->name = {arena.copyText(type.name), type.range};
  made->generics = restoring::genericNames(arena, type.generics);
  std::vector<surface::Constructor> constructors;
  for (const lang::Constructor* constructor : type.constructors) {
    std::vector<const surface::Type*> fields;
    for (const lang::Type* field : constructor->fields)
      fields.push_back(restoring::typeTree(arena, *field));
    std::vector<surface::Identifier> names;
    for (std::string_view name : constructor->fieldNames)
      names.push_back({arena.copyText(name), {}});
    constructors.push_back(
        {{arena.copyText(constructor->name), {}}, arena.copy(fields), arena.copy(names)});
  }
  made->constructors = arena.copy(constructors);
  return made;
}

void countMentions(Restoring& shared) {
  auto count = [&](const lang::Operand& operand) {
    if (const auto* constant = operand.value->as<lang::Constant>())
      ++shared.mentions[constant->tensor ? static_cast<const void*>(constant->tensor) : constant];
  };
  for (size_t i = shared.module.preludeGlobals; i < shared.module.globals.size(); ++i)
    if (const lang::Function* function = shared.module.globals[i]->function)
      lang::walk(
          *function->body, [](const lang::Binding&) {}, count);
}

const surface::Definition* functionDefinition(Restoring& shared, const lang::Global& global) {
  auto* made = newNode<surface::FunctionDefinition>(shared.arena, global.range);
  made->name = {shared.arena.copyText(global.name), global.range};
  made->function = restoring::BodyRestorer(shared).definition(*global.function);
  return made;
}

} // namespace

Restored restore(lang::Arena& arena, const lang::Module& module,
                 const lang::OperatorTable& operators, const lang::Typing* typing,
                 bool showsTypes) {
  Restoring shared{arena,
                   module,
                   operators,
                   typing,
                   restoring::GlobalNames(module, operators),
                   lang::printing::MetadataCollector(module.metadata),
                   showsTypes && typing};
  countMentions(shared);
  std::vector<const surface::Definition*> definitions;
  for (size_t i = module.preludeTypes; i < module.typeDefinitions.size(); ++i)
    definitions.push_back(typeDefinition(arena, *module.typeDefinitions[i]));
  for (size_t i = module.preludeGlobals; i < module.globals.size(); ++i)
    if (module.globals[i]->function)
      definitions.push_back(functionDefinition(shared, *module.globals[i]));
  auto* file = arena.make<surface::File>();
  file->notation = surface::Notation::Baton;
  file->definitions = arena.copy(definitions);
  return {file, shared.metadata.table(), !shared.metadata.isEmpty()};
}

} // namespace parser
