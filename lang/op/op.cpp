// Looking up operators.
#include "lang/op/op.h"

#include "lang/source/edit_distance.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace lang {

namespace {

/// The family of a row, by the row that it begins with.
std::string_view familyOf(const OperatorRow& row, std::span<const OperatorFamily> families) {
  for (OperatorFamily family : families)
    for (const OperatorRow& member : family)
      if (&member == &row)
        return family.front().name;
  return {};
}

} // namespace

OperatorTable::OperatorTable(std::span<const OperatorFamily> families,
                             std::span<const AbsentOperator> absent)
    : absent_(absent) {
  for (OperatorFamily family : families)
    for (const OperatorRow& row : family) {
      rows_.push_back(&row);
      auto [known, isNew] = byName_.emplace(row.name, &row);
      if (!isNew)
        throw std::logic_error(fmt::format(
            "two rows of the operator table are named `{}`: one in the family that begins with "
            "`{}`, one in that with `{}`",
            row.name, familyOf(*known->second, families), familyOf(row, families)));
      std::vector<AttributeValue> values;
      for (const AttributeRow& attribute : row.attributes)
        values.push_back(attribute.defaultText.empty()
                             ? AttributeValue{}
                             : parseAttributeDefault(arena_, attribute.defaultText));
      defaults_.emplace(&row, arena_.copy(values));
    }
  std::ranges::sort(rows_, {}, &OperatorRow::name);
  for (const OperatorRow* row : rows_)
    if (!row->infix.empty())
      byInfix_.emplace(row->infix, row);
}

const OperatorRow* OperatorTable::find(std::string_view name) const {
  auto found = byName_.find(name);
  return found == byName_.end() ? nullptr : found->second;
}

std::optional<std::string_view> OperatorTable::reasonOfAbsence(std::string_view name) const {
  auto found = std::ranges::find(absent_, name, &AbsentOperator::name);
  return found == absent_.end() ? std::nullopt : std::optional(found->reason);
}

const OperatorRow* OperatorTable::findInfix(std::string_view symbol) const {
  auto found = byInfix_.find(symbol);
  return found == byInfix_.end() ? nullptr : found->second;
}

const OperatorRow* OperatorTable::computing(const OperatorRow& row,
                                            std::string_view attribute) const {
  auto isForm = [&](const OperatorRow* each) {
    return each->fixed.name == row.name &&
           std::ranges::count(each->operands, attribute, &OperandRow::name) > 0;
  };
  auto found = std::ranges::find_if(rows_, isForm);
  return found == rows_.end() ? nullptr : *found;
}

std::string OperatorRow::operandCount() const {
  bool repeats = !operands.empty() && operands.back().repeats;
  return fmt::format("{}{}", repeats ? "at least " : "", operands.size());
}

std::vector<std::string_view> OperatorRow::otherNames() const {
  std::vector<std::string_view> names;
  for (size_t begin = 0; begin < synonyms.size();) {
    size_t end = std::min(synonyms.find(' ', begin), synonyms.size());
    names.push_back(synonyms.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

const OperatorRow& OperatorTable::withRole(Role role) const {
  auto found = std::ranges::find(rows_, role, &OperatorRow::role);
  if (found == rows_.end())
    throw std::logic_error("the operator table lacks a role");
  return **found;
}

std::span<const AttributeValue> OperatorTable::defaults(const OperatorRow* row) const {
  auto found = defaults_.find(row);
  return found == defaults_.end() ? std::span<const AttributeValue>{} : found->second;
}

std::vector<std::string_view> OperatorTable::similar(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const OperatorRow* row : rows_)
    names.push_back(row->name);
  return similarNames(name, names);
}

runtime::Checked<TensorFunction> tensorFunctionOf(const OperatorRow& row, Types operands,
                                                  const Type* output,
                                                  const Attributes& attributes) {
  ComputeCall call(operands, output, attributes);
  row.compute(call);
  return call.take();
}

} // namespace lang
