// The text of the expression is read together with that of the program, whose definitions it may
// call; then its code moves into the module that runs, where these have the same names.
#include "driver/debug/evaluate.h"

#include "driver/values/text.h"
#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "lang/source/render.h"
#include "lang/types/type_text.h"
#include "transform/differentiate/derivative_types.h"
#include "typecheck/check.h"

#include <algorithm>
#include <fmt/format.h>

namespace driver {

using namespace lang;
using runtime::Error;
using runtime::Result;
using runtime::Value;
using runtime::ValueKind;

namespace {

bool isNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// What a variable is called in the text of the function: a graph line has no name there.
std::string parameterName(std::string_view name) {
  bool isLine = std::isdigit(static_cast<unsigned char>(name[0])) != 0;
  return fmt::format("%{}{}", isLine ? "line_" : "", name);
}

/// The expression with names that parameters may have.
std::string withParameterNames(std::string_view expression) {
  std::string text;
  size_t from = 0;
  for (std::string_view name : namesIn(expression)) {
    auto at = size_t(name.data() - expression.data());
    text += expression.substr(from, at - 1 - from);
    text += parameterName(name);
    from = at + name.size();
  }
  return text + std::string(expression.substr(from));
}

/// Moves code into a module that has definitions of the same names.
class Importer : public Rewriter {
public:
  using Rewriter::Rewriter;

  /// What the module does not have; null when it has all.
  const Expr* missing = nullptr;

private:
  Atom atom(const Expr& old) override {
    if (const auto* global = old.as<Global>()) {
      const Global* found = make.module.find(global->name);
      missing = found ? missing : &old;
      return found ? found : Rewriter::atom(old);
    }
    if (const auto* constructor = old.as<Constructor>()) {
      auto found = std::ranges::find(make.module.typeDefinitions, constructor->definition->name,
                                     &TypeDefinition::name);
      if (found != make.module.typeDefinitions.end())
        return (*found)->constructors[constructor->index];
      missing = &old;
    }
    return Rewriter::atom(old);
  }
};

bool asksForDerivative(const Block& body) {
  bool found = false;
  walk(
      body, [](const Binding&) {},
      [&](const Operand& operand) {
        const auto* op = operand.value->as<OperatorRef>();
        found |= op && op->row->action == Action::Expand;
      });
  return found;
}

} // namespace

std::vector<std::string_view> namesIn(std::string_view expression) {
  std::vector<std::string_view> names;
  bool isText = false;
  for (size_t i = 0; i < expression.size(); ++i) {
    isText ^= expression[i] == '"' && (i == 0 || expression[i - 1] != '\\');
    size_t end = i + 1;
    while (end < expression.size() && isNameCharacter(expression[end]))
      ++end;
    if (expression[i] != '%' || isText || end == i + 1)
      continue;
    names.push_back(expression.substr(i + 1, end - i - 1));
    i = end - 1;
  }
  return names;
}

Evaluator::Evaluator(Session& session, Program& program, interp::Options how)
    : session_(session), program_(program), how_(std::move(how)),
      name_(transform::freshGlobalName(*program.module, "expression")) {}

Error Evaluator::errorOf(const Diagnostics& diagnostics) const {
  for (const Diagnostic& each : diagnostics.all())
    if (each.severity() == Severity::Error)
      return Error{renderDiagnostic(each, session_.sources(), {})};
  throw std::logic_error("an expression has no error");
}

/// The program's text with a function for the expression, which stands on a line of its own.
Result<Program> Evaluator::load(std::string_view expression, std::span<const Named> variables) {
  std::string parameters;
  for (const Named& variable : variables)
    parameters += (parameters.empty() ? "" : ", ") + parameterName(variable.name);
  std::string_view text = program_.source->text();
  size_t version = text.find("#[version");
  size_t begin = version == text.npos ? 0 : std::min(text.find(']', version), text.size() - 1) + 1;
  auto loaded =
      session_.loadText("expression",
                        fmt::format("{}\ndef @{}({}) {{\n{}\n}}\n{}", text.substr(0, begin), name_,
                                    parameters, withParameterNames(expression), text.substr(begin)),
                        Stage::Resolved);
  if (loaded && !loaded->isGood())
    return errorOf(loaded->diagnostics);
  return loaded;
}

Result<bool> Evaluator::read(std::string_view expression) {
  std::vector<Named> variables;
  for (std::string_view name : namesIn(expression))
    if (std::ranges::find(variables, name, &Named::name) == variables.end())
      variables.push_back({name, nullptr, nullptr});
  auto loaded = load(expression, variables);
  if (!loaded)
    return loaded.failure();
  return true;
}

/// The type of a value as it is; of what is no tensor, what the program says, if that needs no
/// names.
const Type* Evaluator::typeOf(const Named& variable) {
  TypeContext& types = session_.types();
  const Value& value = *variable.value;
  if (value.kind() == ValueKind::Tensor)
    return types.tensorOf(value.tensor().shape(), value.tensor().dtype());
  const Type* type = program_.typing.of(*variable.var);
  if (value.kind() == ValueKind::Tuple && type && type->isTuple()) {
    bool areTensors = std::ranges::all_of(
        value.fields(), [](const Value& field) { return field.kind() == ValueKind::Tensor; });
    std::vector<const Type*> fields;
    for (const Value& field : value.fields())
      if (areTensors)
        fields.push_back(types.tensorOf(field.tensor().shape(), field.tensor().dtype()));
    return areTensors ? types.tuple(fields) : type;
  }
  return type;
}

Result<Evaluator::Compiled> Evaluator::import(const Program& loaded,
                                              std::span<const Named> variables) {
  const Function& old = *loaded.module->find(name_)->function;
  if (asksForDerivative(*old.body))
    return Error{"error: a derivative cannot be asked for while the program runs\n"};
  Module& module = *program_.module;
  Builder make(module, session_.operators());
  make.range = old.range;
  Importer importer(*loaded.module, make);
  std::vector<const Var*> parameters;
  for (size_t i = 0; i < variables.size(); ++i) {
    const Type* type = typeOf(variables[i]);
    printing::TypeFacts facts;
    bool isKnown = type && facts.isShown(type) && !type->hasSymbol && !type->hasUnknown;
    parameters.push_back(
        make.var(VarOrigin::Parameter, old.parameters[i]->name, isKnown ? type : nullptr));
    importer.substitute(*old.parameters[i], parameters.back());
  }
  const Function* function = make.function(parameters, importer.block(*old.body));
  if (importer.missing)
    return Error{"error: the program that runs does not have all that this mentions\n"};
  Compiled made;
  made.global = make.define(name_, function);
  Diagnostics diagnostics;
  made.typing = typecheck::checkModule(module, session_.operators(), diagnostics);
  module.globals.pop_back();
  if (diagnostics.hasErrors())
    return errorOf(diagnostics);
  return made;
}

Result<const Evaluator::Compiled*> Evaluator::compile(std::string_view expression,
                                                      std::span<const Named> variables) {
  std::string key(expression);
  for (const Named& variable : variables)
    key += fmt::format("\n{} {}", variable.name, typeText(typeOf(variable)));
  if (auto found = known_.find(key); found != known_.end())
    return &found->second;
  auto loaded = load(expression, variables);
  if (!loaded)
    return loaded.failure();
  auto made = import(*loaded, variables);
  if (!made)
    return made.failure();
  return &(known_[key] = *std::move(made));
}

Result<Value> Evaluator::value(std::string_view expression, std::span<const Named> variables) {
  auto compiled = compile(expression, variables);
  if (!compiled)
    return compiled.failure();
  std::vector<Value> arguments;
  for (const Named& variable : variables)
    arguments.push_back(*variable.value);
  const Global& global = *(*compiled)->global;
  program_.module->globals.push_back(&global);
  auto result = interp::interpret(*program_.module, (*compiled)->typing, session_.operators(),
                                  global, std::move(arguments), how_);
  program_.module->globals.pop_back();
  if (auto* fault = std::get_if<interp::Fault>(&result))
    return Error{fmt::format("error: {}\n", fault->problem.plain())};
  return std::get<Value>(std::move(result));
}

Result<std::string> Evaluator::text(std::string_view expression, std::span<const Named> variables) {
  auto given = value(expression, variables);
  if (!given)
    return given.failure();
  return valueText(*given, session_.types(), (*compile(expression, variables))->typing);
}

} // namespace driver
