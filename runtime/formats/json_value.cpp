// Numbers go through std::to_chars, which knows no locale and takes no memory. A new element type
// is a row of `dataWriters`.
#include "runtime/formats/json_value.h"

#include "runtime/half.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

namespace formats {

namespace {

void appendFloat(std::string& out, double value, int digits) {
  if (std::isnan(value)) {
    out += "\"nan\"";
  } else if (std::isinf(value)) {
    out += value > 0 ? "\"inf\"" : "\"-inf\"";
  } else {
    char text[40];
    auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits);
    out.append(text, end.ptr);
  }
}

template <typename Integer>
void appendInteger(std::string& out, Integer value) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

/// Appends the elements, stored as `Stored`, each by `append`.
template <typename Stored, typename Append>
void appendElements(std::string& out, const runtime::Tensor& tensor, Append append) {
  out += '[';
  bool first = true;
  for (Stored element : tensor.elements<Stored>()) {
    if (!std::exchange(first, false))
      out += ',';
    append(out, element);
  }
  out += ']';
}

template <typename Stored>
void appendFloats(std::string& out, const runtime::Tensor& tensor) {
  constexpr int digits = sizeof(Stored) == 8 ? 17 : 9;
  appendElements<Stored>(out, tensor, [](std::string& text, Stored element) {
    if constexpr (sizeof(Stored) == 2)
      appendFloat(text, double(float(element)), digits);
    else
      appendFloat(text, double(element), digits);
  });
}

template <typename Stored>
void appendIntegers(std::string& out, const runtime::Tensor& tensor) {
  appendElements<Stored>(out, tensor, appendInteger<Stored>);
}

void appendBools(std::string& out, const runtime::Tensor& tensor) {
  appendElements<uint8_t>(
      out, tensor, [](std::string& text, uint8_t element) { text += element ? "true" : "false"; });
}

struct DataWriter {
  runtime::DType dtype;
  void (*append)(std::string&, const runtime::Tensor&);
};

constexpr DataWriter dataWriters[] = {
    {runtime::Bool, appendBools},
    {runtime::Int8, appendIntegers<int8_t>},
    {runtime::Int16, appendIntegers<int16_t>},
    {runtime::Int32, appendIntegers<int32_t>},
    {runtime::Int64, appendIntegers<int64_t>},
    {runtime::UInt8, appendIntegers<uint8_t>},
    {runtime::UInt16, appendIntegers<uint16_t>},
    {runtime::UInt32, appendIntegers<uint32_t>},
    {runtime::UInt64, appendIntegers<uint64_t>},
    {runtime::Float16, appendFloats<runtime::Half>},
    {runtime::BFloat16, appendFloats<runtime::BHalf>},
    {runtime::Float32, appendFloats<float>},
    {runtime::Float64, appendFloats<double>},
};

} // namespace

void appendTensorJson(std::string& out, const runtime::Tensor& tensor) {
  out += "{\"dtype\":\"" + runtime::dtypeName(tensor.dtype()) + "\",\"shape\":[";
  for (size_t d = 0; d < tensor.rank(); ++d) {
    if (d > 0)
      out += ',';
    appendInteger(out, tensor.shape()[d]);
  }
  out += "],\"data\":";
  auto* writer = std::find_if(std::begin(dataWriters), std::end(dataWriters),
                              [&](const DataWriter& row) { return row.dtype == tensor.dtype(); });
  if (writer == std::end(dataWriters))
    out += "null";
  else
    writer->append(out, tensor);
  out += '}';
}

} // namespace formats
