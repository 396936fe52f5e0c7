#include "stdlib/panels.h"

#include <fmt/format.h>

namespace stdlib {

const lang::Var* weightsFromPanels(lang::BlockBuilder& out, lang::Atom panels, size_t rank,
                                   size_t dim, int64_t size) {
  // `ABC`, and `BAC32b` for panels of the second dimension.
  std::string plain, inPanels{char('A' + dim)};
  for (size_t i = 0; i < rank; ++i) {
    plain += char('A' + i);
    if (i != dim)
      inPanels += char('A' + i);
  }
  inPanels += fmt::format("{}{}", size, char('a' + dim));
  return out.call("layout_transform", {panels}, {{"src_layout", inPanels}, {"dst_layout", plain}});
}

} // namespace stdlib
