// Where bindings stand: each temporary where the reader would put it.
//
// A temporary has no place in the text; reading gives it the innermost block that holds all its
// uses, before the first (parser/resolve/graph.h). A pass that removes or adds uses can make that
// another place than the one where the temporary stands, and what counts would then happen in
// another order after printing and reading. So every pass hands its result through here:
// temporaries without effects go to their place or, when nothing uses them, away; those whose
// effects would be reordered become lets, which stay. A value never moves into another function,
// where it would be computed at every call.
#pragma once

#include "lang/op/declared.h"
#include "transform/analysis/effects.h"

#include <memory>
#include <string_view>
#include <unordered_set>

namespace transform {

struct PlacementRules {
  /// Leaves out lets that nothing uses and whose effects are droppable.
  bool dropsLets = false;
  /// Makes temporaries of lets without effects and declared types.
  bool loosensLets = false;
  /// Makes lets of temporaries that compute and have a name, which they keep from when they were
  /// lets.
  bool restoresLets = false;
  /// Functions whose lets without effects and declared types go into the only branch that needs
  /// them, as lets.
  std::unordered_set<const lang::Function*> sinksLetsOf = {};
  /// For passes on the way to a machine, whose faults and their order are to be those of the
  /// program: temporaries that compute stay where they are, as lets where reading would move them.
  bool keepsFaults = false;
  /// The names of definitions that have no faults.
  std::unordered_set<std::string_view> faultless = {};
};

/// The module with every binding in its place.
std::unique_ptr<lang::Module> place(const lang::Module& module,
                                    const lang::OperatorTable& operators,
                                    const PlacementRules& rules = {});

/// The bindings that `place` would move, leave out, or give another origin.
std::vector<const lang::Binding*> misplaced(const lang::Module& module,
                                            const PlacementRules& rules = {});

} // namespace transform
