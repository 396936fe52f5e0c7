// Blocks, registers and the way to the machine. What each instruction becomes is in write_*.h.
#include "vm/native/function_writer.h"

#include "vm/machine/code_form.h"
#include "vm/native/access.h"

#include <cstddef>
#include <fmt/format.h>

namespace vm::native {

using codegen::FunctionText;

namespace {

constexpr IrType float32{Element::Float32}, float64{Element::Float64};

bool isFloat(Rep rep) {
  return rep.isScalar() && (rep.dtype == runtime::Float32 || rep.dtype == runtime::Float64);
}

} // namespace

IrType passedAs(Rep rep) {
  if (!isFloat(rep))
    return wordType;
  return rep.dtype.bits == 64 ? float64 : float32;
}

std::string nameOf(uint32_t function) {
  return fmt::format("f{}", function);
}

std::string resultType(Rep result) {
  return fmt::format("{{ {}, i64, ptr }}", textOf(passedAs(result)));
}

std::string argumentList(std::span<const IrValue> arguments, const std::string& fuel,
                         const std::string& top, std::string_view filler) {
  constexpr size_t before = 2;
  std::string list;
  auto add = [&](std::string_view argument) {
    list += list.empty() ? "" : ", ";
    list += argument;
  };
  size_t words = 0;
  auto fill = [&] { add(fmt::format("i64 {}, ptr {}", fuel, top)); };
  for (const IrValue& argument : arguments) {
    if (!argument.type.isFloat() && words++ == before)
      fill();
    add(typed(argument));
  }
  for (; words < before; ++words)
    add(filler == "poison" ? "i64 poison" : fmt::format("i64 {}{}", filler, words));
  if (words == before)
    fill();
  return list;
}

FunctionWriter::FunctionWriter(const Program& program, const std::vector<bool>& jumps,
                               uint32_t number, bool hasFloats)
    : program_(program), jumps_(jumps), number_(number), hasFloats_(hasFloats) {}

std::string FunctionWriter::targetOf(const Word* at, int64_t words) const {
  return labelOf(positionOf(at) + wordCount(program_, at) + uint64_t(words));
}

// Registers.

std::string FunctionWriter::variableOf(uint16_t reg, IrType type) {
  registers_.insert(reg);
  std::string_view kind = type == float64 ? "d" : type == float32 ? "s" : "r";
  return fmt::format("%{}{}", kind, reg);
}

IrValue FunctionWriter::read(uint16_t reg, IrType type) {
  usesFloats_ |= type.isFloat();
  bool isKept = hasFloats_ && type.isFloat();
  return asType(loadAs(*this, isKept ? type : wordType, variableOf(reg, isKept ? type : wordType)),
                type);
}

void FunctionWriter::write(uint16_t reg, const IrValue& value) {
  usesFloats_ |= value.type.isFloat();
  for (IrType type : {wordType, float64, float32})
    if (type == wordType || hasFloats_)
      store(*this, asType(value, type), variableOf(reg, type));
}

void FunctionWriter::copy(uint16_t to, uint16_t from) {
  for (IrType type : {wordType, float64, float32})
    if (type == wordType || hasFloats_)
      store(*this, loadAs(*this, type, variableOf(from, type)), variableOf(to, type));
}

/// As if the value went through a slot, whose other bytes are zero.
IrValue FunctionWriter::asType(const IrValue& value, IrType type) {
  if (value.type == type)
    return value;
  IrValue bits = value;
  if (value.type == float64)
    bits = text.convert("bitcast", value, Element::Int64);
  else if (value.type == float32)
    bits = text.convert("bitcast", value, Element::Int32);
  Element wanted = type == float64   ? Element::Int64
                   : type == float32 ? Element::Int32
                                     : type.element;
  uint32_t have = codegen::bitsOf(bits.type.element), want = codegen::bitsOf(wanted);
  if (type.element == Element::Bit)
    bits = text.compare("icmp ne", text.convert("trunc", bits, Element::Int8),
                        FunctionText::whole({Element::Int8}, 0));
  else if (have != want)
    bits = text.convert(have > want ? "trunc" : "zext", bits, wanted);
  return type.isFloat() ? text.convert("bitcast", bits, type.element) : bits;
}

std::string FunctionWriter::variable(std::string_view name) {
  std::string variable = fmt::format("%{}", name);
  variables_.insert(variable);
  return variable;
}

IrValue FunctionWriter::get(const std::string& variable) {
  return loadAs(*this, wordType, variable);
}

void FunctionWriter::set(const std::string& variable, const IrValue& value) {
  store(*this, value, variable);
}

// Ways.

void FunctionWriter::jump(const std::string& label) {
  text.jump(label);
  isEnded_ = true;
}

void FunctionWriter::branch(const IrValue& condition, const std::string& yes,
                            const std::string& no) {
  text.branch(condition, yes, no);
  isEnded_ = true;
}

void FunctionWriter::branchRarely(const IrValue& condition, const std::string& yes,
                                  const std::string& no) {
  text.addLine(fmt::format("br i1 {}, label %{}, label %{}, !prof !1", condition.text, yes, no));
  isEnded_ = true;
}

void FunctionWriter::open(const std::string& label) {
  text.open(label);
  isEnded_ = false;
}

void FunctionWriter::end(std::string_view line) {
  text.addLine(line);
  isEnded_ = true;
}

// Calls.

std::string FunctionWriter::top() {
  return text.addOnce(wordType, "load ptr, ptr %top").text;
}

void FunctionWriter::setTop(const std::string& pointer) {
  text.addLine(fmt::format("store ptr {}, ptr %top", pointer));
}

void FunctionWriter::ret(const IrValue& value) {
  IrValue result = asType(value, passedAs(function().result));
  if (!hasWraps_)
    return retPlain(result);
  std::string part = text.newLabel(), plain = text.newLabel();
  IrValue missing = get(variable("missing"));
  branch(text.compare("icmp eq", missing, native::number(0)), plain, part);
  open(part);
  store(*this, asType(result, wordType), pointer(*this, missing));
  retPlain(get(variable("whole")));
  open(plain);
  retPlain(result);
}

void FunctionWriter::retPlain(const IrValue& value) {
  std::string type = resultType(function().result);
  std::string first =
      text.add(wordType, fmt::format("insertvalue {} poison, {}, 0", type, typed(value))).text;
  std::string second =
      text.add(wordType, fmt::format("insertvalue {} {}, {}, 1", type, first, typed(fuel()))).text;
  std::string all =
      text.add(wordType, fmt::format("insertvalue {} {}, ptr {}, 2", type, second, top())).text;
  end(fmt::format("ret {} {}", type, all));
}

// The function as a whole.

void FunctionWriter::findTargets() {
  const Word* code = program_.code.data();
  for (uint64_t at = function().start; at < function().start + function().size;) {
    const Word& word = code[at];
    uint64_t next = at + wordCount(program_, &word);
    CodeForm::forEachTarget(word, next, [&](int64_t target) { targets_.insert(uint64_t(target)); });
    hasWraps_ |= familyOf(Op(word.op)) == Op::Wrap;
    at = next;
  }
}

std::vector<IrValue> FunctionWriter::parameters() const {
  std::vector<IrValue> parameters;
  auto add = [&](IrType type) {
    parameters.push_back({fmt::format("%a{}", parameters.size()), type});
  };
  for (const Rep& rep : function().parameters)
    add(passedAs(rep));
  if (function().isClosure)
    add(wordType);
  return parameters;
}

std::string FunctionWriter::write() {
  findTargets();
  const Word* code = program_.code.data();
  const std::vector<IrValue> given = parameters();
  for (size_t i = 0; i < given.size(); ++i)
    write(uint16_t(i), given[i]);
  set("%fuel", {"%fuel.in", wordType});
  setTop("%top.in");
  jump("start");
  open("start");
  uint64_t start = function().start, last = start + function().size;
  for (uint64_t at = start; at < last; at += wordCount(program_, code + at)) {
    if (targets_.contains(at)) {
      if (!isEnded_)
        jump(labelOf(at));
      open(labelOf(at));
    }
    if (!isEnded_)
      native::writeInstruction(*this, code + at);
  }
  std::string head;
  beginRegisters(head);
  return fmt::format("define hidden {} {} @{}({}) nounwind {{\nentry:\n{}{}}}\n\n",
                     conventionOf(number_), resultType(function().result), nameOf(number_),
                     argumentList(given, "%fuel.in", "%top.in", "%pad"), head, text.body());
}

void FunctionWriter::beginRegisters(std::string& head) {
  auto add = [&](std::string_view name, std::string_view type, std::string_view zero) {
    head += fmt::format("  {0} = alloca {1}\n  store {1} {2}, ptr {0}\n", name, type, zero);
  };
  add("%fuel", "i64", "0");
  add("%top", "ptr", "null");
  for (const std::string& name : variables_)
    add(name, "i64", "0");
  for (uint16_t reg : registers_) {
    add(fmt::format("%r{}", reg), "i64", "0");
    if (!hasFloats_)
      continue;
    add(fmt::format("%d{}", reg), "double", "0.0");
    add(fmt::format("%s{}", reg), "float", "0.0");
  }
}

} // namespace vm::native
