// Applying operators to values: the relation gives the type of the result, the tensor expression or
// kernel its elements.
#pragma once

#include "interp/interpret.h"
#include "interp/tensor_eval.h"

#include <memory>
#include <unordered_map>

namespace interp {

/// Applies operators and remembers the compiled plan of each call site for the operand types that
/// it saw last, so that loops do not build expressions again.
class Operators {
public:
  Operators(const lang::Module& module, const lang::OperatorTable& table, Precision precision)
      : types_(module.types), table_(table), precision_(precision) {}

  /// The result, or what was wrong. `site` identifies the call; `attributes` may be null for an
  /// operator that was called through a value.
  std::variant<Value, std::string> apply(const void* site, const lang::OperatorRow& row,
                                         const lang::Attributes* attributes,
                                         std::span<const Value> arguments);

private:
  /// What a call site needs again: valid while the leaves have these types.
  struct Site {
    std::vector<std::pair<runtime::DType, runtime::Shape>> leaves;
    const lang::Type* output = nullptr;
    std::unique_ptr<Plan> plan;
  };

  std::string prepare(Site& site, const lang::OperatorRow& row, const lang::Attributes& attributes,
                      std::span<const Value> arguments, std::span<const Array> leaves);
  std::variant<Value, std::string> runKernel(const lang::OperatorRow& row,
                                             const lang::Attributes& attributes,
                                             const lang::Type* output,
                                             std::span<const Array> leaves);
  const lang::Attributes& defaults(const lang::OperatorRow& row);

  lang::TypeContext& types_;
  const lang::OperatorTable& table_;
  Precision precision_;
  std::unordered_map<const void*, Site> sites_;
  std::unordered_map<const lang::OperatorRow*, lang::Attributes> defaults_;
};

} // namespace interp
