// Core IR as a surface tree in Baton's notation, so that the tree's text reads back as the same
// module.
//
// A temporary that is used once stands where it is used, while that is not too much for a line;
// others become `lazy x1 = ...;`. What has no literal is a reference into a metadata section.
#pragma once

#include "lang/ir/module.h"
#include "lang/ir/typing.h"
#include "parser/surface/surface.h"

namespace parser {

/// A tree, and the objects that it refers to.
struct Restored {
  const surface::File* file;
  lang::MetadataTable metadata;
  bool needsMetadata = false;
};

/// The own definitions of a module. With types numbers can do without those that their use says;
/// `showsTypes` declares what was inferred too.
Restored restore(lang::Arena& arena, const lang::Module& module,
                 const lang::OperatorTable& operators, const lang::Typing* typing,
                 bool showsTypes = false);

} // namespace parser
