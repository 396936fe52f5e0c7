// Operators on scalars: the row's tensor expression over rank-0 tensors as instructions.
//
// Nothing names an operator here: what an expression of loads without a position, scalar functions,
// casts and numbers computes is computed by the machine itself. Of a selection only the side that
// is chosen counts, so a side that may fail is jumped over.
#pragma once

#include "lower/tensor/expression.h"
#include "vm/bytecode/code.h"

#include <optional>
#include <unordered_map>

namespace bytecode {

using runtime::ScalarFunction;

/// What a scalar expression works on: a constant, or what is in a register.
struct ScalarOperand {
  std::optional<uint64_t> bits = {};
  uint16_t reg = vm::none;
};

/// What a register holds of a tensor of rank 0; negative numbers are extended, so that small ones
/// fit into an instruction.
uint64_t scalarBits(const runtime::Tensor& scalar);

/// Whether the function computes one scalar from scalars, in steps that the machine has.
bool isScalarCode(const tensor::TensorFunction& function);

/// A comparison of two operands of the function, by number, and nothing else.
struct Comparison {
  ScalarFunction function;
  runtime::DType dtype;
  size_t left, right;
};
std::optional<Comparison> comparisonOf(const tensor::TensorFunction& function);
/// The comparison that holds where this one does not, if there is one.
std::optional<ScalarFunction> oppositeOf(const Comparison& comparison);
/// Goes to `otherwise` unless the comparison holds; false when an operand must be in a register for
/// that.
bool jumpUnlessHolds(Code& code, const Comparison& comparison, const ScalarOperand& left,
                     const ScalarOperand& right, Label otherwise);

/// Writes the code of one scalar function.
class ScalarCompiler {
public:
  ScalarCompiler(Code& code, Registers& registers, Literals& literals,
                 const tensor::TensorFunction& function, std::vector<ScalarOperand> operands)
      : code_(code), registers_(registers), literals_(literals), function_(function),
        operands_(std::move(operands)) {}

  /// Computes what the last step needs; then operands may be given up, whose registers may hold the
  /// result.
  void prepare();
  /// The last step. Gives back all registers but `reg`.
  void finish(uint16_t reg);

private:
  const tensor::ScalarNode* nodeOf(uint32_t tensor) const;
  const tensor::ScalarNode* root() const;
  uint16_t load(const ScalarOperand& operand);
  ScalarOperand operandOf(const tensor::ScalarNode* node);
  uint16_t evaluate(const tensor::ScalarNode* node);
  uint16_t choice(const tensor::ScalarApply& select);
  uint16_t asBool(const tensor::ScalarNode* node);
  /// An instruction that lacks only its result.
  struct Step {
    Op op;
    uint16_t b = 0, c = 0;
    /// The word behind it, if there is one.
    std::optional<vm::Word> word = {};
  };
  Step stepOf(const tensor::ScalarNode* node);
  Step apply(const tensor::ScalarApply& node);
  void emit(const Step& step, uint16_t reg);
  uint16_t temporary();

  Code& code_;
  Registers& registers_;
  Literals& literals_;
  const tensor::TensorFunction& function_;
  std::vector<ScalarOperand> operands_;
  std::unordered_map<const tensor::ScalarNode*, uint16_t> known_;
  std::vector<uint16_t> temporaries_;
  /// The last step, whose operands are in registers.
  Step last_ = {};
};

} // namespace bytecode
