// Sentences about a module, each with the definition that it is about.
#pragma once

#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

namespace lang {

/// What a verifier found so far.
struct Findings {
  /// The definition that is looked at.
  std::string_view where;
  std::vector<std::string> sentences;

  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    sentences.push_back(fmt::format("in `@{}`: ", where) +
                        fmt::format(format, std::forward<Args>(args)...));
  }
};

} // namespace lang
