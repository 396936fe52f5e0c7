// Definitions, and the loop that writes what is scheduled.
#include "parser/baton/writer.h"

#include <algorithm>
#include <fmt/format.h>

namespace parser::baton {

using namespace surface;

namespace {

/// Words that mean something else than a name.
constexpr std::string_view reservedWords[] = {
    "let",  "fn", "def",  "if",   "else",  "type", "match",  "with",
    "lazy", "as", "test", "true", "false", "_",    "import",
};

/// `inf`, `nanf16` and so on.
bool isNumberWord(std::string_view name) {
  if (!name.starts_with("inf") && !name.starts_with("nan"))
    return false;
  std::string_view suffix = name.substr(3);
  return suffix.empty() || suffix == "f16" || suffix == "bf16" || suffix == "f32" ||
         suffix == "f64";
}

bool isWord(std::string_view name) {
  auto isLetter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && isLetter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); });
}

} // namespace

std::string nameText(std::string_view name) {
  bool isPlain =
      isWord(name) && !isNumberWord(name) && std::ranges::count(reservedWords, name) == 0;
  if (isPlain)
    return std::string(name);
  std::string quoted = "`";
  for (char c : name)
    quoted += c == '`' || (c >= 0 && c < ' ') ? '_' : c;
  return quoted + "`";
}

std::string write(const File& file, const DocOf& docOf) {
  return Writer().file(file, docOf);
}

std::string writeHead(const Definition& definition) {
  return Writer().head(definition);
}

std::string Writer::head(const Definition& definition) {
  if (definition.kind == DefinitionKind::Function) {
    text("def " + nameText(definition.name.text));
    signature(*static_cast<const FunctionDefinition&>(definition).function);
  } else if (definition.kind == DefinitionKind::Constant) {
    const auto& constant = static_cast<const ConstantDefinition&>(definition);
    text("let " + nameText(definition.name.text));
    constantType(constant);
  } else {
    this->definition(definition);
  }
  run();
  return std::move(out_);
}

std::string Writer::file(const File& file, const DocOf& docOf) {
  for (const Definition* each : file.definitions) {
    if (each != file.definitions.front())
      out_ += '\n';
    if (docOf)
      doc(docOf(*each));
    definition(*each);
    run();
    out_ += '\n';
  }
  return std::move(out_);
}

void Writer::doc(std::string_view lines) {
  while (!lines.empty()) {
    std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    out_ += line.empty() ? "///\n" : fmt::format("/// {}\n", line);
  }
}

bool WritingPlan::next(Task& task) {
  for (; !plan_.empty(); plan_.pop_back())
    tasks_.push_back(std::move(plan_.back()));
  if (tasks_.empty())
    return false;
  task = std::move(tasks_.back());
  tasks_.pop_back();
  return true;
}

void Writer::run() {
  for (Task task{}; next(task);)
    perform(task);
}

void Writer::perform(const Task& task) {
  switch (task.step) {
  case Step::Text:
    out_ += task.text;
    return;
  case Step::Expr:
    return planExpr(static_cast<const Expr*>(task.node), task.least);
  case Step::Chain:
    return chain(*static_cast<const Infix*>(task.node));
  case Step::Pattern:
    return planPattern(*static_cast<const Pattern*>(task.node));
  case Step::Type:
    return planType(*static_cast<const Type*>(task.node));
  case Step::Dim:
    return planDim(*static_cast<const Dim*>(task.node), task.least);
  case Step::Items:
    return items(static_cast<const Expr*>(task.node));
  }
}

void Writer::definition(const Definition& definition) {
  switch (definition.kind) {
  case DefinitionKind::Function:
    return function(static_cast<const FunctionDefinition&>(definition));
  case DefinitionKind::Type:
    return typeDefinition(static_cast<const TypeDefinition&>(definition));
  case DefinitionKind::Constant: {
    const auto& constant = static_cast<const ConstantDefinition&>(definition);
    text("let " + nameText(definition.name.text));
    constantType(constant);
    text(" = ");
    expr(constant.value);
    return text(";");
  }
  case DefinitionKind::Test:
    text("test " + quotedText(definition.name.text) + " ");
    return block(static_cast<const TestDefinition&>(definition).body);
  case DefinitionKind::Import: {
    const auto& import = static_cast<const ImportDefinition&>(definition);
    std::string_view path = import.path.text;
    bool isNamed = path.substr(path.rfind('/') + 1) != definition.name.text;
    return text(fmt::format("import {}{}{}", path, isNamed ? " as " : "",
                            isNamed ? nameText(definition.name.text) : ""));
  }
  }
}

void Writer::constantType(const ConstantDefinition& constant) {
  if (!constant.type)
    return;
  text(": ");
  type(constant.type);
}

/// A body that is no block stands behind `=`.
void Writer::function(const FunctionDefinition& definition) {
  const Function& function = *definition.function;
  text("def " + nameText(definition.name.text));
  signature(function);
  bool isBlock = function.body->kind == ExprKind::Sequence || function.body->kind == ExprKind::If;
  if (isBlock) {
    text(" ");
    return block(function.body, true);
  }
  text(" = ");
  expr(function.body);
}

void Writer::signature(const Function& function) {
  generics(function.generics);
  text("(");
  list(function.parameters, [&](const Parameter& each) { parameter(each); });
  text(")");
  if (function.result) {
    text(" -> ");
    type(function.result);
  }
  attributes(function.attributes);
}

void Writer::parameter(const Parameter& parameter) {
  if (parameter.pattern)
    pattern(parameter.pattern);
  else
    text(parameter.name.text == "_" ? "_" : nameText(parameter.name.text));
  if (parameter.type) {
    text(": ");
    type(parameter.type);
  }
  attributes(parameter.attributes);
  if (parameter.defaultValue) {
    text(" = ");
    expr(parameter.defaultValue);
  }
}

/// What only Relay's text says of a function or a parameter.
void Writer::attributes(std::span<const Attribute> attributes) {
  if (attributes.empty())
    return;
  text(" with (");
  list(attributes, [&](const Attribute& each) {
    text(nameText(each.key.text) + " = ");
    expr(each.value.expr);
  });
  text(")");
}

void Writer::generics(std::span<const Identifier> names) {
  std::string all;
  for (const Identifier& name : names)
    all += (all.empty() ? "" : ", ") + nameText(name.text);
  if (!all.empty())
    text("[" + all + "]");
}

void Writer::typeDefinition(const TypeDefinition& definition) {
  text("type " + nameText(definition.name.text));
  generics(definition.generics);
  if (definition.alias) {
    text(" = ");
    return type(definition.alias);
  }
  std::span<const Constructor> constructors = definition.constructors;
  if (constructors.empty())
    return text(" {}");
  bool isRecord = constructors.size() == 1 && constructors[0].name.text == definition.name.text &&
                  !constructors[0].fieldNames.empty();
  text(" { ");
  size_t count = isRecord ? constructors[0].fields.size() : constructors.size();
  for (size_t i = 0; i < count; ++i) {
    if (isRecord) {
      text(nameText(constructors[0].fieldNames[i].text) + ": ");
      type(constructors[0].fields[i]);
    } else {
      constructor(constructors[i]);
    }
    text(i + 1 < count ? ", " : " }");
  }
}

void Writer::constructor(const Constructor& constructor) {
  text(nameText(constructor.name.text));
  if (constructor.fields.empty())
    return;
  text("(");
  for (size_t i = 0; i < constructor.fields.size(); ++i) {
    if (i > 0)
      text(", ");
    if (!constructor.fieldNames.empty())
      text(nameText(constructor.fieldNames[i].text) + ": ");
    type(constructor.fields[i]);
  }
  text(")");
}

} // namespace parser::baton
