// `baton bench`: a call that is repeated, first apart, and what its kernels take.
#include "driver/timing.h"

#include "codegen/native/kernel.h"
#include "driver/commands.h"
#include "driver/engines.h"
#include "driver/kernel_table.h"
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

struct Timing {
  explicit Timing(const bytecode::Repetition& repetition) {
    for (const auto& [clock, thread] : repetition.calls) {
      times.push_back(clock);
      processor.push_back(thread);
    }
    const double median = at(0.5);
    for (const auto& [clock, thread] : repetition.warmUpCalls)
      making += std::max(0.0, clock - median);
  }

  double at(double part) const { return quantile(times, part); }

  std::vector<double> times, processor;
  /// What calls of the warm-up took beyond the median.
  double making = 0;
};

/// What kernels do in a call, by the second.
double perSecond(const std::vector<KernelRow>& rows, double call, double (*of)(const KernelRow&)) {
  double sum = 0;
  for (const KernelRow& row : rows)
    sum += row.calls * of(row);
  return sum / call;
}

double operationsPerSecond(const std::vector<KernelRow>& rows, double call) {
  return perSecond(rows, call, [](const KernelRow& row) { return row.operations(); });
}

double bytesPerSecond(const std::vector<KernelRow>& rows, double call) {
  return perSecond(rows, call, [](const KernelRow& row) { return row.demand.bytes; });
}

std::string timingJson(const Timing& timing, const std::string& engine,
                       const std::vector<KernelRow>& rows, const codegen::RoofLines* roof) {
  codegen::NativeCounts native = codegen::nativeCounts();
  const double median = timing.at(0.5);
  return fmt::format(
      "{{\"median_s\": {:.9g}, \"min_s\": {:.9g}, \"p10_s\": {:.9g}, \"p90_s\": {:.9g}, "
      "\"processor_s\": {:.9g}, \"compile_s\": {:.9g}, \"runs\": {}, \"threads\": {}, "
      "\"engine\": \"{}\", \"compiled\": {}, \"from_cache\": {}, \"left_to_strips\": {}, "
      "\"gflop_per_s\": {:.6g}, \"gb_per_s\": {:.6g}, \"roof\": {}, \"kernels\": {}}}\n",
      median, timing.at(0), timing.at(0.1), timing.at(0.9), quantile(timing.processor, 0.5),
      timing.making, timing.times.size(), runtime::threadLimit(), engine, native.compiled,
      native.found, native.refused, operationsPerSecond(rows, median) / 1e9,
      bytesPerSecond(rows, median) / 1e9, roofJson(roof), kernelsJson(rows));
}

std::string timingText(const Timing& timing, const std::string& engine,
                       const std::vector<KernelRow>& rows, const std::string& table) {
  codegen::NativeCounts native = codegen::nativeCounts();
  const double median = timing.at(0.5);
  std::string compiled;
  if (engine != "vm")
    compiled =
        fmt::format("{} kernels are compiled, {} left to strips; {} nests came from the cache\n",
                    native.compiled, native.refused, native.found);
  return fmt::format(
      "{} a call: median of {}; least {}, a tenth below {}, a tenth above {}\n"
      "{} of this thread's processor time; {} more in the warm-up; engine {}, {} threads\n"
      "{:.2f} GFLOP/s, {:.2f} GB/s\n{}{}",
      durationText(median), timing.times.size(), durationText(timing.at(0)),
      durationText(timing.at(0.1)), durationText(timing.at(0.9)),
      durationText(quantile(timing.processor, 0.5)), durationText(timing.making), engine,
      runtime::threadLimit(), operationsPerSecond(rows, median) / 1e9,
      bytesPerSecond(rows, median) / 1e9, compiled, table);
}

} // namespace

void giveTiming(const bytecode::Repetition& repetition, const PlaceOf& place,
                const RunOptions& options, Answer& answer) {
  if (repetition.calls.empty())
    return answer.fail(ExitCode::World,
                       "the machine does not run this program, so there is nothing to time");
  auto measured = codegen::measuredRoof(options.processor);
  const codegen::RoofLines* roof = measured ? &*measured : nullptr;
  const Timing timing(repetition);
  const std::vector<KernelRow> rows = kernelRows(repetition, place, roof);
  const std::string engine = options.engine.empty() ? "auto" : options.engine;
  answer.output += options.json
                       ? timingJson(timing, engine, rows, roof)
                       : timingText(timing, engine, rows, kernelTable(rows, repetition, roof));
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
