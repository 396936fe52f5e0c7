// Patterns in Baton's notation.
#pragma once

#include "tests/harness/notation_types.h"

#include <optional>

namespace harness {

class NotationPatterns {
public:
  NotationPatterns(const Program& program, Spelling& spelling, const NotationPlan& plan,
                   NotationTypes& types)
      : program_(program), spelling_(spelling), plan_(plan), types_(types) {}

  /// A pattern of values of a type. `isAlone` says that there is no other beside it, as in a `let`,
  /// where a word is a name and nothing may be left over.
  std::string pattern(const MatchPattern& pattern, const lang::Type* type, NodeId id,
                      bool isAlone = false);

private:
  std::string parts(const MatchPattern& pattern, const lang::Type* type, NodeId id, bool isAlone);
  std::string alternatives(const lang::Type* type, NodeId id);
  std::optional<std::string> list(const MatchPattern& pattern, const lang::Type* type, NodeId id,
                                  bool isAlone);

  const Program& program_;
  Spelling& spelling_;
  const NotationPlan& plan_;
  NotationTypes& types_;
};

/// Whether every value of the type fits.
bool alwaysFits(lang::TypeContext& types, const MatchPattern& pattern, const lang::Type* type);

} // namespace harness
