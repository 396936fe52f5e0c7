// From a place in the text to what only the surface tree has a place for: attributes of calls and
// named sizes.
#pragma once

#include "parser/surface/surface.h"

namespace driver {

/// An attribute or a named size at a place, and what is around it.
struct SurfaceAt {
  /// The part of the attribute that is there, or the size.
  lang::SourceRange range;
  /// The innermost call around it, for an attribute.
  const parser::surface::Call* call = nullptr;
  const parser::surface::Attribute* attribute = nullptr;
  const parser::surface::Dim* dim = nullptr;
  /// The definition around it; null in a bare expression.
  const parser::surface::Definition* definition = nullptr;
};

/// Looks for the byte at `offset`; a range without begin when there is neither.
SurfaceAt findSurfaceAt(const parser::surface::File& file, uint32_t offset);

} // namespace driver
