// Values whose float leaves hold the number of floats before them, so that code which is put in
// place for each leaf (map_leaves.h) can tell the leaves and their elements apart.
#pragma once

#include "transform/differentiate/derivative_types.h"

#include "lang/ir/typing.h"
#include "lang/source/diagnostic.h"

namespace transform {

class LeafStarts {
public:
  LeafStarts(lang::Builder& builder, const lang::Typing& ofModule, lang::Diagnostics& sink)
      : make(builder), typing_(ofModule), findings_(sink), types_(builder, Mode::Reverse) {}

  /// What stands for a call; null after a report.
  const lang::Expr* expand(const lang::Call& call);

private:
  /// A value with its numbers, and the number of the first float behind it.
  struct Counted {
    lang::Atom value, next;
  };

  Counted each(lang::BlockBuilder& out, Counted before, const lang::Type* type);
  lang::Atom throughFields(lang::BlockBuilder& out, const std::vector<lang::Atom>& fields,
                           const std::vector<const lang::Type*>& types, lang::Atom next,
                           std::vector<lang::Atom>& numbered);
  /// The function that goes through values of a data type.
  const lang::Global* walker(const lang::Type* data);

  lang::Builder& make;
  const lang::Typing& typing_;
  lang::Diagnostics& findings_;
  DerivativeTypes types_;
  std::unordered_map<const lang::Type*, const lang::Global*> walkers_;
};

} // namespace transform
