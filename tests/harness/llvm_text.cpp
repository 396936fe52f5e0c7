// The rules of C for operands of several types, and the instruction of LLVM for each case.
//
// Words of instructions are kept with the space behind them: some are names of operators, which a
// test looks for in quotes.
#include "tests/harness/llvm_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace harness {

namespace {

using runtime::DType;

constexpr LlvmOperator operators[] = {
    {"||", 1, "", "", ""},
    {"&&", 2, "", "", ""},
    {"|", 3, "", "or ", "or "},
    {"^", 4, "", "xor ", "xor "},
    {"&", 5, "", "and ", "and "},
    {"==", 6, "fcmp oeq ", "icmp eq ", "icmp eq "},
    {"!=", 6, "fcmp une ", "icmp ne ", "icmp ne "},
    {"<", 7, "fcmp olt ", "icmp slt ", "icmp ult "},
    {"<=", 7, "fcmp ole ", "icmp sle ", "icmp ule "},
    {">", 7, "fcmp ogt ", "icmp sgt ", "icmp ugt "},
    {">=", 7, "fcmp oge ", "icmp sge ", "icmp uge "},
    {"<<", 8, "", "shl ", "shl "},
    {">>", 8, "", "ashr ", "lshr "},
    {"+", 9, "fadd ", "add ", "add "},
    {"-", 9, "fsub ", "sub ", "sub "},
    {"*", 10, "fmul ", "mul ", "mul "},
    {"/", 10, "fdiv ", "sdiv ", "udiv "},
    {"%", 10, "", "srem ", "urem "},
};

std::string typed(const LlvmValue& value) {
  return llvmType(value.type) + " " + value.text;
}

DType promoted(DType type) {
  return !type.isFloat() && type.bits < 32 ? runtime::Int32 : type;
}

/// The word, with its space, between types of which one has another width or kind.
std::string_view conversion(DType from, DType to) {
  if (from.isFloat() && to.isFloat())
    return from.bits < to.bits ? "fpext " : "fptrunc ";
  if (from.isFloat())
    throw std::logic_error("a float that becomes a whole number");
  if (to.isFloat())
    return from.isSigned() ? "sitofp " : "uitofp ";
  if (from.bits > to.bits)
    return "trunc ";
  return from.isSigned() ? "sext " : "zext ";
}

/// Whether the text is a whole number that every type but bool holds.
bool isSmallLiteral(const std::string& text) {
  return text.size() <= 2 && text.find_first_not_of("0123456789") == text.npos;
}

} // namespace

const LlvmOperator* llvmOperator(std::string_view text) {
  const auto* found = std::ranges::find(operators, text, &LlvmOperator::text);
  return found == std::end(operators) ? nullptr : found;
}

DType commonType(DType a, DType b) {
  a = promoted(a), b = promoted(b);
  if (a.isFloat() != b.isFloat())
    return a.isFloat() ? a : b;
  if (a.bits != b.bits)
    return a.bits > b.bits ? a : b;
  return a.isSigned() ? b : a;
}

std::string llvmType(DType type) {
  if (type.isFloat())
    return type.bits == 32 ? "float" : "double";
  return fmt::format("i{}", type.bits);
}

void LlvmText::open(const std::string& name) {
  text += name + ":\n";
  block = name;
}

void LlvmText::jump(const std::string& to) {
  text += fmt::format("  br label %{}\n", to);
}

void LlvmText::branch(const LlvmValue& condition, const std::string& yes, const std::string& no) {
  text += fmt::format("  br {}, label %{}, label %{}\n", typed(condition), yes, no);
}

void LlvmText::giveBack(const LlvmValue& value) {
  text += fmt::format("  ret {}\n", typed(value));
  block.clear();
}

LlvmValue LlvmText::add(DType type, const std::string& instruction) {
  LlvmValue value{type, "%" + newName()};
  text += fmt::format("  {} = {}\n", value.text, instruction);
  return value;
}

LlvmValue LlvmText::convert(const LlvmValue& value, DType type) {
  DType from = value.type;
  if (from == type)
    return value;
  if (isSmallLiteral(value.text) && !type.isBool())
    return {type, value.text + (type.isFloat() ? ".0" : "")};
  if (type.isBool())
    return apply(*llvmOperator("!="), value, {runtime::Int32, "0"});
  if (from.isFloat() == type.isFloat() && from.bits == type.bits)
    return {type, value.text};
  return add(type, fmt::format("{}{} to {}", conversion(from, type), typed(value), llvmType(type)));
}

LlvmValue LlvmText::cut(const LlvmValue& value, DType type) {
  return add(type, fmt::format("trunc {} to {}", typed(value), llvmType(type)));
}

LlvmValue LlvmText::negate(const LlvmValue& value) {
  if (value.type.isFloat())
    return add(value.type, "fneg " + typed(value));
  return apply(*llvmOperator("-"), {runtime::Int32, "0"}, value);
}

LlvmValue LlvmText::apply(const LlvmOperator& op, const LlvmValue& a, const LlvmValue& b) {
  bool shifts = op.text == "<<" || op.text == ">>";
  DType type = shifts ? promoted(a.type) : commonType(a.type, b.type);
  std::string_view instruction = type.isFloat()    ? op.onFloats
                                 : type.isSigned() ? op.onSigned
                                                   : op.onUnsigned;
  if (instruction.empty())
    throw std::logic_error(fmt::format("no instruction for `{}` of `{}`", op.text, llvmType(type)));
  LlvmValue left = convert(a, type), right = convert(b, type);
  bool tests = instruction.substr(1, 3) == "cmp";
  return add(tests ? runtime::Bool : type,
             fmt::format("{}{}, {}", instruction, typed(left), right.text));
}

LlvmValue LlvmText::call(std::string_view name, const std::vector<LlvmValue>& operands) {
  DType type = operands[0].type;
  for (const LlvmValue& operand : operands)
    type = commonType(type, operand.type);
  if (!type.isFloat())
    type = runtime::Float64;
  std::string types, values;
  for (const LlvmValue& operand : operands) {
    std::string_view comma = types.empty() ? "" : ", ";
    types += fmt::format("{}{}", comma, llvmType(type));
    values += fmt::format("{}{}", comma, typed(convert(operand, type)));
  }
  std::string callee = fmt::format("{} @{}{}", llvmType(type), name, type.bits == 32 ? "f" : "");
  // Nobody asks for errno.
  declarations.insert(fmt::format("declare {}({}) nounwind readnone willreturn", callee, types));
  return add(type, fmt::format("call {}({})", callee, values));
}

std::string LlvmText::phi(const Way& a, const Way& b) {
  return fmt::format("phi {} [ {}, %{} ], [ {}, %{} ]", llvmType(a.value.type), a.value.text,
                     a.block, b.value.text, b.block);
}

} // namespace harness
