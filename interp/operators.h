// Applying operators to values: the relation gives the type of the result, the tensor expression or
// kernel its elements.
#pragma once

#include "interp/interpret.h"

#include <deque>
#include <memory>
#include <unordered_map>

namespace interp {

/// Applies operators and remembers compiled code: one for each operator, attributes and operand
/// types, and at each call site the one that it used last, so that loops build nothing again.
class Operators {
public:
  Operators(const lang::Module& module, const lang::Typing& typing,
            const lang::OperatorTable& table, const lang::TensorEngine& engine)
      : types_(module.types), typing_(typing), table_(table), engine_(engine) {}

  /// The result, or what was wrong. The call has no attributes when the operator was called through
  /// a value.
  std::variant<Value, runtime::Fault> apply(const lang::Call& call, const lang::OperatorRow& row,
                                            std::span<const Value> arguments);

private:
  /// A prepared call: valid for leaves of these types.
  struct Prepared {
    const lang::OperatorRow* row = nullptr;
    lang::Attributes attributes = {};
    std::vector<const lang::Type*> operands;
    std::vector<std::pair<runtime::DType, runtime::Shape>> leaves;
    const lang::Type* output = nullptr;
    lang::TensorCode code;
  };

  std::variant<const Prepared*, runtime::Fault>
  find(const lang::Call& site, const lang::OperatorRow& row, const lang::Attributes& attributes,
       std::span<const Value> arguments, std::span<const Value> leaves);
  std::optional<runtime::Fault> prepare(Prepared& prepared, std::span<const Value> leaves);
  std::variant<Value, runtime::Fault> runKernel(const lang::OperatorRow& row,
                                                const lang::Attributes& attributes,
                                                const lang::Type* output,
                                                std::span<const Value> leaves);
  const lang::Attributes& defaults(const lang::OperatorRow& row);

  lang::TypeContext& types_;
  const lang::Typing& typing_;
  const lang::OperatorTable& table_;
  const lang::TensorEngine& engine_;
  /// By hash of operator and operand types; a deque, so that sites can point to what it holds.
  std::unordered_multimap<size_t, Prepared*> prepared_;
  std::deque<Prepared> storage_;
  std::unordered_map<const lang::Call*, const Prepared*> sites_;
  /// The last call whose shape depended on values.
  Prepared once_;
  std::unordered_map<const lang::OperatorRow*, lang::Attributes> defaults_;
};

} // namespace interp
