// Ports first, since they may need layouts that no code has.
#include "vm/bytecode/export.h"

#include "lang/ir/builder.h"
#include "lang/op/op.h"
#include "lang/source/utf8.h"
#include "vm/bytecode/forms.h"

#include <fmt/format.h>
#include <set>

namespace bytecode {

using namespace lang;
using executable::Port;

namespace {

class Exporter {
public:
  Exporter(const Module& module, const Typing& typing, const OperatorTable& operators,
           Compiled& compiled)
      : module_(module), typing_(typing), compiled_(compiled),
        language_(std::make_unique<Module>(module.types)), make_(*language_, operators),
        forms_(compiled, module.types, made_) {
    language_->typeDefinitions = module.typeDefinitions;
    language_->preludeTypes = module.preludeTypes;
  }

  Exported run(std::span<const Global* const> entries) {
    for (const Global* entry : entries)
      addEntry(*entry);
    addDataTypes();
    nameClosures();
    for (uint32_t site = 0; site < compiled_.sites.size(); ++site)
      if (needsLanguage(site))
        addSite(site, compiled_.sites[site]);
    made_.boxesScalars = compiled_.layouts.boxesScalars;
    made_.program = std::move(compiled_.program);
    return {std::move(made_), std::move(language_)};
  }

private:
  Port portOf(std::string name, const Type& type, bool isDeclared, SourceRange range) {
    checks::Declared declared = compiled_.checks->declarations().type(type);
    if (checks::problemOf(declared, compiled_.checks->tables().sizes))
      throw TooLarge(fmt::format("a parameter or result of more than {} tuples in each other",
                                 checks::mostNesting));
    return {std::move(name), typeText(&type), std::move(declared), isDeclared, range};
  }

  /// `@signature` returns its last parameter, so it is a function of any result.
  void addEntry(const Global& entry) {
    const Function& function = *entry.function;
    executable::Entry made{std::string(entry.name)};
    std::vector<const Var*> parameters;
    for (const Var* var : function.parameters) {
      const Type& type = *typing_.of(*var);
      made.parameters.push_back(
          portOf(std::string(var->name), type, var->annotation == &type, var->range));
      made.parameters.back().form = forms_.of(type);
      parameters.push_back(make_.var(VarOrigin::Parameter, var->name, &type));
    }
    const Type& result = *typing_.result(function);
    made.result =
        portOf("", result, function.resultAnnotation != nullptr, function.body->result.range);
    parameters.push_back(make_.var(VarOrigin::Parameter, "result", &result));
    std::vector<const TypeParameter*> generics;
    std::ranges::copy_if(
        typing_.generics(function), std::back_inserter(generics),
        [](const TypeParameter* each) { return each->kind != ParameterKind::Dimension; });
    make_.define(numberedName(signatureName, made_.entries.size()),
                 make_.function(parameters, make_.block(parameters.back()), &result, generics));
    made_.entries.push_back(std::move(made));
  }

  /// A use makes sure that a type of the prelude is there when the module is read.
  void addDataTypes() {
    std::set<const TypeDefinition*> used;
    for (uint16_t i = 0; i < compiled_.program.layouts.size(); ++i) {
      const vm::Layout& layout = compiled_.program.layouts[i];
      if (layout.kind != vm::LayoutKind::Data)
        continue;
      const auto* constructor = static_cast<const Constructor*>(layout.symbol.definition);
      const TypeDefinition* definition = constructor->definition;
      made_.dataTypes.push_back({i,
                                 std::string(definition->name),
                                 {constructor->fieldNames.begin(), constructor->fieldNames.end()}});
      if (!used.insert(definition).second)
        continue;
      std::vector<const Type*> arguments;
      for (const TypeParameter* parameter : definition->generics)
        arguments.push_back(module_.types.variable(parameter));
      const Var* value =
          make_.var(VarOrigin::Parameter, "value", module_.types.data(definition, arguments));
      make_.define(numberedName(useName, used.size()),
                   make_.function({value}, make_.block(value), nullptr, definition->generics));
    }
  }

  /// A function is shown by its type.
  void nameClosures() {
    for (vm::Layout& layout : compiled_.program.layouts)
      if (const auto* function = static_cast<const Function*>(layout.symbol.definition);
          function && layout.kind == vm::LayoutKind::Closure)
        layout.symbol.name =
            made_.names.emplace_front(typeText(functionType(module_.types, *function, typing_)));
  }

  bool needsLanguage(uint32_t site) const {
    return compiled_.program.sites[site].kind == vm::SiteKind::Language &&
           compiled_.sites[site].binding && compiled_.sites[site].isNeeded;
  }

  /// Constants stay what they are, since relations look at them.
  void addSite(uint32_t number, const OperatorSite& site) {
    const auto& call = *site.binding->value->as<Call>();
    std::vector<const Var*> parameters;
    std::vector<Operand> arguments;
    for (const Operand& argument : call.arguments) {
      parameters.push_back(make_.var(VarOrigin::Parameter, "", typing_.of(*argument.value)));
      bool isConstant = argument.value->as<Constant>() != nullptr;
      arguments.push_back({isConstant ? argument.value : parameters.back(), {}});
    }
    Call* own = make_.arena.make<Call>(call);
    own->callee = {make_.op(*site.row), {}};
    own->arguments = make_.arena.copy(arguments);
    BlockBuilder body(make_);
    const Var* value = body.let("value", own);
    std::string name = numberedName(siteName, number);
    make_.define(name, make_.function(parameters, body.finish(value), site.type));
    made_.languageSites.push_back({number, std::move(name)});
  }

  const Module& module_;
  const Typing& typing_;
  Compiled& compiled_;
  std::unique_ptr<Module> language_;
  Builder make_;
  executable::Executable made_;
  Forms forms_;
};

} // namespace

std::string numberedName(std::string_view name, size_t number) {
  return fmt::format("{}_{}", name, number);
}

Exported exportProgram(Module& module, const Typing& typing, const OperatorTable& operators,
                       std::span<const Global* const> entries) {
  std::unique_ptr<Compiled> compiled = compile(module, typing, operators, entries);
  Exported exported = Exporter(module, typing, operators, *compiled).run(entries);
  // Attributes of calls point into it.
  exported.language->metadata = std::move(module.metadata);
  return exported;
}

} // namespace bytecode
