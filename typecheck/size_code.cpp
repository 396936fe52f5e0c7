// Records nest no deeper than this file looks; what lies deeper has no names for sizes in practice.
#include "typecheck/size_code.h"

#include "lang/ir/fields.h"
#include "lang/types/dim_value.h"

namespace typecheck {

using namespace lang;

namespace {

/// How deep sizes are looked for in fields of fields.
constexpr size_t deepestField = 8;

} // namespace

void SizeCode::addParameters(const Function& function) {
  for (const Var* parameter : function.parameters)
    search(*parameter);
}

/// Breadth first, so that the nearest place is taken.
void SizeCode::search(const Var& parameter) {
  struct Part {
    const Type* type;
    std::vector<Step> steps;
  };
  std::vector<Part> parts{{typing_.of(parameter), {}}};
  for (size_t next = 0; next < parts.size(); ++next) {
    const Part part = parts[next];
    if (!part.type)
      continue;
    if (part.type->isTensor())
      for (size_t axis = 0; axis < part.type->shape.size(); ++axis)
        if (part.type->shape[axis]->kind == DimKind::Symbol)
          places_.try_emplace(part.type->shape[axis], Place{&parameter, part.steps, axis});
    if (part.steps.size() == deepestField || !(part.type->isTuple() || isRecord(*part.type)))
      continue;
    std::vector<const Type*> fields = fieldTypes(make_.types, *part.type);
    for (uint32_t i = 0; i < fields.size(); ++i) {
      parts.push_back({fields[i], part.steps});
      parts.back().steps.push_back({part.type, i});
    }
  }
}

Atom SizeCode::stepInto(Atom value, const Step& step) {
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

Atom SizeCode::read(const Place& place, runtime::DType dtype) {
  Atom value = copied_(*place.parameter);
  for (const Step& step : place.steps)
    value = stepInto(value, step);
  return out_.call(make_.operators.withRole(Role::Extent), {value},
                   {{"axis", place.axis}, {"dtype", dtype}});
}

const Atom* SizeCode::known(const Dim* dim) const {
  auto found = values_.find(dim);
  return found == values_.end() ? nullptr : &found->second;
}

Atom SizeCode::open(const Dim* dim) {
  auto place = places_.find(dim);
  isKnown_ = isKnown_ && place != places_.end();
  return place == places_.end() ? number(int64_t(0)) : read(place->second, runtime::Int64);
}

Atom SizeCode::compute(std::string_view infix, Atom left, Atom right) {
  return out_.call(*make_.operators.findInfix(infix), {left, right});
}

Atom SizeCode::number(const Dim* size, runtime::DType dtype) {
  if (size->isConstant())
    return make_.scalar(dtype, double(size->value));
  if (auto place = places_.find(size); place != places_.end())
    return read(place->second, dtype);
  Atom value = valueOf(size, *this);
  if (!isKnown_)
    return nullptr;
  return dtype == runtime::Int64
             ? value
             : out_.call(make_.operators.withRole(Role::CastLike), {value, make_.scalar(dtype, 0)});
}

} // namespace typecheck
