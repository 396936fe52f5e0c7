// Recursion follows expressions of single operators, which are shallow.
#include "vm/bytecode/scalar_compiler.h"

#include "lang/op/op.h"
#include "vm/bytecode/scalar_rows.h"
#include "vm/machine/scalar.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace bytecode {

using namespace lang;
using runtime::DType;

namespace {

/// The function of the operands the other way round, if there is one.
std::optional<ScalarFunction> mirrored(ScalarFunction function) {
  using enum ScalarFunction;
  switch (function) {
  case Add:
  case Multiply:
  case BitAnd:
  case Equal:
  case NotEqual:
    return function;
  case Less:
    return Greater;
  case LessEqual:
    return GreaterEqual;
  case Greater:
    return Less;
  case GreaterEqual:
    return LessEqual;
  default:
    return std::nullopt;
  }
}

/// A number that fits 16 bits of an instruction.
std::optional<uint16_t> shortOf(const ScalarOperand& operand, DType dtype) {
  if (!operand.bits || dtype.code != runtime::DTypeCode::Int)
    return std::nullopt;
  int64_t value = dtype.bits == 32 ? int32_t(*operand.bits) : int64_t(*operand.bits);
  return value == int16_t(value) ? std::optional(uint16_t(value)) : std::nullopt;
}

/// A comparison with a short number that does not allow it, or does, as the other kind with the
/// next one: only one kind has instructions.
std::optional<std::pair<ScalarFunction, ScalarOperand>>
exclusiveOf(ScalarFunction function, const ScalarOperand& operand, DType dtype) {
  using enum ScalarFunction;
  if ((function != LessEqual && function != Greater) || !shortOf(operand, dtype))
    return std::nullopt;
  ScalarOperand next = operand;
  next.bits = *operand.bits + 1;
  if (!shortOf(next, dtype))
    return std::nullopt;
  return std::pair(function == LessEqual ? Less : GreaterEqual, next);
}

/// A number that fits 16 bits without a sign.
std::optional<uint16_t> maskOf(const ScalarOperand& operand, DType dtype) {
  if (!operand.bits || dtype.code != runtime::DTypeCode::Int)
    return std::nullopt;
  uint64_t value = dtype.bits == 32 ? uint32_t(*operand.bits) : *operand.bits;
  return value == uint16_t(value) ? std::optional(uint16_t(value)) : std::nullopt;
}

/// Whether a node is made of steps that the machine has; each is looked at once.
bool isScalarNode(const ScalarNode* root) {
  std::vector<const ScalarNode*> stack{root};
  std::unordered_map<const ScalarNode*, bool> seen;
  while (!stack.empty()) {
    const ScalarNode* node = stack.back();
    stack.pop_back();
    if (!seen.emplace(node, true).second)
      continue;
    if (node->dtype.lanes != 1 || !node->dtype.isComputable())
      return false;
    if (const auto* apply = node->as<tensor::ScalarApply>())
      stack.insert(stack.end(), apply->operands.begin(), apply->operands.end());
    else if (const auto* cast = node->as<tensor::ScalarCast>())
      stack.push_back(cast->operand);
    else if (const auto* load = node->as<tensor::ScalarLoad>();
             load ? !load->position.empty() : !node->as<tensor::ScalarNumber>())
      return false;
  }
  return true;
}

/// Whether computing the node may be a fault.
bool mayFail(const ScalarNode* node) {
  const auto* apply = node->as<tensor::ScalarApply>();
  if (const auto* cast = node->as<tensor::ScalarCast>())
    return mayFail(cast->operand);
  if (!apply)
    return false;
  if (runtime::scalarFunctionDivides(apply->function) && !apply->operands[0]->dtype.isFloat())
    return true;
  return std::ranges::any_of(apply->operands, mayFail);
}

uint64_t bitsOf(const tensor::ScalarNumber& number) {
  vm::Slot slot;
  if (number.dtype.isFloat()) {
    slot.f64 = number.real;
    return vm::convertScalar(runtime::Float64, number.dtype, slot).word;
  }
  slot.i64 = number.integer;
  return slot.word;
}

} // namespace

uint64_t scalarBits(const runtime::Tensor& scalar) {
  uint64_t bits = 0;
  std::memcpy(&bits, scalar.bytes(), scalar.byteSize());
  if (!scalar.dtype().isSigned())
    return bits;
  unsigned unused = 64 - scalar.dtype().bits;
  return uint64_t(int64_t(bits << unused) >> unused);
}

bool isScalarCode(const TensorFunction& function) {
  if (function.results.size() != 1)
    return false;
  for (const TensorInfo& tensor : function.tensors)
    if (!tensor.shape.empty())
      return false;
  return std::ranges::all_of(function.stages, [](const tensor::Stage& stage) {
    return stage.kind == tensor::StageKind::Map ? isScalarNode(stage.body)
                                                : stage.kind == tensor::StageKind::Reshape;
  });
}

std::optional<Comparison> comparisonOf(const TensorFunction& function) {
  if (function.stages.size() != 1 || function.stages[0].kind != tensor::StageKind::Map)
    return std::nullopt;
  const auto* apply = function.stages[0].body->as<tensor::ScalarApply>();
  if (!apply || apply->operands.size() != 2 || !runtime::scalarFunctionGivesBool(apply->function))
    return std::nullopt;
  const auto *left = apply->operands[0]->as<tensor::ScalarLoad>(),
             *right = apply->operands[1]->as<tensor::ScalarLoad>();
  bool isPlain =
      left && right && left->tensor < function.inputCount && right->tensor < function.inputCount;
  if (!isPlain || !findScalar(RowForm::jumpUnlessHolds, ScalarFunction::Less, left->dtype))
    return std::nullopt;
  return Comparison{apply->function, left->dtype, left->tensor, right->tensor};
}

std::optional<ScalarFunction> oppositeOf(const Comparison& comparison) {
  using enum ScalarFunction;
  bool isTotal = comparison.dtype.code == runtime::DTypeCode::Int;
  switch (comparison.function) {
  case Equal:
    return NotEqual;
  case NotEqual:
    return Equal;
  case Less:
    return isTotal ? std::optional(GreaterEqual) : std::nullopt;
  case LessEqual:
    return isTotal ? std::optional(Greater) : std::nullopt;
  case Greater:
    return isTotal ? std::optional(LessEqual) : std::nullopt;
  case GreaterEqual:
    return isTotal ? std::optional(Less) : std::nullopt;
  default:
    return std::nullopt;
  }
}

bool jumpUnlessHolds(Code& code, const Comparison& comparison, const ScalarOperand& left,
                     const ScalarOperand& right, Label otherwise) {
  ScalarFunction function = comparison.function;
  ScalarOperand a = left, b = right;
  if (a.bits && !b.bits)
    if (auto other = mirrored(function)) {
      function = *other;
      std::swap(a, b);
    }
  if (a.reg == vm::none)
    return false;
  if (auto exclusive = exclusiveOf(function, b, comparison.dtype))
    std::tie(function, b) = *exclusive;
  if (auto number = shortOf(b, comparison.dtype))
    if (auto op = findScalar(RowForm::jumpUnlessShort, function, comparison.dtype)) {
      code.compareAndJump(*op, a.reg, *number, otherwise);
      return true;
    }
  if (b.reg == vm::none)
    return false;
  auto op = findScalar(RowForm::jumpUnlessHolds, function, comparison.dtype);
  if (!op) {
    op = findScalar(RowForm::jumpUnlessHolds, mirrored(function).value_or(function),
                    comparison.dtype);
    std::swap(a, b);
  }
  if (!op)
    return false;
  code.compareAndJump(*op, a.reg, b.reg, otherwise);
  return true;
}

const ScalarNode* ScalarCompiler::nodeOf(uint32_t tensor) const {
  while (tensor >= function_.inputCount) {
    const tensor::Stage& stage = function_.stages[tensor - function_.inputCount];
    if (stage.kind == tensor::StageKind::Map)
      return stage.body;
    tensor = stage.source;
  }
  return nullptr;
}

const ScalarNode* ScalarCompiler::root() const {
  return nodeOf(function_.results[0]);
}

uint16_t ScalarCompiler::temporary() {
  temporaries_.push_back(registers_.take());
  return temporaries_.back();
}

uint16_t ScalarCompiler::load(const ScalarOperand& operand) {
  if (!operand.bits)
    return operand.reg;
  uint16_t reg = temporary();
  code_.emitLoad(reg, *operand.bits, literals_);
  return reg;
}

/// A constant or register for a leaf, a register for anything else.
ScalarOperand ScalarCompiler::operandOf(const ScalarNode* node) {
  if (const auto* number = node->as<tensor::ScalarNumber>())
    return {bitsOf(*number), vm::none};
  if (const auto* load = node->as<tensor::ScalarLoad>()) {
    uint32_t tensor = load->tensor;
    if (const ScalarNode* stage = nodeOf(tensor))
      return operandOf(stage);
    while (tensor >= function_.inputCount)
      tensor = function_.stages[tensor - function_.inputCount].source;
    return operands_[tensor];
  }
  return {std::nullopt, evaluate(node)};
}

uint16_t ScalarCompiler::evaluate(const ScalarNode* node) {
  if (auto found = known_.find(node); found != known_.end())
    return found->second;
  const auto* apply = node->as<tensor::ScalarApply>();
  if (apply && apply->function == ScalarFunction::Select)
    return known_[node] = choice(*apply);
  if (!apply && !node->as<tensor::ScalarCast>())
    return load(operandOf(node));
  Step step = stepOf(node);
  uint16_t reg = temporary();
  emit(step, reg);
  return known_[node] = reg;
}

uint16_t ScalarCompiler::asBool(const ScalarNode* node) {
  uint16_t reg = load(operandOf(node));
  if (node->dtype.isBool())
    return reg;
  uint16_t result = temporary();
  code_.emit(Op::Convert, result, reg);
  code_.operands(vm::packed(node->dtype), vm::packed(runtime::Bool));
  return result;
}

/// What is computed for one side alone is not known behind it.
uint16_t ScalarCompiler::choice(const tensor::ScalarApply& select) {
  uint16_t condition = asBool(select.operands[0]);
  if (!mayFail(select.operands[1]) && !mayFail(select.operands[2])) {
    uint16_t yes = load(operandOf(select.operands[1])), no = load(operandOf(select.operands[2]));
    uint16_t reg = temporary();
    code_.emit(Op::Choose, reg, yes, no);
    code_.operands(condition);
    return reg;
  }
  uint16_t reg = temporary();
  Label otherwise = code_.newLabel(), end = code_.newLabel();
  const auto before = known_;
  code_.jumpUnless(condition, true, otherwise);
  code_.emit(Op::Move, reg, load(operandOf(select.operands[1])));
  code_.jump(end);
  known_ = before;
  code_.place(otherwise);
  code_.emit(Op::Move, reg, load(operandOf(select.operands[2])));
  known_ = before;
  code_.place(end);
  return reg;
}

/// The instruction of a function, with the shortest operands that there are; else the one that
/// takes any function.
ScalarCompiler::Step ScalarCompiler::apply(const tensor::ScalarApply& node) {
  ScalarFunction function = node.function;
  DType dtype = node.operands[0]->dtype;
  if (function == ScalarFunction::Reinterpret)
    return {Op::Move, load(operandOf(node.operands[0]))};
  std::vector<ScalarOperand> operands;
  for (const ScalarNode* operand : node.operands)
    operands.push_back(operandOf(operand));
  if (operands.size() == 1)
    if (auto op = findScalar(RowForm::unary, function, dtype))
      return {*op, load(operands[0])};
  if (operands.size() == 2) {
    if (operands[0].bits && !operands[1].bits)
      if (auto other = mirrored(function)) {
        function = *other;
        std::swap(operands[0], operands[1]);
      }
    if (function == ScalarFunction::Subtract && operands[1].bits && shortOf(operands[1], dtype) &&
        findScalar(RowForm::immediate, ScalarFunction::Add, dtype)) {
      function = ScalarFunction::Add;
      operands[1].bits = uint64_t(-int64_t(*operands[1].bits));
    }
    // By zero is a fault, which the short instructions do not know.
    auto number = shortOf(operands[1], dtype);
    if (number && (*number != 0 || !runtime::scalarFunctionDivides(function)))
      if (auto op = findScalar(RowForm::immediate, function, dtype))
        return {*op, load(operands[0]), *number};
    if (auto mask = maskOf(operands[1], dtype))
      if (auto op = findScalar(RowForm::masked, function, dtype))
        return {*op, load(operands[0]), *mask};
    auto op = findScalar(RowForm::binary, function, dtype);
    if (auto other = mirrored(function);
        !op && other && (op = findScalar(RowForm::binary, *other, dtype)))
      std::swap(operands[0], operands[1]);
    if (op) {
      uint16_t left = load(operands[0]);
      return {*op, left, load(operands[1])};
    }
  }
  std::vector<uint16_t> loaded;
  for (const ScalarOperand& operand : operands)
    loaded.push_back(load(operand));
  loaded.resize(3, loaded[0]);
  return {Op::Apply, loaded[0], loaded[1],
          vm::Word{uint16_t(function), vm::packed(dtype), loaded[2], 0}};
}

ScalarCompiler::Step ScalarCompiler::stepOf(const ScalarNode* node) {
  if (const auto* application = node->as<tensor::ScalarApply>();
      application && application->function != ScalarFunction::Select)
    return apply(*application);
  const auto* cast = node->as<tensor::ScalarCast>();
  if (!cast)
    return {Op::Move, evaluate(node)};
  uint16_t from = load(operandOf(cast->operand));
  if (cast->operand->dtype == cast->dtype)
    return {Op::Move, from};
  if (auto op = findConversion(cast->operand->dtype, cast->dtype))
    return {*op, from};
  return {Op::Convert, from, 0,
          vm::Word{vm::packed(cast->operand->dtype), vm::packed(cast->dtype), 0, 0}};
}

void ScalarCompiler::emit(const Step& step, uint16_t reg) {
  if (step.op == Op::Move && step.b == reg)
    return;
  code_.emit(step.op, reg, step.b, step.c);
  if (step.word)
    code_.operands(step.word->op, step.word->a, step.word->b);
}

void ScalarCompiler::prepare() {
  if (const ScalarNode* last = root()) {
    last_ = stepOf(last);
    return;
  }
  uint32_t tensor = function_.results[0];
  while (tensor >= function_.inputCount)
    tensor = function_.stages[tensor - function_.inputCount].source;
  last_ = {Op::Move, load(operands_[tensor])};
}

void ScalarCompiler::finish(uint16_t reg) {
  emit(last_, reg);
  for (uint16_t each : temporaries_)
    if (each != reg)
      registers_.free(each);
  temporaries_.clear();
}

} // namespace bytecode
