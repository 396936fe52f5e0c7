#include "typecheck/use_report.h"

#include "typecheck/type_difference.h"

#include <algorithm>
#include <ranges>

namespace typecheck {

void addProblem(lang::Diagnostic& report, const lang::Diagnostic& problem, const ReportedUse& use,
                Unifier& unifier) {
  constexpr size_t mostShown = 16;
  report.label(problem.range, "here");
  size_t outer = problem.labels.size() - std::min(mostShown, problem.labels.size());
  for (const auto& label : problem.labels | std::views::drop(outer))
    report.label(label.range, label.text);
  report.shapes = problem.shapes;
  for (const lang::Words& note : problem.notes | std::views::take(mostShown))
    report.note(note);
  const auto& parameters = use.open.function->parameters;
  std::vector<lang::Words> types;
  for (size_t i = 0; i < use.operands.size() && i < parameters.size(); ++i)
    types.push_back(lang::words("`{}: {}`", parameters[i]->name,
                                shortType(shownType(unifier, use.operands[i]))));
  report.note(lang::words("it is used with {}", runtime::joined(std::move(types), ", ")));
}

/// A use in an instance comes behind the use of that.
void tellUses(std::span<lang::Diagnostic> findings, std::span<const ReportedUse> uses,
              Unifier& unifier) {
  for (lang::Diagnostic& finding : findings)
    for (const ReportedUse& use : uses | std::views::reverse) {
      lang::SourceRange text = use.open.function->range;
      bool isInside = finding.severity() == lang::Severity::Error &&
                      finding.range.begin >= text.begin && finding.range.end <= text.end;
      if (!isInside)
        continue;
      lang::Diagnostic told{
          lang::Message::OpenUse, use.range,
          runtime::filled(messageRow(lang::Message::OpenUse).text,
                          {lang::plainName(use.open.name), finding.text.settled()})};
      addProblem(told, finding, use, unifier);
      finding = std::move(told);
    }
}

} // namespace typecheck
