// Keys are as long as types are deep: what may be deep beyond that, data types with several
// constructors, has one structure for all that is in it, so that files are as large as values.
#include "driver/values/arrays.h"

#include "driver/values/term.h"

#include <cstring>
#include <fmt/format.h>
#include <map>

namespace driver {

using runtime::Done;
using runtime::Result;
using runtime::Tensor;
using runtime::Value;
using runtime::ValueKind;

namespace {

constexpr size_t mostArrays = 1'000'000;

Tensor textTensor(const std::string& text) {
  Tensor tensor(runtime::UInt8, {int64_t(text.size())});
  std::memcpy(tensor.bytes(), text.data(), text.size());
  return tensor;
}

/// Tensors of one type as the rows of one.
Tensor stacked(const std::vector<Tensor>& rows) {
  if (rows.size() == 1)
    return rows[0];
  runtime::Shape shape = rows[0].shape();
  shape.insert(shape.begin(), int64_t(rows.size()));
  Tensor all = Tensor::unwritten(rows[0].dtype(), std::move(shape));
  std::byte* to = all.bytes();
  for (const Tensor& row : rows) {
    std::memcpy(to, row.bytes(), row.byteSize());
    to += row.byteSize();
  }
  return all;
}

/// Adds the structure of a value of several constructors, and the arrays of its tensors, one for
/// each type.
Result<Done> addStructure(formats::TensorMap& arrays, const std::string& key, const Value& value) {
  using TensorType = std::tuple<runtime::DTypeCode, uint8_t, uint16_t, runtime::Shape>;
  std::map<TensorType, size_t> numbers;
  std::vector<std::vector<Tensor>> groups;
  std::string text;
  auto leaf = [&](std::string& out, const Value& part) -> Result<Done> {
    const Tensor& tensor = part.tensor();
    const runtime::DType dtype = tensor.dtype();
    auto [number, isNew] = numbers.try_emplace(
        TensorType{dtype.code, dtype.bits, dtype.lanes, tensor.shape()}, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[number->second].push_back(tensor);
    out += std::to_string(number->second);
    return Done{};
  };
  if (auto good = appendValueText(text, value, leaf); !good)
    return good;
  arrays.emplace(structureKey(key), textTensor(text));
  for (size_t i = 0; i < groups.size(); ++i)
    arrays.emplace(partKey(key, i), stacked(groups[i]));
  return Done{};
}

/// The fields of a tuple or of what has one constructor, which follow from the type.
bool isFields(const Value& value) {
  return value.kind() == ValueKind::Tuple || (value.kind() == ValueKind::Constructor &&
                                              isRecord(*lang::constructorOf(value).definition));
}

} // namespace

std::string partKey(const std::string& key, std::string_view part) {
  return key.empty() ? std::string(part) : fmt::format("{}.{}", key, part);
}

std::string partKey(const std::string& key, size_t part) {
  return partKey(key, std::to_string(part));
}

std::string structureKey(const std::string& key) {
  return partKey(key, "structure");
}

Result<Done> addArrays(formats::TensorMap& arrays, const std::string& key, const Value& value) {
  std::vector<std::pair<std::string, Value>> open{{key, value}};
  while (!open.empty()) {
    auto [name, next] = std::move(open.back());
    open.pop_back();
    if (arrays.size() + open.size() > mostArrays)
      return tooManyParts(mostArrays);
    if (next.kind() == ValueKind::Tensor) {
      arrays.emplace(name, next.tensor());
    } else if (isFields(next)) {
      for (size_t i = next.fields().size(); i-- > 0;)
        open.emplace_back(partKey(name, i), next.fields()[i]);
    } else if (next.kind() == ValueKind::Constructor) {
      if (auto good = addStructure(arrays, name, next); !good)
        return good;
    } else {
      return unwritableError(next.kind());
    }
  }
  return Done{};
}

} // namespace driver
