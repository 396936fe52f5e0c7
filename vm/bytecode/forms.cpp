// By a list of what is still to do, since data types hold themselves.
#include "vm/bytecode/forms.h"

#include "lang/source/utf8.h"

namespace bytecode {

using namespace lang;
using executable::Form;
using executable::ObjectForm;

namespace {

/// Of a data type whose fields are of ever larger types, values so deep cannot be handed in.
constexpr size_t mostForms = 1000;

/// As the declared type says it, without making that of each part again.
Form::Kind kindOf(const Type& type) {
  if (type.kind == TypeKind::Data)
    return Form::Kind::Data;
  if (type.isTensor())
    return Form::Kind::Tensor;
  return type.isTuple() ? Form::Kind::Tuple : Form::Kind::Other;
}

} // namespace

uint32_t Forms::of(const Type& type) {
  uint32_t number = numberOf(type);
  while (!open_.empty()) {
    const Type* next = open_.back();
    open_.pop_back();
    fill(numbers_.at(next), *next);
  }
  return number;
}

uint32_t Forms::numberOf(const Type& type) {
  auto [found, isNew] = numbers_.try_emplace(&type, uint32_t(made_.forms.size()));
  if (isNew) {
    Form& form = made_.forms.emplace_back();
    form.rep = compiled_.layouts.rep(&type, {});
    bool isPlain = made_.forms.size() < mostForms || type.kind != TypeKind::Data;
    form.kind = isPlain ? kindOf(type) : Form::Kind::Other;
    if (form.kind >= Form::Kind::Tuple)
      open_.push_back(&type);
  }
  return found->second;
}

void Forms::fill(uint32_t number, const Type& type) {
  if (type.kind == TypeKind::Data) {
    for (const Constructor* constructor : type.definition->constructors)
      addConstructor(number, type, *constructor);
    return;
  }
  uint16_t layout = compiled_.layouts.tuple(compiled_.layouts.reps(type.parts));
  ObjectForm object = objectOf(layout, type.parts);
  made_.forms[number].objects.push_back(std::move(object));
}

ObjectForm Forms::objectOf(uint16_t layout, Types fields) {
  ObjectForm object{layout};
  for (const Type* field : fields)
    object.fields.push_back(numberOf(*field));
  return object;
}

void Forms::addConstructor(uint32_t number, const Type& data, const Constructor& constructor) {
  std::vector<const Type*> fields;
  checks::FieldsCheck check{.constructor = printable(constructor.name), .fields = {}};
  for (const Type* field : constructor.fields) {
    fields.push_back(fieldType(types_, field, &data));
    check.fields.push_back(compiled_.checks->declarations().type(*fields.back()));
  }
  Layouts& layouts = compiled_.layouts;
  ObjectForm object = objectOf(layouts.data(constructor, layouts.argumentsOf(&data, {})), fields);
  std::vector<checks::FieldsCheck>& checks = compiled_.program.checks.fields;
  object.check = uint32_t(checks.size());
  checks.push_back(std::move(check));
  made_.forms[number].objects.push_back(std::move(object));
}

} // namespace bytecode
