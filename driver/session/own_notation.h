// A program as a text in Baton's own notation.
#pragma once

#include "driver/session/session.h"

#include <string>

namespace driver {

/// The whole text, with the types of all values where `showsTypes`. Numbers of a program that is
/// ill-typed keep their types.
std::string ownNotation(Session& session, const Program& program, bool showsTypes);

/// A definition without what it computes, as its text says it.
std::string headText(const parser::surface::Definition& definition);

} // namespace driver
