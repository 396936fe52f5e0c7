// Scalar functions without instructions, by the table of their meanings.
#include "codegen/llvm/helpers.h"

#include "runtime/scalar.h"

#include <cmath>
#include <cstring>
#include <utility>

namespace codegen {

namespace {

using runtime::DType;
using runtime::ScalarFunction;

DType dtypeOf(uint32_t code) {
  return {runtime::DTypeCode(code >> 8), uint8_t(code & 0xff)};
}

double real(uint32_t function, uint32_t dtype, double a, double b) {
  return runtime::realFunction(ScalarFunction(function), dtypeOf(dtype), a, b);
}

int64_t whole(uint32_t function, uint32_t dtype, int64_t a, int64_t b, int64_t c) {
  return int64_t(runtime::wholeFunction(ScalarFunction(function), dtypeOf(dtype), a, b, c));
}

template <typename Function>
void* addressOf(Function* function) {
  return reinterpret_cast<void*>(function);
}

} // namespace

void* helperNamed(std::string_view name) {
  static const std::pair<std::string_view, void*> helpers[] = {
      {"baton_real", addressOf(real)},
      {"baton_whole", addressOf(whole)},
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
  for (const auto& [known, address] : helpers)
    if (known == name)
      return address;
  return nullptr;
}

} // namespace codegen
