// The prelude as text for people: what its functions are called, what they take and do.
#pragma once

#include <span>
#include <string>

namespace stdlib {

/// A function of the prelude.
struct PreludeFunction {
  /// Without its `@`.
  std::string name;
  /// `@map[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B]`.
  std::string signature;
  /// The comment above it.
  std::string doc;
};

/// All functions of the prelude, by name.
std::span<const PreludeFunction> preludeFunctions();

/// One function in Markdown, as operatorReference has operators.
std::string preludeReference(const PreludeFunction& function);

/// All functions and data types of the prelude in Markdown.
std::string preludeReference();

} // namespace stdlib
