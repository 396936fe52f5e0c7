// Properties of modules that passes need and ensure, each with a checker, so that tests and
// `baton opt --verify` can ask instead of believe.
#pragma once

#include "lang/ir/module.h"

namespace transform {

/// ANormal: every binding is a let, and no value is a block in parentheses.
/// Placed: every temporary stands where the reader would put it, so the module prints and reads
/// back with all effects in the same order (transform/analysis/placement.h). Live: every binding is
/// used or has an effect that keeps it. Graph: no let without effects and declared types could be a
/// temporary.
enum class Property : uint8_t { ANormal, Placed, Live, Graph };

/// The name of a property, for people.
std::string_view propertyName(Property property);

/// Where a module has not the property, a sentence for each place; empty when it has.
std::vector<std::string> violations(const lang::Module& module, Property property);

} // namespace transform
