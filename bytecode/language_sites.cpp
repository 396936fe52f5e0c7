// Operands become values of the run-time, and results objects of the machine.
#include "bytecode/language_sites.h"

#include "vm/value.h"

namespace bytecode {

using runtime::Fault;
using runtime::Value;

std::optional<Fault> LanguageSites::apply(uint32_t number, std::span<const vm::Slot> operands,
                                          ValueReader& reader, vm::Slot& result) {
  const OperatorSite& site = sites_[number];
  const std::vector<Rep>& reps = program_.sites[number].operands;
  std::vector<Value> values;
  for (size_t i = 0; i < operands.size(); ++i)
    values.push_back(vm::toValue(program_, reps[i], operands[i]));
  auto given = calls_.apply(*site.binding, *site.row, values);
  if (auto* fault = std::get_if<Fault>(&given))
    return std::move(*fault);
  Value& value = std::get<Value>(given);
  if (site.row->action == lang::Action::Allocate)
    value.makeWritable();
  result = reader.read(value, site.type);
  return std::nullopt;
}

} // namespace bytecode
