// The library that programs import, in Baton's own notation.
#pragma once

#include <span>
#include <string_view>

namespace stdlib {

/// A text of the library: what it is called is the file without its ending.
struct LibraryFile {
  std::string_view name;
  std::string_view text;
};

std::span<const LibraryFile> libraryFiles();

/// The one whose definitions programs have without an import.
inline constexpr std::string_view commonLibrary = "common";

} // namespace stdlib
