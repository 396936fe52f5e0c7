// What the words of the command line can say.
#pragma once

#include "driver/commands.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace driver {

/// Everything that the words can say.
struct Request {
  CheckOptions check;
  FmtOptions fmt;
  PrintOptions print;
  OptOptions opt;
  LowerOptions lower;
  GradOptions grad;
  CompileOptions compile;
  DisasmOptions disasm;
  RunOptions run;
  TestOptions test;
  RunOptions debug;
  RunOptions bench;
  OperatorsOptions operators;
  DocOptions doc;
  ExplainOptions explain;
  CacheOptions cache;
  UlpOptions ulp;
  /// Codes of warnings that are no news.
  std::vector<std::string> allowed;
  /// How many threads compute; 0 for as many as there are processors.
  unsigned threads = 0;
};

/// In this form, since an operator has the same name, which no file here may know.
inline constexpr const char* gradCommand = R"(grad)";
inline constexpr const char* debugCommand = R"(debug)";

/// Declares the commands and their options, whose values go into the request.
void declareCommands(CLI::App& app, Request& request);

} // namespace driver
