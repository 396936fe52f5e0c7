// What a variant of a kernel takes for granted, which whoever calls it looks at.
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <algorithm>
#include <fmt/format.h>

namespace loops::rewrites {

void assume(Nest& nest, Arguments arguments) {
  auto name = nest.table.find(arguments[0]);
  auto size = std::ranges::find_if(
      nest.sizes, [&](const Assumption& each) { return name && each.size == *name; });
  if (size == nest.sizes.end())
    refuse(fmt::format("the kernel has no size `{}`", arguments[0]));
  size->least = std::max(size->least, numberAbove0(arguments[1]));
  if (arguments.size() < 3)
    return;
  int64_t multiple = numberAbove0(arguments[2]);
  if (multiple % size->multiple != 0)
    refuse(fmt::format("`{}` is a multiple of {} already, which does not divide {}", arguments[0],
                       size->multiple, multiple));
  size->multiple = multiple;
}

} // namespace loops::rewrites
