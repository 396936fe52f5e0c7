// A program as a module of LLVM: two functions for each of its functions, one for calls within the
// module and one for those of the runner.
//
// vm/native/ compiles control flow: the machine's bytecode becomes machine code with the same
// references, limits, faults and traces. What is rare in an instruction, and all that is no control
// flow, is done by the machine. Start with context.h, then function_writer.h, then write_calls.h.
#pragma once

#include "vm/native/function_writer.h"

namespace vm::native {

/// `uint64_t enter(uint64_t fuel, Frame* top)`: calls a function with the arguments in the window,
/// where it puts the result; it gives the fuel that is left.
std::string enterName(uint32_t function);
/// `NativeContext* context()`.
inline constexpr std::string_view contextName = "context_of_code";

/// What the runner asks code for: the function of the context, all functions of the program, and
/// what enters each of them.
std::vector<std::string> entryNames(const Program& program);

/// The text for a program that the verifier accepts. Throws NotCompiled.
std::string moduleOf(const Program& program);

} // namespace vm::native
