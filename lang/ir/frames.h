// Activations of functions: which variable lives in which slot. A closure takes the variables that
// its function captures with it, and an activation gets slots of its own for them.
#pragma once

#include "lang/ir/module.h"

#include <unordered_map>

namespace lang {

/// The slots of a function: its own variables first, then those it captures.
struct FrameLayout {
  std::vector<const Var*> own;
  std::vector<const Var*> captures;
  size_t size() const { return own.size() + captures.size(); }
};

/// The layouts of all functions of a module.
class Frames {
public:
  explicit Frames(const Module& module);

  const FrameLayout& layout(const Function& function) const { return layouts_[function.number]; }
  /// The slot of a variable in an activation of `function`, which binds or captures it.
  size_t slot(const Function& function, const Var& var) const {
    return owners_[var.number] == function.number ? slots_[var.number]
                                                  : captured_.at(placeOf(function.number, var));
  }

private:
  void addFunction(const Function& function);
  void own(const Function& function, const Var& var);
  static uint64_t placeOf(uint64_t function, const Var& var) { return function << 32 | var.number; }

  std::vector<FrameLayout> layouts_;
  /// By Var::number: the function that binds it, and its slot there.
  std::vector<uint32_t> owners_;
  std::vector<uint32_t> slots_;
  /// The slot of a captured variable, by the function and the variable.
  std::unordered_map<uint64_t, uint32_t> captured_;
};

} // namespace lang
