// What the tests of scalar functions share: each function on each type, operands to try, and code
// that a compiler made of their text.
#pragma once

#include "runtime/scalar_meaning.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <random>

namespace tests {

using runtime::ScalarFunction;

/// Calls `visit.operator()<function>()` for each function of the table.
template <typename Visit>
void forEachFunction(Visit&& visit) {
#define SCALAR_FUNCTION(name, ...) visit.template operator()<ScalarFunction::name>();
#include "runtime/scalar_functions.def"
#undef SCALAR_FUNCTION
}

template <typename Visit>
void forEachType(Visit&& visit) {
  auto visitAll = [&]<typename... T>() { (visit.template operator()<T>(), ...); };
  visitAll.template operator()<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                               uint32_t, uint64_t>();
}

/// Random operands: of several scales, whole numbers and halves, equal ones, and special values.
class Operands {
public:
  template <typename T>
  T floating() {
    constexpr double special[] = {0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 3.0};
    switch (random_() % 5) {
    case 0:
      return T(special[random_() % std::size(special)]);
    case 1:
      return T(std::ldexp(unit(), 6));
    case 2:
      return T(std::ldexp(unit(), -int(random_() % 40)));
    default:
      return T(3 * unit());
    }
  }
  template <typename T>
  T whole() {
    constexpr int special[] = {0, 1, -1, 2, -2, 7, 31, 32, 63, 64};
    switch (random_() % 4) {
    case 0:
      return T(special[random_() % std::size(special)]);
    case 1:
      return random_() % 2 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    case 2:
      return T(int64_t(random_() % 200) - 100);
    default:
      return T(random_());
    }
  }
  /// In -1 .. 1.
  double unit() { return std::uniform_real_distribution<double>(-1, 1)(random_); }

private:
  std::mt19937_64 random_{20240607};
};

template <typename T>
T operand(Operands& operands) {
  if constexpr (std::integral<T>)
    return operands.whole<T>();
  else
    return operands.floating<T>();
}

/// Text as a library in a folder of its own, until this ends.
class CompiledText {
public:
  /// The commands are run in the folder and make `code.so` of the file `name`.
  CompiledText(const std::string& name, const std::string& text, const std::string& commands) {
    std::string folder = (std::filesystem::temp_directory_path() / "scalar-test-XXXXXX").string();
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    folder_ = folder;
    std::ofstream(folder_ / name) << text;
    REQUIRE(std::system(fmt::format("cd '{}' && {}", folder, commands).c_str()) == 0);
    handle_ = ::dlopen((folder_ / "code.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle_ != nullptr);
  }
  ~CompiledText() {
    if (handle_)
      ::dlclose(handle_);
    std::filesystem::remove_all(folder_);
  }
  CompiledText(const CompiledText&) = delete;
  CompiledText& operator=(const CompiledText&) = delete;

  void* find(const std::string& name) const { return ::dlsym(handle_, name.c_str()); }

private:
  std::filesystem::path folder_;
  void* handle_ = nullptr;
};

/// All NaN are one.
template <typename T>
bool areSameBits(T a, T b) {
  if constexpr (std::floating_point<T>)
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) && std::isnan(b);
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

} // namespace tests
