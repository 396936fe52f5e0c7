// The scalar functions as names, for those who do not compute with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace runtime {

enum class ScalarFunction : uint8_t {
#define SCALAR_FUNCTION(name, arity, ...) name,
#include "runtime/scalar_functions.def"
#undef SCALAR_FUNCTION
};

inline constexpr size_t scalarFunctionCount = 0
#define SCALAR_FUNCTION(name, ...) +1
#include "runtime/scalar_functions.def"
#undef SCALAR_FUNCTION
    ;

/// The name as in the table.
std::string_view scalarFunctionName(ScalarFunction function);
size_t scalarFunctionArity(ScalarFunction function);
/// Whether the value is a bool, whatever the operands are.
bool scalarFunctionGivesBool(ScalarFunction function);
/// Whether a second operand of zero is a fault on whole numbers.
bool scalarFunctionDivides(ScalarFunction function);

} // namespace runtime
