// Source texts and ranges in them.
//
// lang/ is the language as data. This room has texts and what is said of them (diagnostic.h); types
// are in lang/types/, the operator table's interface in lang/op/, the core IR in lang/ir/.
//
// Ranges are byte offsets into one address space that all texts of a session share, so a range of
// eight bytes says file and place; lines and columns are computed only when something is shown.
#pragma once

#include "runtime/source_range.h"
#include "runtime/words.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace lang {

using runtime::globalName;
using runtime::localName;
using runtime::Notation;
using runtime::plainName;
using runtime::SourceRange;
using runtime::Words;
using runtime::words;

/// The smallest range that covers both; an invalid side is ignored.
SourceRange cover(SourceRange first, SourceRange second);

/// A place as people count: lines and columns from 1, a column a byte.
struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 1;
};

/// One text with its name.
class SourceFile {
public:
  SourceFile(std::string name, std::string text, uint32_t base);

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  Notation notation() const { return runtime::notationOf(name_, text_); }
  /// The offset of the first byte in the shared address space.
  uint32_t base() const { return base_; }
  SourceRange range() const { return {base_, base_ + uint32_t(text_.size())}; }
  bool contains(SourceRange range) const {
    return range.begin >= base_ && range.begin <= base_ + text_.size();
  }
  LineColumn position(uint32_t offset) const;
  /// The text of a line, from 1, without its line end; empty past the last line.
  std::string_view line(uint32_t number) const;

private:
  std::string name_;
  std::string text_;
  uint32_t base_;
  mutable std::vector<uint32_t> lineStarts_;
  const std::vector<uint32_t>& lineStarts() const;
};

/// All texts of a session. Files never move, so references stay good.
class SourceMap {
public:
  /// Adds a text. Texts beyond 2^31 bytes in all are refused with nullptr.
  const SourceFile* add(std::string name, std::string text);
  /// The file that a range lies in, or nullptr for no place.
  const SourceFile* find(SourceRange range) const;

private:
  std::deque<SourceFile> files_;
  uint32_t next_ = 1;
};

} // namespace lang
