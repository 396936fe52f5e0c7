#include "typecheck/use_report.h"

#include "typecheck/type_difference.h"

#include <algorithm>
#include <fmt/format.h>
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
  for (const std::string& note : problem.notes | std::views::take(mostShown))
    report.note(note);
  const auto& parameters = use.open.function->parameters;
  std::string types;
  for (size_t i = 0; i < use.operands.size() && i < parameters.size(); ++i)
    types += fmt::format("{}`{}: {}`", i == 0 ? "" : ", ", parameters[i]->name,
                         shortTypeText(unifier.resolve(use.operands[i])));
  report.note("it is used with " + types);
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
      lang::Diagnostic told{lang::Message::OpenUse, use.range,
                            fmt::format(fmt::runtime(messageRow(lang::Message::OpenUse).text),
                                        use.open.name, finding.text)};
      addProblem(told, finding, use, unifier);
      finding = std::move(told);
    }
}

} // namespace typecheck
