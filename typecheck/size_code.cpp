// Records nest no deeper than this file looks; what lies deeper has no names for sizes in practice.
#include "typecheck/size_code.h"

#include "lang/ir/fields.h"
#include "lang/op/op.h"
#include "lang/types/dim_value.h"
#include "typecheck/dims.h"

#include <unordered_set>

namespace typecheck {

using namespace lang;

namespace {

/// How deep sizes are looked for in fields of fields, and in how many of them.
constexpr size_t deepestField = 8, mostFields = 10'000;

/// The types of the fields of a tuple or a record. Names that a record gives sizes itself are no
/// names of whoever has a value of it.
std::vector<const Type*> fieldsOf(TypeContext& types, const Type& type) {
  if (type.isTuple())
    return {type.parts.begin(), type.parts.end()};
  Constructor own = *type.definition->constructors[0];
  std::vector<const Type*> fields;
  for (const Type* field : own.fields)
    fields.push_back(rebuilt(
        types, field, [](const Type* variable) { return variable; },
        [&](const Dim* form) { return namesSize(form) ? types.any() : form; }));
  own.fields = fields;
  return fieldTypes(types, own, type);
}

} // namespace

SizePlaces::SizePlaces(const Function& function, const Typing& typing, TypeContext& types) {
  for (const Var* parameter : function.parameters)
    search(*parameter, typing.of(*parameter), types);
}

/// Breadth first, so that the nearest place is taken. A type is looked into where it is met first.
void SizePlaces::search(const Var& parameter, const Type* root, TypeContext& types) {
  struct Part {
    const Type* type;
    std::vector<Step> steps;
  };
  std::vector<Part> parts{{root, {}}};
  std::unordered_set<const Type*> met;
  for (size_t next = 0; next < parts.size(); ++next) {
    const Part part = parts[next];
    if (!part.type || !part.type->hasSymbol || !met.insert(part.type).second)
      continue;
    if (part.type->isTensor())
      for (size_t axis = 0; axis < part.type->shape.size(); ++axis)
        if (part.type->shape[axis]->kind == DimKind::Symbol)
          places_.try_emplace(part.type->shape[axis], Place{&parameter, part.steps, axis});
    if (part.steps.size() == deepestField || !(part.type->isTuple() || isRecord(*part.type)))
      continue;
    std::vector<const Type*> fields = fieldsOf(types, *part.type);
    for (uint32_t i = 0; i < fields.size() && parts.size() < mostFields; ++i) {
      parts.push_back({fields[i], part.steps});
      parts.back().steps.push_back({part.type, i});
    }
  }
}

const SizePlaces::Place* SizeCode::find(const Dim* size) const {
  for (const SizePlaces* places : around_)
    if (const SizePlaces::Place* found = places->find(size))
      return found;
  return nullptr;
}

Atom SizeCode::stepInto(Atom value, const SizePlaces::Step& step) {
  if (step.type->isTuple())
    return out_.project(value, step.field);
  const auto& constructor =
      static_cast<const Constructor&>(*copied_(*step.type->definition->constructors[0]));
  std::vector<const Pattern*> patterns(constructor.fields.size(), make_.anyPattern());
  const Var* field = make_.var(VarOrigin::Pattern, "x");
  patterns[step.field] = make_.varPattern(field);
  return out_.bind(make_.match(
      value, {make_.arm(make_.constructorPattern(constructor, patterns), make_.block(field))}));
}

Atom SizeCode::read(const SizePlaces::Place& place, runtime::DType dtype) {
  Atom value = copied_(*place.parameter);
  for (const SizePlaces::Step& step : place.steps)
    value = stepInto(value, step);
  return out_.call(make_.operators.withRole(Role::Extent), {value},
                   {{"axis", place.axis}, {"dtype", dtype}});
}

const Atom* SizeCode::known(const Dim* dim) const {
  auto found = values_.find(dim);
  return found == values_.end() ? nullptr : &found->second;
}

Atom SizeCode::open(const Dim* dim) {
  const SizePlaces::Place* place = find(dim);
  isKnown_ = isKnown_ && place;
  return place ? read(*place, runtime::Int64) : number(0);
}

Atom SizeCode::compute(std::string_view infix, Atom left, Atom right) {
  return out_.call(*make_.operators.findInfix(infix), {left, right});
}

Atom SizeCode::write(const Dim* size, runtime::DType dtype) {
  if (size->isConstant())
    return make_.scalar(dtype, double(size->value));
  if (const SizePlaces::Place* place = find(size))
    return read(*place, dtype);
  Atom value = valueOf(size, *this);
  if (!isKnown_)
    return nullptr;
  return dtype == runtime::Int64
             ? value
             : out_.call(make_.operators.withRole(Role::CastLike), {value, make_.scalar(dtype, 0)});
}

} // namespace typecheck
