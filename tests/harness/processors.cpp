// An older processor is the one at hand with less.
#include "tests/harness/processors.h"

namespace harness {

std::vector<codegen::Processor> processorsAtHand() {
  auto host = codegen::hostProcessor();
  if (!host)
    return {};
  std::vector<codegen::Processor> all{*host};
  if (host->triple.starts_with("x86_64")) {
    if (host->has("+avx2") && host->has("+fma") && host->has("+f16c"))
      all.push_back({host->triple, "haswell", "+avx2,+fma,+f16c"});
    all.push_back({host->triple, "x86-64", ""});
  }
  return all;
}

} // namespace harness
