// `baton cache`: what is kept of compiled kernels, and how much that may be.
#include "codegen/native/disk_cache.h"
#include "driver/commands.h"
#include "runtime/formats/quote.h"

#include <fmt/format.h>

namespace driver {

Answer cache(const CacheOptions& options) {
  Answer answer;
  codegen::DiskCache kept(codegen::DiskCache::usualFolder());
  if (kept.folder().empty()) {
    answer.output =
        "there is no place for compiled kernels: `$BATON_CACHE` says none, or there is no "
        "home\n";
    return answer;
  }
  const std::string folder = formats::backquoted(kept.folder().string());
  if (options.clears && !kept.clear())
    answer.fail(ExitCode::World, fmt::format("cannot remove all entries of {}", folder));
  if (options.limit && !kept.setLimit(*options.limit))
    answer.fail(ExitCode::World, fmt::format("cannot write to {}", folder));
  const codegen::DiskCache::Content content = kept.content();
  answer.output = fmt::format("{}: {} compiled kernels in {} bytes, of at most {}\n", folder,
                              content.entries, content.bytes, kept.limit());
  return answer;
}

} // namespace driver
