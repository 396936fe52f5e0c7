// Parameters of native functions as structs: each has a function `list`, which hands its members to
// a list in an order, and so they become plain data and come back.
//
// Whoever reads them trusts nothing: what does not fit a member is refused here, and what a
// function makes of numbers that fit is its own business.
#pragma once

#include "runtime/native.h"

#include <limits>
#include <type_traits>

namespace natives {

using runtime::DType;
using runtime::Native;
using runtime::NativeCall;
using runtime::NativeFault;
using runtime::NativeFaultCode;
using runtime::NativeParameters;
using runtime::NativeResults;
using runtime::NativeType;
using runtime::NativeTypes;
using runtime::Shape;
using runtime::Tensor;

/// Puts members into a list.
class ParameterWriter {
public:
  template <typename... T>
  void operator()(const T&... members) {
    (add(members), ...);
  }

  NativeParameters made;

private:
  template <typename T>
  void add(const T& member) {
    if constexpr (std::is_floating_point_v<T>)
      made.reals.push_back(member);
    else
      made.numbers.push_back(int64_t(member));
  }
  void add(DType dtype) {
    made.numbers.insert(made.numbers.end(), {int64_t(dtype.code), dtype.bits, dtype.lanes});
  }
  template <typename T>
  void add(const std::vector<T>& members) {
    made.numbers.push_back(int64_t(members.size()));
    for (T member : members)
      add(member);
  }
};

/// Takes members out of a list.
class ParameterReader {
public:
  explicit ParameterReader(const NativeParameters& from) : from_(from) {}

  template <typename... T>
  void operator()(T&... members) {
    (take(members), ...);
  }
  /// Whether all fitted, and nothing is left.
  bool isDone() const {
    return isGood_ && number_ == from_.numbers.size() && real_ == from_.reals.size();
  }

private:
  template <typename T>
  void take(T& member) {
    if constexpr (std::is_floating_point_v<T>)
      member = T(next(from_.reals, real_));
    else if constexpr (std::is_same_v<T, bool>)
      member = within(0, 1) != 0;
    else if constexpr (std::is_enum_v<T>)
      member = T(within(0, std::numeric_limits<std::underlying_type_t<T>>::max()));
    else
      member = next(from_.numbers, number_);
  }
  void take(DType& dtype) {
    take(dtype.code);
    isGood_ = isGood_ && dtype.code <= runtime::DTypeCode::BFloat;
    dtype.bits = decltype(dtype.bits)(within(0, std::numeric_limits<decltype(dtype.bits)>::max()));
    dtype.lanes =
        decltype(dtype.lanes)(within(0, std::numeric_limits<decltype(dtype.lanes)>::max()));
  }
  template <typename T>
  void take(std::vector<T>& members) {
    int64_t count = within(0, int64_t(std::max(from_.numbers.size(), from_.reals.size())));
    for (int64_t i = 0; isGood_ && i < count; ++i)
      take(members.emplace_back());
  }

  template <typename T>
  T next(const std::vector<T>& list, size_t& at) {
    isGood_ = isGood_ && at < list.size();
    return isGood_ ? list[at++] : T();
  }
  int64_t within(int64_t least, int64_t most) {
    int64_t number = next(from_.numbers, number_);
    isGood_ = isGood_ && number >= least && number <= most;
    return isGood_ ? number : 0;
  }

  const NativeParameters& from_;
  size_t number_ = 0, real_ = 0;
  bool isGood_ = true;
};

/// Of functions that need to know nothing.
struct NoParameters {
  void list(auto&) {}
};

template <typename P>
NativeParameters parametersOf(P parameters) {
  ParameterWriter writer;
  parameters.list(writer);
  return std::move(writer.made);
}

/// A native function with the struct that its parameters are.
template <typename P>
struct NativeOf : Native {
  using Parameters = P;
};

/// A native function of two: `results(inputs, parameters)` says what it gives, `run(call,
/// parameters)` does it.
template <typename P, auto results, auto run>
constexpr NativeOf<P> native(std::string_view name) {
  return {{name,
           [](NativeTypes inputs, const NativeParameters& list) -> NativeResults {
             P parameters{};
             ParameterReader reader(list);
             parameters.list(reader);
             return reader.isDone() ? results(inputs, parameters) : std::nullopt;
           },
           [](const NativeCall& call, const NativeParameters& list) -> NativeFault {
             P parameters{};
             ParameterReader reader(list);
             parameters.list(reader);
             return run(call, parameters);
           }}};
}

} // namespace natives
