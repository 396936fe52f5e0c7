// Forms as instructions: what a position is at a place of the code.
//
// A name is a value of the code, or fixed to a number where an iteration is written out. One loop
// at most runs in lanes; its variable stands for that of the first lane, and forms are asked how
// they differ from lane to lane.
#pragma once

#include "codegen/llvm/text.h"
#include "lower/sizes/facts.h"

#include <map>
#include <optional>

namespace codegen {

using sizes::Form;
using sizes::Name;

/// The loop that runs in lanes.
struct Lanes {
  Name variable;
  uint32_t count;
  /// Of the last iterations, which lanes have one; all have, where there is none.
  std::optional<IrValue> mask = {};
};

class Positions {
public:
  Positions(FunctionText& text, sizes::Table& table) : text_(text), table_(table) {}

  void bind(Name name, IrValue value) { values_[name] = std::move(value); }
  void fix(Name name, int64_t number) { fixed_[name] = table_.number(number); }
  void forget(Name name) {
    values_.erase(name);
    fixed_.erase(name);
  }

  /// The form with the names that are fixed gone.
  Form known(Form form) { return table_.replaced(form, fixed_); }

  /// An int64 that all lanes have, or the first one.
  IrValue value(Form form, const sizes::Facts& facts);
  /// An int64 for each lane, or one where all have the same.
  IrValue laneValues(Form form, const Lanes& lanes, const sizes::Facts& facts);

private:
  struct Parts {
    std::optional<IrValue> scalar, vector;
  };

  IrValue written(Form form, const Lanes* lanes, const sizes::Facts& facts);
  IrValue product(const sizes::Term& term, const Lanes* lanes, const sizes::Facts& facts);
  IrValue atom(const sizes::AtomParts& parts, const Lanes* lanes, const sizes::Facts& facts);
  IrValue quotient(Form left, Form right, const Lanes* lanes, const sizes::Facts& facts);
  IrValue combined(std::string_view instruction, IrValue a, IrValue b);
  IrValue index(const Lanes& lanes);

  FunctionText& text_;
  sizes::Table& table_;
  std::map<Name, IrValue> values_;
  std::map<Name, Form> fixed_;
};

} // namespace codegen
