// Applying operators to values: the relation gives the type of the result, the tensor expression or
// kernel its elements.
#pragma once

#include "interp/interpret.h"

#include <list>
#include <memory>
#include <unordered_map>

namespace interp {

/// Applies operators and remembers compiled code: one for each operator, attributes and operand
/// types, and at each call site the one that it used last, so that loops build nothing again. What
/// has not been used for long is forgotten, so that a program may go through any number of shapes.
class Operators {
public:
  Operators(const lang::Typing& typing, const lang::OperatorTable& table,
            const lang::TensorEngine& engine)
      : typing_(typing), table_(table), engine_(engine) {}

  /// The result, or what was wrong. The call has no attributes when the operator was called through
  /// a value.
  std::variant<Value, runtime::Fault> apply(const lang::Call& call, const lang::OperatorRow& row,
                                            std::span<const Value> arguments);

private:
  /// The types of arguments as numbers: of a tensor its element type, rank, and the extents, each
  /// with whether it counts in 64 bits; of a tuple its fields.
  using Signature = std::vector<int64_t>;

  /// A prepared call: valid for arguments of this signature.
  struct Prepared {
    const lang::OperatorRow* row = nullptr;
    lang::Attributes attributes = {};
    Signature signature = {};
    /// Where its types live.
    std::shared_ptr<lang::TypeContext> types = {};
    std::vector<const lang::Type*> operands;
    std::vector<std::pair<runtime::DType, runtime::Shape>> leaves;
    const lang::Type* output = nullptr;
    lang::TensorCode code;
    runtime::KernelParameters parameters;
  };

  using Call = std::shared_ptr<const Prepared>;

  std::variant<Call, runtime::Fault> find(const lang::Call& site, const lang::OperatorRow& row,
                                          const lang::Attributes& attributes,
                                          std::span<const Value> arguments,
                                          std::span<const Value> leaves);
  Call known(size_t hash, const Prepared& wanted);
  void remember(size_t hash, Call call);
  std::shared_ptr<lang::TypeContext> scratchTypes();
  std::optional<runtime::Fault> prepare(Prepared& prepared, std::span<const Value> leaves);
  static std::variant<Value, runtime::Fault> runKernel(const Prepared& prepared,
                                                       std::span<const Value> leaves);
  const lang::Attributes& defaults(const lang::OperatorRow& row);

  const lang::Typing& typing_;
  const lang::OperatorTable& table_;
  const lang::TensorEngine& engine_;
  /// Prepared calls with their hashes, those used last in front, and where they are by hash.
  std::list<std::pair<size_t, Call>> recent_;
  std::unordered_multimap<size_t, std::list<std::pair<size_t, Call>>::iterator> byHash_;
  std::unordered_map<const lang::Call*, Call> sites_;
  /// For the next few calls that are prepared: types are interned, and never freed one by one.
  std::shared_ptr<lang::TypeContext> types_;
  size_t usesOfTypes_ = 0;
  std::unordered_map<const lang::OperatorRow*, lang::Attributes> defaults_;
};

} // namespace interp
