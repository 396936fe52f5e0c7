// Edits: what a text becomes by them, and how people are told.
#pragma once

#include "lang/source/diagnostic.h"

#include <optional>

namespace lang {

/// The edits in the order of the text, their texts in its notation, with nothing left to copy;
/// nothing when two overlap or one lies outside of `file`.
std::optional<std::vector<Edit>> settledEdits(const SourceFile& file, std::vector<Edit> edits);

/// The text of `file` after settled edits.
std::string editedText(const SourceFile& file, std::span<const Edit> edits);

/// Where a place of a text lies after settled edits. Of what is put in right at the place, all
/// lies before it when `isEnd`, and nothing otherwise.
uint32_t movedPlace(uint32_t place, std::span<const Edit> edits, bool isEnd);

/// Where a place of the text after settled edits was before; nothing inside of new text.
std::optional<uint32_t> originalPlace(uint32_t place, std::span<const Edit> edits);

/// Suggestions with settled edits as lines in a notation, with the new code in place of `{}`; those
/// of one text share a line.
std::vector<std::string> helpLines(std::span<const Suggestion> suggestions,
                                   const SourceMap& sources, Notation notation);

} // namespace lang
