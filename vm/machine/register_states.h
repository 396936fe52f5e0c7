// What the registers of a call hold at one place of its code, for the verifier.
//
// What is borrowed is linked to the register that it is borrowed from, so that it goes with what
// that held. Copies share what they have in common: there is one at every place that a jump leads
// to.
#pragma once

#include "runtime/list.h"
#include "vm/machine/object.h"
#include "vm/machine/persistent_array.h"
#include "vm/machine/program.h"

namespace vm {

enum class Holding : uint8_t { Nothing, Scalar, Owned, Borrowed, Memory };

/// What a register holds. Borrowed: from the object in `owner`, or from outside of the call; as
/// which field, if it was loaded from there. Memory: of an object of `field` fields, or none.
struct RegisterState {
  Holding holding = Holding::Nothing;
  uint16_t owner = none;
  uint16_t field = none;

  bool isReference() const { return holding == Holding::Owned || holding == Holding::Borrowed; }
  /// Whether it must be given up by somebody.
  bool mustStay() const { return holding == Holding::Owned || holding == Holding::Memory; }
  friend bool operator==(const RegisterState&, const RegisterState&) = default;
};

class RegisterStates {
public:
  explicit RegisterStates(size_t registers) : entries_(registers) {}

  RegisterState at(uint16_t reg) const {
    const Entry* entry = entries_.find(reg);
    return entry ? entry->state : RegisterState();
  }
  /// Says what a register holds now. What is borrowed from it stays so. The owner must hold
  /// something.
  void set(uint16_t reg, RegisterState state);
  /// The register holds nothing, nor does what is borrowed from it, or from that.
  void clear(uint16_t reg);
  /// Whether something is borrowed from it.
  bool isLent(uint16_t reg) const {
    const Entry* entry = entries_.find(reg);
    return entry && entry->borrower != none;
  }
  /// The first register from `reg` on that holds something, or `none`.
  uint16_t next(size_t reg) const {
    size_t found = entries_.next(reg);
    return found == SIZE_MAX ? none : uint16_t(found);
  }
  /// How many hold what must be given up.
  size_t held() const { return held_; }
  /// The registers that hold something else in another call.
  runtime::List<uint16_t> differences(const RegisterStates& other) const;

private:
  struct Entry {
    RegisterState state;
    /// The registers that borrow from this one, and the neighbours among those that borrow from the
    /// same.
    uint16_t borrower = none, before = none, after = none;
  };

  void link(uint16_t reg, uint16_t owner);
  void unlink(uint16_t reg);

  PersistentArray<Entry> entries_;
  size_t held_ = 0;
};

} // namespace vm
