// What parts of values are called, in files, on the command line and in messages:
// `p.layers.0.w`.
//
// A field goes by its name, or by its number where it has none; so do those of tuples and items of
// lists. In front of a field of a type with several constructors stands the constructor's name:
// `tree.Fork.0.Leaf.0`.
#pragma once

#include "lang/ir/expr.h"

#include <string>
#include <string_view>

namespace driver {

/// The path of a part of what has a path, or nothing at the top.
std::string partKey(const std::string& key, std::string_view part);
std::string partKey(const std::string& key, size_t part);

/// The name of a field, or its number.
std::string fieldName(const lang::Constructor& constructor, size_t field);

/// The name of a constructor, without that of the file which it was imported from.
std::string_view shortName(const lang::Constructor& constructor);

} // namespace driver
