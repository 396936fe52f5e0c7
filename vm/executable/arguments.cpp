// A stack of the values to be looked at, or to be made, each with where it goes.
#include "vm/executable/arguments.h"

#include "runtime/list.h"
#include "vm/machine/value.h"

#include <fmt/format.h>

namespace executable {

using runtime::Fault;
using runtime::FaultKind;
using runtime::Value;
using runtime::ValueKind;
using vm::Slot;

namespace {

/// How a value with fields is made; null when it is none of the form.
const ObjectForm* objectOf(const Executable& made, const Form& form, const Value& value) {
  bool isTuple = form.kind == Form::Kind::Tuple;
  if (value.kind() != (isTuple ? ValueKind::Tuple : ValueKind::Constructor))
    return nullptr;
  for (const ObjectForm& object : form.objects)
    if (object.fields.size() == value.fields().size() &&
        (isTuple || made.program.layouts[object.layout].symbol.name == value.symbol().name))
      return &object;
  return nullptr;
}

Fault misfit(const Form& form, const Value& value) {
  if (form.kind == Form::Kind::Other)
    return {FaultKind::Type,
            "functions, references and values of type parameters cannot be handed in"};
  if (value.kind() == ValueKind::Constructor)
    return {FaultKind::Type, fmt::format("`{}` with {} fields does not belong there",
                                         value.symbol().name, value.fields().size())};
  return {FaultKind::Type, "another kind of value is given"};
}

/// What tells a value as one of a form from all others; null where it has no fields, or only one
/// reference leads to it, beside the several that a caller may hand in. Ways to values may be far
/// more than values. An address has 48 bits, and the lowest three of this one are zero.
const void* shareOf(uint32_t form, const Value& value, bool isOfCaller = false) {
  if (!(isOfCaller || value.isShared()) || value.fields().empty() || form >> 19)
    return nullptr;
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(value.fields().data()) << 16 | form);
}

} // namespace

std::optional<Fault> misfitOf(const Executable& made, uint32_t number, const Value& root) {
  struct Part {
    const Value* value;
    uint32_t form;
  };
  runtime::List<Part> stack{{&root, number}};
  runtime::Numbering seen;
  while (!stack.empty()) {
    const Value& value = *stack.back().value;
    const uint32_t of = stack.back().form;
    const Form& form = made.forms[of];
    stack.pop_back();
    if (form.kind == Form::Kind::Tensor && value.kind() == ValueKind::Tensor)
      continue;
    const ObjectForm* object =
        form.kind >= Form::Kind::Tuple ? objectOf(made, form, value) : nullptr;
    if (!object)
      return misfit(form, value);
    if (const void* share = shareOf(of, value); share && !seen.add(share))
      continue;
    std::span<const Value> fields = value.fields();
    if (form.kind == Form::Kind::Data)
      if (auto fault = checks::checkFields(made.program.checks.fields[object->check],
                                           made.program.checks.sizes, fields))
        return std::move(fault->fault);
    for (size_t i = fields.size(); i-- > 0;)
      stack.push_back({&fields[i], object->fields[i]});
  }
  return std::nullopt;
}

Slot SlotMaker::of(uint32_t number, const Value& root) {
  struct Part {
    const Value* value;
    uint32_t form;
    Slot* target;
  };
  Slot whole;
  runtime::List<Part> stack{{&root, number, &whole}};
  while (!stack.empty()) {
    auto [value, of, target] = stack.back();
    const Form& form = made_.forms[of];
    stack.pop_back();
    if (form.rep.isScalar()) {
      std::memcpy(target, value->tensor().bytes(), form.rep.dtype.bytes());
    } else if (form.kind == Form::Kind::Tensor) {
      target->object = heap_.box(vm::ownValue(*value));
    } else if (const void* share = shareOf(of, *value, value == &root);
               share && shared_.contains(share)) {
      target->object = objects_[shared_.find(share)];
      heap_.retain(target->object);
    } else {
      const ObjectForm& object = *objectOf(made_, form, *value);
      target->object = heap_.make(object.layout);
      if (share && shared_.add(share))
        objects_.push_back(target->object);
      Slot* slots = target->object->fields();
      std::fill_n(slots, object.fields.size(), Slot());
      for (size_t i = object.fields.size(); i-- > 0;)
        stack.push_back({&value->fields()[i], object.fields[i], slots + i});
    }
  }
  return whole;
}

} // namespace executable
