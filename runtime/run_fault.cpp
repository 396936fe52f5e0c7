// Words and rules that machines share.
#include "runtime/run_fault.h"

#include "runtime/memory.h"

#include <algorithm>
#include <fmt/format.h>

namespace runtime {

std::string unmatchedText(std::string_view constructor) {
  std::string what = constructor.empty() ? "this value" : fmt::format("`{}`", constructor);
  return fmt::format("no arm of this match is for {}", what);
}

std::string heldText(Holdings held) {
  std::string text = fmt::format("{:.1f} MB are held, {:.1f} of them by tensors",
                                 double(held.bytes) / 1e6, double(held.tensorBytes) / 1e6);
  if (auto limit = reachedMemoryLimit())
    text += fmt::format("; the run may hold {} bytes", *limit);
  return text;
}

std::optional<Fault> writeResults(const Value& value, const Value& destinations) {
  std::span<const Value> results(&value, 1);
  if (value.kind() == ValueKind::Tuple)
    results = value.fields();
  if (std::ranges::equal(destinations.fields(), results, &overwrite))
    return std::nullopt;
  return Fault{FaultKind::Data, "the results can't be written: each output must be a tensor of the "
                                "result's type that the program allocated"};
}

} // namespace runtime
