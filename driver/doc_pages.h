// What `baton doc` says of things, in Markdown and as JSON.
#pragma once

#include "driver/documented.h"
#include "driver/session/session.h"

namespace driver {

/// One entry under a heading: its head, what it is, an example, and of a function of the library
/// its text. Examples of operators are made in the session.
std::string page(Session& session, const Documented& entry);

/// A module with a line for each entry; of operators the names.
std::string overview(const DocumentedModule& module);

/// The same with the head of each entry.
std::string headsOf(const DocumentedModule& module);

/// All of it as one text, as in docs/library.md; of operators a line each.
std::string libraryReference(Session& session);

/// The definitions of a text.
std::string definitionsReference(Session& session, std::span<const Documented> entries);

/// An array of objects with the fields `name`, `kind`, `module`, `head`, `doc` and `example`.
std::string documentedJson(std::span<const DocumentedModule> modules);

} // namespace driver
