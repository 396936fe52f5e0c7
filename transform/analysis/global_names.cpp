// What was looked at is not looked at again, neither globals nor numbers.
#include "transform/analysis/global_names.h"

#include <fmt/format.h>

namespace transform {

using namespace lang;

std::string GlobalNames::fresh(std::string_view stem) {
  for (; seen_ < module_.globals.size(); ++seen_)
    taken_.insert(module_.globals[seen_]->name);
  std::string name(stem);
  while (taken_.contains(name))
    name = fmt::format("{}_{}", stem, ++numbers_[std::string(stem)]);
  return name;
}

std::string freshGlobalName(const Module& module, std::string_view stem) {
  return GlobalNames(module).fresh(stem);
}

} // namespace transform
