// Breadth first, so what the program calls a text is what its definitions are called by, and by a
// list, so no chain of imports is too deep.
#include "driver/session/imported_files.h"

#include "lang/source/edit_distance.h"
#include "lang/source/utf8.h"
#include "parser/baton/parse.h"
#include "parser/surface/foreign_words.h"
#include "runtime/formats/file.h"
#include "stdlib/library.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

namespace driver {

using lang::Message;
using parser::surface::ImportDefinition;

namespace {

namespace files = std::filesystem;

constexpr uint64_t largestImport = uint64_t(1) << 31;
constexpr size_t mostTexts = 1000;
/// Files of a folder that are looked at for one that somebody may have meant.
constexpr size_t mostNeighbours = 1000;
constexpr std::string_view ending = ".baton";

/// The folder of a file with the slash behind it; empty for one without.
std::string folderOf(const std::string& name) {
  return name.substr(0, name.rfind('/') + 1);
}

std::string pathKey(const std::string& path) {
  std::error_code error;
  files::path whole = files::weakly_canonical(path, error);
  return error ? path : whole.string();
}

/// The paths that may stand in place of one: files of the folder that it names.
std::vector<std::string> neighbours(const std::string& folder, std::string_view path) {
  std::string inner(path.substr(0, path.rfind('/') + 1));
  std::vector<std::string> names;
  std::error_code error;
  files::directory_iterator entries(folder + inner + ".", error);
  for (size_t count = 0; !error && entries != files::end(entries) && count < mostNeighbours;
       entries.increment(error), ++count)
    if (files::path name = entries->path().filename(); name.extension() == ending)
      names.push_back(inner + name.stem().string());
  std::ranges::sort(names);
  return names;
}

/// One text in a search through all that a program imports.
struct Node {
  const ImportedFiles::Text* text;
  struct Edge {
    const ImportDefinition* import;
    size_t to;
  };
  std::vector<Edge> imports = {};
};

class Reading {
public:
  Reading(ImportedFiles& files, const ImportedFiles::Text& program, lang::Diagnostics& diagnostics)
      : files_(files), diagnostics_(diagnostics) {
    nodes_.push_back({&program});
    places_[keyOf(program)] = 0;
  }

  parser::Imports read() {
    for (size_t at = 0; at < nodes_.size(); ++at)
      for (const auto* definition : nodes_[at].text->tree->definitions)
        if (const auto* import = parser::surface::tryAs<ImportDefinition>(definition))
          follow(at, *import);
    addCommon();
    reportCycles();
    for (const stdlib::LibraryFile& file : stdlib::libraryFiles())
      imports_.available.push_back(file.name.substr(0, file.name.size() - ending.size()));
    return std::move(imports_);
  }

private:
  /// What every text sees, behind those that are imported, which may be among them.
  void addCommon() {
    constexpr std::string_view common = stdlib::commonLibrary;
    const ImportedFiles::Text* text = files_.library(common);
    if (nodes_[0].text->tree->notation != parser::surface::Notation::Baton || !text)
      return;
    auto [place, isNew] = places_.try_emplace(keyOf(*text), nodes_.size());
    if (isNew)
      add(*text, common, common);
    imports_.common = place->second - 1;
  }

  void follow(size_t from, const ImportDefinition& import) {
    std::string reason;
    std::vector<std::string> near;
    const ImportedFiles::Text* text =
        files_.find(*nodes_[from].text, import.path.text, reason, near);
    bool isNew = text && !places_.contains(keyOf(*text));
    if (isNew && nodes_.size() > mostTexts) {
      text = nullptr;
      reason = fmt::format("a program imports at most {} files", mostTexts);
    }
    if (!text) {
      auto& report =
          diagnostics_.report(Message::FailedImport, import.path.range, import.path.text, reason);
      if (parser::isForeignLibrary(import.path.text))
        report.note("libraries of Python are none here: operators are there without an import");
      for (const std::string& name : near)
        report.suggest({"did you mean {}?", {{import.path.range, name}}, {}, false, true});
      return;
    }
    auto [place, added] = places_.try_emplace(keyOf(*text), nodes_.size());
    if (added)
      add(*text, import.name.text, import.path.text);
    nodes_[from].imports.push_back({&import, place->second});
    if (place->second > 0 && text->tree)
      imports_.places[&import] = place->second - 1;
  }

  static std::string keyOf(const ImportedFiles::Text& text) {
    return text.isLibrary ? text.source->name() : pathKey(text.source->name());
  }

  void add(const ImportedFiles::Text& text, std::string_view name, std::string_view path) {
    static const parser::surface::File nothing{};
    nodes_.push_back({&text});
    diagnostics_.append(text.findings);
    imports_.texts.push_back(
        {text.tree ? text.tree : &nothing, text.source, nameFor(name, path), text.isLibrary});
  }

  /// As the first one calls it that imports it, unless another text has that name.
  std::string nameFor(std::string_view wanted, std::string_view path) {
    std::string name(wanted);
    if (names_.insert(name).second)
      return name;
    name = path;
    for (size_t count = 2; !names_.insert(name).second; ++count)
      name = fmt::format("{}_{}", path, count);
    return name;
  }

  /// A walk in depth with a stack of its own: an import of what is on it closes a cycle.
  void reportCycles() {
    enum class State : uint8_t { New, Open, Done };
    std::vector<State> states(nodes_.size());
    std::vector<std::pair<size_t, size_t>> stack{{0, 0}};
    states[0] = State::Open;
    while (!stack.empty()) {
      auto& [at, next] = stack.back();
      if (next == nodes_[at].imports.size()) {
        states[at] = State::Done;
        stack.pop_back();
        continue;
      }
      const Node::Edge& edge = nodes_[at].imports[next++];
      if (states[edge.to] == State::Open)
        reportCycle(stack, edge);
      else if (states[edge.to] == State::New) {
        states[edge.to] = State::Open;
        stack.push_back({edge.to, 0});
      }
    }
  }

  void reportCycle(const std::vector<std::pair<size_t, size_t>>& stack, const Node::Edge& edge) {
    constexpr size_t mostShown = 8;
    auto first = std::ranges::find(stack, edge.to, &std::pair<size_t, size_t>::first);
    std::string path;
    for (size_t shown = 0; first != stack.end() && shown < mostShown; ++first, ++shown)
      path += fmt::format("{}`{}`", shown == 0 ? "" : ", which imports ",
                          nodes_[first->first].text->source->name());
    path += fmt::format("{}, which imports `{}`", first == stack.end() ? "" : ", ...",
                        nodes_[edge.to].text->source->name());
    diagnostics_.report(Message::ImportCycle, edge.import->path.range, edge.import->path.text,
                        path);
  }

  ImportedFiles& files_;
  lang::Diagnostics& diagnostics_;
  std::vector<Node> nodes_;
  std::map<std::string, size_t> places_;
  std::unordered_set<std::string> names_;
  parser::Imports imports_;
};

} // namespace

parser::Imports ImportedFiles::of(const parser::surface::File& tree, const lang::SourceFile& source,
                                  lang::Diagnostics& diagnostics) {
  Text program{&source, &tree};
  return Reading(*this, program, diagnostics).read();
}

const ImportedFiles::Text* ImportedFiles::find(const Text& from, std::string_view path,
                                               std::string& reason,
                                               std::vector<std::string>& near) {
  std::string folder = folderOf(from.source->name());
  std::string beside = fmt::format("{}{}{}", folder, path, ending);
  if (!from.isLibrary) {
    std::error_code error;
    if (files::exists(beside, error))
      return file(beside, reason);
  }
  if (const Text* text = library(path))
    return text;
  std::vector<std::string> names;
  if (!from.isLibrary)
    names = neighbours(folder, path);
  for (const stdlib::LibraryFile& text : stdlib::libraryFiles())
    names.emplace_back(text.name.substr(0, text.name.size() - ending.size()));
  for (std::string_view name : lang::similarNames(path, names))
    near.emplace_back(name);
  reason = fmt::format("there is no file `{}`, and the library has nothing of that name", beside);
  return nullptr;
}

const ImportedFiles::Text* ImportedFiles::library(std::string_view path) {
  std::string name = fmt::format("{}{}", path, ending);
  auto files = stdlib::libraryFiles();
  auto found = std::ranges::find(files, name, &stdlib::LibraryFile::name);
  if (found == files.end())
    return nullptr;
  std::string key = fmt::format("library/{}", name);
  if (auto known = texts_.find(key); known != texts_.end())
    return known->second.get();
  const Text* text = read(key, key, std::string(found->text), true);
  if (text && (!text->tree || text->findings.hasErrors()))
    throw std::logic_error(fmt::format("{} cannot be read", key));
  return text;
}

const ImportedFiles::Text* ImportedFiles::file(const std::string& path, std::string& reason) {
  std::string key = pathKey(path);
  if (auto known = texts_.find(key); known != texts_.end())
    return known->second.get();
  if (!formats::isRegularFile(path)) {
    reason = fmt::format("`{}` is no regular file", path);
    return nullptr;
  }
  auto text = formats::readFile(path, largestImport);
  if (!text) {
    reason = text.failure().message;
    return nullptr;
  }
  const Text* made = read(key, path, lang::withoutByteOrderMark(*std::move(text)), false);
  if (!made)
    reason = "the texts of one run can have at most 2 GiB together";
  else if (made->source->notation() != lang::Notation::Baton)
    reason = fmt::format("`{}` has the header of Relay's text", path);
  return reason.empty() ? made : nullptr;
}

const ImportedFiles::Text* ImportedFiles::read(const std::string& key, std::string name,
                                               std::string text, bool isLibrary) {
  const lang::SourceFile* source = sources_.add(std::move(name), std::move(text));
  if (!source)
    return nullptr;
  auto made = std::make_unique<Text>(Text{source, nullptr, isLibrary});
  if (source->notation() == lang::Notation::Baton)
    made->tree = parser::baton::parseText(trees_, *source, made->findings);
  return (texts_[key] = std::move(made)).get();
}

} // namespace driver
