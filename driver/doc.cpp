// `baton doc`: what programs can name, by name and by words.
#include "driver/commands.h"
#include "driver/doc_pages.h"
#include "driver/doc_words.h"
#include "driver/session/load.h"

#include <algorithm>
#include <fmt/format.h>

namespace driver {

namespace {

/// Whether somebody means an entry by a word: its name, which may go without its module, or that of
/// a constructor.
bool isMeant(const Documented& entry, std::string_view word) {
  std::string_view name = entry.name;
  return name == word ||
         (name.ends_with(word) && name.substr(0, name.size() - word.size()).ends_with('.')) ||
         (entry.row && entry.row->name == word) || std::ranges::count(entry.otherNames, word) > 0;
}

std::vector<Findable> findable(std::span<const DocumentedModule> modules) {
  std::vector<Findable> all;
  for (const DocumentedModule& module : modules)
    for (const Documented& each : module.entries) {
      Findable made{each.name, each.summary(), each.otherNames, each.doc};
      made.synonyms = calledElsewhere(each.doc);
      if (each.row)
        std::ranges::copy(each.row->otherNames(), std::back_inserter(made.synonyms));
      if (each.row)
        made.details = each.row->details;
      all.push_back(std::move(made));
    }
  return all;
}

/// A line for each entry that has the word; what is meant by it has a page already.
std::string furtherLines(std::span<const DocumentedModule> modules, std::string_view word,
                         const std::vector<Findable>& all, bool isAnswered) {
  std::vector<size_t> found = isAnswered ? foundCalled(all, word) : foundWith(all, word);
  std::vector<const Documented*> entries;
  for (const DocumentedModule& module : modules)
    for (const Documented& each : module.entries)
      entries.push_back(&each);
  std::erase_if(found, [&](size_t i) { return isMeant(*entries[i], word); });
  return linesOf(all, found);
}

/// Only what is meant by a word, of a module of that name all; where there is nothing, what has the
/// word in it.
std::vector<DocumentedModule> onlyFor(std::vector<DocumentedModule> modules,
                                      std::string_view word) {
  auto isChosen = [&](const DocumentedModule& module, const Documented& each) {
    return module.name == word || isMeant(each, word);
  };
  std::vector<bool> keeps;
  for (const DocumentedModule& module : modules)
    for (const Documented& each : module.entries)
      keeps.push_back(isChosen(module, each));
  if (std::ranges::count(keeps, true) == 0)
    for (size_t i : foundWith(findable(modules), word))
      keeps[i] = true;
  size_t next = 0;
  for (DocumentedModule& module : modules)
    std::erase_if(module.entries, [&](const Documented&) { return !keeps[next++]; });
  return modules;
}

std::string overviews(std::span<const DocumentedModule> modules) {
  std::string text;
  for (const DocumentedModule& module : modules)
    text += (text.empty() ? "" : "\n") + overview(module);
  return text;
}

/// The pages of a word of the language, of what is meant by it, and of modules that are called so;
/// else a line for each entry that has it.
void tellOf(Session& session, std::string_view word, Answer& answer) {
  const std::vector<DocumentedModule> modules = allDocumented(session.operators());
  const std::vector<Findable> all = findable(modules);
  answer.output = wordPage(word);
  for (const DocumentedModule& module : modules) {
    if (module.name == word)
      answer.output += (answer.output.empty() ? "" : "\n") + headsOf(module);
    for (const Documented& each : module.entries)
      if (isMeant(each, word))
        answer.output += (answer.output.empty() ? "" : "\n") + page(session, each);
  }
  bool isAnswered = !answer.output.empty();
  if (std::string lines = furtherLines(modules, word, all, isAnswered); !lines.empty())
    answer.output += (isAnswered ? "\n" : "") + lines;
  if (answer.output.empty())
    answer.fail(ExitCode::World, nothingFound("definition", word, all));
}

/// The definitions of a program.
Answer docOfFile(Session& session, const DocOptions& options, const Look& look) {
  Answer answer;
  auto program = loadGood(session, options.name, look, answer, Stage::Resolved);
  if (!program)
    return answer;
  DocumentedModule module{options.name, "", definitionsOf(*program->tree, *program->source, "")};
  answer.output =
      options.json ? documentedJson({&module, 1}) : definitionsReference(session, module.entries);
  return answer;
}

} // namespace

Answer doc(Session& session, const DocOptions& options, const Look& look) {
  bool isFile = options.name.ends_with(".baton") || options.name.ends_with(".rly");
  if (isFile)
    return docOfFile(session, options, look);
  Answer answer;
  if (options.markdown)
    answer.output = libraryReference(session);
  else if (options.json)
    answer.output = documentedJson(onlyFor(allDocumented(session.operators()), options.name));
  else if (options.name.empty())
    answer.output = overviews(allDocumented(session.operators()));
  else
    tellOf(session, options.name, answer);
  return answer;
}

} // namespace driver
