// Names for globals that passes add, each found without looking at all the others again.
#pragma once

#include "lang/ir/module.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace transform {

/// The names of a module's globals, also of those that come while it is asked.
class GlobalNames {
public:
  explicit GlobalNames(const lang::Module& of) : module_(of) {}

  /// A name that no global has: `stem`, or with a number behind it.
  std::string fresh(std::string_view stem);

private:
  const lang::Module& module_;
  /// How many globals were looked at, and their names, which live as long as the module.
  size_t seen_ = 0;
  std::unordered_set<std::string_view> taken_;
  /// The last number behind a stem.
  std::unordered_map<std::string, uint32_t> numbers_;
};

/// A name that no global of the module has: `stem`, or with a number behind it. For one name alone;
/// who needs many asks GlobalNames.
std::string freshGlobalName(const lang::Module& module, std::string_view stem);

} // namespace transform
