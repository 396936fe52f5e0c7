// Executables with the session: their places in its texts, and their files.
#pragma once

#include "driver/session/derive.h"
#include "vm/bytecode/link.h"

namespace driver {

/// Turns places in texts of the session into places in texts that the executable keeps, of which
/// each has only the lines that are told of.
void keepSources(executable::Executable& executable, const lang::SourceMap& sources);

/// An executable that is ready to run, with the module that it was linked with.
struct Loaded {
  Program language;
  std::unique_ptr<bytecode::Linked> linked;
};

/// Puts what passes make of a program for the machine in its place. The globals of these names are
/// what is run; with `keepsCalls`, calls stay for whoever counts them.
void prepareForMachine(Session& session, Program& program, transform::Entries entries,
                       bool keepsCalls = false);

/// Compiles a program that is ready into an executable, which needs it no more. Throws
/// bytecode::TooLarge.
executable::Executable makeExecutable(Session& session, ReadyProgram& ready);

/// The executable in a file, as bytes or as text, which must have entries of these names and no
/// others, if some are named; null when the answer says what is wrong with it.
std::unique_ptr<executable::Executable> openExecutable(Session& session, Input& input,
                                                       std::span<const std::string> entries,
                                                       const Look& look, Answer& answer);

/// The number of the entry of that name, with or without its `@`; where nothing is said that of
/// `main`, or of the only one.
runtime::Checked<size_t> entryNumber(const executable::Executable& made,
                                     std::optional<std::string_view> said);

/// Links one with the language. The texts that it keeps are put into the session.
runtime::Result<Loaded> linkExecutable(Session& session,
                                       std::unique_ptr<executable::Executable> executable,
                                       const std::string& path);

} // namespace driver
