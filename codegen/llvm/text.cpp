// Splats of constants are written as such, so that later steps see constants.
#include "codegen/llvm/text.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace codegen {

namespace {

constexpr std::string_view elementTexts[] = {"i1",  "i8",   "i16",   "i32",
                                             "i64", "half", "float", "double"};
constexpr std::string_view elementSuffixes[] = {"i1",  "i8",  "i16", "i32",
                                                "i64", "f16", "f32", "f64"};
constexpr uint32_t elementBits[] = {1, 8, 16, 32, 64, 16, 32, 64};

bool isName(const IrValue& value) {
  return value.text.starts_with('%');
}

IrValue constant(IrType type, const std::string& element) {
  if (type.lanes == 1)
    return {element, type};
  return {fmt::format("splat ({} {})", elementTexts[size_t(type.element)], element), type};
}

} // namespace

uint32_t bitsOf(Element element) {
  return elementBits[size_t(element)];
}

std::string textOf(IrType type) {
  std::string_view element = elementTexts[size_t(type.element)];
  return type.lanes == 1 ? std::string(element) : fmt::format("<{} x {}>", type.lanes, element);
}

std::string suffixOf(IrType type) {
  std::string_view element = elementSuffixes[size_t(type.element)];
  return type.lanes == 1 ? std::string(element) : fmt::format("v{}{}", type.lanes, element);
}

Element computedAs(DType dtype) {
  if (dtype.isFloat())
    return dtype.bits == 64 ? Element::Float64 : Element::Float32;
  return dtype.isBool() ? Element::Bit : storedAs(dtype);
}

Element storedAs(DType dtype) {
  if (dtype.code == runtime::DTypeCode::Float)
    return dtype.bits == 64   ? Element::Float64
           : dtype.bits == 32 ? Element::Float32
                              : Element::Float16;
  switch (dtype.bytes()) {
  case 1:
    return Element::Int8;
  case 2:
    return Element::Int16;
  case 4:
    return Element::Int32;
  default:
    return Element::Int64;
  }
}

std::string typed(const IrValue& value) {
  return fmt::format("{} {}", textOf(value.type), value.text);
}

IrValue FunctionText::add(IrType type, std::string_view instruction) {
  auto [known, isNew] = known_.try_emplace(std::string(instruction));
  if (isNew)
    known->second = addOnce(type, instruction);
  return known->second;
}

IrValue FunctionText::addOnce(IrType type, std::string_view instruction) {
  std::string name = fmt::format("%v{}", ++values_);
  body_ += fmt::format("  {} = {}\n", name, instruction);
  return {std::move(name), type};
}

void FunctionText::addLine(std::string_view line) {
  body_ += fmt::format("  {}\n", line);
}

std::string FunctionText::addStack(uint64_t bytes, uint32_t alignment) {
  std::string name = fmt::format("%v{}", ++values_);
  stack_ += fmt::format("  {} = alloca [{} x i8], align {}\n", name, bytes, alignment);
  return name;
}

void FunctionText::open(const std::string& label) {
  body_ += label + ":\n";
  block_ = label;
  known_.clear();
}

void FunctionText::jump(const std::string& label) {
  addLine("br label %" + label);
}

void FunctionText::branch(const IrValue& condition, const std::string& yes, const std::string& no) {
  addLine(fmt::format("br i1 {}, label %{}, label %{}", condition.text, yes, no));
}

IrValue FunctionText::whole(IrType type, int64_t value) {
  if (type.element == Element::Bit)
    return bit(value != 0, type.lanes);
  return constant(type, fmt::format("{}", value));
}

IrValue FunctionText::real(IrType type, double value) {
  double held = type.element == Element::Float32 ? double(float(value)) : value;
  return constant(type, fmt::format("0x{:016X}", std::bit_cast<uint64_t>(held)));
}

IrValue FunctionText::bit(bool value, uint32_t lanes) {
  return constant({Element::Bit, lanes}, value ? "true" : "false");
}

IrValue FunctionText::counted(uint32_t lanes, int64_t step) {
  IrType type{Element::Int64, lanes};
  if (lanes == 1)
    return whole(type, 0);
  std::string numbers;
  for (uint32_t i = 0; i < lanes; ++i)
    numbers += fmt::format("{}i64 {}", i == 0 ? "" : ", ", int64_t(i) * step);
  return {fmt::format("<{}>", numbers), type};
}

IrValue FunctionText::binary(std::string_view instruction, const IrValue& a, const IrValue& b) {
  return add(a.type, fmt::format("{} {}, {}", instruction, typed(a), b.text));
}

IrValue FunctionText::compare(std::string_view condition, const IrValue& a, const IrValue& b) {
  return add(a.type.withElement(Element::Bit),
             fmt::format("{} {}, {}", condition, typed(a), b.text));
}

IrValue FunctionText::select(const IrValue& condition, const IrValue& yes, const IrValue& no) {
  return add(yes.type, fmt::format("select {}, {}, {}", typed(condition), typed(yes), typed(no)));
}

IrValue FunctionText::convert(std::string_view instruction, const IrValue& value, Element to) {
  IrType type = value.type.withElement(to);
  return add(type, fmt::format("{} {} to {}", instruction, typed(value), textOf(type)));
}

IrValue FunctionText::intrinsic(std::string_view name, std::span<const IrValue> operands) {
  std::string list;
  for (const IrValue& operand : operands)
    list += (list.empty() ? "" : ", ") + typed(operand);
  IrType type = operands[0].type;
  return add(type, fmt::format("call {} @{}.{}({})", textOf(type), name, suffixOf(type), list));
}

bool FunctionText::isOfAvx512(IrType type) const {
  const uint32_t bits = bitsOf(type.element) * type.lanes;
  bool isWide = type.element == Element::Float32 || type.element == Element::Float64;
  return hasAvx512_ && isWide && (bits == 128 || bits == 256 || bits == 512);
}

IrValue FunctionText::avx512(std::string_view name, const IrValue& a, const IrValue& b,
                             std::string_view immediate) {
  const uint32_t bits = bitsOf(a.type.element) * a.type.lanes;
  // All lanes are wanted; the widest form is told how to round: as usual.
  return add(a.type, fmt::format("call {0} @llvm.x86.avx512.mask.{1}.{2}.{3}({4}, {5}{6}, {0} "
                                 "zeroinitializer, i{7} -1{8})",
                                 textOf(a.type), name,
                                 a.type.element == Element::Float32 ? "ps" : "pd", bits, typed(a),
                                 typed(b), immediate, std::max(a.type.lanes, 8u),
                                 bits == 512 ? ", i32 4" : ""));
}

IrValue FunctionText::scalef(const IrValue& value, const IrValue& exponent) {
  return avx512("scalef", value, exponent, "");
}

IrValue FunctionText::range(const IrValue& a, const IrValue& b, bool isGreater) {
  return avx512("range", a, b, isGreater ? ", i32 5" : ", i32 4");
}

IrValue FunctionText::splat(const IrValue& value, uint32_t lanes) {
  if (value.type.lanes == lanes)
    return value;
  IrType type = value.type.withLanes(lanes);
  if (!isName(value))
    return constant(type, value.text);
  IrValue first =
      add(type, fmt::format("insertelement {} poison, {}, i64 0", textOf(type), typed(value)));
  return add(type, fmt::format("shufflevector {}, {} poison, <{} x i32> zeroinitializer",
                               typed(first), textOf(type), lanes));
}

std::vector<IrValue> FunctionText::together(std::vector<IrValue> values) {
  uint32_t most = 1;
  for (const IrValue& value : values)
    most = std::max(most, value.type.lanes);
  for (IrValue& value : values)
    value = splat(value, most);
  return values;
}

IrValue FunctionText::both(std::string_view instruction, const IrValue& a, const IrValue& b) {
  std::vector<IrValue> pair = together({a, b});
  return binary(instruction, pair[0], pair[1]);
}

IrValue FunctionText::lane(const IrValue& vector, uint32_t lane) {
  if (vector.type.lanes == 1)
    return vector;
  return add(vector.type.withLanes(1),
             fmt::format("extractelement {}, i64 {}", typed(vector), lane));
}

IrValue FunctionText::withLane(const IrValue& vector, const IrValue& value, uint32_t lane) {
  if (vector.type.lanes == 1)
    return value;
  return add(vector.type,
             fmt::format("insertelement {}, {}, i64 {}", typed(vector), typed(value), lane));
}

IrValue FunctionText::half(const IrValue& vector, bool isSecond) {
  uint32_t count = vector.type.lanes / 2;
  if (count == 1)
    return lane(vector, isSecond);
  std::string lanes;
  for (uint32_t i = 0; i < count; ++i)
    lanes += fmt::format("{}i32 {}", i == 0 ? "" : ", ", i + (isSecond ? count : 0));
  return add(vector.type.withLanes(count),
             fmt::format("shufflevector {}, {} poison, <{} x i32> <{}>", typed(vector),
                         textOf(vector.type), count, lanes));
}

IrValue FunctionText::any(const IrValue& bits) {
  if (bits.type.lanes == 1)
    return bits;
  return add({Element::Bit}, fmt::format("call i1 @llvm.vector.reduce.or.{}({})",
                                         suffixOf(bits.type), typed(bits)));
}

} // namespace codegen
