// The fields of tuples as variables.
#pragma once

#include "vm/bytecode/holding.h"

#include <unordered_set>

namespace bytecode {

class TupleFields {
public:
  TupleFields(FunctionState& state, Holding& holding) : state_(state), holding_(holding) {}

  void project(Scope& scope, const Binding& binding, const lang::Project& value);
  void takeApart(Scope& scope, const Var& tuple);
  /// Whether the field that the binding takes was taken out already.
  bool isTaken(const Binding& binding) const { return takenApart_.contains(&binding); }
  void receive(Scope& scope, const Binding& binding, uint16_t base, std::span<const Rep> fields);

private:
  std::optional<std::vector<const Binding*>> fieldsTaken(const Scope& scope, const Var& tuple,
                                                         size_t fields) const;

  FunctionState& state_;
  Holding& holding_;
  std::unordered_set<const Binding*> takenApart_;
};

} // namespace bytecode
