// Names of element types, read and written.
#include "runtime/dtype.h"

#include <array>
#include <charconv>
#include <fmt/format.h>

namespace runtime {

namespace {

struct CodeName {
  std::string_view name;
  DTypeCode code;
  uint8_t defaultBits;
};

constexpr std::array codeNames{
    CodeName{"int", DTypeCode::Int, 32},       CodeName{"uint", DTypeCode::UInt, 32},
    CodeName{"float", DTypeCode::Float, 32},   CodeName{"bfloat", DTypeCode::BFloat, 16},
    CodeName{"handle", DTypeCode::Handle, 64},
};

/// Takes a decimal number off the front of `text`; nothing when there is none or it is too large.
std::optional<unsigned> takeNumber(std::string_view& text) {
  unsigned value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{})
    return std::nullopt;
  text.remove_prefix(size_t(end - text.data()));
  return value;
}

} // namespace

bool DType::isComputable() const {
  if (lanes != 1)
    return false;
  switch (code) {
  case DTypeCode::Int:
    return bits == 8 || bits == 16 || bits == 32 || bits == 64;
  case DTypeCode::UInt:
    return bits == 1 || bits == 8 || bits == 16 || bits == 32 || bits == 64;
  case DTypeCode::Float:
    return bits == 16 || bits == 32 || bits == 64;
  case DTypeCode::BFloat:
    return bits == 16;
  case DTypeCode::Handle:
    return false;
  }
  return false;
}

std::string dtypeName(DType dtype) {
  std::string name;
  if (dtype.isBool()) {
    name = "bool";
  } else {
    for (const CodeName& row : codeNames)
      if (row.code == dtype.code)
        name = row.name;
    name += fmt::format("{}", dtype.bits);
  }
  return dtype.lanes == 1 ? name : fmt::format("{}x{}", name, dtype.lanes);
}

std::optional<DType> parseDType(std::string_view name) {
  if (name == "bool")
    return Bool;
  for (const CodeName& row : codeNames) {
    if (!name.starts_with(row.name))
      continue;
    std::string_view rest = name.substr(row.name.size());
    DType dtype{row.code, row.defaultBits};
    if (!rest.empty() && rest.front() != 'x') {
      auto bits = takeNumber(rest);
      if (!bits || *bits == 0 || *bits > 128)
        return std::nullopt;
      dtype.bits = uint8_t(*bits);
    }
    if (!rest.empty()) {
      if (rest.front() != 'x')
        return std::nullopt;
      rest.remove_prefix(1);
      auto lanes = takeNumber(rest);
      if (!lanes || *lanes == 0 || *lanes > 65535 || !rest.empty())
        return std::nullopt;
      dtype.lanes = uint16_t(*lanes);
    }
    return dtype;
  }
  return std::nullopt;
}

} // namespace runtime
