// Read off the texts of the prelude, which have a comment above each function.
#include "stdlib/prelude_reference.h"

#include "parser/relay/parse.h"
#include "parser/surface/doc_comment.h"
#include "stdlib/prelude.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <vector>

namespace stdlib {

namespace surface = parser::surface;

namespace {

/// What the texts define.
struct Contents {
  std::vector<PreludeFunction> functions;
  /// Each as it is written.
  std::vector<std::string> types;
};

void addDefinitions(const surface::File& tree, const lang::SourceFile& source, Contents& contents) {
  auto written = [&](uint32_t begin, uint32_t end) {
    return std::string(source.text().substr(begin - source.base(), end - begin));
  };
  for (const surface::Definition* definition : tree.definitions) {
    const auto* function = surface::tryAs<surface::FunctionDefinition>(definition);
    lang::SourceRange name = definition->name.range;
    if (!function)
      contents.types.push_back(written(definition->range.begin, definition->range.end));
    else
      contents.functions.push_back({std::string(definition->name.text),
                                    written(name.begin, function->function->result->range.end),
                                    parser::docComment(tree, source, name)});
  }
}

Contents readPrelude() {
  Contents contents;
  for (const PreludeFile& file : preludeFiles()) {
    lang::SourceMap sources;
    runtime::Arena arena;
    lang::Diagnostics diagnostics;
    const lang::SourceFile* source = sources.add(std::string(file.name), std::string(file.text));
    const surface::File* tree = parser::parseText(arena, *source, diagnostics);
    if (!tree || diagnostics.hasErrors())
      throw std::logic_error("the prelude cannot be read");
    addDefinitions(*tree, *source, contents);
  }
  std::ranges::sort(contents.functions, {}, &PreludeFunction::name);
  return contents;
}

const Contents& contents() {
  static const Contents known = readPrelude();
  return known;
}

std::string asCode(std::string_view text) {
  std::string result = "    ";
  for (char letter : text) {
    result += letter;
    if (letter == '\n')
      result += "    ";
  }
  return result + '\n';
}

} // namespace

std::span<const PreludeFunction> preludeFunctions() {
  return contents().functions;
}

std::string preludeReference(const PreludeFunction& function) {
  return fmt::format("## @{}\n\n{}\n{}\n", function.name, asCode(function.signature), function.doc);
}

std::string preludeReference() {
  std::string text = "# Functions of the prelude\n\n"
                     "They are written in the language itself, in `stdlib/*.rly`. A program gets "
                     "those that it\nmentions and does not define itself, and their data types:\n";
  for (const std::string& type : contents().types)
    text += "\n" + asCode(type);
  for (const PreludeFunction& function : preludeFunctions())
    text += "\n" + preludeReference(function);
  return text;
}

} // namespace stdlib
