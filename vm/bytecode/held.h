// Where variables are while a function is compiled. Copies share what they have in common, since
// every branch starts from one.
#pragma once

#include "lang/ir/expr.h"
#include "vm/bytecode/representation.h"
#include "vm/machine/persistent_array.h"

namespace bytecode {

/// Where a variable is.
struct Held {
  const lang::Var* var = nullptr;
  Rep rep = {};
  uint16_t reg = 0;
  /// What it is borrowed from, and as which field; null for a parameter that is borrowed, and for
  /// what lives as long as the program.
  const lang::Var* parent = nullptr;
  uint16_t field = vm::none;
  /// The depth of the block after whose last use it is given up.
  uint32_t level = 0;
  /// Of an object that was taken apart: its layout, and the variables that are fields of it.
  uint16_t layout = vm::none;
  std::vector<const lang::Var*> fields = {};
  /// No longer needed, but for fields that are borrowed from it.
  bool isOver = false;
};

/// The variables that are held, by their numbers.
class HeldVars {
public:
  const Held* find(const lang::Var& var) const { return all_.find(var.number); }
  /// The first one of a number that is not below, or null.
  const Held* from(size_t number) const {
    size_t next = all_.next(number);
    return next == SIZE_MAX ? nullptr : all_.find(next);
  }
  /// One to be changed; it is held from here on.
  Held& at(const lang::Var& var) { return all_.edit(var.number); }
  void erase(const lang::Var& var) { all_.erase(var.number); }

private:
  vm::PersistentArray<Held> all_{0};
};

} // namespace bytecode
