// Calls of a recursion come from few places, and each is shown once.
#include "driver/session/fault_text.h"

#include "lang/source/render.h"
#include "lang/source/way_back.h"

#include <algorithm>

#include <fmt/format.h>

namespace driver {

namespace {

/// The places of calls in their order, and what is said of each.
std::vector<lang::Label> callLabels(std::span<const lang::SourceRange> calls) {
  std::vector<lang::SourceRange> places;
  std::ranges::transform(calls, std::back_inserter(places), lang::inText);
  std::vector<lang::Label> labels;
  for (lang::SourceRange call : places) {
    bool isShown = std::ranges::find(labels, call, &lang::Label::range) != labels.end();
    if (!call.isValid() || isShown)
      continue;
    auto count = std::ranges::count(places, call);
    labels.push_back(
        {call, count == 1 ? "called here" : fmt::format("called here {} times", count)});
  }
  return labels;
}

} // namespace

std::string faultText(const runtime::RunFault& fault, const lang::SourceMap& sources,
                      const Look& look) {
  lang::Finding finding{.code = runTimeCode,
                        .text = fault.problem,
                        .range = fault.range,
                        .labels = fault.labels,
                        .notes = fault.notes,
                        .shapes = fault.shapes};
  std::ranges::copy(callLabels(fault.calls), std::back_inserter(finding.labels));
  if (size_t further = fault.openCalls - fault.calls.size(); further > 0)
    finding.notes.push_back(
        fmt::format("{} further {} open", further, further == 1 ? "call is" : "calls are"));
  return lang::renderFinding(finding, sources, {look.colour});
}

} // namespace driver
