// How arguments and fields come into the registers where somebody expects them.
#pragma once

#include "vm/bytecode/code.h"
#include "vm/bytecode/representation.h"

#include <optional>
#include <set>
#include <unordered_map>

namespace bytecode {

/// A function that is called: its code's number, or the closure and signature.
struct Callee {
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
struct Passing {
  enum Kind : uint8_t { Move, Lend, Retain, Load } kind;
  uint16_t from = vm::none;
  /// Whether the register is free once the argument is in its place.
  bool isFreed = false;
  /// Whether it is a reference that the register gives up.
  bool isOwned = false;
};

/// The order in which arguments are put into the registers of their numbers, each when nothing else
/// needs what is there.
class PassingOrder {
public:
  explicit PassingOrder(std::vector<Passing>& passings);

  bool isDone() const { return left_.empty(); }
  /// The first argument that waits for no other one.
  std::optional<size_t> next();
  /// The first place of an argument left which one of them comes from.
  uint16_t source() const;
  /// What was in one register is in another one now.
  void redirect(uint16_t from, uint16_t to);

private:
  bool isWaiting(size_t i) const;
  void note(size_t i);
  void noteFreed(uint16_t reg);

  std::vector<Passing>& passings_;
  std::set<size_t> left_, ready_;
  /// Of the arguments left, those that come from a register.
  std::unordered_map<uint16_t, std::set<size_t>> readers_;
};

} // namespace bytecode
