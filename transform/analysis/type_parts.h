// What is inside of types, and types with some of it replaced. Recursion follows the depth of
// types, which the checker bounds; shared parts are looked at once.
#pragma once

#include "lang/ir/expr.h"
#include "lang/ir/typing.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace transform {

/// The names in some types, but for what function types inside of them declare.
struct TypeNames {
  /// Symbols of dimensions, and those that are an extent by themselves, which a call can tell.
  std::unordered_set<const lang::Dim*> dims = {};
  std::unordered_set<const lang::Dim*> extents = {};
  /// Those that stand for types.
  std::unordered_set<const lang::TypeParameter*> parameters = {};
  bool hasUnknown = false;

  void add(const lang::Type* type);

private:
  std::unordered_set<const lang::Type*> seen_ = {};
};

/// The names in what a function declares inside, its parameters and result too, but for parameters
/// that it declares itself. Nothing when `instance` has no answer for one of the types.
std::optional<TypeNames>
declaredNames(const lang::Function& function,
              const std::function<const lang::Type*(const lang::Type*)>& instance);

/// Whether no variable of a function has a `?` in its type: what is inferred beside one, and so
/// what a run compares, may change when the code does.
bool isSettled(const lang::Function& function, const lang::Typing& typing);

/// Replaces each extent, and what nothing determined.
struct TypeParts {
  lang::TypeContext& types;
  std::function<const lang::Dim*(const lang::Dim*)> extent;
  std::function<const lang::Type*(const lang::Type*)> unknown;
  std::unordered_map<const lang::Type*, const lang::Type*> known = {};

  const lang::Type* operator()(const lang::Type* type);
};

} // namespace transform
