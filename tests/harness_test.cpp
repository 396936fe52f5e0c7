// Generated programs against the laws of soundness (tests/harness/check.h).
//
// usage: soundness_test [--first SEED] [--count N] [--seconds S] [--demand TIMES] [--keep FOLDER]
//                       [--names yes|no] [--derivatives SHARE] [--native SHARE]
// Every seed gives one well-typed program and one mutant of it. Without bounds it checks 1,000;
// seconds are those of the processor. `--names no` leaves named dimensions and `?` out. One of
// SHARE programs, 4 unless told, is differentiated, one of four of these twice, and one of four of
// those three times; 0 is none. One of SHARE, 64 unless told, is run by native code as well.
// Findings are shrunk, shown, and with --keep written to files, as are programs whose derivatives
// are refused; findings make the exit status 1, as does an operator or a form of expressions that
// was generated fewer TIMES than demanded. When Baton itself ends the process, the seed is the last
// thing said.
#include "stdlib/ops.h"
#include "tests/harness/check.h"
#include "tests/harness/derivative_law.h"
#include "tests/harness/forms.h"
#include "tests/harness/generate.h"
#include "tests/harness/mutate.h"
#include "tests/harness/samples.h"
#include "tests/harness/shrink.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>

#include <sys/time.h>
#include <unistd.h>

namespace {

using namespace harness;

constexpr uint64_t seedsPerUniverse = 2000, seedsPerBench = 100;
constexpr time_t secondsPerSeed = 60;
/// Programs of each finding, and of each reason to refuse a derivative.
constexpr size_t mostShown = 3;

struct Settings {
  uint64_t first = 1;
  uint64_t count = 1000;
  double seconds = 0;
  size_t demand = 0;
  std::string keep = {};
  bool hasNames = true;
  uint64_t derivatives = 4;
  uint64_t native = 64;
};

struct Counts {
  size_t samples = 0, programs = 0, accepted = 0, run = 0, dataFaults = 0, endless = 0;
  size_t mutants = 0, rejected = 0, acceptedMutants = 0, mutantRuns = 0, findings = 0;
  std::map<std::string, size_t, std::less<>> operators = {};
  FormCounts forms = noForms();
  std::array<size_t, formCount> spellings = {};
  std::map<std::string, size_t> laws = {};
  size_t differentiated = 0, slopes = 0;
  std::map<unsigned, size_t> orders = {{2, 0}, {3, 0}};
  std::map<DerivativeOutcome, size_t> derivatives = {};
  std::map<std::string, size_t> refusals = {};
};

volatile uint64_t currentSeed = 0;

/// Says the seed in the way that is safe in a signal handler.
void onCrash(int signal) {
  char text[] = "soundness_test: ended by a signal at seed 00000000000000000000\n";
  uint64_t seed = currentSeed;
  for (char* digit = text + sizeof text - 3; seed > 0; seed /= 10)
    *digit-- = char('0' + seed % 10);
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
    _exit(3);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Ends the process, by a signal, after that much more work.
void boundWork() {
  itimerval bound{{}, {secondsPerSeed, 0}};
  setitimer(ITIMER_PROF, &bound, nullptr);
}

std::optional<Settings> readSettings(int count, char** words) {
  Settings settings;
  bool hasCount = false;
  for (int i = 1; i + 1 < count; i += 2) {
    std::string option = words[i], value = words[i + 1];
    if (option == "--first")
      settings.first = std::strtoull(value.c_str(), nullptr, 10);
    else if (option == "--count")
      settings.count = std::strtoull(value.c_str(), nullptr, 10), hasCount = true;
    else if (option == "--seconds")
      settings.seconds = std::strtod(value.c_str(), nullptr);
    else if (option == "--demand")
      settings.demand = std::strtoull(value.c_str(), nullptr, 10);
    else if (option == "--keep")
      settings.keep = value;
    else if (option == "--names")
      settings.hasNames = value != "no";
    else if (option == "--derivatives")
      settings.derivatives = std::strtoull(value.c_str(), nullptr, 10);
    else if (option == "--native")
      settings.native = std::strtoull(value.c_str(), nullptr, 10);
    else
      return std::nullopt;
  }
  if (settings.seconds > 0 && !hasCount)
    settings.count = UINT64_MAX - settings.first;
  return count % 2 == 1 ? std::optional(settings) : std::nullopt;
}

class Session {
public:
  explicit Session(const Settings& settings) : settings_(settings) {}

  int run() {
    for (uint64_t i = 0; i < settings_.count && !isOver(); ++i)
      checkSeed(settings_.first + i);
    report();
    return counts_.findings > 0 || !isCovered() ? 1 : 0;
  }

private:
  /// Seconds of processor time.
  static double elapsed() { return double(std::clock()) / CLOCKS_PER_SEC; }
  bool isOver() const { return settings_.seconds > 0 && elapsed() > settings_.seconds; }

  void prepare(uint64_t seed) {
    if (!universe_ || seed / seedsPerUniverse != universeNumber_) {
      universeNumber_ = seed / seedsPerUniverse;
      universe_ = std::make_unique<Universe>(universeNumber_, settings_.hasNames);
      dataFaults_ = operatorsWithDataFaults(universe_->types, universe_->samples);
      checkSamples();
    }
    if (!bench_ || counts_.programs % seedsPerBench == 0)
      bench_.reset(new Bench{.dataFaults = dataFaults_, .nativeEvery = settings_.native});
  }

  /// The relations of all operators over names against those over numbers.
  void checkSamples() {
    for (const OperatorSample& sample : universe_->samples.all) {
      ++counts_.samples;
      std::string difference = sizeDifference(universe_->types, sample);
      if (difference.empty())
        continue;
      ++counts_.findings;
      if (++counts_.laws["relation of " + std::string(sample.row->name)] == 1)
        std::cout << "\n== universe " << universeNumber_ << ": " << difference << "\n";
    }
  }

  void checkSeed(uint64_t seed) {
    currentSeed = seed;
    boundWork();
    prepare(seed);
    Program program = generateProgram(*universe_, seed);
    count(program);
    Verdict verdict = checkProgram(*bench_, program, seed, true);
    ++counts_.programs;
    counts_.accepted += verdict.isAccepted;
    counts_.run += verdict.hasRun;
    counts_.dataFaults += !verdict.dataFault.empty();
    counts_.endless += verdict.isEndless;
    for (size_t i = 0; i < formCount; ++i)
      counts_.spellings[i] += verdict.forms[i];
    if (verdict.finding)
      return show(program, seed, *verdict.finding, "program", [&](const Program& smaller) {
        return checkProgram(*bench_, smaller, seed, true);
      });
    if (verdict.hasRun && settings_.derivatives && mixSeed(seed, 1) % settings_.derivatives == 0)
      differentiate(program, seed);
    Random random(seed);
    checkMutantOf(mutated(program, random), seed);
  }

  void differentiate(const Program& program, uint64_t seed) {
    unsigned orders = mixSeed(seed, 2) % 4 != 0 ? 1 : mixSeed(seed, 3) % 4 != 0 ? 2 : 3;
    DerivativeVerdict verdict = checkDerivatives(*bench_, program, seed, orders);
    ++counts_.differentiated;
    ++counts_.derivatives[verdict.outcome];
    counts_.slopes += verdict.hasSlope;
    ++counts_.orders[verdict.comparedOrder];
    if (!verdict.reason.empty() && ++counts_.refusals[verdict.reason] <= mostShown)
      keepRefused(program, seed, verdict.reason, orders);
    if (verdict.finding)
      show(program, seed, *verdict.finding, "derivative", [&](const Program& smaller) {
        return Verdict{.finding = checkDerivatives(*bench_, smaller, seed, orders).finding};
      });
  }

  /// Keeps the smallest program that is refused for the same reason.
  void keepRefused(const Program& program, uint64_t seed, const std::string& reason,
                   unsigned orders) {
    if (settings_.keep.empty())
      return;
    Program small = shrunk(program, [&](const Program& smaller) {
      boundWork();
      return checkDerivatives(*bench_, smaller, seed, orders).reason == reason;
    });
    keep(seed, "refused", programText(small));
  }

  void checkMutantOf(const Program& mutant, uint64_t seed) {
    Verdict verdict = checkMutant(*bench_, mutant, seed);
    ++counts_.mutants;
    counts_.rejected += !verdict.isAccepted;
    counts_.acceptedMutants += verdict.isAccepted;
    counts_.mutantRuns += verdict.hasRun;
    if (verdict.finding)
      show(mutant, seed, *verdict.finding, "mutant",
           [&](const Program& smaller) { return checkMutant(*bench_, smaller, seed); });
  }

  void count(const Program& program) {
    countForms(program, counts_.forms);
    for (const Node& node : program.nodes)
      if (node.kind == NodeKind::OperatorValue ||
          (node.kind == NodeKind::Operator && !node.isInfix))
        ++counts_.operators[node.text];
  }

  void show(const Program& program, uint64_t seed, const Finding& finding, const char* kind,
            const std::function<Verdict(const Program&)>& check) {
    ++counts_.findings;
    if (++counts_.laws[finding.law] > mostShown)
      return;
    Program small = shrunk(program, [&](const Program& smaller) {
      boundWork();
      Verdict verdict = check(smaller);
      return verdict.finding && verdict.finding->law == finding.law;
    });
    Verdict verdict = check(small);
    std::string text = programText(small);
    std::cout << fmt::format("\n== seed {} ({}): {}\n{}{}\n", seed, kind, finding.law, text,
                             verdict.finding ? verdict.finding->detail : finding.detail)
              << std::flush;
    keep(seed, kind, text);
    keep(seed, fmt::format("{}_whole", kind), programText(program));
  }

  void keep(uint64_t seed, const std::string& kind, const std::string& text) const {
    if (settings_.keep.empty())
      return;
    std::filesystem::create_directories(settings_.keep);
    std::ofstream(fmt::format("{}/seed_{}_{}.rly", settings_.keep, seed, kind)) << text;
  }

  /// Whether everything was generated often enough; names what was not.
  bool isCovered() const {
    bool isCovered = true;
    auto demand = [&](std::string_view kind, std::string_view name, size_t times) {
      if (times >= settings_.demand)
        return;
      isCovered = false;
      std::cout << fmt::format("{} `{}` was generated {} times, not {}\n", kind, name, times,
                               settings_.demand);
    };
    for (const lang::OperatorRow* row : stdlib::operatorTable().all()) {
      auto found = counts_.operators.find(row->name);
      if (takesData(*row) || row->derivative == lang::Derivative::Checkpoint)
        demand("operator", row->name, found == counts_.operators.end() ? 0 : found->second);
    }
    for (const auto& [name, times] : counts_.forms)
      demand("form", name, times);
    for (size_t i = 0; i < formCount; ++i)
      demand("form of Baton's notation", formName(Form(i)), counts_.spellings[i]);
    return isCovered;
  }

  void report() const {
    const Counts& c = counts_;
    std::cout << fmt::format(
        "{} programs: {} accepted, {} run, {} ended by their data, {} given up\n", c.programs,
        c.accepted, c.run, c.dataFaults, c.endless);
    std::cout << fmt::format("{} mutants: {} rejected, {} accepted, {} run\n", c.mutants,
                             c.rejected, c.acceptedMutants, c.mutantRuns);
    std::cout << fmt::format("{} differentiated, {} with a slope, {} twice, {} three times\n",
                             c.differentiated, c.slopes, c.orders.at(2) + c.orders.at(3),
                             c.orders.at(3));
    for (const auto& [outcome, times] : c.derivatives)
      std::cout << fmt::format("  {} {}\n", times, derivativeOutcomeNames[size_t(outcome)]);
    for (const auto& [reason, times] : c.refusals)
      std::cout << fmt::format("  {} refused: {}\n", times, reason);
    std::cout << fmt::format("{} calls of operators\n", c.samples);
    size_t forms = 0;
    for (const auto& [name, times] : c.forms)
      forms += times > 0;
    std::cout << fmt::format("{} of {} operators, {} of {} forms\n", c.operators.size(),
                             stdlib::operatorTable().all().size(), forms, c.forms.size());
    std::cout << fmt::format("{} of {} forms of Baton's notation\n",
                             formCount - size_t(std::ranges::count(c.spellings, 0u)), formCount);
    std::cout << fmt::format("{:.1f} s, {:.1f} programs a second\n", elapsed(),
                             double(c.programs) / std::max(elapsed(), 0.001));
    for (const auto& [law, number] : c.laws)
      std::cout << fmt::format("finding: {} times {}\n", number, law);
  }

  Settings settings_;
  std::unique_ptr<Universe> universe_;
  uint64_t universeNumber_ = 0;
  OperatorSet dataFaults_;
  std::unique_ptr<Bench> bench_;
  Counts counts_;
};

} // namespace

int main(int count, char** words) {
  auto settings = readSettings(count, words);
  if (!settings) {
    std::cerr << "usage: soundness_test [--first SEED] [--count N] [--seconds S] [--demand TIMES]"
                 " [--keep FOLDER] [--names yes|no] [--derivatives SHARE] [--native SHARE]\n";
    return 2;
  }
  for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGPROF})
    std::signal(signal, onCrash);
  return Session(*settings).run();
}
