// A star takes as little as it can, and one character more whenever the rest does not fit.
#include "driver/values/name_pattern.h"

namespace driver {

bool isNamedBy(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = pattern.npos, from = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++from;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

} // namespace driver
