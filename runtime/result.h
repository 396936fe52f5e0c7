// A value, or why there is none. Failures are of three kinds, and each has one carrier:
//
//   the program    it, or the data it is run on, is wrong: a Problem, a sentence for the user
//   the world      a file is missing, its bytes are malformed, a device is full: an Error
//   us             an invariant of this house is broken: std::logic_error, which nobody catches
//                  but the driver
//
// No other exception crosses a function that returns a Result; `guarded` is how that is kept where
// the standard library throws.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace runtime {

/// Why the world did not give something: lower case, no full stop, fit to show to a user.
struct Error {
  std::string message;
};

/// What is wrong with the program or its data: lower case, no full stop, fit to show to a user.
struct Problem {
  std::string text;
};

/// A `T` or a Failure; test it before `*`.
template <typename T, typename Failure = Error>
class [[nodiscard]] Result {
public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Failure failure) : content_(std::in_place_index<1>, std::move(failure)) {}

  explicit operator bool() const { return content_.index() == 0; }

  /// The value; only when there is one.
  T& operator*() & { return std::get<0>(content_); }
  const T& operator*() const& { return std::get<0>(content_); }
  T operator*() && { return std::get<0>(std::move(content_)); }
  T* operator->() { return &std::get<0>(content_); }
  const T* operator->() const { return &std::get<0>(content_); }

  /// The failure; only when there is no value.
  const Failure& failure() const { return std::get<1>(content_); }

private:
  std::variant<T, Failure> content_;
};

/// A `T`, or what is wrong with the program or its data.
template <typename T>
using Checked = Result<T, Problem>;

/// What an action returns that only succeeds or fails.
struct Done {};

/// Runs `body`, which returns a Result, and turns an exception that leaves it into an error.
template <typename Body>
auto guarded(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Error{"not enough memory"};
  } catch (const std::length_error&) {
    return Error{"not enough memory"};
  } catch (const std::exception& exception) {
    return Error{exception.what()};
  }
}

} // namespace runtime
