// What engines compare values with, made of the types of a module: the tables of checks/, of which
// each entry is made when it is asked for.
#pragma once

#include "lang/calls/boundary.h"
#include "lang/types/dim_sizes.h"
#include "runtime/checks/boundary.h"

#include <map>
#include <unordered_map>

namespace lang {

/// Types as checks/ has them.
class Declarations {
public:
  /// Entries go to `table`, which must outlive this.
  explicit Declarations(checks::SizeTable& table) : sizes_(table, DimSizes::Texts::Kept) {}

  uint32_t size(const Dim* dim) { return sizes_.of(dim); }
  checks::Declared type(const Type& type);

private:
  DimSizes sizes_;
};

class RunChecks {
public:
  /// Asks `boundaries` for what is to be compared, and fills `tables`; both must outlive this.
  RunChecks(const Module& module, const Boundaries& boundaries, checks::Tables& tables);
  RunChecks(const RunChecks&) = delete;
  RunChecks& operator=(const RunChecks&) = delete;

  // Places in the tables, or none where nothing is compared.

  uint32_t function(const Function& function);
  /// Of a variable in a function.
  uint32_t value(const Function& function, const Var& var);
  uint32_t fields(const Constructor& constructor);

  Declarations& declarations() { return declarations_; }
  const checks::Tables& tables() const { return tables_; }

private:
  const Boundaries& boundaries_;
  checks::Tables& tables_;
  Declarations declarations_{tables_.sizes};
  std::vector<uint32_t> functions_, values_;
  std::unordered_map<const Constructor*, uint32_t> fields_;
};

checks::CalledFrom calledFrom(const Call& call);

/// The first tensor anywhere in a value, also in data types and references, that does not fit.
struct WholeMisfit {
  const Type* type;
  const runtime::Value* value;
};
std::optional<WholeMisfit> findWholeMisfit(const Type& type, const runtime::Value& value,
                                           RunChecks& checks, const checks::KnownSizes& sizes);

/// What the result of a run must be, and where it is made.
struct ResultType {
  const Type* type;
  bool isDeclared;
  SourceRange range;
};
ResultType resultOf(const Function& entry, const Typing& typing);

/// The sizes that the arguments of a run give to names.
checks::KnownSizes sizesOf(const Function& entry, std::span<const runtime::Value> arguments,
                           RunChecks& checks);

/// Compares all tensors in the result of a run of `entry`, whose arguments gave `sizes`.
std::optional<runtime::RunFault> checkWhole(const Function& entry, const ResultType& result,
                                            const runtime::Value& value, RunChecks& checks,
                                            const checks::KnownSizes& sizes);

} // namespace lang
