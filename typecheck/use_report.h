// What is wrong with an instance of an open definition, told where it is used: the definition is
// good for other types.
#pragma once

#include "lang/ir/expr.h"
#include "lang/source/diagnostic.h"
#include "typecheck/unify.h"

namespace typecheck {

/// A use of an open definition.
struct ReportedUse {
  const lang::Global& open;
  lang::SourceRange range;
  std::span<const Type* const> operands;
};

/// Adds to the report of a use what is known of the problem in its instance. Where uses are in
/// uses, in a chain of any length, the inner ones are shown.
void addProblem(lang::Diagnostic& report, const lang::Diagnostic& problem, const ReportedUse& use,
                Unifier& unifier);

/// Turns findings in the instances of single uses into findings about these, `uses` being in the
/// order in which their instances were begun.
void tellUses(std::span<lang::Diagnostic> findings, std::span<const ReportedUse> uses,
              Unifier& unifier);

} // namespace typecheck
