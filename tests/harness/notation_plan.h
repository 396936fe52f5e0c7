// What is decided for all of a program before it is written in Baton's notation.
#pragma once

#include "tests/harness/program.h"
#include "tests/harness/spelling.h"

#include <map>
#include <set>

namespace harness {

struct NotationPlan {
  std::map<std::string, NodeId> lines = {};
  /// All names that the program binds, which may hide operators and element types.
  std::set<std::string> names = {};
  /// By the name of a definition, parameters whose types it leaves out, and the literals that are
  /// the defaults of others.
  std::map<std::string, std::set<size_t>> open = {};
  std::map<std::string, std::map<size_t, std::string>> defaults = {};
  /// The definitions that are imported, with all data types; none, and the program has both.
  std::set<std::string> imported = {};
  bool hasImport = false;

  bool hides(const std::string& name) const { return names.contains(name); }
};

/// Whether something integer goes where reals are meant. What people write there is a real.
bool givesIntegersForReals(const Program& program);

NotationPlan planNotation(const Program& program, Spelling& spelling);

/// A literal with its type: `1i32`.
std::string wholeLiteral(const Node& literal);

/// Whether a definition of that name is what a call of a record of the type means.
bool isFunctionOf(const std::string& name, const lang::Type* type);

} // namespace harness
