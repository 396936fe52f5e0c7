// `baton operators`: what the operator table says, and the functions of the prelude beside it.
#include "driver/commands.h"
#include "lang/source/edit_distance.h"
#include "runtime/formats/quote.h"
#include "stdlib/operator_reference.h"
#include "stdlib/prelude_reference.h"

#include <algorithm>
#include <fmt/format.h>

namespace driver {

namespace {

/// What can be asked about, with the line that sums it up and what else it may be found by.
struct Entry {
  std::string name;
  std::string_view doc;
  std::vector<std::string_view> synonyms = {};
  std::string_view details = {};
};

std::vector<Entry> allEntries(const lang::OperatorTable& table) {
  std::vector<Entry> entries;
  for (const lang::OperatorRow* row : table.all())
    entries.push_back({std::string(row->name), row->doc, row->otherNames(), row->details});
  for (const stdlib::PreludeFunction& function : stdlib::preludeFunctions())
    entries.push_back(
        {"@" + function.name, std::string_view(function.doc).substr(0, function.doc.find('\n'))});
  return entries;
}

bool contains(std::string_view text, std::string_view word) {
  auto isSame = [](char a, char b) { return std::tolower(uint8_t(a)) == std::tolower(uint8_t(b)); };
  return word.empty() || !std::ranges::search(text, word, isSame).empty();
}

/// Where a word stands in an entry, the best place first.
enum class Place : uint8_t { Name, Synonym, Summary, Details, Nowhere };

/// Whether other libraries call an entry so.
bool isCalled(const Entry& entry, std::string_view word) {
  return std::ranges::any_of(entry.synonyms, [&](std::string_view name) {
    return name.size() == word.size() && contains(name, word);
  });
}

Place placeOf(std::string_view word, const Entry& entry) {
  if (contains(entry.name, word) || isCalled(entry, word))
    return Place::Name;
  if (std::ranges::any_of(entry.synonyms,
                          [&](std::string_view name) { return contains(name, word); }))
    return Place::Synonym;
  if (contains(entry.doc, word))
    return Place::Summary;
  return contains(entry.details, word) ? Place::Details : Place::Nowhere;
}

std::string lineOf(const Entry& entry) {
  return fmt::format("{:<32} {}\n", entry.name, entry.doc);
}

/// A line for each entry that has the word in the best place that any has.
std::string listOf(const std::vector<Entry>& entries, std::string_view word) {
  auto best = Place::Nowhere;
  for (const Entry& entry : entries)
    best = std::min(best, placeOf(word, entry));
  std::string text;
  for (const Entry& entry : entries)
    if (best != Place::Nowhere && placeOf(word, entry) == best)
      text += lineOf(entry);
  return text;
}

/// A line for each entry that is called so elsewhere, behind an empty one.
std::string calledSo(const std::vector<Entry>& entries, std::string_view word) {
  std::string text;
  for (const Entry& entry : entries)
    if (isCalled(entry, word))
      text += (text.empty() ? "\n" : "") + lineOf(entry);
  return text;
}

/// What has exactly that name: an operator, a function of the prelude, whose `@` may be left out,
/// or both.
std::string referenceOf(const lang::OperatorTable& table, std::string_view name) {
  std::string text;
  if (const lang::OperatorRow* row = table.find(name))
    text = stdlib::operatorReference(table, *row);
  std::string_view bare = name.substr(name.starts_with('@') ? 1 : 0);
  for (const stdlib::PreludeFunction& function : stdlib::preludeFunctions())
    if (function.name == bare)
      text += (text.empty() ? "" : "\n") + stdlib::preludeReference(function);
  return text;
}

std::string unknownText(std::string_view name, const std::vector<Entry>& entries) {
  std::vector<std::string_view> names;
  for (const Entry& entry : entries)
    names.push_back(entry.name);
  auto near = lang::similarNames(name, names);
  return fmt::format("there is no operator {}, and none that is described with that{}",
                     formats::backquoted(name),
                     near.empty() ? "" : fmt::format("; did you mean `{}`?", near[0]));
}

} // namespace

Answer operators(const lang::OperatorTable& table, const OperatorsOptions& options) {
  Answer answer;
  if (options.markdown) {
    answer.output = stdlib::operatorReference(table);
    return answer;
  }
  std::vector<Entry> entries = allEntries(table);
  std::string_view word = options.name;
  if (!word.empty())
    answer.output = referenceOf(table, word);
  answer.output += answer.output.empty() ? listOf(entries, word) : calledSo(entries, word);
  if (answer.output.empty())
    answer.fail(ExitCode::World, unknownText(word, entries));
  return answer;
}

} // namespace driver
