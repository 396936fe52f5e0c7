// The part of the standard library that is written in the language.
#pragma once

#include <span>
#include <string_view>

namespace stdlib {

/// A text that ships with Baton.
struct PreludeFile {
  std::string_view name;
  std::string_view text;
};

/// The texts whose definitions every program can mention.
std::span<const PreludeFile> preludeFiles();

} // namespace stdlib
