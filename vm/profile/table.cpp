// Columns of numbers first, so that names of any length do no harm.
#include "vm/profile/report.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace profile {

namespace {

double milliseconds(uint64_t time) {
  return double(time) / 1e6;
}

double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100 * double(part) / double(whole);
}

std::string subjectText(const Subject& subject) {
  return subject.name + (subject.place.empty() ? "" : " at " + subject.place);
}

/// Nothing where nobody looked.
std::string memoryText(const Recorder& recorder) {
  if (recorder.mostHeld() == 0)
    return "";
  return fmt::format("memory: at most {:.3f} MB of tensors and objects, in {}\n",
                     double(recorder.mostHeld()) / 1e6,
                     subjectText(recorder.subjects()[recorder.mostHeldIn()]));
}

/// How the time is divided between the two ways of derivatives; nothing where there are none.
std::string wayText(const Recorder& recorder) {
  uint64_t back = 0;
  bool hasBack = false;
  for (uint32_t i = 0; i < recorder.totals().size(); ++i)
    if (recorder.subjects()[i].isWayBack && recorder.totals()[i].calls > 0) {
      hasBack = true;
      back += recorder.totals()[i].own;
    }
  if (!hasBack)
    return "";
  uint64_t there = recorder.time() - back;
  return fmt::format("way back: {:.3f} ms, {:.1f} %; all else: {:.3f} ms\n", milliseconds(back),
                     percent(back, recorder.time()), milliseconds(there));
}

} // namespace

std::string tableText(const Recorder& recorder, size_t mostRows) {
  const std::vector<Totals>& totals = recorder.totals();
  std::vector<uint32_t> order;
  uint64_t functions = 0, operators = 0;
  for (uint32_t i = 0; i < totals.size(); ++i)
    if (totals[i].calls > 0) {
      order.push_back(i);
      (recorder.subjects()[i].isFunction ? functions : operators) += totals[i].calls;
    }
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](uint32_t i) { return std::pair(totals[i].own, totals[i].total); });
  std::string text = fmt::format("profile: {:.3f} ms, {} calls of functions, {} of operators\n",
                                 milliseconds(recorder.time()), functions, operators) +
                     memoryText(recorder) + wayText(recorder);
  text += fmt::format("{:>12}  {:>12}  {:>6}  {:>12}  {:>7}  {}\n", "calls", "own ms", "own %",
                      "total ms", "total %", "what");
  for (size_t row = 0; row < order.size() && row < mostRows; ++row) {
    const Subject& subject = recorder.subjects()[order[row]];
    const Totals& of = totals[order[row]];
    text +=
        fmt::format("{:>12}  {:>12.3f}  {:>6.1f}  {:>12.3f}  {:>7.1f}  {}\n", of.calls,
                    milliseconds(of.own), percent(of.own, recorder.time()), milliseconds(of.total),
                    percent(of.total, recorder.time()), subjectText(subject));
  }
  if (order.size() > mostRows)
    text += fmt::format("{} more\n", order.size() - mostRows);
  return text;
}

} // namespace profile
