// Which arguments are types and which are sizes, as far as their form tells.
#include "parser/baton/type_builder.h"

#include "parser/surface/node_depth.h"

#include <algorithm>

namespace parser::baton {

using namespace surface;
using lang::Message;

const Type* TypeBuilder::sizeNode(const Dim& dim) {
  return shared_.sizeType(arena_.make<Dim>(dim));
}

const Type* TypeBuilder::size(Range range, IntValue value) {
  if (value.needsMinus)
    diagnostics_.report(Message::NumberOutOfRange, range, uint64_t(value.value), "a size");
  return sizeNode({DimKind::Integer, value.type.bits == 64, range, value.value, {}, {}});
}

const Type* TypeBuilder::anySize(Range range) {
  return sizeNode({DimKind::Any, false, range, 0, {}, {}});
}

const Type* TypeBuilder::leadingSizes(Range range) {
  return sizeNode({DimKind::Leading, false, range, 0, {}, {}});
}

/// `_[n]`: a tensor of any element type.
const Type* TypeBuilder::anyElements(Range range, List shape) {
  return shared_.namedType(range, toText("_"), shape);
}

/// What a type says where a size is meant; null after a report.
const Dim* TypeBuilder::dimOf(TypePtr type) {
  if (const auto* size = tryAs<SizeType>(type))
    return size->dim;
  if (const auto* named = tryAs<NamedType>(type); named && named->arguments.empty())
    return arena_.make<Dim>(DimKind::Named, false, named->range, int64_t(0), named->name);
  if (type->kind == TypeKind::Hole)
    return arena_.make<Dim>(DimKind::Hole, false, type->range);
  diagnostics_.report(Message::TypeAsSize, type->range);
  return arena_.make<Dim>(DimKind::Any, false, type->range);
}

const Type* TypeBuilder::operation(Range range, DimKind kind, TypePtr left, TypePtr right) {
  return sizeNode({kind, false, range, 0, {}, {}, dimOf(left), dimOf(right)});
}

const Type* TypeBuilder::typeOf(TypePtr type) {
  demandTypes({&type, 1});
  return type;
}

void TypeBuilder::demandTypes(std::span<const TypePtr> types) {
  for (TypePtr type : types)
    if (type->kind == TypeKind::Size)
      diagnostics_.report(Message::SizeAsType, type->range);
}

const Type* TypeBuilder::tupleType(Range range, List fields) {
  const Type* made = shared_.tupleType(range, fields);
  if (const auto* tuple = tryAs<TupleType>(made))
    for (TypePtr field : tuple->fields)
      if (const auto* size = tryAs<SizeType>(field); size && size->dim->kind == DimKind::Leading)
        demandTypes({&field, 1});
  return made;
}

const Type* TypeBuilder::functionType(Range range, List generics, List parameters, TypePtr result) {
  const Type* made = shared_.functionType(range, generics, parameters, typeOf(result));
  if (const auto* function = tryAs<FunctionType>(made))
    demandTypes(function->parameters);
  return made;
}

} // namespace parser::baton
