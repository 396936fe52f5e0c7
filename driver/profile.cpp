// A run that failed has a profile too: of the time to where it ended.
#include "driver/profile.h"

#include "driver/engines.h"
#include "lang/source/utf8.h"
#include "runtime/formats/file.h"
#include "vm/profile/report.h"

#include <fmt/format.h>

namespace driver {

namespace {

void write(const std::optional<std::string>& path, const std::string& text, Answer& answer) {
  if (auto written = formats::writeFile(*path, text); !written)
    answer.fail(ExitCode::World, written.failure().message);
}

} // namespace

bool wantsProfile(const RunOptions& options) {
  return options.profile || options.flameGraph || options.chromeTrace;
}

std::string observationProblem(const RunOptions& options) {
  bool isOther = !options.engine.empty() && !isMachine(options.engine);
  if (options.trace && wantsProfile(options))
    return "`--trace` takes more time than the run, so there is no profile beside it";
  if (options.trace && isMachine(options.engine))
    return "`--trace` is of the interpreter, whose engines are `loops` and `interp`";
  if (!wantsProfile(options) || (!isOther && options.precision == 0 && !options.trapsNonFinite))
    return "";
  return "profiles are of the machine, and `--precision`, `--trap-nan` and other engines than the "
         "machine's "
         "run programs without it";
}

void reportProfile(const profile::Recorder& recorder, const RunOptions& options, Answer& answer) {
  if (recorder.subjects().empty()) {
    answer.errors += "note: the program is too large for the machine, so there is no profile\n";
    return;
  }
  if (options.profile)
    answer.errors += profile::tableText(recorder);
  if (options.flameGraph)
    write(options.flameGraph,
          profile::flameGraph(recorder, "baton run " + lang::printable(options.file)), answer);
  if (options.chromeTrace) {
    write(options.chromeTrace, profile::chromeTrace(recorder), answer);
    if (uint64_t missing = recorder.missingEvents())
      answer.errors += fmt::format(
          "note: {} has the {} longest calls; {} that are shorter or deeper are left out\n",
          lang::printable(*options.chromeTrace), recorder.events().size(), missing);
  }
}

} // namespace driver
