// A value, or a sentence for the user that says why there is none.
//
// Errors of this kind mean that the world is wrong (a file is missing, its bytes are malformed);
// no exception leaves formats/, and `guarded` is how that is kept.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace formats {

/// Why something could not be had: lower case, no full stop, fit to show to a user.
struct Error {
  std::string message;
};

/// A `T` or an Error; test it before `*`.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : content_(std::move(value)) {}
  Result(Error error) : content_(std::move(error)) {}

  explicit operator bool() const { return std::holds_alternative<T>(content_); }

  /// The value; only when there is one.
  T& operator*() { return std::get<T>(content_); }
  const T& operator*() const { return std::get<T>(content_); }
  T* operator->() { return &std::get<T>(content_); }
  const T* operator->() const { return &std::get<T>(content_); }

  /// The error; only when there is no value.
  const Error& error() const { return std::get<Error>(content_); }

private:
  std::variant<T, Error> content_;
};

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
  } catch (const std::exception& problem) {
    return Error{problem.what()};
  }
}

} // namespace formats
