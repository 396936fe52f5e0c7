// What must hold of every text that is laid out, in both notations.
#pragma once

#include "parser/surface/surface.h"

#include <string>

namespace fuzz {

struct LayoutOutcome {
  /// Whether the text has no syntax error, so that there is something to lay out.
  bool isRead = false;
  /// The promise that is broken, or nothing.
  std::string broken = {};
};

/// Lays a text out, and asks whether it is the same program with the same comments, reads back,
/// ends no line in blanks, and stays as it is when it is laid out again.
LayoutOutcome tryLayout(const std::string& text, parser::surface::Notation notation);

} // namespace fuzz
