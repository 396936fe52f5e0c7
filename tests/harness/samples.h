// Operator calls that are known to be well-typed, for every row of the table.
//
// They are found by asking the row's own relation: calls from the row's examples, changed at
// random, and calls drawn at random. Finding them by their result type is what lets a generator
// work backwards from the type that it wants.
#pragma once

#include "lang/op/op.h"
#include "tests/harness/reader.h"
#include "tests/harness/types.h"

#include <deque>
#include <optional>
#include <unordered_map>

namespace harness {

/// One well-typed call.
struct OperatorSample {
  const lang::OperatorRow* row;
  std::vector<const lang::Type*> operands;
  lang::Attributes attributes;
  const lang::Type* output;
  /// Whether named dimensions occur, so that it fits only where they are in scope.
  bool hasSymbols = false;
  /// Whether only the data decides the shape of the result.
  bool isDynamic = false;
  /// What must hold of the named dimensions for the call to be right.
  std::vector<lang::DimBound> bounds = {};
  /// The answers of mayFault and of takesOpen, once they were asked.
  mutable std::optional<bool> faults = {}, open = {};
};

/// The samples; they never move.
struct SamplePool {
  runtime::Arena arena = {};
  std::deque<OperatorSample> all = {};
  /// By row, in the order of the table.
  std::vector<std::vector<const OperatorSample*>> byRow = {};
  /// The rows of `byRow` whose results only data decides; no goal is a reason to call these.
  std::vector<size_t> dynamicRows = {};
  std::unordered_map<const lang::Type*, std::vector<const OperatorSample*>> byOutput = {};
};

/// How many samples are wanted, and which named dimensions they may use.
struct SampleOptions {
  size_t perRow = 24;
  lang::Dims symbols = {};
};

/// Whether all that a row takes and gives can be drawn: values, not the functions that it calls,
/// nor the storage that tensors are made in.
bool takesData(const lang::OperatorRow& row);

/// Asks a relation, giving the operands the types that it says they must have.
lang::RelationResult relateAdopting(const lang::OperatorRow& row, lang::TypeContext& types,
                                    std::vector<const lang::Type*>& operands,
                                    const lang::Attributes& attributes);

/// Fills a pool; `reader` reads the examples, and its types are used.
void fillSamples(SamplePool& pool, Reader& reader, uint64_t seed, const SampleOptions& options);

/// Whether the call could fault on some data of the right types: a division by zero, a position
/// outside, values that decide a shape. Found by trying.
bool mayFault(lang::TypeContext& types, const OperatorSample& sample);

/// Whether the relation takes operands of which nobody knows a size.
bool takesOpen(lang::TypeContext& types, const OperatorSample& sample);

/// Whether the sizes fulfil the bounds of a call.
bool fulfils(lang::TypeContext& types, const OperatorSample& sample, const Bindings& sizes);

/// Where the relation says something else about numbers than about the named dimensions that they
/// are put in for; empty when it agrees, or refuses some sizes.
std::string sizeDifference(lang::TypeContext& types, const OperatorSample& sample);

} // namespace harness
