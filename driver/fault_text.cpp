// Of a deep run the innermost calls are enough.
#include "driver/fault_text.h"

#include "lang/render.h"

#include <algorithm>

#include <fmt/format.h>

namespace driver {

std::string faultText(const runtime::RunFault& fault, const lang::SourceMap& sources,
                      const Look& look) {
  constexpr size_t mostCalls = 3;
  lang::Finding finding{.code = runTimeCode,
                        .text = fault.problem,
                        .range = fault.range,
                        .labels = fault.labels,
                        .notes = fault.notes,
                        .shapes = fault.shapes};
  size_t shownCalls = 0;
  for (lang::SourceRange call : fault.calls)
    if (shownCalls < mostCalls && call.isValid()) {
      finding.labels.push_back({call, "called here"});
      ++shownCalls;
    }
  if (size_t further = fault.openCalls - std::min(fault.openCalls, mostCalls); further > 0)
    finding.notes.push_back(
        fmt::format("{} further {} open", further, further == 1 ? "call is" : "calls are"));
  return lang::renderFinding(finding, sources, {look.colour});
}

} // namespace driver
