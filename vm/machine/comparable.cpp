// Recursion follows the declared type, whose nesting is bounded.
#include "vm/machine/comparable.h"

#include "vm/machine/value.h"

#include <cstring>

namespace vm {

using checks::KnownSizes;
using runtime::Tensor;
using runtime::Value;

namespace {

Value other(const Layout& layout) {
  return runtime::symbolValue(runtime::ValueKind::Constructor, layout.symbol);
}

Value tupleOf(const Program& program, const checks::Declared& type, const Object& object) {
  const Layout& layout = program.layouts[object.layout];
  if (layout.kind != LayoutKind::Tuple || layout.fields.size() != type.parts.size())
    return other(layout);
  std::vector<Value> fields;
  for (size_t i = 0; i < layout.fields.size(); ++i)
    fields.push_back(comparable(program, type.parts[i], layout.fields[i], object.fields()[i]));
  return runtime::tupleValue(std::move(fields));
}

} // namespace

Value comparable(const Program& program, const checks::Declared& type, Rep rep, Slot slot) {
  if (type.kind == checks::Declared::Kind::Other)
    return {};
  if (rep.isScalar())
    return toValue(program, rep, slot);
  const Object& object = *slot.object;
  if (object.layout == boxedLayout)
    return boxed(const_cast<Object&>(object));
  return type.kind == checks::Declared::Kind::Tuple ? tupleOf(program, type, object)
                                                    : other(program.layouts[object.layout]);
}

Value sizesValue(const KnownSizes& sizes) {
  Tensor tensor(runtime::Int64, {int64_t(sizes.all().size()), 3});
  int64_t* at = tensor.elements<int64_t>().data();
  for (const KnownSizes::Known& known : sizes.all())
    for (int64_t number : {int64_t(known.name), known.size, int64_t(known.source)})
      *at++ = number;
  return runtime::tensorValue(std::move(tensor));
}

std::optional<KnownSizes> sizesIn(const Object& object) {
  if (object.layout != boxedLayout)
    return std::nullopt;
  const Value& value = boxed(const_cast<Object&>(object));
  bool isTable = value.kind() == runtime::ValueKind::Tensor &&
                 value.tensor().dtype() == runtime::Int64 && value.tensor().rank() == 2 &&
                 value.tensor().shape()[1] == 3;
  if (!isTable)
    return std::nullopt;
  KnownSizes sizes;
  std::span<const int64_t> numbers = value.tensor().elements<int64_t>();
  for (size_t i = 0; i < numbers.size(); i += 3)
    if (auto name = uint32_t(numbers[i]); !sizes.find(name))
      sizes.add(name, numbers[i + 1], uint32_t(numbers[i + 2]));
  return sizes;
}

} // namespace vm
