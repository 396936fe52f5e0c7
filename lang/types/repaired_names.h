// Names as the text format can say them. A name that comes from a text is nearly always fine; one
// that a tool or a pass made may hold any character, and is repaired so that the text reads back.
#pragma once

#include <string>
#include <string_view>

namespace lang::printing {

/// A name of a type, type parameter, constructor or dimension, repaired.
std::string bareName(std::string_view name);

/// The name of a global, repaired, without its `@`.
std::string repairedGlobal(std::string_view name);

/// The name of a local, repaired, without its `%`: `v` goes in front of one that does not begin
/// with a letter.
std::string repairedLocal(std::string_view name);

} // namespace lang::printing
