// Name resolution: from surface trees to a module in core IR.
#pragma once

#include "lang/ir/module.h"
#include "lang/op/declared.h"
#include "lang/source/diagnostic.h"
#include "parser/resolve/imports.h"
#include "parser/surface/surface.h"

#include <memory>

namespace parser {

/// What a text may mention without defining it.
struct Environment {
  lang::TypeContext& types;
  const lang::OperatorTable& operators;
  /// Definitions that a program gets when it mentions a name that it does not define itself.
  std::span<const surface::File* const> prelude;
  /// Null for a program without any.
  const Imports* imports = nullptr;
  /// Whether the tests of the program are functions of the module, as tests.h says.
  bool withTests = false;
};

/// Resolves a file, whose metadata section has been read into `metadata`. Findings go to
/// `diagnostics`. A module with errors has holes where there is no meaning: it can be checked, so
/// that one can ask about the rest, and is of no other use.
std::unique_ptr<lang::Module> resolve(const surface::File& file, const lang::SourceFile& source,
                                      lang::MetadataTable metadata, const Environment& environment,
                                      lang::Diagnostics& diagnostics);

} // namespace parser
