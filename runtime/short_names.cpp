// Other widths have long names only, so that a size may be called `f1`.
#include "runtime/short_names.h"

#include <algorithm>

namespace runtime {

namespace {

struct ShortName {
  std::string_view name;
  DType dtype;
};

constexpr ShortName shortNames[] = {
    {"f16", {DTypeCode::Float, 16}}, {"f32", {DTypeCode::Float, 32}},
    {"f64", {DTypeCode::Float, 64}}, {"bf16", {DTypeCode::BFloat, 16}},
    {"i8", {DTypeCode::Int, 8}},     {"i16", {DTypeCode::Int, 16}},
    {"i32", {DTypeCode::Int, 32}},   {"i64", {DTypeCode::Int, 64}},
    {"u8", {DTypeCode::UInt, 8}},    {"u16", {DTypeCode::UInt, 16}},
    {"u32", {DTypeCode::UInt, 32}},  {"u64", {DTypeCode::UInt, 64}},
};

} // namespace

std::optional<DType> parseShortDType(std::string_view name) {
  auto found = std::ranges::find(shortNames, name, &ShortName::name);
  return found == std::end(shortNames) ? std::nullopt : std::optional(found->dtype);
}

std::string shortDTypeName(DType dtype) {
  auto found = std::ranges::find(shortNames, dtype, &ShortName::dtype);
  return found == std::end(shortNames) ? dtypeName(dtype) : std::string(found->name);
}

} // namespace runtime
