// Named sizes are all 3, which fits most programs.
#include "tests/fuzz/executables.h"

#include "codegen/strips/kernel.h"
#include "vm/executable/call.h"

#include <algorithm>
#include <cstring>

namespace fuzz {

namespace {

using runtime::Value;

std::optional<Value> tensorFor(const checks::Declared& type, const checks::SizeTable& sizes) {
  constexpr int64_t mostElements = 1 << 16;
  if (type.kind != checks::Declared::Kind::Tensor || !type.dtype.isComputable())
    return std::nullopt;
  runtime::Shape shape;
  for (uint32_t size : type.shape)
    shape.push_back(sizes[size].kind == checks::SizeKind::Number ? sizes[size].number : 3);
  auto count = runtime::elementCount(shape);
  if (!count || *count > mostElements)
    return std::nullopt;
  runtime::Tensor tensor(type.dtype, std::move(shape));
  for (size_t i = 0; i < tensor.byteSize(); i += tensor.dtype().bytes())
    tensor.bytes()[i] = std::byte(i / tensor.dtype().bytes() % 2);
  return runtime::tensorValue(std::move(tensor));
}

/// The constructor with the most fields, or, deep down, with the fewest.
const executable::ObjectForm& chosen(const executable::Form& form, size_t depth) {
  constexpr size_t enough = 3;
  auto size = [](const executable::ObjectForm& object) { return object.fields.size(); };
  return depth < enough ? *std::ranges::max_element(form.objects, {}, size)
                        : *std::ranges::min_element(form.objects, {}, size);
}

/// A value for a port; nothing for what cannot be handed in, or is not found.
std::optional<Value> valueFor(const executable::Executable& made, uint32_t number,
                              const checks::Declared& type, size_t depth = 0) {
  constexpr size_t deepest = 12;
  const executable::Form& form = made.forms[number];
  if (form.kind == executable::Form::Kind::Tensor)
    return tensorFor(type, made.program.checks.sizes);
  if (form.objects.empty() || depth > deepest)
    return std::nullopt;
  const executable::ObjectForm& object = chosen(form, depth);
  bool isData = form.kind == executable::Form::Kind::Data;
  const std::vector<checks::Declared>& types =
      isData ? made.program.checks.fields[object.check].fields : type.parts;
  std::vector<Value> fields;
  for (size_t i = 0; i < object.fields.size(); ++i)
    if (auto field = valueFor(made, object.fields[i], types[i], depth + 1))
      fields.push_back(*std::move(field));
    else
      return std::nullopt;
  return isData
             ? runtime::symbolValue(runtime::ValueKind::Constructor,
                                    made.program.layouts[object.layout].symbol, std::move(fields))
             : runtime::tupleValue(std::move(fields));
}

bool run(const executable::Executable& made, size_t entry) {
  std::vector<Value> values;
  for (const executable::Port& port : made.entries[entry].parameters)
    if (auto value = valueFor(made, port.form, port.declared))
      values.push_back(*std::move(value));
    else
      return false;
  std::vector<const Value*> arguments;
  for (const Value& value : values)
    arguments.push_back(&value);
  vm::RunOptions options{
      .limits = {.depth = 1000, .steps = 20'000, .memory = 64 << 20, .seconds = 0.05},
      .makeKernel = strips::givenKernel};
  const vm::Language none = executable::withoutLanguage(made);
  executable::Caller caller(made, options, none);
  if (caller.problemOf(entry, arguments))
    return false;
  auto result = caller.call(entry, arguments);
  // A second run has plans and pools from the first.
  return std::holds_alternative<Value>(result) &&
         std::holds_alternative<Value>(caller.call(entry, arguments));
}

} // namespace

runtime::Result<std::unique_ptr<executable::Executable>> read(const std::vector<std::byte>& bytes) {
  std::shared_ptr<std::byte[]> copy(new std::byte[bytes.size()]);
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  return executable::read(copy, bytes.size());
}

bool run(const executable::Executable& made) {
  executable::languageText(made);
  bool isGood = true;
  for (size_t entry = 0; entry < made.entries.size(); ++entry)
    isGood = run(made, entry) && isGood;
  return isGood;
}

void sealExecutable(std::vector<std::byte>& bytes) {
  executable::seal(bytes);
}

Outcome tryExecutable(const std::vector<std::byte>& bytes) {
  auto made = read(bytes);
  if (!made)
    return {};
  return {true, run(**made)};
}

} // namespace fuzz
