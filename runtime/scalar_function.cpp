// Names and shapes of the scalar functions, read off their table.
#include "runtime/scalar_function.h"

#include <array>

namespace runtime {

namespace {

struct FunctionRow {
  std::string_view name;
  size_t arity;
  std::string_view result;
  bool divides = false;
};

constexpr std::array functionRows{
#define SCALAR_FUNCTION(name, arity, result, ...) FunctionRow{#name, arity, #result},
#define SCALAR_DIVISION(name, arity, result, ...) FunctionRow{#name, arity, #result, true},
#include "runtime/scalar_functions.def"
#undef SCALAR_FUNCTION
};

} // namespace

std::string_view scalarFunctionName(ScalarFunction function) {
  return functionRows[size_t(function)].name;
}

size_t scalarFunctionArity(ScalarFunction function) {
  return functionRows[size_t(function)].arity;
}

bool scalarFunctionGivesBool(ScalarFunction function) {
  return functionRows[size_t(function)].result == "bool";
}

bool scalarFunctionDivides(ScalarFunction function) {
  return functionRows[size_t(function)].divides;
}

} // namespace runtime
