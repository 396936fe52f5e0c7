// Fields of records by their names: reading one, and a record with others.
#include "lang/ir/module.h"
#include "typecheck/relations.h"
#include "typecheck/type_difference.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace typecheck {

using lang::Message;

/// The constructor of a record that has a field; null after a report.
const lang::Constructor* Relations::recordOf(const PendingRelation& relation, const Type* record,
                                             std::string_view field, lang::SourceRange name) {
  bool isRecord =
      record->kind == lang::TypeKind::Data && record->definition->constructors.size() == 1;
  const lang::Constructor* constructor = isRecord ? record->definition->constructors[0] : nullptr;
  auto names = constructor ? constructor->fieldNames : std::span<const std::string_view>();
  if (std::ranges::count(names, field) > 0)
    return constructor;
  unifier_.unify(relation.result, unifier_.types().error());
  if (record->isError())
    return nullptr;
  bool isHabit = relation.hint && names.empty();
  auto& report = isHabit ? diagnostics_.report(Message::ForeignForm, name, relation.hint->says)
                         : diagnostics_.report(Message::UnknownField, name,
                                               shortType(unifier_.resolve(record)), field);
  if (relation.hint)
    report.suggestions = relation.hint->suggestions;
  if (isHabit)
    return nullptr;
  if (!names.empty())
    report.note(fmt::format("its fields are {}", fmt::join(names, ", ")));
  else if (record->isTuple())
    report.note("the fields of a tuple are `.0`, `.1` and so on");
  else if (record->kind == lang::TypeKind::Data)
    report.note("fields by name are those of records; a `match` takes other types apart");
  else
    report.note("functions are called as in `f(x)`");
  return nullptr;
}

void Relations::askField(const PendingRelation& relation, const Type* record) {
  uint32_t end = relation.range.end;
  lang::SourceRange name{end - uint32_t(relation.fieldName.size()), end};
  const lang::Constructor* constructor = recordOf(relation, record, relation.fieldName, name);
  if (!constructor)
    return;
  auto place = std::ranges::find(constructor->fieldNames, relation.fieldName);
  size_t index = size_t(place - constructor->fieldNames.begin());
  unifyOrReport(relation, relation.result, questions.fieldType(*constructor, index, record));
}

Relations::Wait Relations::askChange(const PendingRelation& relation) {
  const Type* record = unifier_.shallow(relation.operands[0]);
  if (record->isUnknown())
    return 0;
  for (size_t i = 1; i < relation.operands.size(); ++i) {
    std::string_view field = relation.change->fieldNames[i - 1];
    lang::SourceRange name = relation.places[i].range;
    const lang::Constructor* constructor =
        recordOf(relation, record, field, {name.begin, name.begin + uint32_t(field.size())});
    if (!constructor)
      return {};
    auto place = std::ranges::find(constructor->fieldNames, field);
    const Type* wanted =
        questions.fieldType(*constructor, size_t(place - constructor->fieldNames.begin()), record);
    if (unifier_.unify(wanted, relation.operands[i], true) == UnifyResult::Same)
      continue;
    TypeDifference difference =
        differenceOf(unifier_.resolve(wanted), unifier_.resolve(relation.operands[i]));
    diagnostics_.report(Message::FieldMismatch, name, field, difference.left, difference.right);
    unifier_.unify(relation.result, unifier_.types().error());
    return {};
  }
  unifyOrReport(relation, relation.result, record);
  return {};
}

} // namespace typecheck
