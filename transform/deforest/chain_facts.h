// What deforestation asks of the old module: how often variables are used, which parameters are
// taken apart at once, and what type arguments a call has.
#pragma once

#include "lang/ir/walk.h"
#include "transform/analysis/known_functions.h"
#include "transform/analysis/quiet_code.h"
#include "transform/analysis/use_counts.h"
#include "transform/deforest/terms.h"

#include <deque>

namespace transform {

class ChainFacts {
public:
  ChainFacts(const lang::Module& module, const lang::Typing& typing);

  /// How often a run uses a variable at most (transform/analysis/use_counts.h).
  size_t uses(const lang::Var& var) const { return counts_.uses[var.number]; }
  /// How often the text mentions it.
  size_t mentions(const lang::Var& var) const { return counts_.mentions[var.number]; }
  /// Whether a call of the global ends in a match on its parameter before it does anything else
  /// with it, or hands it to such a parameter, so that what makes its argument can be driven.
  bool isTakenApart(const lang::Global& global, size_t parameter);
  /// What the type parameters of a global stand for in a call, or null.
  const Instance* instanceOf(const lang::Global& global, std::span<const Term* const> arguments,
                             const lang::Type* result);
  /// A variable outside of all code that is driven: a known function, or itself.
  const Term* outside(const lang::Expr& atom);
  /// The variables that a literal captures.
  std::span<const lang::Var* const> captured(const lang::Function& literal) const {
    return free_.of[literal.number];
  }
  const Term* keep(Term term) { return &terms_.emplace_back(std::move(term)); }

  const lang::Module& module;
  const lang::Typing& typing;
  KnownFunctions known;
  QuietCode quiet;
  /// In which every type stands for itself.
  const Instance plain;

private:
  bool passesOn(const lang::Global& global, size_t parameter);

  lang::FreeVariables free_;
  UseCounts counts_;
  std::unordered_map<const lang::Function*, std::vector<int8_t>> takenApart_;
  std::deque<Instance> instances_;
  std::deque<Term> terms_;
  std::unordered_map<const lang::Expr*, const Term*> outside_;
};

} // namespace transform
