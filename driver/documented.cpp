// Texts are read, not checked: what is open in a definition is shown as it is written.
#include "driver/documented.h"

#include "driver/session/own_notation.h"
#include "parser/baton/parse.h"
#include "parser/relay/parse.h"
#include "parser/surface/doc_comment.h"
#include "stdlib/library.h"
#include "stdlib/operator_reference.h"
#include "stdlib/prelude.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace driver {

namespace surface = parser::surface;

namespace {

std::string_view textAt(const lang::SourceFile& source, lang::SourceRange range) {
  return source.text().substr(range.begin - source.base(), range.end - range.begin);
}

bool isWordLetter(char c) {
  return std::isalnum(uint8_t(c)) || c == '_';
}

/// Whether a name stands in a text as a word.
bool mentions(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    size_t end = at + name.size();
    if ((at == 0 || !isWordLetter(text[at - 1])) &&
        (end == text.size() || !isWordLetter(text[end])))
      return true;
  }
  return false;
}

/// The first test that mentions a definition; empty where none does in few lines.
std::string testOf(const surface::File& tree, const lang::SourceFile& source,
                   const surface::Definition& definition) {
  constexpr ptrdiff_t mostLines = 12;
  for (const surface::Definition* each : tree.definitions) {
    const auto* test = surface::tryAs<surface::TestDefinition>(each);
    if (!test)
      continue;
    std::string_view text = textAt(source, test->range);
    if (mentions(text, definition.name.text) && std::ranges::count(text, '\n') < mostLines)
      return std::string(text);
  }
  return "";
}

/// The comment that a text begins with.
std::string headComment(std::string_view text) {
  std::string doc;
  for (size_t begin = 0; text.substr(begin).starts_with("// ");) {
    size_t end = std::min(text.find('\n', begin), text.size());
    doc += (doc.empty() ? "" : "\n") + std::string(text.substr(begin + 3, end - begin - 3));
    begin = std::min(end + 1, text.size());
  }
  return doc;
}

/// A text that ships with Baton, and was read before.
struct ReadText {
  const lang::SourceFile* source;
  const surface::File* tree;
};

class Reader {
public:
  ReadText read(std::string_view name, std::string_view text, surface::Notation notation) {
    lang::Diagnostics diagnostics;
    const lang::SourceFile* source = sources_.add(std::string(name), std::string(text));
    const surface::File* tree = notation == surface::Notation::Baton
                                    ? parser::baton::parseText(trees_, *source, diagnostics)
                                    : parser::parseText(trees_, *source, diagnostics);
    if (!tree || diagnostics.hasErrors())
      throw std::logic_error(fmt::format("{} cannot be read", name));
    return {source, tree};
  }

private:
  lang::SourceMap sources_;
  runtime::Arena trees_;
};

/// What a program calls an operator: those of `nn` go by their own names, where these are free.
std::string nameOf(const lang::OperatorTable& table, const lang::OperatorRow& row) {
  constexpr std::string_view family = "nn.";
  std::string_view plain = row.name.starts_with(family) ? row.name.substr(family.size()) : row.name;
  return std::string(table.find(plain) && plain != row.name ? row.name : plain);
}

/// Those that compute what others have as attributes go by the names of these.
DocumentedModule operatorsOf(const lang::OperatorTable& table) {
  DocumentedModule module{"operators", "Called by name. Attributes are arguments like others.", {}};
  for (const lang::OperatorRow* row : table.all()) {
    if (!row->fixed.name.empty())
      continue;
    std::string name = nameOf(table, *row);
    std::string head = stdlib::callText(*row, name);
    module.entries.push_back(
        {std::move(name), "operator", std::move(head), std::string(row->doc), {}, {}, row});
  }
  std::ranges::sort(module.entries, {}, &Documented::name);
  return module;
}

DocumentedModule preludeOf(Reader& reader, const lang::OperatorTable& table) {
  DocumentedModule module{"prelude", "Known to every program.", {}};
  for (const stdlib::PreludeFile& file : stdlib::preludeFiles()) {
    ReadText read = reader.read(file.name, file.text, surface::Notation::Relay);
    for (Documented& each : definitionsOf(*read.tree, *read.source, "")) {
      each.text = {};
      // An operator of that name comes first.
      if (table.find(each.name) || table.find("nn." + each.name))
        each.name = "prelude." + each.name;
      module.entries.push_back(std::move(each));
    }
  }
  std::ranges::stable_sort(module.entries, {}, &Documented::name);
  return module;
}

} // namespace

std::vector<std::string_view> calledElsewhere(std::string_view doc) {
  constexpr std::string_view before = "Elsewhere it is called ";
  size_t begin = doc.find(before);
  if (begin == std::string_view::npos)
    return {};
  doc = doc.substr(begin + before.size());
  doc = doc.substr(0, doc.find('.'));
  std::vector<std::string_view> names;
  for (size_t open = doc.find('`'); open != std::string_view::npos; open = doc.find('`', open)) {
    size_t close = std::min(doc.find('`', open + 1), doc.size());
    names.push_back(doc.substr(open + 1, close - open - 1));
    open = std::min(close + 1, doc.size());
  }
  return names;
}

std::vector<Documented> definitionsOf(const surface::File& tree, const lang::SourceFile& source,
                                      std::string_view prefix) {
  std::vector<Documented> found;
  for (const surface::Definition* definition : tree.definitions) {
    bool isNamed = definition->kind != surface::DefinitionKind::Test &&
                   definition->kind != surface::DefinitionKind::Import;
    if (!isNamed)
      continue;
    Documented made{std::string(prefix) + std::string(definition->name.text), "function",
                    headText(*definition), parser::docComment(tree, source, definition->name.range),
                    testOf(tree, source, *definition)};
    if (definition->kind == surface::DefinitionKind::Function)
      made.text = textAt(source, definition->range);
    if (definition->kind == surface::DefinitionKind::Constant)
      made.kind = "constant";
    if (const auto* type = surface::tryAs<surface::TypeDefinition>(definition)) {
      made.kind = "type";
      for (const surface::Constructor& constructor : type->constructors)
        made.otherNames.push_back(constructor.name.text);
    }
    found.push_back(std::move(made));
  }
  return found;
}

std::vector<DocumentedModule> allDocumented(const lang::OperatorTable& table) {
  constexpr std::string_view ending = ".baton";
  // What constructors are called lies in the trees.
  static Reader reader;
  std::vector<DocumentedModule> modules;
  for (const stdlib::LibraryFile& file : stdlib::libraryFiles()) {
    ReadText read = reader.read(file.name, file.text, surface::Notation::Baton);
    std::string name(file.name.substr(0, file.name.size() - ending.size()));
    bool isImported = name != stdlib::commonLibrary;
    auto entries = definitionsOf(*read.tree, *read.source, isImported ? name + "." : "");
    // What says nothing of itself is there for other definitions.
    std::erase_if(entries, [](const Documented& each) { return each.doc.empty(); });
    modules.push_back({name, headComment(file.text), std::move(entries), isImported});
  }
  std::ranges::sort(modules, {}, &DocumentedModule::name);
  modules.push_back(preludeOf(reader, table));
  modules.push_back(operatorsOf(table));
  return modules;
}

} // namespace driver
