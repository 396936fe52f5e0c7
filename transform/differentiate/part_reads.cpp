// From the operators to the callers.
#include "transform/differentiate/part_reads.h"

#include "lang/ir/walk.h"
#include "lang/op/op.h"

#include <map>

namespace transform {

using namespace lang;

namespace {

bool isReadByOperator(const OperatorRow* row, size_t argument) {
  const auto* rule = row ? std::get_if<GradientRule>(&row->gradient) : nullptr;
  return argument == 0 && rule && rule->addsParts;
}

} // namespace

bool PartReads::isReadBy(const Call& call, const OperatorRow* row, size_t argument) const {
  const auto* global = call.callee.value->as<Global>();
  return global ? contains(*global, argument) : isReadByOperator(row, argument);
}

PartReads::PartReads(const Module& module) {
  using Parameter = std::pair<const Global*, size_t>;
  std::map<Parameter, std::vector<Parameter>> givenBy;
  std::vector<Parameter> open;
  for (const Global* global : module.globals) {
    if (!global->function)
      continue;
    std::unordered_map<const Expr*, size_t> parameters;
    for (const Var* parameter : global->function->parameters)
      parameters.emplace(parameter, parameters.size());
    auto look = [&](const Binding& binding) {
      const auto* call = binding.value->as<Call>();
      const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
      const auto* callee = call ? call->callee.value->as<Global>() : nullptr;
      for (size_t i = 0; call && i < call->arguments.size(); ++i) {
        auto given = parameters.find(call->arguments[i].value);
        if (given == parameters.end())
          continue;
        if (callee)
          givenBy[{callee, i}].emplace_back(global, given->second);
        else if (op && isReadByOperator(op->row, i))
          open.emplace_back(global, given->second);
      }
    };
    walk(*global->function->body, look, [](const Operand&) {});
  }
  while (!open.empty()) {
    Parameter next = open.back();
    open.pop_back();
    if (found_.insert(next).second)
      open.insert(open.end(), givenBy[next].begin(), givenBy[next].end());
  }
}

} // namespace transform
