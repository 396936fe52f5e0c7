// How arguments and fields come into the registers where somebody expects them.
#pragma once

#include "bytecode/function_compiler.h"

namespace bytecode {

/// A function that is called: its code's number, or the closure and signature.
struct FunctionCompiler::Callee {
  std::optional<uint32_t> function = {};
  uint16_t signature = 0;
  std::vector<bool> owned;
  /// Of the arguments, in terms of the code around the call.
  std::vector<const lang::Type*> types;
  /// The fields that it gives in registers, if it does so.
  std::vector<Rep> flat = {};
  /// Whether it takes over an argument; its closure is behind them.
  bool owns(size_t i) const { return i >= owned.size() || owned[i]; }
};

/// How an argument comes into its place.
struct FunctionCompiler::Passing {
  enum Kind : uint8_t { Move, Lend, Retain, Load } kind;
  uint16_t from = vm::none;
  /// Whether the register is free once the argument is in its place.
  bool isFreed = false;
  /// Whether it is a reference that the register gives up.
  bool isOwned = false;
};

} // namespace bytecode
