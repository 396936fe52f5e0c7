// Scalar functions without instructions are computed as strips compute them.
#include "codegen/image/helpers.h"

#include "lower/elements/scalar.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace {

runtime::DType dtypeOf(uint32_t code) {
  return {runtime::DTypeCode(code >> 8), uint8_t(code & 0xff)};
}

} // namespace

// Code that is linked calls these by name.
extern "C" {

double baton_real(uint32_t function, uint32_t dtype, double a, double b) {
  const runtime::DType type = dtypeOf(dtype);
  auto word = [&](double number) {
    return lower::convertScalar(runtime::Float64, type, std::bit_cast<uint64_t>(number));
  };
  uint64_t made = lower::applyScalar(runtime::ScalarFunction(function), type, word(a), word(b), 0);
  return std::bit_cast<double>(lower::convertScalar(type, runtime::Float64, made));
}

int64_t baton_whole(uint32_t function, uint32_t dtype, int64_t a, int64_t b, int64_t c) {
  const auto which = runtime::ScalarFunction(function);
  // Of lanes that do not count.
  if (b == 0 && runtime::scalarFunctionDivides(which))
    return 0;
  return int64_t(lower::applyScalar(which, dtypeOf(dtype), uint64_t(a), uint64_t(b), uint64_t(c)));
}
}

namespace codegen {

namespace {

template <typename Function>
void* addressOf(Function* function) {
  return reinterpret_cast<void*>(function);
}

struct Row {
  const char* name;
  void* address;
};

const Row rows[] = {
    {"baton_real", addressOf(baton_real)},
    {"baton_whole", addressOf(baton_whole)},
    {"fmod", addressOf<double(double, double)>(std::fmod)},
    {"fmodf", addressOf<float(float, float)>(std::fmod)},
    {"memcpy", addressOf(std::memcpy)},
    {"memset", addressOf(std::memset)},
    {"memmove", addressOf(std::memmove)},
    {"round", addressOf<double(double)>(std::round)},
    {"roundf", addressOf<float(float)>(std::round)},
    {"roundeven", addressOf<double(double)>(std::nearbyint)},
    {"roundevenf", addressOf<float(float)>(std::nearbyint)},
    {"floor", addressOf<double(double)>(std::floor)},
    {"floorf", addressOf<float(float)>(std::floor)},
    {"ceil", addressOf<double(double)>(std::ceil)},
    {"ceilf", addressOf<float(float)>(std::ceil)},
    {"trunc", addressOf<double(double)>(std::trunc)},
    {"truncf", addressOf<float(float)>(std::trunc)},
};

} // namespace

std::optional<uint32_t> helperNumber(std::string_view name) {
  for (uint32_t i = 0; i < std::size(rows); ++i)
    if (rows[i].name == name)
      return i;
  return std::nullopt;
}

void* helperAt(uint64_t number) {
  return number < std::size(rows) ? rows[number].address : nullptr;
}

} // namespace codegen
