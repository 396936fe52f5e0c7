// Where instructions go while a program is made: scopes, one in another, and numbers for forms.
//
// A number is computed in the outermost scope that has what it is made of, and once there; a scope
// that is closed becomes code of the one around it.
#pragma once

#include "codegen/strips/compile/flat.h"
#include "codegen/strips/program.h"

#include <map>
#include <vector>

namespace strips {

using Sequence = std::vector<Instruction>;

/// What a register holds until registers are given places (registers.h).
struct VirtualRegister {
  Element element;
  bool isStrip;
  /// It only points into buffers; or it may, and has memory as well.
  bool isRow = false, isLoaded = false;
};

class Emitter {
public:
  explicit Emitter(Nest& nest);

  /// Opens a scope inside of loops over these variables, if there are any.
  void open(std::vector<Name> variables);
  Sequence close();
  size_t depth() const { return scopes_.size() - 1; }
  Sequence& code(size_t depth) { return scopes_[depth].code; }
  void emit(Instruction instruction) { emit(depth(), instruction); }
  void emit(size_t depth, Instruction instruction) { scopes_[depth].code.push_back(instruction); }
  void emit(const Sequence& code);

  /// The number that a form is, a variable of a scope, or a constant.
  uint32_t number(Form form);
  uint32_t variable(Name name) const { return variables_.at(name); }
  uint32_t constant(int64_t value);
  /// How many elements there are, at most what a number can be.
  uint32_t count(std::span<const Form> extents);
  /// A number that some instruction makes.
  uint32_t freshNumber();
  /// The scope that makes a number.
  size_t depthOf(uint32_t number) const { return depths_[number]; }
  /// Stands for the lanes of the longest strip.
  Form lanes() const { return lanes_; }

  uint32_t freshRegister(Element element, bool isStrip, bool isRow = false);
  uint32_t kernel(const KernelName& name);

  /// Ends the program.
  Program take(uint32_t stripLength);

  Program program;
  std::vector<VirtualRegister> registers;

private:
  struct Scope {
    std::vector<Name> variables;
    Sequence code = {};
  };

  uint32_t made(const sizes::AtomParts& parts);
  uint32_t times(uint32_t a, uint32_t b);
  uint32_t compute(Code code, uint32_t a, uint32_t b, uint32_t c);

  Nest& nest_;
  std::vector<Scope> scopes_;
  std::map<Form, uint32_t> numbers_;
  std::map<int64_t, uint32_t> constants_;
  std::map<Name, uint32_t> variables_;
  /// By number.
  std::vector<size_t> depths_;
  Form lanes_;
};

} // namespace strips
