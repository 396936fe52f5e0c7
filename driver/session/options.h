// The options of the commands, as the command line reads them, and what they may do with the
// terminal.
#pragma once

#include "runtime/run_limits.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace driver {

/// How the command may use the terminal.
struct Look {
  /// Diagnostics in colour.
  bool colour = false;
  /// A line on standard error that shows the progress of long runs.
  bool progress = false;
  /// Headings on standard output in bold.
  bool bold = false;
  /// Takes what a program shows while it runs; without it, that is among the errors of the answer.
  std::function<void(const std::string&)> show = {};
  /// Takes what a command says while it goes on; without it, that is in the answer.
  std::function<void(const std::string&)> tell = {};
  /// Asks for a line of input; nothing when there is no more.
  std::function<std::optional<std::string>()> ask = {};
};

struct CheckOptions {
  std::vector<std::string> files;
  bool json = false;
  /// List the definitions with their types.
  bool types = false;
  /// Say which inputs of `@main` have no gradient, and why.
  bool grad = false;
  /// Say only what stands at this place, `LINE:COL`.
  std::string hover;
};

struct FmtOptions {
  std::vector<std::string> files;
  /// Only say which files are not laid out so.
  bool checks = false;
  /// The notation of standard input: `relay` or `baton`.
  std::string notation = "baton";
};

struct PrintOptions {
  std::string file;
  bool types = false;
  /// `relay` or `baton`.
  std::string notation = "relay";
};

/// What is shown of a program on its way through passes, and which of them it goes through. A pass
/// is `NAME`, or `NAME:2` where it is run for the second time.
struct PassView {
  /// Passes whose results are shown, or `all`.
  std::vector<std::string> printAfter = {};
  /// The pass whose result is printed in place of what the command does; empty for none.
  std::string stopAfter = {};
  /// Passes that are left out.
  std::vector<std::string> skipped = {};
  /// Whether passes must ensure the properties that they promise.
  bool verify = false;
};

struct RunOptions {
  std::string file;
  /// Where none is said it is `main`, or what an executable has alone.
  std::string entry = "main";
  bool isEntrySaid = false;
  /// `NAME=PATH[:KEY]`, `NAME=LITERAL`, `NAME=seed:NUMBER` or a file with a value for each of
  /// several parameters.
  std::vector<std::string> inputs;
  /// `NAME=PATH` each, of files whose bytes are given.
  std::vector<std::string> texts = {};
  /// `NAME=SIZE` each.
  std::vector<std::string> dims;
  std::optional<uint64_t> seed;
  /// What parameters that are keys of random numbers are made of.
  std::optional<uint64_t> keySeed = {};
  /// Names of parameters whose values become constants of the program, where `*` stands for any
  /// characters.
  std::vector<std::string> fixed = {};
  std::optional<std::string> output;
  /// `PART=PATH` each, or `PATH` for the whole result.
  std::vector<std::string> saves = {};
  /// Whether values are shown with all their elements.
  bool isFull = false;
  unsigned precision = 0;
  /// Empty for the default.
  std::string engine = {};
  /// What native code is for; empty for the processor at hand.
  std::string processor = {};
  /// What floating point may do: `reference` or `reordered`.
  std::string numbers = "reordered";
  /// How long faster schedules are searched for before the first call; 0 for not at all.
  double tuneSeconds = 0;
  /// The order of the gradients to compute beside the value; 0 for none.
  unsigned grad = 0;
  /// Whether NaN and infinity end the run where they arise.
  bool trapsNonFinite = false;
  runtime::RunLimits limits = {};
  /// Show where the time goes; write a picture of it, and the calls themselves.
  bool profile = false;
  std::optional<std::string> flameGraph = {};
  std::optional<std::string> chromeTrace = {};
  /// Show each call as it happens; where names are said, calls of these alone, where `*` stands for
  /// any characters.
  bool trace = false;
  std::vector<std::string> traced = {};
  /// Whether the run is timed: called again and again.
  bool isTimed = false;
  /// Of a timed run: the least number of calls behind the warm-up, and whether JSON is wanted.
  size_t rounds = 10;
  bool json = false;
  /// Whether somebody follows the steps of the run, as they stand in the text.
  bool isFollowed = false;
  PassView view = {};
};

struct TestOptions {
  std::vector<std::string> files;
  /// What the names of the tests have in them that are run.
  std::string only;
  /// How each is run.
  RunOptions calling = {};
};

struct OptOptions {
  /// The program, what is called of it, and with what.
  RunOptions calling;
  /// Names of passes, in order; empty where `way` says which.
  std::vector<std::string> passes = {};
  /// `machine` or `derivatives`, to go as a run goes there, or empty.
  std::string way = {};
  /// Look for the pass that changes what the program gives.
  bool bisects = false;
};

struct LowerOptions {
  /// A program, or a nest where it ends in `.nest`.
  std::string file;
  std::string entry = "main";
  /// Empty for all.
  std::string kernel = {};
  /// A file with the steps to take; empty for none.
  std::string schedule = {};
  /// Whether Baton chooses the steps, and shows them.
  bool chooses = false;
  /// The rewrite whose results are shown, or `all`.
  std::string printAfter = {};
  /// What kernels are shown as: `nest`, `llvm`, `asm`.
  std::string emit = "nest";
  /// What they are chosen and compiled for; empty for the processor at hand.
  std::string processor = {};
  /// As for `run`.
  std::string numbers = "reordered";
  runtime::RunLimits limits = {};
  /// The inputs that are fixed before passes go over the program.
  RunOptions calling = {};
};

struct GradOptions {
  std::string file;
  /// The definition to differentiate.
  std::string of = "main";
  /// Names or numbers of parameters; empty for all that hold floats.
  std::vector<std::string> wrt;
  runtime::RunLimits limits = {};
  PassView view = {};
};

struct DisasmOptions {
  std::string file;
  /// Empty for `main`, or all that an executable has.
  std::vector<std::string> entries;
  /// All that an executable has, in the form that `compile` takes.
  bool isFull = false;
};

struct CompileOptions {
  std::string file;
  /// As for `disasm`.
  std::vector<std::string> entries;
  /// The inputs of the only entry that are fixed.
  RunOptions calling = {};
  std::string output;
  /// As for `run`.
  std::string numbers = "reordered";
  runtime::RunLimits limits = {};
  PassView view = {};
  /// `bvm`, `llvm`, `asm`, `obj` or `so`.
  std::string emit = "bvm";
  /// What there is machine code for.
  std::vector<std::string> targets = {};
};

struct OperatorsOptions {
  /// An operator or a function of the prelude, a word to look for, or empty for all.
  std::string name;
  bool markdown = false;
};

struct DocOptions {
  /// What programs can name, a word to look for, a program, or empty for all.
  std::string name;
  bool markdown = false;
  bool json = false;
};

struct CacheOptions {
  bool clears = false;
  /// The most bytes that it may take from now on.
  std::optional<uint64_t> limit = {};
};

struct ExplainOptions {
  /// One message, or empty for all.
  std::string code;
};

struct UlpOptions {
  /// One function, or empty for all that have programs.
  std::string function;
  /// Empty for float32 and float64.
  std::string dtype;
  unsigned points = 20'000;
};

} // namespace driver
