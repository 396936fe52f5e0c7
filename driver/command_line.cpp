// From words to what a command answers.
#include "driver/command_line.h"

#include "driver/command_words.h"
#include "driver/refused_words.h"
#include "driver/version.h"
#include "driver/warnings.h"
#include "runtime/formats/quote.h"
#include "runtime/threads.h"
#include "stdlib/ops.h"

namespace driver {

namespace {

Answer perform(const CLI::App& app, const Request& request, const Look& look) {
  if (app.got_subcommand("explain"))
    return explain(request.explain, look);
  if (app.got_subcommand("passes"))
    return passes();
  if (app.got_subcommand("instructions"))
    return instructions();
  if (app.got_subcommand("rewrites"))
    return rewrites();
  if (app.got_subcommand("cache"))
    return cache(request.cache);
  if (app.got_subcommand("ulp"))
    return ulp(request.ulp);
  if (app.got_subcommand("operators"))
    return operators(stdlib::operatorTable(), request.operators);
  if (request.threads > 0)
    runtime::limitThreads(request.threads);
  Session session(stdlib::operatorTable());
  for (const std::string& code : request.allowed)
    if (auto warning = warningOf(code))
      session.silence(*warning);
    else
      return {ExitCode::World, "", "error: " + warning.failure().message + '\n'};
  if (app.got_subcommand("check"))
    return check(session, request.check, look);
  if (app.got_subcommand("doc"))
    return doc(session, request.doc, look);
  if (app.got_subcommand("fmt"))
    return layOut(session, request.fmt, look);
  if (app.got_subcommand("print"))
    return print(session, request.print, look);
  if (app.got_subcommand("opt"))
    return opt(session, request.opt, look);
  if (app.got_subcommand("lower"))
    return lower(session, request.lower, look);
  if (app.got_subcommand(gradCommand))
    return grad(session, request.grad, look);
  if (app.got_subcommand("compile"))
    return compile(session, request.compile, look);
  if (app.got_subcommand("disasm"))
    return disasm(session, request.disasm, look);
  if (app.got_subcommand(debugCommand))
    return debug(session, request.debug, look);
  if (app.got_subcommand("test"))
    return test(session, request.test, look);
  if (app.got_subcommand("bench"))
    return bench(session, request.bench, look);
  return run(session, request.run, look);
}

Answer parseAndPerform(int count, const char* const* words, const Look& look) {
  CLI::App app("Baton, a differentiable functional language for tensor programs", "baton");
  Request request;
  declareCommands(app, request);
  if (count < 2)
    return {ExitCode::World, "", app.help()};
  if (auto refused = refuseUnknownCommand(app, count > 1 ? words[1] : ""))
    return *refused;
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& problem) {
    return refuseWords(app, problem);
  }
  return perform(app, request, look);
}

Answer faultAnswer(const char* what) {
  return {ExitCode::Fault, "",
          fmt::format("error: this is a fault of Baton {}: {}\nplease report it together with the "
                      "program and the command line\n",
                      version, what)};
}

Answer memoryAnswer() {
  return {ExitCode::World, "", "error: there is not enough memory\n"};
}

} // namespace

Answer runCommandLine(int count, const char* const* words, const Look& look) {
  try {
    return parseAndPerform(count, words, look);
  } catch (const std::bad_alloc&) {
    return memoryAnswer();
  } catch (const std::length_error&) {
    return memoryAnswer();
  } catch (const std::exception& problem) {
    return faultAnswer(problem.what());
  }
}

} // namespace driver
