// What each kernel of a timed run took, beside what the machine can do at most.
#pragma once

#include "codegen/native/roof.h"
#include "vm/bytecode/run.h"

#include <functional>

namespace driver {

/// Of one kernel, by the call of the entry that was timed.
struct KernelRow {
  std::string name, place;
  /// Of it in a call of the entry.
  double calls = 0;
  /// What one of them takes, in seconds: the median, and all in a call of the entry.
  double median = 0, total = 0;
  tensor::Demand demand;
  /// How much of what the machine could do in the time that it takes: 0 to 1, or somewhat more for
  /// what does not write; 0 where that is not known.
  double share = 0;

  double operations() const { return demand.narrow + demand.wide; }
};

/// The longest total first. Without roof lines shares are 0.
std::vector<KernelRow> kernelRows(const bytecode::Repetition& repetition,
                                  const std::function<std::string(runtime::SourceRange)>& place,
                                  const codegen::RoofLines* roof);

/// For people, with what a call takes outside of kernels; empty where there are none.
std::string kernelTable(const std::vector<KernelRow>& rows, const bytecode::Repetition& repetition,
                        const codegen::RoofLines* roof);
/// As JSON: a list of objects; an object or null.
std::string kernelsJson(const std::vector<KernelRow>& rows);
std::string roofJson(const codegen::RoofLines* roof);

/// `12.3 us`.
std::string durationText(double seconds);

} // namespace driver
