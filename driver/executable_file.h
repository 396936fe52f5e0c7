// Executables with the session: their places in its texts, and their files.
#pragma once

#include "bytecode/link.h"
#include "driver/commands.h"

namespace driver {

/// Turns places in texts of the session into places in texts that the executable keeps, of which
/// each has only the lines that are told of.
void keepSources(executable::Executable& executable, const lang::SourceMap& sources);

/// An executable that is ready to run, with the module that it was linked with.
struct Loaded {
  Program language;
  std::unique_ptr<bytecode::Linked> linked;
};

/// Whether there is an executable at a path.
bool isExecutableFile(const std::string& path);

/// Reads and links one. The texts that it keeps are put into the session.
runtime::Result<Loaded> loadExecutable(Session& session, const std::string& path);

} // namespace driver
