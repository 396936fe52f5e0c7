// Resolution of a whole file: declarations first, then bodies, until nothing that was mentioned is
// left without one.
#include "lang/ir/record_function.h"
#include "parser/resolve/bare_forms.h"
#include "parser/resolve/lower_graph.h"
#include "parser/resolve/resolve_context.h"
#include "parser/resolve/tests.h"

#include <algorithm>
#include <unordered_set>

namespace parser {

using lang::Message;
using lang::ModuleForm;

namespace {

ModuleForm formOf(const surface::File& file) {
  if (!file.expr)
    return ModuleForm::Definitions;
  return file.expr->kind == surface::ExprKind::FunctionLiteral ? ModuleForm::Function
                                                               : ModuleForm::Expression;
}

class Resolver {
public:
  Resolver(ResolveContext& context)
      : context_(context), lowering_{context.module, context.diagnostics} {}

  void resolveFile(const surface::File& file) {
    for (const surface::File* prelude : context_.environment.prelude)
      context_.definitions.declarePrelude(*prelude);
    context_.definitions.declareProgram(file, context_.source, context_.environment.imports);
    if (file.expr)
      resolveMain(file.expr);
    else if (file.definitions.empty() && !context_.diagnostics.hasErrors())
      context_.diagnostics.report(Message::EmptyProgram, file.range);
    if (context_.environment.withTests)
      resolveTests(file);
    resolvePending();
    warnOfUnused();
    context_.definitions.finish();
  }

private:
  void resolvePending() {
    Definitions& definitions = context_.definitions;
    for (size_t type = 0, function = 0; type < definitions.pendingTypes.size() ||
                                        function < definitions.pendingFunctions.size();) {
      if (type < definitions.pendingTypes.size())
        resolveType(Definitions::PendingType(definitions.pendingTypes[type++]));
      else
        resolveFunction(Definitions::PendingFunction(definitions.pendingFunctions[function++]));
      for (; context_.bare.callsValues && type == definitions.pendingTypes.size() &&
             callable_ < definitions.pendingTypes.size();
           ++callable_)
        enterFunctionOf(Definitions::PendingType(definitions.pendingTypes[callable_]));
    }
  }

  /// Lets the function be there that a call of such a record means.
  void enterFunctionOf(const Definitions::PendingType& pending) {
    bool isRecord = pending.surface->constructors.size() == 1 &&
                    !pending.surface->constructors[0].fieldNames.empty();
    std::string name = lang::recordFunctionName(pending.surface->name.text);
    if (pending.unit->notation != surface::Notation::Baton || !isRecord ||
        !pending.unit->globals.contains(name))
      return;
    context_.definitions.findGlobal(*pending.unit, name);
    context_.module.isOpen = true;
  }

  void resolveType(const Definitions::PendingType& pending) {
    context_.unit = pending.unit;
    context_.bare.defined = pending.definition;
    context_.typeParameters.openFrame();
    for (const lang::TypeParameter* generic : pending.definition->generics)
      context_.typeParameters.bind(generic->name, generic);
    for (size_t i = 0; i < pending.surface->constructors.size(); ++i) {
      std::vector<const lang::Type*> fields;
      for (const surface::Type* field : pending.surface->constructors[i].fields) {
        const lang::Type* type = buildType(context_, field);
        fields.push_back(type ? type : context_.module.types.error());
      }
      // The constructor was made by Definitions and nobody has looked at its fields yet.
      auto* constructor = const_cast<lang::Constructor*>(pending.definition->constructors[i]);
      constructor->fields = context_.module.arena.copy(fields);
    }
    context_.typeParameters.closeFrame();
    context_.bare.defined = nullptr;
    // What no field uses may as well be a type.
    for (const lang::TypeParameter* generic : pending.definition->generics)
      if (generic->kind == lang::ParameterKind::Open)
        generic->kind = lang::ParameterKind::Type;
  }

  void resolveFunction(const Definitions::PendingFunction& pending) {
    context_.unit = pending.unit;
    context_.bare.sizes.clear();
    context_.bare.letters.clear();
    Node* node = buildFunction(context_, *pending.surface);
    if (isBare(context_)) {
      // The head was made for this definition a moment ago.
      const_cast<lang::Function*>(node->function)->mayBeOpen = true;
      auto lacksType = [](const lang::Var* parameter) { return !parameter->annotation; };
      context_.module.isOpen |= std::ranges::any_of(node->function->parameters, lacksType);
    }
    pending.global->function = lowerFunction(lowering_, node);
    if (isBare(context_) && isOfRecord(pending))
      resolveDefaults(pending);
    // Only graph lines are for several definitions.
    if (context_.relay.graph.empty())
      context_.nodes.clear();
  }

  /// Whether a record that is called may mean a function.
  static bool isOfRecord(const Definitions::PendingFunction& pending) {
    return std::ranges::any_of(pending.unit->types, [&](const auto& type) {
      auto found = pending.unit->globals.find(lang::recordFunctionName(type.first));
      return found != pending.unit->globals.end() && found->second.global == pending.global;
    });
  }

  /// Where a record is called, only types tell which function is meant, and so which defaults.
  void resolveDefaults(const Definitions::PendingFunction& pending) {
    for (const surface::Parameter& parameter : pending.surface->parameters) {
      if (!parameter.defaultValue)
        continue;
      context_.unit = pending.unit;
      context_.module.isOpen = true;
      std::string name = lang::recordDefaultName(pending.global->name, parameter.name.text);
      lang::Global* global = context_.definitions.addNameless(context_.module.arena.copyText(name),
                                                              parameter.name.range);
      global->function = lowerFunction(lowering_, wrapExpression(parameter.defaultValue));
    }
  }

  void resolveTests(const surface::File& file) {
    context_.unit = &context_.definitions.program();
    runtime::Arena& arena = context_.module.arena;
    std::unordered_set<std::string> names;
    for (const surface::Definition* definition : file.definitions) {
      const auto* test = surface::tryAs<surface::TestDefinition>(definition);
      if (!test)
        continue;
      std::string name = std::string(testPrefix) + std::string(test->name.text);
      for (size_t count = 2; !names.insert(name).second; ++count)
        name = fmt::format("{}{} ({})", testPrefix, test->name.text, count);
      lang::Global* global =
          context_.definitions.addNameless(arena.copyText(name), test->name.range);
      Node* node = wrapExpression(testedBody(arena, test->body));
      global->function = lowerFunction(lowering_, node);
    }
  }

  /// A bare expression becomes the global `main`.
  void resolveMain(const surface::Expr* expr) {
    lang::Module& module = context_.module;
    context_.unit = &context_.definitions.program();
    auto* global = module.arena.make<lang::Global>(lang::Expr{lang::ExprKind::Global, expr->range},
                                                   std::string_view("main"), 0u);
    module.globals.push_back(global);
    Node* node =
        module.form == ModuleForm::Function
            ? buildFunction(context_, *surface::as<surface::FunctionLiteral>(expr).function)
            : wrapExpression(expr);
    global->function = lowerFunction(lowering_, node);
  }

  Node* wrapExpression(const surface::Expr* expr) {
    lang::Module& module = context_.module;
    context_.bare.sizes.clear();
    context_.bare.letters.clear();
    context_.locals.openFrame();
    Use body = buildExpr(context_, expr);
    context_.locals.closeFrame();
    auto* head = module.arena.make<lang::Function>(
        lang::Expr{lang::ExprKind::Function, expr->range}, module.functionCount++);
    head->parameters = module.arena.copy(context_.relay.freeVariables);
    Node* node = context_.makeNode(NodeKind::Function, expr->range);
    node->bodies = module.arena.copy(std::initializer_list<Use>{body});
    node->function = head;
    return node;
  }

  void warnOfUnused() {
    if (context_.diagnostics.hasErrors())
      return;
    for (const auto& [number, binding] : context_.relay.graph)
      if (!binding.isUsed)
        context_.diagnostics.report(Message::UnusedGraphVariable, binding.range, number);
  }

  ResolveContext& context_;
  Lowering lowering_;
  /// The types before which functions of records were entered.
  size_t callable_ = 0;
};

} // namespace

std::unique_ptr<lang::Module> resolve(const surface::File& file, const lang::SourceFile& source,
                                      lang::MetadataTable metadata, const Environment& environment,
                                      lang::Diagnostics& diagnostics) {
  auto module = std::make_unique<lang::Module>(environment.types);
  module->form = formOf(file);
  module->metadata = std::move(metadata);
  Definitions definitions(*module, diagnostics);
  ResolveContext context{*module, environment, diagnostics, definitions, source};
  Resolver(context).resolveFile(file);
  return module;
}

} // namespace parser
