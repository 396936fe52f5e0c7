// Activations of functions: which variable lives in which slot.
#pragma once

#include "interp/value.h"
#include "lang/module.h"

namespace interp {

/// The slots of a function: its own variables first, then those it captures.
struct FrameLayout {
  std::vector<const lang::Var*> captures;
  uint32_t ownSlots = 0;
  size_t size() const { return ownSlots + captures.size(); }
};

/// The layouts of all functions of a module.
class Frames {
public:
  explicit Frames(const lang::Module& module);

  const FrameLayout& layout(const lang::Function& function) const {
    return layouts_[function.number];
  }
  /// The slot of a variable in an activation of `function`, which binds or captures it.
  size_t slot(const lang::Function& function, const lang::Var& var) const;

private:
  void addFunction(const lang::Function& function);
  void own(const lang::Function& function, const lang::Var& var);

  std::vector<FrameLayout> layouts_;
  /// By Var::number: the function that binds it, and its slot there.
  std::vector<uint32_t> owners_;
  std::vector<uint32_t> slots_;
};

} // namespace interp
