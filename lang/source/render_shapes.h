// The shapes under a message: one below the other, so that the eye finds the dimension that
// differs.
//
// What is too long to read is left out: of many dimensions or rows only those around the marks and
// the first and last ones are shown.
#pragma once

#include "lang/source/render.h"

namespace lang {

/// The lines for a finding's shapes behind a gutter of `gutter` columns: name, dimensions in
/// columns with `^` under the marked ones, element type, and origin with its line. Empty without
/// shapes.
std::string renderShapes(const Finding& finding, const SourceMap& sources, size_t gutter,
                         const RenderOptions& options = {});

/// The rows as a JSON array of objects with `name`, `shape`, `dtype`, `marks` and `origin`, and
/// with `line` and `column` where the place of the origin is known.
std::string shapesJson(const ShapeTable& table, const SourceMap& sources, Notation notation);

} // namespace lang
