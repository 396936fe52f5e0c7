// Keys are lists of numbers, so that maps can order them.
#include "vm/bytecode/layouts.h"

#include "runtime/result.h"

namespace bytecode {

using vm::Layout;
using vm::LayoutKind;

namespace {

uint32_t numberOf(Rep rep) {
  return uint32_t(rep.hold) << 16 |
         (rep.isScalar() ? uint32_t(rep.dtype.code) << 8 | rep.dtype.bits : 0);
}

std::vector<uint32_t> numbersOf(std::span<const Rep> reps) {
  std::vector<uint32_t> numbers;
  for (Rep rep : reps)
    numbers.push_back(numberOf(rep));
  return numbers;
}

/// The next number of a table whose numbers are 16 bits of an instruction.
uint16_t nextNumber(size_t count) {
  if (count >= vm::none)
    throw TooLarge("a program of more than 65,534 layouts or signatures");
  return uint16_t(count);
}

} // namespace

std::vector<uint32_t> numbersOf(const Environment& environment) {
  std::vector<uint32_t> numbers;
  for (const auto& [parameter, rep] : environment)
    numbers.push_back(numberOf(rep));
  return numbers;
}

uint16_t Layouts::intern(Layout layout, std::vector<uint32_t> key) {
  constexpr size_t mostFields = 4096;
  if (layout.fields.size() > mostFields)
    throw TooLarge("an object of more than 4,096 fields");
  auto [found, isNew] =
      layouts_.try_emplace({layout.kind, layout.symbol.definition, std::move(key)}, uint16_t());
  if (isNew) {
    found->second = nextNumber(program_.layouts.size());
    program_.layouts.push_back(std::move(layout));
  }
  return found->second;
}

void Layouts::takeUp() {
  for (uint16_t i = 0; i < program_.layouts.size(); ++i)
    if (const Layout& layout = program_.layouts[i];
        layout.kind <= LayoutKind::Data || layout.kind == LayoutKind::Cell)
      layouts_.try_emplace({layout.kind, layout.symbol.definition, numbersOf(layout.fields)}, i);
}

uint16_t Layouts::tuple(std::vector<Rep> fields) {
  auto key = numbersOf(fields);
  return intern({.kind = LayoutKind::Tuple, .fields = std::move(fields)}, std::move(key));
}

uint16_t Layouts::cell(Rep content) {
  return intern({.kind = LayoutKind::Cell, .fields = {content}}, {numberOf(content)});
}

uint16_t Layouts::data(const lang::Constructor& constructor, const Environment& arguments) {
  if (constructor.index >= vm::none)
    throw TooLarge("a data type of more than 65,534 constructors");
  std::vector<Rep> fields;
  for (const lang::Type* field : constructor.fields)
    fields.push_back(rep(field, arguments));
  auto key = numbersOf(fields);
  return intern({.kind = LayoutKind::Data,
                 .tag = uint16_t(constructor.index),
                 .fields = std::move(fields),
                 .symbol = {&constructor, constructor.name}},
                std::move(key));
}

uint16_t Layouts::function(LayoutKind kind, runtime::Symbol symbol, std::vector<Rep> captured,
                           std::vector<uint32_t> instance) {
  std::vector<uint32_t> key = numbersOf(captured);
  key.insert(key.end(), instance.begin(), instance.end());
  return intern({.kind = kind, .fields = std::move(captured), .symbol = symbol}, std::move(key));
}

uint32_t Layouts::emptyObject(uint16_t layout) {
  auto [found, isNew] = emptyObjects_.try_emplace(layout, uint32_t(program_.statics.size()));
  if (isNew)
    program_.statics.push_back({layout});
  return found->second;
}

uint32_t Layouts::tensorObject(const lang::Constant& constant) {
  const void* place = &constant;
  if (constant.tensor && constant.tensor->size() > 0)
    place = constant.tensor->bytes();
  auto [begin, end] = tensors_.equal_range(place);
  for (auto found = begin; found != end; ++found) {
    const runtime::Tensor& known = program_.statics[found->second].value.tensor();
    if (!constant.tensor ||
        (known.dtype() == constant.tensor->dtype() && known.shape() == constant.tensor->shape()))
      return found->second;
  }
  const auto number = uint32_t(program_.statics.size());
  tensors_.emplace(place, number);
  program_.statics.push_back(
      {vm::boxedLayout, runtime::tensorValue(lang::constantTensor(constant))});
  return number;
}

namespace {

std::vector<uint32_t> signatureKey(const std::vector<Rep>& parameters, Rep result,
                                   const std::vector<Rep>& generics) {
  auto key = numbersOf(parameters);
  key.push_back(numberOf(result));
  key.push_back(uint32_t(parameters.size()));
  for (Rep generic : generics)
    key.push_back(numberOf(generic));
  return key;
}

} // namespace

uint16_t Layouts::signature(std::vector<Rep> parameters, Rep result, std::vector<Rep> generics) {
  auto [found, isNew] =
      signatures_.try_emplace(signatureKey(parameters, result, generics), uint16_t());
  if (isNew) {
    found->second = nextNumber(program_.signatures.size());
    program_.signatures.push_back({std::move(parameters), result});
  }
  return found->second;
}

bool Layouts::hasSignature(const std::vector<Rep>& parameters, Rep result) const {
  return signatures_.contains(signatureKey(parameters, result, {}));
}

std::vector<Rep> Layouts::reps(lang::Types types, const Environment& environment) const {
  std::vector<Rep> reps;
  for (const lang::Type* type : types)
    reps.push_back(rep(type, environment));
  return reps;
}

Environment Layouts::argumentsOf(const lang::Type* data, const Environment& environment) const {
  Environment arguments;
  if (!data || !data->definition)
    return arguments;
  for (size_t i = 0; i < data->definition->generics.size(); ++i)
    arguments.emplace_back(data->definition->generics[i],
                           i < data->parts.size() ? rep(data->parts[i], environment) : reference);
  return arguments;
}

} // namespace bytecode
