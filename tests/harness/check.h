// The laws of soundness, for one program at a time.
//
// A well-typed program is accepted, has the same types when it is checked again, runs without a
// fault of types or shapes, and gives a value of its inferred type, which is the type that its
// maker knows; printed, it is the same program, and after passes it has the same type and value;
// written in Baton's notation as people write, it has them as well. A program that may be ill-typed
// is refused, or obeys the laws of running.
#pragma once

#include "runtime/value.h"
#include "tests/harness/data_faults.h"
#include "tests/harness/program.h"
#include "tests/harness/reader.h"
#include "tests/harness/spelling.h"

#include <map>

namespace harness {

/// Types, texts and prelude for checking, renewed by its owner now and then, since it only grows.
struct Bench {
  /// The operators that data may stop; every other fault of data is a finding.
  const OperatorSet& dataFaults;
  lang::TypeContext types = {};
  Reader reader{types};
  /// Of so many seeds one is run by native code as well, which takes long to make; 0 for none.
  uint64_t nativeEvery = 0;
};

/// A law that does not hold. `law` is the same for programs that fail in the same way.
struct Finding {
  std::string law;
  std::string detail;
};

/// What became of a program.
struct Verdict {
  std::optional<Finding> finding = {};
  bool isAccepted = false;
  bool hasRun = false;
  /// The data, and not types, ended the run: a division by zero, an index outside.
  std::string dataFault = {};
  /// The run was given up because it took too long.
  bool isEndless = false;
  /// How often each form was taken where the program was written in Baton's notation.
  std::array<size_t, formCount> forms = {};
};

/// Applies all laws to a well-typed program; `reprint` adds the laws of printing and
/// of passes.
Verdict checkProgram(Bench& bench, const Program& program, uint64_t seed, bool reprint);

/// Arguments for `@main`: of the types that the program names, or, where the checked parameter has
/// become another one, of that.
std::optional<std::vector<runtime::Value>> argumentsOf(const lang::Function& main,
                                                       const lang::Typing& typing,
                                                       const Program& program, uint64_t seed);

/// Applies the laws to a program that may be ill-typed.
Verdict checkMutant(Bench& bench, const Program& program, uint64_t seed);

} // namespace harness
