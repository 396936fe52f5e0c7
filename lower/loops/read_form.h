// Forms from text: what nests and schedules share.
#pragma once

#include "lower/loops/nest.h"
#include "lower/text/tokens.h"

#include <span>

namespace loops {

using text::Cursor;
using text::Line;
using text::linesOf;
using text::refuseAt;
using text::Token;
using text::TokenKind;
using text::Unreadable;

/// Reads a form over these names.
Form readForm(Cursor& line, sizes::Table& table, std::span<const Name> names);

/// The buffer of this name, if there is one.
std::optional<uint32_t> findBuffer(const Nest& nest, std::string_view name);

} // namespace loops
