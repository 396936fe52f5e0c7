// An image stands behind the rest, as bytes; where functions are linked these are none.
#include "codegen/image/nest_code.h"

#include "codegen/image/bytes.h"

#include <algorithm>

namespace codegen {

namespace {

bool isSound(const NestCode& code) {
  constexpr uint32_t mostBytes = 64;
  bool isGood = areSound(code.steps, code.sizes);
  for (const CodePart& part : code.parts)
    isGood &= (part.iterations == CodePart::once || part.iterations < code.steps.size()) &&
              (!hasImage(code) || part.entry < code.image.entries.size());
  for (const CodeScratch& scratch : code.scratch)
    isGood &= scratch.elements < code.steps.size() && scratch.elementBytes <= mostBytes;
  for (auto [input, output] : code.sharable)
    isGood &= input < code.inputs && output < code.outputs;
  return isGood;
}

} // namespace

std::string bytesOf(const NestCode& code) {
  ByteWriter writer;
  for (uint32_t number : {code.inputs, code.outputs, code.sizes})
    writer.add(number);
  writer.add(code.steps.size());
  for (const SizeStep& step : code.steps)
    for (int64_t number : {int64_t(step.kind), step.a, step.b})
      writer.add(uint64_t(number));
  writer.add(code.parts.size());
  for (const CodePart& part : code.parts) {
    writer.add(part.entry);
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
  writer.add(hasImage(code) ? bytesOf(code.image) : std::string());
  return writer.take();
}

std::optional<NestCode> nestCodeOf(std::string_view bytes) {
  ByteReader reader(bytes);
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
    code.parts.push_back({reader.smallNumber()});
    code.parts.back().iterations = reader.smallNumber();
  }
  for (size_t left = reader.count(); left > 0; --left) {
    code.scratch.push_back({reader.smallNumber()});
    code.scratch.back().elementBytes = reader.smallNumber();
    code.scratch.back().isPrivate = reader.number() != 0;
  }
  for (size_t left = reader.count(); left > 0; --left) {
    code.sharable.push_back({reader.smallNumber()});
    code.sharable.back().output = reader.smallNumber();
  }
  std::string_view imageBytes = reader.text();
  auto image = imageBytes.empty() ? std::optional(Image()) : imageOf(imageBytes);
  if (!image)
    return std::nullopt;
  code.image = *std::move(image);
  return reader.isAtEnd() && isSound(code) ? std::optional(std::move(code)) : std::nullopt;
}

} // namespace codegen
