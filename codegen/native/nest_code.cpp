// Fields one after the other, counts in front of lists.
#include "codegen/native/nest_code.h"

#include <cstring>

namespace codegen {

namespace {

class Writer {
public:
  void add(uint64_t number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void add(std::string_view text) {
    add(text.size());
    bytes_ += text;
  }
  std::string take() { return std::move(bytes_); }

private:
  std::string bytes_;
};

/// Gives zeros where the bytes end too early.
class Reader {
public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  uint64_t number() {
    uint64_t value = 0;
    if (std::string_view taken = take(sizeof value); !taken.empty())
      std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
  uint32_t smallNumber() {
    uint64_t value = number();
    isGood_ &= value <= UINT32_MAX;
    return uint32_t(value);
  }
  std::string_view text() { return take(number()); }
  /// How many items of at least eight bytes follow.
  size_t count() {
    uint64_t value = number();
    isGood_ &= value <= bytes_.size() / 8;
    return isGood_ ? value : 0;
  }
  bool isAtEnd() const { return isGood_ && bytes_.empty(); }

private:
  std::string_view take(uint64_t size) {
    isGood_ &= size <= bytes_.size();
    if (!isGood_)
      return {};
    std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  std::string_view bytes_;
  bool isGood_ = true;
};

bool isSound(const NestCode& code) {
  constexpr uint32_t mostBytes = 64;
  bool isGood = areSound(code.steps, code.sizes);
  for (const CodePart& part : code.parts)
    isGood &= part.iterations == CodePart::once || part.iterations < code.steps.size();
  for (const CodeScratch& scratch : code.scratch)
    isGood &= scratch.elements < code.steps.size() && scratch.elementBytes <= mostBytes;
  for (auto [input, output] : code.sharable)
    isGood &= input < code.inputs && output < code.outputs;
  return isGood;
}

} // namespace

std::string bytesOf(const NestCode& code) {
  Writer writer;
  for (uint32_t number : {code.inputs, code.outputs, code.sizes})
    writer.add(number);
  writer.add(code.steps.size());
  for (const SizeStep& step : code.steps)
    for (int64_t number : {int64_t(step.kind), step.a, step.b})
      writer.add(uint64_t(number));
  writer.add(code.parts.size());
  for (const CodePart& part : code.parts) {
    writer.add(part.symbol);
    writer.add(part.iterations);
  }
  writer.add(code.scratch.size());
  for (const CodeScratch& scratch : code.scratch)
    for (uint32_t number : {scratch.elements, scratch.elementBytes, uint32_t(scratch.isPrivate)})
      writer.add(number);
  writer.add(code.sharable.size());
  for (auto [input, output] : code.sharable)
    for (uint32_t number : {input, output})
      writer.add(number);
  writer.add(code.object);
  return writer.take();
}

std::optional<NestCode> nestCodeOf(std::string_view bytes) {
  Reader reader(bytes);
  NestCode code;
  for (uint32_t* number : {&code.inputs, &code.outputs, &code.sizes})
    *number = reader.smallNumber();
  for (size_t left = reader.count(); left > 0; --left) {
    uint64_t kind = reader.number();
    auto known = SizeStepKind(std::min<uint64_t>(kind, UINT8_MAX));
    code.steps.push_back({known, int64_t(reader.number())});
    code.steps.back().b = int64_t(reader.number());
  }
  for (size_t left = reader.count(); left > 0; --left) {
    code.parts.push_back({std::string(reader.text())});
    code.parts.back().iterations = reader.smallNumber();
  }
  for (size_t left = reader.count(); left > 0; --left) {
    code.scratch.push_back({reader.smallNumber()});
    code.scratch.back().elementBytes = reader.smallNumber();
    code.scratch.back().isPrivate = reader.number() != 0;
  }
  for (size_t left = reader.count(); left > 0; --left) {
    code.sharable.emplace_back(reader.smallNumber(), 0);
    code.sharable.back().second = reader.smallNumber();
  }
  code.object = reader.text();
  return reader.isAtEnd() && isSound(code) ? std::optional(std::move(code)) : std::nullopt;
}

} // namespace codegen
