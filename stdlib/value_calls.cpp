// The names of operators that texts of values mention.
#include "stdlib/value_calls.h"

#include <fmt/format.h>

namespace stdlib {

std::string castText(std::string_view value, runtime::DType dtype) {
  return fmt::format("cast({}, dtype=\"{}\")", value, runtime::dtypeName(dtype));
}

std::string zerosText(const runtime::Shape& shape, runtime::DType dtype) {
  return fmt::format("zeros(shape=[{}], dtype=\"{}\")", fmt::join(shape, ", "),
                     runtime::dtypeName(dtype));
}

} // namespace stdlib
