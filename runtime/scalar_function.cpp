// Names and shapes of the scalar functions, read off their table.
#include "runtime/scalar_function.h"

#include <array>
#include <cstdint>

namespace runtime {

namespace {

struct FunctionRow {
  const char* name;
  uint8_t arity;
  bool givesBool;
  bool divides = false;
};

constexpr bool isBool(std::string_view result) {
  return result == "bool";
}

constexpr std::array functionRows{
#define SCALAR_FUNCTION(name, arity, result, ...) FunctionRow{#name, arity, isBool(#result)},
#define SCALAR_DIVISION(name, arity, result, ...) FunctionRow{#name, arity, false, true},
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
  return functionRows[size_t(function)].givesBool;
}

bool scalarFunctionDivides(ScalarFunction function) {
  return functionRows[size_t(function)].divides;
}

} // namespace runtime
