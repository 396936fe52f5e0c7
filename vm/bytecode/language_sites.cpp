// Operands become values of the run-time, and results objects of the machine.
#include "vm/bytecode/language_sites.h"

#include "lang/op/op.h"
#include "vm/executable/call.h"
#include "vm/machine/value.h"

#include <algorithm>

namespace bytecode {

using runtime::Fault;
using runtime::Value;

std::optional<Fault> LanguageSites::apply(uint32_t number, std::span<const vm::Slot> operands,
                                          ValueReader& reader, vm::Slot& result,
                                          std::optional<Fault> found) {
  const OperatorSite& site = sites_[number];
  if (!site.binding)
    return found ? std::move(found) : executable::unfitFault(program_, number, operands);
  const vm::HostSite& host = program_.sites[number];
  std::vector<Value> values;
  for (size_t i = 0; i < operands.size(); ++i)
    values.push_back(std::ranges::binary_search(host.given, i)
                         ? vm::takeValue(program_, operands[i])
                         : vm::toValue(program_, host.operands[i], operands[i]));
  auto given = calls_.apply(*site.binding, *site.row, std::move(values));
  if (auto* fault = std::get_if<Fault>(&given))
    return std::move(*fault);
  Value& value = std::get<Value>(given);
  if (site.row->action == lang::Action::Allocate)
    value.makeWritable();
  result = reader.read(value, site.type);
  return std::nullopt;
}

} // namespace bytecode
