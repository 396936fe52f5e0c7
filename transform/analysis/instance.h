// Instances of polymorphic functions: what their type parameters and named dimensions stand for at
// one use, read off the types there, and types with these put in.
//
// Names of dimensions that nothing declares belong to the global around them, and the same name in
// another global is the same symbol with another meaning. So a type must be taken through the
// instance of the code that it stands in, once.
#pragma once

#include "lang/ir/typing.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace transform {

/// What the parameters of a function stand for. Nothing stands for a type that has no instance.
class Instance {
public:
  /// The instance in which every type stands for itself.
  explicit Instance(lang::TypeContext& types) : types_(&types) {}

  /// Lets type parameters be replaced, and with `named` all names of dimensions that nothing
  /// declares.
  void open(std::span<const lang::TypeParameter* const> generics, bool named);
  /// Reads off what is open in `pattern` where nothing is known yet. Recursion follows types.
  void match(const lang::Type* pattern, const lang::Type* type);
  void set(const lang::TypeParameter* parameter, const lang::Type* type);

  /// The type with all that is open replaced; null when there is something that nothing is known
  /// of. Null stays null.
  const lang::Type* operator()(const lang::Type* type) const;
  const lang::Type* of(const lang::TypeParameter* parameter) const;
  /// Lets what is open, and nothing is known of, stand for anything: sizes for what `size` makes of
  /// them, types for `()`.
  void fill(std::function<const lang::Dim*(const lang::Dim*)> size) { fill_ = std::move(size); }
  /// The same text for the same instance.
  std::string key() const;
  /// Whether every type stands for itself.
  bool isTrivial() const { return open_.empty() && !isNamedOpen_; }

private:
  bool isOpen(const lang::Dim* symbol) const;
  const lang::Dim* dim(const lang::Dim* dim, bool& isWhole) const;
  const lang::Type* apply(const lang::Type* type, bool& isWhole) const;

  lang::TypeContext* types_;
  std::unordered_set<const lang::TypeParameter*> open_;
  bool isNamedOpen_ = false;
  std::unordered_map<const lang::TypeParameter*, const lang::Type*> of_;
  mutable std::unordered_map<const lang::Dim*, const lang::Dim*> dims_;
  std::function<const lang::Dim*(const lang::Dim*)> fill_ = {};
  /// Null for those that are not whole.
  mutable std::unordered_map<const lang::Type*, const lang::Type*> known_;
};

} // namespace transform
