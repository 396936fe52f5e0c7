#include "runtime/shape_text.h"

#include <fmt/format.h>

namespace runtime {

std::string shapeText(std::span<const int64_t> shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", shape[i]);
  return text += ")";
}

} // namespace runtime
