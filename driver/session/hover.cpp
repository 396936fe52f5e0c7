// What is said of the node at a place.
#include "driver/session/hover.h"

#include "driver/session/definition_text.h"
#include "driver/session/describe_surface.h"
#include "driver/session/find_at.h"
#include "driver/session/own_notation.h"
#include "driver/session/session.h"
#include "lang/source/utf8.h"
#include "parser/surface/doc_comment.h"
#include "stdlib/operator_reference.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fmt/format.h>

namespace driver {

namespace {

using lang::ExprKind;
using lang::Type;

class Describer {
public:
  Describer(Session& session, const Program& program, const NodeAt& node)
      : session_(session), program_(program), node_(node) {}

  std::optional<Hover> describe() const {
    if (!node_.expr)
      return Hover{node_.range, "type", lang::plainName(node_.definition->name).in(notation()), "",
                   definitionText(*node_.definition, notation())};
    switch (node_.expr->kind) {
    case ExprKind::Var:
      return local(static_cast<const lang::Var&>(*node_.expr));
    case ExprKind::Global:
      return global(static_cast<const lang::Global&>(*node_.expr));
    case ExprKind::Operator:
      return op(*static_cast<const lang::OperatorRef&>(*node_.expr).row);
    case ExprKind::Constructor:
      return constructor(static_cast<const lang::Constructor&>(*node_.expr));
    case ExprKind::Hole:
      return hole();
    default:
      return Hover{node_.range, kindName(node_.expr->kind), "", knownText(node_.type)};
    }
  }

private:
  static std::string_view kindName(ExprKind kind) {
    switch (kind) {
    case ExprKind::Constant:
      return "constant";
    case ExprKind::Tuple:
      return "tuple";
    case ExprKind::Project:
      return "field";
    case ExprKind::Call:
      return "call";
    case ExprKind::If:
      return "if";
    case ExprKind::Match:
      return "match";
    case ExprKind::Function:
      return "function";
    case ExprKind::RefNew:
    case ExprKind::RefRead:
    case ExprKind::RefWrite:
      return "reference";
    default:
      return "block";
    }
  }

  lang::Notation notation() const { return program_.notation(); }

  /// The type as text, empty when nothing is known of it.
  std::string knownText(const Type* type) const {
    return !type || type->isError() || type->isUnknown() ? "" : lang::typeText(type, notation());
  }

  std::string sourceText() const {
    return std::string(program_.source->text().substr(node_.range.begin - program_.source->base(),
                                                      node_.range.end - node_.range.begin));
  }

  /// A graph variable stands for a temporary, or for the let that has its one use.
  Hover local(const lang::Var& var) const {
    constexpr std::string_view kinds[] = {"parameter", "let", "graph variable", "pattern variable",
                                          "free variable"};
    std::string name = sourceText();
    bool isGraph = name != var.name && name != fmt::format("%{}", var.name);
    lang::VarOrigin origin = isGraph ? lang::VarOrigin::Temporary : var.origin;
    return {node_.range, kinds[size_t(origin)], std::move(name), knownText(node_.type)};
  }

  Hover global(const lang::Global& global) const {
    const lang::SourceFile* file = session_.sources().find(global.range);
    const parser::surface::File* tree = file ? treeOf(*file) : nullptr;
    std::string type = knownText(globalType(program_, global));
    bool isItself = node_.range == global.range;
    if (tree && isOpen(global) && (type.empty() || isItself))
      type = openText(*tree, global);
    return {node_.range, "global",
            isOpen(global) ? sourceText() : lang::globalName(global.name).in(notation()),
            std::move(type), tree ? parser::docComment(*tree, *file, global.range) : ""};
  }

  const parser::surface::File* treeOf(const lang::SourceFile& file) const {
    if (&file == program_.source)
      return program_.tree;
    for (const parser::ImportedText& text : program_.imports.texts)
      if (&file == text.source)
        return text.file;
    for (const parser::surface::File* tree : session_.preludeTrees())
      if (file.contains(tree->range))
        return tree;
    return nullptr;
  }

  bool isOpen(const lang::Global& global) const {
    return std::ranges::count(program_.open, global.range) > 0;
  }

  /// What an open definition is where no use says its type.
  static std::string openText(const parser::surface::File& tree, const lang::Global& global) {
    for (const parser::surface::Definition* definition : tree.definitions)
      if (definition->name.range == global.range)
        return "open " + headText(*definition);
    return "";
  }

  const Type* typeOf(const lang::Operand& operand) const {
    const auto* global = operand.value->as<lang::Global>();
    return global ? globalType(program_, *global) : program_.typing.of(*operand.value);
  }

  /// At a call an operator has the type that it is used at.
  Hover op(const lang::OperatorRow& row) const {
    std::string type;
    if (node_.call) {
      for (const lang::Operand& argument : node_.call->arguments)
        type += (type.empty() ? "" : ", ") + lang::typeText(typeOf(argument), notation());
      type = fmt::format("fn ({}) -> {}", type, lang::typeText(node_.type, notation()));
    }
    bool isWord = program_.isBare() && std::isalpha(uint8_t(sourceText()[0]));
    std::string call = isWord ? stdlib::callText(row, sourceText()) : stdlib::callText(row);
    return {node_.range, "operator", std::string(row.name), std::move(type),
            call + '\n' + std::string(row.doc)};
  }

  Hover constructor(const lang::Constructor& constructor) const {
    lang::TypeContext& types = session_.types();
    bool isBare = constructor.fields.empty();
    const Type* type = node_.call && isBare ? node_.type : nullptr;
    if (!type) {
      std::vector<const Type*> arguments;
      for (const lang::TypeParameter* generic : constructor.definition->generics)
        arguments.push_back(generic->kind == lang::ParameterKind::Dimension
                                ? types.dimension(types.symbol(generic))
                                : types.variable(generic));
      const Type* data = types.data(constructor.definition, arguments);
      type = isBare ? data
                    : types.function(constructor.fields, data, constructor.definition->generics);
    }
    return {node_.range, "constructor", lang::plainName(constructor.name).in(notation()),
            knownText(type), "of " + definitionText(*constructor.definition, notation())};
  }

  /// What a hole must be is what its message says. Where no hole is written, an error was reported:
  /// the name of an operator says what it is all the same.
  std::optional<Hover> hole() const {
    std::string written = sourceText();
    if (const lang::OperatorRow* row = session_.operators().find(written))
      return op(*row);
    if (written != "_")
      return std::nullopt;
    Hover hover{node_.range, "hole", "_"};
    for (const lang::Diagnostics* found : {&program_.diagnostics, &program_.consequences})
      for (const lang::Diagnostic& item : found->all())
        if (item.message == lang::Message::ExpressionHole && item.range == node_.range)
          fillHole(hover, item);
    return hover;
  }

  void fillHole(Hover& hover, const lang::Diagnostic& item) const {
    std::string text = item.text.in(notation());
    size_t begin = text.find('`') + 1;
    hover.type = text.substr(begin, text.rfind('`') - begin);
    if (hover.type == "_")
      hover.type.clear();
    for (const lang::Words& note : item.notes)
      hover.doc += (hover.doc.empty() ? "" : "\n") + note.in(notation());
  }

  Session& session_;
  const Program& program_;
  const NodeAt& node_;
};

} // namespace

std::optional<lang::LineColumn> readPlace(std::string_view text) {
  lang::LineColumn place{0, 0};
  const char* end = text.data() + text.size();
  auto line = std::from_chars(text.data(), end, place.line);
  if (line.ec != std::errc() || line.ptr == end || *line.ptr != ':')
    return std::nullopt;
  auto column = std::from_chars(line.ptr + 1, end, place.column);
  if (column.ec != std::errc() || column.ptr != end || place.line == 0 || place.column == 0)
    return std::nullopt;
  return place;
}

std::optional<Hover> hoverAt(Session& session, const Program& program, uint32_t offset) {
  if (auto described = describeSurface(session, program, findSurfaceAt(*program.tree, offset)))
    return described;
  auto node = findAt(program, offset);
  if (!node)
    return std::nullopt;
  return Describer(session, program, *node).describe();
}

std::string hoverText(const Hover& hover) {
  if (hover.kind == "type")
    return hover.doc + '\n';
  std::string text = hover.name.empty() ? std::string(hover.kind) : hover.name;
  if (!hover.type.empty())
    text += " : " + hover.type;
  else if (hover.kind != "operator" && hover.kind != R"(size)")
    text += " : a type that is not known";
  text += '\n';
  if (!hover.name.empty())
    text += fmt::format("{}\n", hover.kind);
  if (!hover.doc.empty())
    text += hover.doc + '\n';
  std::string shown;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    shown += lang::printable(std::string_view(text).substr(begin, end - begin)) + '\n';
    begin = end + 1;
  }
  return shown;
}

std::string hoverJson(const Hover& hover, const lang::SourceMap& sources) {
  const lang::SourceFile& file = *sources.find(hover.range);
  lang::LineColumn begin = file.position(hover.range.begin), end = file.position(hover.range.end);
  return fmt::format(R"({{"range":{{"line":{},"column":{},"endLine":{},"endColumn":{}}},)"
                     R"("kind":{},"name":{},"type":{},"doc":{}}})",
                     begin.line, begin.column, end.line, end.column, lang::jsonQuoted(hover.kind),
                     lang::jsonQuoted(hover.name),
                     hover.type.empty() ? "null" : lang::jsonQuoted(hover.type),
                     lang::jsonQuoted(hover.doc));
}

} // namespace driver
