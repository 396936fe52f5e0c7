// Cotangents in parts.
#include "transform/cotangents.h"

#include "lang/differentiable.h"

#include <algorithm>

namespace transform {

using namespace lang;

bool Cotangent::isZero() const {
  return !sum && std::ranges::all_of(fields, &Cotangent::isZero);
}

Cotangent split(BlockBuilder& out, Atom whole, const Type* type) {
  Cotangent parts;
  if (!holdsFloats(type))
    return parts;
  if (!type->isTuple())
    return {whole};
  for (uint32_t i = 0; i < type->parts.size(); ++i)
    parts.fields.push_back(holdsFloats(type->parts[i])
                               ? split(out, out.project(whole, i), type->parts[i])
                               : Cotangent{});
  return parts;
}

void accumulate(DerivativeTypes& types, BlockBuilder& out, Cotangent& into, const Type* type,
                const Cotangent& more) {
  if (more.isZero())
    return;
  if (type->isTuple()) {
    into.fields.resize(type->parts.size());
    for (size_t i = 0; i < more.fields.size(); ++i)
      accumulate(types, out, into.fields[i], type->parts[i], more.fields[i]);
    return;
  }
  into.sum = into.sum ? types.sum(out, into.sum, more.sum, type) : more.sum;
}

Atom whole(DerivativeTypes& types, BlockBuilder& out, const Cotangent& parts, Atom value,
           const Type* type) {
  if (parts.isZero())
    return types.zero(out, value, type);
  if (!type->isTuple())
    return parts.sum;
  std::vector<Atom> fields;
  for (uint32_t i = 0; i < type->parts.size(); ++i)
    fields.push_back(whole(types, out, parts.fields[i], out.project(value, i), type->parts[i]));
  return out.tuple(fields);
}

std::vector<Atom> leavesOf(const Cotangent& parts, const Type* type) {
  if (!type->isTuple())
    return {parts.sum};
  std::vector<Atom> leaves(type->parts.size(), nullptr);
  for (size_t i = 0; i < parts.fields.size(); ++i)
    leaves[i] = parts.fields[i].sum;
  return leaves;
}

Cotangent gathered(const std::vector<Atom>& leaves, const Type* type) {
  Cotangent parts;
  if (!type->isTuple())
    parts.sum = leaves[0];
  else
    for (Atom leaf : leaves)
      parts.fields.push_back({leaf});
  return parts;
}

} // namespace transform
