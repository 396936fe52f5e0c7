// Cotangents in parts.
#include "transform/differentiate/cotangents.h"

#include "lang/ir/differentiable.h"
#include "lang/ir/fields.h"

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

namespace {

/// Whether there are zeros in a cotangent that have the form of a part of its value.
bool needsValue(DerivativeTypes& types, const Cotangent& parts, const Type* type, Form form) {
  bool isNumber = type->isTensor() && type->shape.empty() && type->dtype.isFloat();
  if (isNumber)
    return false;
  if (parts.sum)
    return form == Form::Given && types.isTranslated(type);
  if (parts.isZero())
    return true;
  std::vector<const Type*> held = fieldTypes(types.make.types, *type);
  for (size_t i = 0; i < held.size(); ++i)
    if (needsValue(types, parts.fields[i], held[i], form))
      return true;
  return false;
}

} // namespace

std::vector<Cotangent> fieldsOf(DerivativeTypes& types, BlockBuilder& out, const Cotangent& record,
                                const Type* type) {
  if (!record.sum)
    return record.fields;
  std::vector<const Type*> held = fieldTypes(types.make.types, *type);
  const Constructor& constructor = types.cotangent(*type->definition->constructors[0], type);
  std::vector<Atom> atoms = types.opened(out, record.sum, constructor);
  std::vector<Cotangent> fields;
  for (size_t i = 0; i < held.size(); ++i)
    fields.push_back(split(out, atoms[i], held[i]));
  return fields;
}

void accumulate(DerivativeTypes& types, BlockBuilder& out, Cotangent& into, const Type* type,
                const Cotangent& more) {
  if (more.isZero())
    return;
  if (into.isZero()) {
    into = more;
    return;
  }
  if (!type->isTuple() && !types.isRecord(type)) {
    into.sum = types.sum(out, into.sum, more.sum, type);
    return;
  }
  std::vector<const Type*> held = fieldTypes(types.make.types, *type);
  into = {nullptr, fieldsOf(types, out, into, type)};
  std::vector<Cotangent> fields = fieldsOf(types, out, more, type);
  for (size_t i = 0; i < held.size(); ++i)
    accumulate(types, out, into.fields[i], held[i], fields[i]);
}

Atom whole(DerivativeTypes& types, BlockBuilder& out, const Cotangent& parts, Atom value,
           const Type* type, Form form) {
  if (parts.isZero())
    return types.zero(out, value, type, form);
  if (parts.sum)
    return form == Form::Given ? types.given(out, parts.sum, value, type) : parts.sum;
  std::vector<const Type*> held = fieldTypes(types.make.types, *type);
  std::vector<Atom> values(held.size(), nullptr), fields;
  if (needsValue(types, parts, type, form)) {
    if (!type->isTuple())
      values = types.opened(out, value, types.dual(*type->definition->constructors[0], type));
    for (uint32_t i = 0; type->isTuple() && i < held.size(); ++i)
      values[i] = out.project(value, i);
  }
  for (size_t i = 0; i < held.size(); ++i)
    fields.push_back(whole(types, out, parts.fields[i], values[i], held[i], form));
  return type->isTuple()
             ? out.tuple(fields)
             : out.call(&types.mapped(*type->definition->constructors[0], type, form), fields);
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
