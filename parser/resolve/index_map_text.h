// Index maps of a metadata section as text.
#pragma once

#include "lang/ir/metadata.h"

#include <string>

namespace parser {

/// A `tir.IndexMap` as text over its own names, such as `i0, i1 -> i1, (i0 // 4), (i0 % 4)`. Empty
/// when the object holds something else, contains itself, or would be too long to write.
std::string indexMapText(const lang::MetadataTable& table, const lang::MetadataNode& map);

} // namespace parser
