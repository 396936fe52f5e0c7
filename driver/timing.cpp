// `baton bench`: a call that is repeated, first apart.
#include "driver/timing.h"

#include "codegen/native/kernel.h"
#include "driver/commands.h"
#include "driver/engines.h"
#include "runtime/threads.h"

#include <algorithm>
#include <fmt/format.h>

namespace driver {

namespace {

/// The time that so large a part of calls did not exceed.
double quantile(std::vector<double> times, double part) {
  auto at = times.begin() + ptrdiff_t(part * double(times.size() - 1));
  std::ranges::nth_element(times, at);
  return *at;
}

std::string duration(double seconds) {
  if (seconds < 1e-3)
    return fmt::format("{:.2f} us", seconds * 1e6);
  if (seconds < 1)
    return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

std::string timingText(const bytecode::Repetition& repetition, const RunOptions& options) {
  std::vector<double> times(repetition.times.begin() + 1, repetition.times.end());
  std::vector<double> processor(repetition.processorTimes.begin() + 1,
                                repetition.processorTimes.end());
  double median = quantile(times, 0.5), least = quantile(times, 0);
  double making = std::max(0.0, repetition.times[0] - median);
  std::string engine = options.engine.empty() ? "auto" : options.engine;
  codegen::NativeCounts native = codegen::nativeCounts();
  if (options.json)
    return fmt::format("{{\"median_s\": {:.9g}, \"min_s\": {:.9g}, \"p10_s\": {:.9g}, "
                       "\"p90_s\": {:.9g}, \"processor_s\": {:.9g}, \"compile_s\": {:.9g}, "
                       "\"runs\": {}, \"threads\": {}, \"engine\": \"{}\", \"kernels\": {}, "
                       "\"from_cache\": {}, \"left_to_strips\": {}}}\n",
                       median, least, quantile(times, 0.1), quantile(times, 0.9),
                       quantile(processor, 0.5), making, times.size(), runtime::threadLimit(),
                       engine, native.compiled, native.found, native.refused);
  std::string kernels;
  if (engine != "vm")
    kernels =
        fmt::format("{} kernels are compiled, {} left to strips; {} nests came from the cache\n",
                    native.compiled, native.refused, native.found);
  return fmt::format("{} a call: median of {}; least {}, a tenth below {}, a tenth above {}\n"
                     "{} of this thread's processor time; {} more for the first call; engine {}, "
                     "{} threads\n{}",
                     duration(median), times.size(), duration(least),
                     duration(quantile(times, 0.1)), duration(quantile(times, 0.9)),
                     duration(quantile(processor, 0.5)), duration(making), engine,
                     runtime::threadLimit(), kernels);
}

} // namespace

void giveTiming(const bytecode::Repetition& repetition, const RunOptions& options, Answer& answer) {
  if (repetition.times.size() < 2)
    answer.fail(ExitCode::World,
                "the machine does not run this program, so there is nothing to time");
  else
    answer.output += timingText(repetition, options);
}

Answer bench(Session& session, const RunOptions& options, const Look& look) {
  if (options.engine.empty() || isMachine(options.engine))
    return run(session, options, look);
  Answer answer;
  answer.fail(ExitCode::World,
              "only the machine is timed; its engines are `auto`, `vm` and `native`");
  return answer;
}

} // namespace driver
