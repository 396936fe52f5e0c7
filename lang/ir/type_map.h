// Types from one place to another: type parameters, data types and sizes from metadata replaced.
//
// Equal types stay the same pointer, and a type in which nothing is replaced stays itself.
#pragma once

#include "lang/ir/expr.h"

#include <functional>
#include <unordered_map>

namespace lang {

/// What a type is made of besides types; each answers what stands for it, which may be itself.
struct TypeLeaves {
  std::function<const TypeParameter*(const TypeParameter*)> parameter;
  std::function<const TypeDefinition*(const TypeDefinition*)> definition;
  /// Of sizes from metadata.
  std::function<const void*(const void*)> origin;
};

/// Maps types into `types`, each once. What the leaves answer must not change while it is used,
/// except after `forget`.
class TypeMap {
public:
  TypeMap(TypeContext& types, TypeLeaves leaves) : types_(types), leaves_(std::move(leaves)) {}

  /// The type with its leaves replaced; null stays null.
  const Type* operator()(const Type* type);
  const Dim* dim(const Dim* dim);
  /// Drops what is remembered, because leaves have new meanings.
  void forget() {
    known_.clear();
    dims_.clear();
  }

private:
  const Type* mapParts(const Type& type);

  TypeContext& types_;
  TypeLeaves leaves_;
  std::unordered_map<const Type*, const Type*> known_;
  std::unordered_map<const Dim*, const Dim*> dims_;
};

} // namespace lang
