// Memory of objects that were given up, or that was reserved, for objects that are made later.
#pragma once

#include "vm/bytecode/constructions.h"
#include "vm/bytecode/holding.h"

namespace bytecode {

/// Memory that waits for an object of so many fields.
struct ReusableMemory {
  uint16_t reg;
  size_t fields;
  const Block* block;
  /// The binding that uses it, or has branches that do.
  size_t binding;
};

class MemoryReuse {
public:
  MemoryReuse(FunctionState& state, Holding& holding) : state_(state), holding_(holding) {}

  std::optional<uint16_t> takeFor(const Scope& scope, size_t binding, size_t fields);
  std::optional<uint16_t> tokenFor(const Scope& scope, const Var& var);
  void reserve(const Scope& scope);
  void enterBranch(const Scope& outer, const Scope& own);

  const std::vector<ReusableMemory>& waiting() const { return waiting_; }
  void restore(const std::vector<ReusableMemory>& waiting) { waiting_ = waiting; }

private:
  std::optional<size_t> unclaimedConstruction(const Block& block, size_t fields);
  const Binding& upcomingCall(const Scope& scope) const;

  FunctionState& state_;
  Holding& holding_;
  Constructions constructions_;
  std::vector<ReusableMemory> waiting_;
};

} // namespace bytecode
