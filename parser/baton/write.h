// The writer of Baton's notation: a surface tree as a text that reads back as the same tree.
//
// Brackets are where the grammar needs them. Lines are of no concern here but for braces that stay
// broken: parser/format/ lays texts out.
#pragma once

#include "parser/surface/surface.h"

#include <functional>
#include <string>

namespace parser::baton {

/// What documents a definition, without comment signs; empty where nothing does.
using DocOf = std::function<std::string(const surface::Definition&)>;

/// A file, with a blank line between definitions.
std::string write(const surface::File& file, const DocOf& docOf = {});

/// A definition without what it computes: the head of a function, the name and type of a constant;
/// a type as it is.
std::string writeHead(const surface::Definition& definition);

/// A name as the notation has it: in backquotes where it is no word, or one that means something.
std::string nameText(std::string_view name);

} // namespace parser::baton
