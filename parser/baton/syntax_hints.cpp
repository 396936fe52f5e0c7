// Marks that are forgotten; habits of other languages have a table (habits.cpp).
#include "parser/baton/syntax_hints.h"

#include "parser/baton/habits.h"

#include <algorithm>

namespace parser::baton {

namespace {

using Symbol = Grammar::symbol_kind;

/// What is shown of a change: all from the habit to the token that does not fit, if that is near.
lang::SourceRange shownOf(const FoundHabit& habit, const MistakeText& text) {
  lang::SourceRange all = lang::cover(habit.range, text.found());
  bool isNear = text.text(all).find('\n') == std::string_view::npos;
  return isNear ? all : lang::SourceRange{};
}

/// A statement or an element goes on in the next line, or the next one begins.
void suggestMark(lang::Diagnostic& report, const MistakeText& text) {
  bool isNext = text.isNewLine() || text.mistake().found == Symbol::S_Let;
  lang::SourceRange before = text.before(), gap{before.end, before.end};
  if (isNext && text.expects(Symbol::S_Semicolon))
    report.suggest({"a statement ends in a semicolon: {}", {{gap, ";"}}, before});
  if (isNext && text.expects(Symbol::S_Comma))
    report.suggest({"here a comma is missing: {}", {{gap, ","}}, before, true});
}

} // namespace

bool reportHabit(lang::Diagnostics& diagnostics, const MistakeText& text) {
  auto habit = findHabit(text);
  if (!habit)
    return false;
  auto& report = diagnostics.report(lang::Message::ForeignForm, habit->range, habit->says);
  std::string_view whole =
      habit->edits.empty()
          ? std::string_view()
          : text.text({habit->edits.front().range.begin,
                       std::max(habit->edits.back().range.end, habit->edits.front().range.begin)});
  bool isLong = whole.find('\n') != std::string_view::npos;
  bool isLeftOut = std::ranges::all_of(habit->edits, &lang::Words::empty, &lang::Edit::text);
  if (!habit->edits.empty())
    report.suggest({isLeftOut ? "leave it out"
                    : isLong  ? "the text can be changed to that"
                              : "write {}",
                    std::move(habit->edits),
                    isLeftOut || isLong ? lang::SourceRange{} : shownOf(*habit, text)});
  if (!habit->others.empty())
    report.suggest({"write {}", std::move(habit->others), {}, true});
  return true;
}

void suggestRepairs(lang::Diagnostic& report, const MistakeText& text) {
  suggestMark(report, text);
}

} // namespace parser::baton
