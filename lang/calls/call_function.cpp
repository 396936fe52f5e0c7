// Code that was never checked, or has errors, has no types for its operands, so no functions.
#include "lang/calls/call_function.h"

#include "lang/ir/expr.h"
#include "lang/op/op.h"

#include <algorithm>

namespace lang {

bool isTensorFunction(const OperatorRow& row) {
  return row.action == Action::Compute && row.compute && row.shapeNeeds == ShapeNeeds::Shapes;
}

const OperatorRow* tensorFunctionRow(const Expr& value) {
  const auto* call = value.as<Call>();
  const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
  return op && call->attributes && isTensorFunction(*op->row) ? op->row : nullptr;
}

std::optional<TensorFunction> functionOfCall(const Call& call, const Type* result,
                                             const Typing& typing) {
  const auto* op = call.callee.value->as<OperatorRef>();
  std::vector<const Type*> operands;
  for (const Operand& argument : call.arguments)
    operands.push_back(typing.of(*argument.value));
  if (!op || op->row->action != Action::Compute || !op->row->compute || !call.attributes ||
      !result || std::ranges::count(operands, nullptr) > 0)
    return std::nullopt;
  auto function = tensorFunctionOf(*op->row, operands, result, *call.attributes);
  return function ? std::optional(*std::move(function)) : std::nullopt;
}

} // namespace lang
