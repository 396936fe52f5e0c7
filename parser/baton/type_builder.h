// Types of Baton's notation, and the sizes among their arguments: one rule of the grammar reads
// both, and what is which shows in their use.
#pragma once

#include "parser/surface/builder.h"

namespace parser::baton {

class TypeBuilder {
public:
  using Range = lang::SourceRange;
  using TypePtr = const surface::Type*;

  TypeBuilder(parser::Builder& shared, runtime::Arena& arena, lang::Diagnostics& diagnostics)
      : shared_(shared), arena_(arena), diagnostics_(diagnostics) {}

  TypePtr size(Range range, IntValue value);
  TypePtr anySize(Range range);
  TypePtr leadingSizes(Range range);
  TypePtr anyElements(Range range, List shape);
  TypePtr operation(Range range, surface::DimKind kind, TypePtr left, TypePtr right);
  TypePtr tupleType(Range range, List fields);
  TypePtr functionType(Range range, List generics, List parameters, TypePtr result);
  /// What stands where only a type may.
  TypePtr typeOf(TypePtr type);

private:
  TypePtr sizeNode(const surface::Dim& dim);
  const surface::Dim* dimOf(TypePtr type);
  void demandTypes(std::span<const TypePtr> types);

  parser::Builder& shared_;
  runtime::Arena& arena_;
  lang::Diagnostics& diagnostics_;
};

} // namespace parser::baton
