// The header of a .npy, read and written. The dictionary is parsed by hand and strictly: exactly
// the three keys, literals only, nothing after it but blanks.
#include "runtime/formats/npy.h"

#include "runtime/formats/quote.h"
#include "runtime/formats/tensor_bytes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace formats {

using runtime::Done;
using runtime::Error;
using runtime::guarded;
using runtime::Result;

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t headerAlignment = 64;

struct NpyType {
  std::string_view name;
  runtime::DType dtype;
};

constexpr std::array npyTypes{
    NpyType{"b1", runtime::Bool},    NpyType{"i1", runtime::Int8},
    NpyType{"i2", runtime::Int16},   NpyType{"i4", runtime::Int32},
    NpyType{"i8", runtime::Int64},   NpyType{"u1", runtime::UInt8},
    NpyType{"u2", runtime::UInt16},  NpyType{"u4", runtime::UInt32},
    NpyType{"u8", runtime::UInt64},  NpyType{"f2", runtime::Float16},
    NpyType{"f4", runtime::Float32}, NpyType{"f8", runtime::Float64},
};

/// What is left of the dictionary's text.
struct Cursor {
  std::string_view rest;

  void skipBlanks() {
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n'))
      rest.remove_prefix(1);
  }
  /// Takes `token`, and blanks before it, when it is next.
  bool take(std::string_view token) {
    skipBlanks();
    if (!rest.starts_with(token))
      return false;
    rest.remove_prefix(token.size());
    return true;
  }
  Error expected(std::string_view what) const {
    return Error{fmt::format("the header of the .npy has {} where {} is expected",
                             rest.empty() ? "its end" : backquoted(rest.substr(0, 20)), what)};
  }
};

/// A Python string without escapes, as numpy writes its keys and type names.
Result<std::string_view> takeString(Cursor& cursor) {
  char quote = cursor.take("'") ? '\'' : cursor.take("\"") ? '"' : '\0';
  if (quote == '\0')
    return cursor.expected("a string");
  size_t end = cursor.rest.find_first_of("'\"\\\n");
  if (end == std::string_view::npos || cursor.rest[end] != quote)
    return cursor.expected("a string without escapes");
  std::string_view text = cursor.rest.substr(0, end);
  cursor.rest.remove_prefix(end + 1);
  return text;
}

Result<int64_t> takeExtent(Cursor& cursor) {
  cursor.skipBlanks();
  int64_t value = 0;
  const char* begin = cursor.rest.data();
  auto [end, problem] = std::from_chars(begin, begin + cursor.rest.size(), value);
  if (problem == std::errc::result_out_of_range || value < 0)
    return cursor.expected("an extent from 0 to 2^63 - 1");
  if (problem != std::errc{})
    return cursor.expected("an extent");
  cursor.rest.remove_prefix(size_t(end - begin));
  // Python 2 wrote long integers this way.
  if (cursor.rest.starts_with("L"))
    cursor.rest.remove_prefix(1);
  return value;
}

/// A tuple of extents: `()`, `(3,)`, `(3, 4)`; `(3)` would be a number in Python.
Result<runtime::Shape> takeShape(Cursor& cursor) {
  runtime::Shape shape;
  if (!cursor.take("("))
    return cursor.expected("a tuple of extents");
  while (!cursor.take(")")) {
    if (shape.size() == largestRank)
      return Error{fmt::format("the shape has more than {} dimensions", largestRank)};
    auto extent = takeExtent(cursor);
    if (!extent)
      return extent.failure();
    shape.push_back(*extent);
    bool comma = cursor.take(",");
    bool closes = cursor.rest.starts_with(")");
    if (!comma && (!closes || shape.size() == 1))
      return cursor.expected("`,`");
  }
  return shape;
}

Result<Done> takeType(Cursor& cursor, NpyHeader& header) {
  if (cursor.take("["))
    return Error{"the .npy holds a structured array, which is no tensor"};
  auto text = takeString(cursor);
  if (!text)
    return text.failure();
  char order = text->empty() ? '\0' : text->front();
  std::string_view name = text->empty() ? *text : text->substr(1);
  if (name.starts_with("O"))
    return Error{"the .npy holds an object array, which would have to be unpickled; save a "
                 "numeric array"};
  for (const NpyType& row : npyTypes) {
    bool orderFits =
        order == '<' || order == '>' || order == '=' || (order == '|' && row.dtype.bytes() == 1);
    if (row.name != name || !orderFits)
      continue;
    header.dtype = row.dtype;
    header.bigEndian = order == '>';
    return Done{};
  }
  return Error{fmt::format("the element type {} of the .npy is not supported; there are b1, i1 to "
                           "i8, u1 to u8, f2, f4, f8",
                           backquoted(*text))};
}

Result<Done> takeValue(Cursor& cursor, std::string_view key, NpyHeader& header) {
  if (key == "descr")
    return takeType(cursor, header);
  if (key == "fortran_order") {
    header.fortranOrder = cursor.take("True");
    if (!header.fortranOrder && !cursor.take("False"))
      return cursor.expected("`True` or `False`");
    return Done{};
  }
  auto shape = takeShape(cursor);
  if (!shape)
    return shape.failure();
  header.shape = std::move(*shape);
  return Done{};
}

Result<Done> parseDictionary(std::string_view text, NpyHeader& header) {
  constexpr std::array<std::string_view, 3> keys{"descr", "fortran_order", "shape"};
  std::array<bool, 3> seen{};
  Cursor cursor{text};
  if (!cursor.take("{"))
    return cursor.expected("`{`");
  while (!cursor.take("}")) {
    auto key = takeString(cursor);
    if (!key)
      return key.failure();
    auto index = size_t(std::find(keys.begin(), keys.end(), *key) - keys.begin());
    if (index == keys.size())
      return Error{fmt::format("the header of the .npy has the unknown key {}", backquoted(*key))};
    if (std::exchange(seen[index], true))
      return Error{fmt::format("the header of the .npy has the key `{}` twice", *key)};
    if (!cursor.take(":"))
      return cursor.expected("`:`");
    if (auto value = takeValue(cursor, *key, header); !value)
      return value;
    bool comma = cursor.take(",");
    if (!comma && !cursor.rest.starts_with("}"))
      return cursor.expected("`,` or `}`");
  }
  for (size_t i = 0; i < keys.size(); ++i)
    if (!seen[i])
      return Error{fmt::format("the header of the .npy has no key `{}`", keys[i])};
  cursor.skipBlanks();
  return cursor.rest.empty() ? Result<Done>(Done{}) : cursor.expected("its end");
}

/// Reads a little-endian number of `width` bytes.
size_t littleEndian(std::string_view bytes, size_t width) {
  size_t value = 0;
  for (size_t i = 0; i < width; ++i)
    value |= size_t(uint8_t(bytes[i])) << (8 * i);
  return value;
}

} // namespace

Result<NpyHeader> parseNpyHeader(std::string_view bytes) {
  return guarded([&]() -> Result<NpyHeader> {
    if (!bytes.starts_with(magic))
      return Error{"not a .npy: it does not begin with the bytes `\\x93NUMPY`"};
    if (bytes.size() < magic.size() + 2)
      return Error{"the .npy ends in its version"};
    unsigned major = uint8_t(bytes[magic.size()]), minor = uint8_t(bytes[magic.size() + 1]);
    if (major < 1 || major > 3 || minor != 0)
      return Error{
          fmt::format("the .npy has version {}.{}; there are 1.0, 2.0 and 3.0", major, minor)};
    std::string_view rest = bytes.substr(magic.size() + 2);
    size_t width = major == 1 ? 2 : 4;
    if (rest.size() < width)
      return Error{"the .npy ends in the length of its header"};
    size_t length = littleEndian(rest, width);
    rest.remove_prefix(width);
    if (length > rest.size())
      return Error{
          fmt::format("the header of the .npy takes {} bytes, but {} follow", length, rest.size())};
    NpyHeader header;
    header.dataStart = magic.size() + 2 + width + length;
    if (auto parsed = parseDictionary(rest.substr(0, length), header); !parsed)
      return parsed.failure();
    return header;
  });
}

bool npyHolds(runtime::DType dtype) {
  return std::ranges::find(npyTypes, dtype, &NpyType::dtype) != npyTypes.end();
}

Result<std::string> npyHeader(runtime::DType dtype, const runtime::Shape& shape) {
  return guarded([&]() -> Result<std::string> {
    auto type = std::find_if(npyTypes.begin(), npyTypes.end(),
                             [&](const NpyType& row) { return row.dtype == dtype; });
    if (type == npyTypes.end())
      return Error{fmt::format("numpy has no element type for {}; a .safetensors file may have",
                               runtime::dtypeName(dtype))};
    if (shape.size() > largestRank)
      return Error{fmt::format("the tensor has {} dimensions; numpy has at most {}", shape.size(),
                               largestRank)};
    std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}",
                                   dtype.bytes() == 1 ? '|' : '<', type->name, shapeText(shape));
    size_t before = magic.size() + 4;
    size_t total = (before + text.size() + headerAlignment) / headerAlignment * headerAlignment;
    text.resize(total - before - 1, ' ');
    text += '\n';
    std::string header(magic);
    header += {'\x01', '\x00', char(text.size() & 0xFF), char(text.size() >> 8)};
    return header + text;
  });
}

} // namespace formats
