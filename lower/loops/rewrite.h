// Rewrites of nests, as rows, and schedules, which are lists of them.
//
// A rewrite does what its name says where the tree has the shape for it, and need not prove that
// the nest still computes the same: whoever applies one asks the verifier about the result. What a
// rewrite must not do is change what a statement says of its coordinates. One is a file in
// rewrites/ and a row of the table there.
#pragma once

#include "lower/loops/nest.h"
#include "runtime/result.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loops {

/// One line of a schedule: `split i 6`.
struct Step {
  std::string rewrite;
  std::vector<std::string> arguments = {};
  /// Of the text that it was read from; 0 for none.
  size_t line = 0;
};

using Arguments = std::span<const std::string>;

/// Changes a nest, or throws Inapplicable.
using RewriteFunction = void(Nest& nest, Arguments arguments);

struct Rewrite {
  std::string_view name;
  /// What it takes, as a text: `LOOP NUMBER`.
  std::string_view arguments;
  std::string_view doc;
  RewriteFunction* apply;
};

std::span<const Rewrite> rewriteTable();

/// The nest that a step makes of one, simplified but not verified, for those who verify what a whole
/// list of steps makes; or why it does not apply.
runtime::Checked<Nest> applied(const Nest& nest, const Step& step);
/// The nest that a step makes of one, simplified and verified; or why it does not.
runtime::Checked<Nest> rewritten(const Nest& nest, const Step& step);

/// A schedule from its text: a step a line, words between spaces, `#` begins a comment. What is
/// wrong comes after its line.
runtime::Checked<std::vector<Step>> scheduleOf(std::string_view text);
std::string textOf(const Step& step);

} // namespace loops
