// `baton ulp`: how far the programs of scalar functions are off, and where.
#include "driver/commands.h"
#include "driver/math_accuracy.h"
#include "lang/source/edit_distance.h"
#include "runtime/formats/quote.h"

#include <fmt/format.h>

namespace driver {

namespace {

using runtime::DType;
using runtime::ScalarFunction;

/// `floor_mod` for FloorMod.
std::string shownName(ScalarFunction function) {
  std::string shown;
  for (char letter : runtime::scalarFunctionName(function)) {
    const bool isUpper = letter >= 'A' && letter <= 'Z';
    if (isUpper && !shown.empty())
      shown += '_';
    shown += isUpper ? char(letter - 'A' + 'a') : letter;
  }
  return shown;
}

std::vector<ScalarFunction> functionsCalled(const std::string& name, Answer& answer) {
  std::vector<ScalarFunction> found;
  std::vector<std::string> names;
  for (size_t i = 0; i < runtime::scalarFunctionCount; ++i) {
    auto function = ScalarFunction(i);
    if (!codegen::mathProgram(function, runtime::Float32))
      continue;
    names.push_back(shownName(function));
    if (name.empty() || name == names.back())
      found.push_back(function);
  }
  if (found.empty()) {
    auto near = lang::similarNames(name, names);
    answer.fail(ExitCode::World,
                fmt::format("there is no function of floats {}; {}", formats::backquoted(name),
                            near.empty() ? "`baton ulp` measures all"
                                         : fmt::format("did you mean `{}`?", near[0])));
  }
  return found;
}

std::vector<DType> typesCalled(const std::string& name, Answer& answer) {
  if (name.empty())
    return {runtime::Float32, runtime::Float64};
  auto dtype = runtime::parseDType(name);
  if (dtype == runtime::Float32 || dtype == runtime::Float64)
    return {*dtype};
  answer.fail(ExitCode::World,
              fmt::format("there are functions of float32 and float64, and not of {}; floats of 16 "
                          "bits are computed in float32",
                          formats::backquoted(name)));
  return {};
}

std::string shown(const MathError& error, size_t arity) {
  if (error.units == 0)
    return "0";
  return arity == 1 ? fmt::format("{:.3f} at {}", error.units, error.arguments[0])
                    : fmt::format("{:.3f} at ({}, {})", error.units, error.arguments[0],
                                  error.arguments[1]);
}

} // namespace

Answer ulp(const UlpOptions& options) {
  Answer answer;
  std::vector<ScalarFunction> functions = functionsCalled(options.function, answer);
  std::vector<DType> types = typesCalled(options.dtype, answer);
  if (answer.code != ExitCode::Good)
    return answer;
  constexpr const char* row = "{:<14} {:<8} {:>12}  {:<48} {}\n";
  answer.output = fmt::format(fmt::runtime(row), "function", "type", "instructions",
                              "most units off with fused multiply-add", "and without");
  for (ScalarFunction function : functions)
    for (DType dtype : types) {
      MathAccuracy accuracy = *mathAccuracy(function, dtype, options.points);
      const size_t arity = runtime::scalarFunctionArity(function);
      answer.output +=
          fmt::format(fmt::runtime(row), shownName(function), runtime::dtypeName(dtype),
                      codegen::mathProgram(function, dtype)->instructions.size() - arity,
                      shown(accuracy.fused, arity), shown(accuracy.unfused, arity));
    }
  return answer;
}

} // namespace driver
