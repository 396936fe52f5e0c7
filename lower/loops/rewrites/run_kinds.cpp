// How the iterations of a loop run; the verifier knows which may run at once.
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <fmt/format.h>

namespace loops::rewrites {

void serial(Nest& nest, Arguments arguments) {
  findLoop(nest, arguments[0]).loop().kind = RunKind::Serial;
}

void parallel(Nest& nest, Arguments arguments) {
  findLoop(nest, arguments[0]).loop().kind = RunKind::Parallel;
}

void vector(Nest& nest, Arguments arguments) {
  findLoop(nest, arguments[0]).loop().kind = RunKind::Vector;
}

void group(Nest& nest, Arguments arguments) {
  findLoop(nest, arguments[0]).loop().kind = RunKind::Grouped;
}

void unroll(Nest& nest, Arguments arguments) {
  constexpr int64_t most = 64;
  Loop& loop = findLoop(nest, arguments[0]).loop();
  auto count = nest.table.constantOf(loop.end);
  if (!count || *count > most)
    refuse(fmt::format("`{}` runs {} times, and what is written out runs a fixed number up to {}",
                       arguments[0], nest.table.text(loop.end), most));
  loop.kind = RunKind::Unrolled;
}

} // namespace loops::rewrites
