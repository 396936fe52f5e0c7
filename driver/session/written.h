// What a text says where, noted before passes change the program: so that code which comes from
// there can be told from what passes added, and functions keep their names.
#pragma once

#include "lang/ir/module.h"

#include <map>
#include <set>
#include <string>
#include <tuple>

namespace driver {

struct Written {
  using Place = std::pair<uint32_t, uint32_t>;

  static Place placeOf(lang::SourceRange range);
  /// Where the value of a binding stands, and its kind, which is the same for all atoms.
  static std::pair<Place, lang::ExprKind> valueOf(const lang::Binding& binding);

  /// The names of functions: `@f`, `%f` for one that a let names, and `fn`.
  std::map<Place, std::string> functions = {};
  /// The kinds of the values that are bound.
  std::set<std::pair<Place, lang::ExprKind>> values = {};

  bool isKnown() const { return !functions.empty(); }
};

Written writtenIn(const lang::Module& module);

} // namespace driver
