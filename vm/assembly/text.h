// Executables as text: everything that is in one, for people to read, to change and to compile.
//
// vm/assembly/ has the text form of the machine's programs. Start here; vm/executable/fields.h says
// what stands in a text, instructions.h how code is written. The parts of a text are `name: value`,
// one behind the other; values are numbers, names, strings in quotes or behind `|`, lists in square
// brackets and records in curly ones; `//` begins a remark, which means nothing.
#pragma once

#include "lang/source/diagnostic.h"
#include "vm/executable/executable.h"

namespace assembly {

/// The functions with their instructions, one on a line.
std::string disassemble(const vm::Program& program);

/// The whole executable, so that `assemble` gives the bytes that `executable::write` does.
std::string text(const executable::Executable& made);

/// Whether a text begins as those of executables do.
bool isText(std::string_view text);

/// The executable that a text describes, verified; null when something was reported.
std::unique_ptr<executable::Executable> assemble(const lang::SourceFile& file,
                                                 lang::Diagnostics& diagnostics);

} // namespace assembly
