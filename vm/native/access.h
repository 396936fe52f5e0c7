// How code reaches memory and the machine: addresses, members of the context, helpers, fuel.
//
// Addresses are of type `ptr`, written by their names; references are words.
#pragma once

#include "vm/native/function_writer.h"

namespace vm::native {

inline IrValue number(int64_t value) {
  return codegen::FunctionText::whole(wordType, value);
}

std::string pointer(FunctionWriter& to, const IrValue& word, int64_t bytes = 0);
std::string offset(FunctionWriter& to, const std::string& pointer, int64_t bytes);
IrValue loadAs(FunctionWriter& to, IrType type, const std::string& pointer,
               std::string_view more = "");
void store(FunctionWriter& to, const IrValue& value, const std::string& pointer);
/// A member of the context, which is the same all the time.
std::string context(FunctionWriter& to, size_t offset);
/// Where the machine has a register.
std::string window(FunctionWriter& to, uint16_t reg);

/// `i64 12, ptr %top`: where the code is.
std::string here(FunctionWriter& to, const Word* at);
void callHelper(FunctionWriter& to, size_t offset, std::string_view arguments);
IrValue askHelper(FunctionWriter& to, size_t offset, std::string_view arguments);
/// Takes what a call costs, and asks for more where that is all.
void takeFuel(FunctionWriter& to, const Word* at, bool needsRoom);
/// Ends the run here.
void trap(FunctionWriter& to, const Word* at, Trap reason);
void trapIf(FunctionWriter& to, const IrValue& condition, const Word* at, Trap reason);

} // namespace vm::native
