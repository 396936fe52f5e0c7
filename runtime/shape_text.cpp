#include "runtime/shape_text.h"

namespace runtime {

std::string shapeText(std::span<const int64_t> shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += i == 0 ? "" : ", ";
    text += std::to_string(shape[i]);
  }
  return text + ")";
}

} // namespace runtime
