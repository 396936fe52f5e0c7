// The columns of the table as text.
#include "tests/harness/scalar_spelling.h"

#include <array>

namespace harness {

namespace {

struct Row {
  std::string_view result, floats, wholes;
};

#define TEXT(...) #__VA_ARGS__
#define EXPANDED(...) TEXT(__VA_ARGS__)
#define AS(value)                                                                                  \
  { return value; }
#define NONE
#define SCALAR_FUNCTION(name, arity, result, floats, wholes, ...)                                  \
  Row{TEXT(result), EXPANDED(floats), EXPANDED(wholes)},
constexpr std::array rows{
#include "runtime/scalar_functions.def"
};
#undef SCALAR_FUNCTION
#undef NONE
#undef AS
#undef EXPANDED
#undef TEXT

} // namespace

ScalarSpelling scalarFunctionInC(tensor::ScalarFunction function, bool ofFloats) {
  const Row& row = rows[size_t(function)];
  std::string_view body = ofFloats ? row.floats : row.wholes;
  return body.empty() ? ScalarSpelling{} : ScalarSpelling{row.result, body};
}

} // namespace harness
