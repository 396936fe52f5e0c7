// Programs in tests: the text of a module, checked, with its findings and the type of its `@main`.
//
// A text comes without the version header, which is put before it; places are given as the text
// that a range covers, with ` #k` after it when the same text stands k - 1 times before it.
#pragma once

#include "driver/session/session.h"
#include "lang/print/print.h"
#include "lang/source/edit.h"
#include "stdlib/ops.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tests {

/// A module that was read and checked, well or not.
class CheckedProgram {
public:
  explicit CheckedProgram(const std::string& text) : text_(text) {
    auto loaded = session_.loadText("test", header + text, driver::Stage::Checked);
    REQUIRE(loaded);
    program_ = std::move(*loaded);
  }

  bool isGood() const { return program_.isGood(); }

  /// The errors in their order, each as `code at place`.
  std::vector<std::string> errors() const {
    std::vector<std::string> result;
    for (const lang::Diagnostic& item : program_.diagnostics.all())
      if (item.severity() == lang::Severity::Error)
        result.push_back(std::string(lang::messageRow(item.message).code) + " at " +
                         place(item.range));
    return result;
  }

  /// What is suggested, each suggestion on a line of its own.
  std::vector<std::string> helps() const {
    std::vector<std::string> result;
    for (const lang::Diagnostic& item : program_.diagnostics.all())
      for (const lang::Suggestion& suggestion : item.suggestions)
        result.push_back(lang::helpLines(std::span(&suggestion, 1), session_.sources(),
                                         lang::Notation::Relay)[0]);
    return result;
  }

  /// The type of `@main` of a good program.
  std::string typeOfMain() {
    const lang::Function& main = *program_.module->find("main")->function;
    return lang::typeText(lang::functionType(session_.types(), main, program_.typing));
  }

private:
  static inline const std::string header = "#[version = \"0.0.5\"]\n";

  std::string place(lang::SourceRange range) const {
    size_t base = program_.source->base() + header.size();
    std::string piece = text_.substr(range.begin - base, range.end - range.begin);
    size_t count = 1;
    for (size_t at = text_.find(piece); at < range.begin - base; at = text_.find(piece, at + 1))
      ++count;
    return count == 1 ? piece : piece + " #" + std::to_string(count);
  }

  std::string text_;
  driver::Session session_{stdlib::operatorTable()};
  driver::Program program_;
};

} // namespace tests
