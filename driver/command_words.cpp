// The options of each command are declared beside its one-line description; CLI11 makes the help.
#include "driver/command_words.h"

#include "driver/command_examples.h"
#include "driver/engines.h"
#include "driver/session/hover.h"
#include "driver/version.h"
#include "runtime/formats/quote.h"
#include "runtime/threads.h"

#include <charconv>
#include <fmt/format.h>

namespace driver {

namespace {

constexpr uint64_t mostDigits = 10'000;
constexpr uint64_t mostPoints = 10'000'000;

/// A check of CLI11: nothing, or what is wrong with the word. Its own conversion lets numbers wrap.
std::string checkNumber(const std::string& word, uint64_t least, uint64_t most) {
  uint64_t value = 0;
  auto end = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end.ec == std::errc() && end.ptr == word.data() + word.size() && value >= least &&
      value <= most)
    return "";
  return fmt::format("{} is no number from {} to {}", formats::backquoted(word), least, most);
}

void addCheck(CLI::App& app, CheckOptions& options) {
  CLI::App* command = app.add_subcommand("check", "Check programs and report what is wrong");
  command->add_option("FILE", options.files, "Programs in Relay's text format")
      ->required()
      ->type_name("");
  command->add_flag("--json", options.json, "Print the report as one JSON object");
  command->add_flag("--types", options.types, "List the definitions with their types");
  command->add_flag("--grad", options.grad,
                    "Say which inputs of `@main` have a gradient, and why others have none");
  command->add_option("--hover", options.hover, "Say only what stands at this place, and its type")
      ->type_name("LINE:COL")
      ->check(
          [](const std::string& word) {
            return readPlace(word) ? "" : formats::backquoted(word) + " is no place such as 3:14";
          },
          "");
}

void addAllow(CLI::App& app, std::vector<std::string>& allowed) {
  for (const char* name : {"check", "print", "opt", "lower", gradCommand, "compile", "run", "test",
                           "bench", debugCommand})
    app.get_subcommand(std::string(name))
        ->add_option("--allow", allowed, "Keep silent about this warning; may be repeated")
        ->type_name("CODE")
        ->allow_extra_args(false);
}

/// What native code is for.
void addProcessor(CLI::App& app, Request& request) {
  const std::pair<const char*, std::string*> places[] = {{"run", &request.run.processor},
                                                         {"bench", &request.bench.processor},
                                                         {"lower", &request.lower.processor}};
  for (auto [name, processor] : places)
    app.get_subcommand(std::string(name))
        ->add_option(
            "--cpu", *processor,
            "Write native code for x86-64, x86-64-v2, x86-64-v3 or x86-64-v4, or where it is only "
            "shown for aarch64, instead of the processor at hand")
        ->type_name("NAME");
}

void addNumbers(CLI::App& app, Request& request) {
  const std::pair<const char*, std::string*> places[] = {{"run", &request.run.numbers},
                                                         {"bench", &request.bench.numbers},
                                                         {"compile", &request.compile.numbers},
                                                         {"lower", &request.lower.numbers}};
  for (auto [name, numbers] : places)
    app.get_subcommand(std::string(name))
        ->add_option("--numbers", *numbers,
                     "What floating point may do: `reordered` adds up in any order, and multiplies "
                     "and adds at once; `reference` adds up as the interpreter does")
        ->type_name("KIND")
        ->check(CLI::IsMember({"reordered", "reference"}));
}

std::string checkSeconds(const std::string& word) {
  double seconds = 0;
  auto end = std::from_chars(word.data(), word.data() + word.size(), seconds);
  bool isGood = end.ec == std::errc() && end.ptr == word.data() + word.size() && seconds > 0;
  return isGood ? ""
                : fmt::format("{} is no positive number of seconds", formats::backquoted(word));
}

void addTune(CLI::App& app, Request& request) {
  const std::pair<const char*, double*> places[] = {{"run", &request.run.tuneSeconds},
                                                    {"bench", &request.bench.tuneSeconds}};
  for (auto [name, seconds] : places)
    app.get_subcommand(std::string(name))
        ->add_option(
            "--tune", *seconds,
            "First search for faster schedules of the kernels for so many seconds; what is "
            "found stays in the cache, and later runs take it")
        ->type_name("SECONDS")
        ->check(checkSeconds, "");
}

void addThreads(CLI::App& app, unsigned& threads) {
  for (const char* name : {"run", "test", "bench", debugCommand})
    app.get_subcommand(std::string(name))
        ->add_option("--threads", threads,
                     "Compute with at most so many threads, instead of one for each processor; "
                     "what a program gives does not depend on it")
        ->type_name("N")
        ->check([](const std::string& word) { return checkNumber(word, 1, runtime::mostThreads); },
                "");
}

void addFmt(CLI::App& app, FmtOptions& options) {
  CLI::App* command = app.add_subcommand("fmt", "Lay programs out in their files, as all are");
  command->add_option("FILE", options.files, "Programs; of - the layout goes to standard output")
      ->required()
      ->type_name("");
  command->add_flag("--check", options.checks,
                    "Change nothing: list the files that would change, and end with 1 if there "
                    "are any");
  command
      ->add_option("--notation", options.notation,
                   "What standard input is in, where it has no header of Relay's text")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(CLI::IsMember({"relay", "baton"}));
}

void addPrint(CLI::App& app, PrintOptions& options) {
  CLI::App* command = app.add_subcommand("print", "Print a program in canonical form");
  command->add_option("FILE", options.file, "A program")->required()->type_name("");
  command->add_flag("--types", options.types, "Add the type of every value as a comment");
  command->add_option("--notation", options.notation, "In Relay's text or in Baton's own notation")
      ->type_name("NAME")
      ->check(CLI::IsMember({"relay", "baton"}));
}

/// Bytes, with a unit behind them or not.
std::optional<int64_t> byteCount(std::string_view word) {
  int64_t unit = 1, value = 0;
  constexpr std::pair<char, int64_t> units[] = {
      {'K', 1'000}, {'M', 1'000'000}, {'G', 1'000'000'000}, {'T', 1'000'000'000'000}};
  for (auto [letter, bytes] : units)
    if (word.ends_with(letter))
      unit = bytes;
  if (unit > 1)
    word.remove_suffix(1);
  auto end = std::from_chars(word.data(), word.data() + word.size(), value);
  bool isGood = end.ec == std::errc() && end.ptr == word.data() + word.size() && value > 0 &&
                !__builtin_mul_overflow(value, unit, &value);
  return isGood ? std::optional(value) : std::nullopt;
}

std::string checkSize(const std::string& word) {
  return byteCount(word)
             ? ""
             : fmt::format("{} is no size, such as 4000000 or 512M", formats::backquoted(word));
}

void addMemoryLimit(CLI::App& command, runtime::RunLimits& limits, const std::string& text) {
  command
      .add_option_function<std::string>(
          "--max-memory", [&](const std::string& word) { limits.memory = *byteCount(word); },
          text + "; K, M, G and T are thousands, millions and so on")
      ->type_name("SIZE")
      ->check(checkSize, "");
}

void addTimeLimit(CLI::App& command, runtime::RunLimits& limits, const std::string& text) {
  command.add_option("--timeout", limits.seconds, text)
      ->type_name("SECONDS")
      ->check(checkSeconds, "");
}

/// What ends the passes of a command that runs nothing.
void addPassLimits(CLI::App& command, runtime::RunLimits& limits) {
  addMemoryLimit(command, limits,
                 "End when passes take more bytes of memory, of which 16M are free");
  addTimeLimit(command, limits, "End when passes take longer");
}

/// What ends a run with a fault, whenever it runs.
void addCountLimits(CLI::App& command, runtime::RunLimits& limits) {
  addMemoryLimit(command, limits,
                 "End the run when its tensors and objects hold more bytes, beside the program's "
                 "constants and inputs, or when passes before it take more, of which 16M are free");
  command
      .add_option("--max-steps", limits.steps,
                  "End the run when it makes more calls of functions, be they in tail position or "
                  "not; operators and constructors do not count")
      ->type_name("N")
      ->check([](const std::string& word) { return checkNumber(word, 1, UINT64_MAX); }, "");
}

void addSeed(CLI::App& command, const std::string& name, std::optional<uint64_t>& seed,
             const std::string& text) {
  command.add_option(name, seed, text)
      ->type_name("SEED")
      ->check([](const std::string& word) { return checkNumber(word, 0, UINT64_MAX); }, "");
}

/// What is called with.
void addInputs(CLI::App& command, RunOptions& options) {
  command
      .add_option(
          "--input", options.inputs,
          "A parameter from a .npz, .safetensors, .json, .txt or .npy file, as a literal, or "
          "a key of random numbers from a seed; records, tuples and lists by the names of their "
          "parts, such as layers.0.w; a .npz, .safetensors or .json file alone gives all that it "
          "has by name; may be repeated")
      ->type_name("NAME=PATH[:KEY]|NAME=LITERAL|NAME=seed:NUMBER|PATH")
      ->allow_extra_args(false);
  command
      .add_option("--text", options.texts,
                  "A parameter that is the bytes of a file, a tensor of uint8; may be repeated")
      ->type_name("NAME=PATH")
      ->allow_extra_args(false);
  command.add_option("--dim", options.dims, "The size of a named dimension; may be repeated")
      ->type_name("NAME=SIZE")
      ->allow_extra_args(false);
  addSeed(command, "--seed", options.keySeed,
          "Give the parameters that are keys of random numbers, u64[10], this seed, and others in "
          "order the next ones");
  addSeed(command, "--random", options.seed, "Fill the other parameters from this seed");
}

/// Shows a program on its way.
void addPassView(CLI::App& command, PassView& view) {
  command
      .add_option("--print-after", view.printAfter,
                  "Show the program after these passes on standard error, or after each; NAME:2 is "
                  "the second time that a pass runs")
      ->delimiter(',')
      ->type_name("NAME,...|all")
      ->allow_extra_args(false);
  command
      .add_option("--stop-after", view.stopAfter,
                  "Print the program after this pass, and do nothing else")
      ->type_name("NAME");
  command
      .add_option("--skip-pass", view.skipped,
                  "Leave out these passes, which only make programs faster")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->allow_extra_args(false);
}

void addFixed(CLI::App& command, std::vector<std::string>& fixed) {
  command
      .add_option("--fix", fixed,
                  "Make the values of these parameters constants of the program, so that all that "
                  "follows from them is computed once; `*` stands for any characters")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->allow_extra_args(false);
}

constexpr unsigned mostOrders = 8;

void addOrder(CLI::App& command, RunOptions& options) {
  command
      .add_option("--grad", options.grad,
                  "Also give the gradients of the sum of all floats in the result, or of all "
                  "gradients of the order before")
      ->type_name("ORDER")
      ->expected(0, 1)
      ->default_str("1")
      ->check([](const std::string& word) { return checkNumber(word, 1, mostOrders); }, "");
}

void addOpt(CLI::App& app, OptOptions& options) {
  CLI::App* command = app.add_subcommand("opt", "Print a program after passes over it");
  command->add_option("FILE", options.calling.file, "A program")->required()->type_name("");
  command->add_option("--passes", options.passes, "The passes to run, in order")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->allow_extra_args(false);
  command
      ->add_option("--for", options.way,
                   "Run the passes that a program goes through before it runs on the machine, or "
                   "while its derivatives are written out")
      ->type_name("machine|derivatives");
  command->add_option("--entry", options.calling.entry, "The function that a run would call")
      ->type_name("NAME")
      ->capture_default_str()
      ->each([&](const std::string&) { options.calling.isEntrySaid = true; });
  addOrder(*command, options.calling);
  addPassView(*command, options.calling.view);
  command->add_flag("--bisect", options.bisects,
                    "Run the program on the interpreter after each pass, and tell the first pass "
                    "that changes what it gives, and where");
  addInputs(*command, options.calling);
  command->add_flag("--verify", options.calling.view.verify,
                    "Check after each pass what it ensures");
  addPassLimits(*command, options.calling.limits);
}

void addLower(CLI::App& app, LowerOptions& options) {
  CLI::App* command = app.add_subcommand("lower", "Print the kernels of a program as loop nests");
  command->add_option("FILE", options.file, "A program, or a kernel whose name ends in .nest")
      ->required()
      ->type_name("");
  command->add_option("--entry", options.entry, "The function that a run would call")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--kernel", options.kernel, "Only this kernel")->type_name("NAME");
  command
      ->add_option("--schedule", options.schedule,
                   "Rewrite the kernel by the steps in this file, one a line")
      ->type_name("PATH");
  command->add_flag("--choose", options.chooses,
                    "Rewrite kernels by steps that Baton chooses for this machine, and print them");
  command
      ->add_option("--emit", options.emit,
                   "Print kernels as nest, the default, as llvm, or as asm for this machine")
      ->type_name("FORM")
      ->check(CLI::IsMember({"nest", "llvm", "asm"}));
  command
      ->add_option("--print-after", options.printAfter,
                   "Print the kernel after each step that is this rewrite; `all` for every step")
      ->type_name("REWRITE");
  addFixed(*command, options.calling.fixed);
  addInputs(*command, options.calling);
  addPassLimits(*command, options.limits);
}

void addGrad(CLI::App& app, GradOptions& options) {
  CLI::App* command =
      app.add_subcommand(gradCommand, "Print the derivative of a definition as a program");
  command->add_option("FILE", options.file, "A program")->required()->type_name("");
  command->add_option("--of", options.of, "The function to differentiate")
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option("--wrt", options.wrt,
                   "The parameters to differentiate with respect to; all that hold floats if none "
                   "is given")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->allow_extra_args(false);
  addPassView(*command, options.view);
  addPassLimits(*command, options.limits);
}

void addCache(CLI::App& app, CacheOptions& options) {
  CLI::App* command = app.add_subcommand(
      "cache", "Say where compiled kernels are kept for later runs, and how much that is");
  command->add_flag("--clear", options.clears, "Remove them");
  command
      ->add_option_function<std::string>(
          "--max-bytes",
          [&](const std::string& word) { options.limit = uint64_t(*byteCount(word)); },
          "Keep at most so much from now on; what was used longest ago goes first")
      ->type_name("SIZE")
      ->check(checkSize, "");
}

void addEntries(CLI::App& command, std::vector<std::string>& entries) {
  command.add_option("--entry", entries, "A function to call from outside; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->default_str("main");
}

void addCompile(CLI::App& app, CompileOptions& options) {
  CLI::App* command = app.add_subcommand(
      "compile", "Compile a program, or the text of an executable, into an executable");
  command->add_option("FILE", options.file, "A program")->required()->type_name("");
  command->add_option("-o,--output", options.output, "Where the executable goes")
      ->required()
      ->type_name("PATH");
  command
      ->add_option(
          "--emit", options.emit,
          "What is written: `bvm`, an executable; `llvm` or `asm`, its kernels as text; "
          "`obj`, an object with a C function for each entry, and a header beside it; `so`, "
          "a shared object that needs no other")
      ->type_name("KIND")
      ->check(CLI::IsMember({"bvm", "llvm", "asm", "obj", "so"}));
  command
      ->add_option(
          "--target", options.targets,
          "What machine code of the kernels is for: x86-64, x86-64-v2, x86-64-v3, x86-64-v4 "
          "or aarch64-linux-gnu; several names have commas in between. An executable has "
          "none by itself, other products have it for the processor at hand")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  addEntries(*command, options.entries);
  addFixed(*command, options.calling.fixed);
  addInputs(*command, options.calling);
  addPassView(*command, options.view);
  addPassLimits(*command, options.limits);
}

void addDisasm(CLI::App& app, DisasmOptions& options) {
  CLI::App* command = app.add_subcommand("disasm", "Print the machine's code of a program");
  command->add_option("FILE", options.file, "A program")->required()->type_name("");
  addEntries(*command, options.entries);
  command->add_flag("--full", options.isFull,
                    "Print all that an executable has, as a text that `baton compile` makes the "
                    "same executable of");
}

/// What shows how a run goes.
void addObservation(CLI::App& command, RunOptions& options) {
  command.add_flag("--profile", options.profile,
                   "Show behind the run how often functions and operators were called, and where "
                   "the time went");
  command.add_flag("--trace", options.trace,
                   "Show each call of a function or an operator as it happens, with its arguments "
                   "and what it gives, on the interpreter");
  command
      .add_option("--trace-only", options.traced,
                  "The same for functions and operators of these names alone, where `*` stands for "
                  "any characters, with elements of their tensors")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->each([&](const std::string&) { options.trace = true; });
  command
      .add_option("--flame-graph", options.flameGraph,
                  "Write a picture of where the time went, by who called what, as .svg")
      ->type_name("PATH");
  command
      .add_option("--chrome-trace", options.chromeTrace,
                  "Write the longest calls with their times as .json for Perfetto and "
                  "chrome://tracing")
      ->type_name("PATH");
}

/// What is called, and with what.
CLI::App* addCalling(CLI::App& app, const std::string& name, const std::string& text,
                     RunOptions& options) {
  CLI::App* command = app.add_subcommand(name, text);
  command->add_option("FILE", options.file, "A program")->required()->type_name("");
  command
      ->add_option("--entry", options.entry,
                   "The function to call; of an executable with one function, that one")
      ->type_name("NAME")
      ->capture_default_str()
      ->each([&](const std::string&) { options.isEntrySaid = true; });
  addInputs(*command, options);
  return command;
}

void addEngine(CLI::App& command, RunOptions& options) {
  command
      .add_option(
          "--engine", options.engine,
          "What runs the program: auto, the machine, with kernels and control flow compiled by "
          "LLVM "
          "where that pays; native, all of both so; vm, none; loops or interp, the reference for "
          "control flow with fast or plain tensors")
      ->type_name("NAME")
      ->check([](const std::string& word) { return word.empty() ? noEngine(word) : ""; }, "");
}

void addDebug(CLI::App& app, RunOptions& options) {
  CLI::App* command = addCalling(
      app, debugCommand,
      "Run a program step by step, by commands from standard input; `help` lists them", options);
  addCountLimits(*command, options.limits);
}

void addRun(CLI::App& app, RunOptions& options) {
  CLI::App* command =
      addCalling(app, "run", "Call a function of a program and show its result", options);
  addFixed(*command, options.fixed);
  command
      ->add_option(
          "--output", options.output,
          "Write the result to a .npz, .safetensors, .json or .txt, from which --input reads "
          "it again")
      ->type_name("PATH");
  command
      ->add_option("--save", options.saves,
                   "Write a part of the result, a field such as `params` or `0.layers`, or all of "
                   "it, to such a file, by the names of its parts alone; may be repeated")
      ->type_name("[PART=]PATH")
      ->allow_extra_args(false);
  command->add_flag("--full", options.isFull,
                    "Show all elements of tensors and lists, in the result and by `print`");
  command
      ->add_option("--precision", options.precision, "Compute floats with this many decimal digits")
      ->type_name("DIGITS")
      ->check([](const std::string& word) { return checkNumber(word, 2, mostDigits); }, "");
  addEngine(*command, options);
  addOrder(*command, options);
  command->add_flag("--trap-nan", options.trapsNonFinite,
                    "End the run where NaN or infinity first arises, and say where");
  addObservation(*command, options);
  addPassView(*command, options.view);
  addCountLimits(*command, options.limits);
  addTimeLimit(
      *command, options.limits,
      "End the run when it and the passes before it take longer; an operator that computes "
      "goes on to its end");
}

void addTest(CLI::App& app, TestOptions& options) {
  CLI::App* command = app.add_subcommand("test", "Run the tests of programs");
  command->add_option("FILE", options.files, "Programs in Baton's own notation")
      ->required()
      ->type_name("");
  command->add_option("--only", options.only, "Run only tests that have this in their names")
      ->type_name("WORD");
  addEngine(*command, options.calling);
  addCountLimits(*command, options.calling.limits);
  addTimeLimit(*command, options.calling.limits, "End each test when it takes longer");
}

CLI::App* addOperators(CLI::App& app, OperatorsOptions& options) {
  CLI::App* command = app.add_subcommand(
      "operators", "Describe the operators and the functions of the prelude, or one of them");
  command
      ->add_option("NAME", options.name,
                   "An operator, such as nn.conv2d, or a function, such as @map; a word that is no "
                   "name lists what contains it")
      ->type_name("");
  command->add_flag("--markdown", options.markdown, "The whole reference, as in docs/operators.md");
  return command;
}

void addDoc(CLI::App& app, DocOptions& options) {
  CLI::App* command = app.add_subcommand(
      "doc", "Show what programs in Baton's notation can name: operators, prelude, library");
  command
      ->add_option("NAME", options.name,
                   "What has that name, such as softmax, optim.adam or optim; a word that is no "
                   "name lists what contains it; a program lists its definitions")
      ->type_name("");
  command->add_flag("--markdown", options.markdown, "All of it, as in docs/library.md");
  command->add_flag("--json", options.json, "Print the entries as one JSON array");
}

void addExplain(CLI::App& app, ExplainOptions& options) {
  CLI::App* command = app.add_subcommand("explain", "Explain a message, or list all messages");
  command->add_option("CODE", options.code, "What stands in brackets, such as type-mismatch")
      ->type_name("");
}

void addUlp(CLI::App& app, UlpOptions& options) {
  CLI::App* command = app.add_subcommand(
      "ulp",
      "Measure how far functions of floats are off in compiled kernels, in units in the last "
      "place, against 50 digits");
  command->add_option("FUNCTION", options.function, "One function, or all")->type_name("");
  command->add_option("--dtype", options.dtype, "Of this type only")->type_name("float32|float64");
  command
      ->add_option("--points", options.points,
                   "How many arguments, beside special values and what is hard for the function")
      ->type_name("N")
      ->capture_default_str()
      ->check([](const std::string& word) { return checkNumber(word, 1, mostPoints); }, "");
}

void addBench(CLI::App& app, RunOptions& options) {
  CLI::App* command = addCalling(
      app, "bench", "Call a function again and again, and tell what a call takes", options);
  addFixed(*command, options.fixed);
  addEngine(*command, options);
  addOrder(*command, options);
  command
      ->add_option("--rounds", options.rounds,
                   "How many calls there are at least, behind a warm-up")
      ->type_name("NUMBER")
      ->check([](const std::string& word) { return checkNumber(word, 1, 1'000'000); }, "")
      ->capture_default_str();
  command->add_flag("--json", options.json, "Print the figures as one JSON object");
  options.isTimed = true;
}

} // namespace

void declareCommands(CLI::App& app, Request& request) {
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag("--version", std::string("baton ") + version, "Print the version");
  app.require_subcommand(1);
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("Subcommands", "Commands");
  addCheck(app, request.check);
  addFmt(app, request.fmt);
  addPrint(app, request.print);
  addOpt(app, request.opt);
  addLower(app, request.lower);
  addGrad(app, request.grad);
  addCompile(app, request.compile);
  addDisasm(app, request.disasm);
  addRun(app, request.run);
  addTest(app, request.test);
  addDebug(app, request.debug);
  addBench(app, request.bench);
  addOperators(app, request.operators);
  addDoc(app, request.doc);
  addExplain(app, request.explain);
  addUlp(app, request.ulp);
  addCache(app, request.cache);
  app.add_subcommand(
      "passes", "List the passes of `baton opt`, and the orders in which programs go through them");
  app.add_subcommand("rewrites", "List the rewrites that schedules of `baton lower` are made of");
  app.add_subcommand("instructions",
                     "List the instructions of the machine, as in docs/instructions.md");
  addAllow(app, request.allowed);
  addThreads(app, request.threads);
  addProcessor(app, request);
  addNumbers(app, request);
  addTune(app, request);
  app.footer(commandExamples);
}

} // namespace driver
