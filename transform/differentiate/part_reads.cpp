// From the operators to the callers.
#include "transform/differentiate/part_reads.h"

#include "lang/ir/walk.h"
#include "lang/op/op.h"

#include <map>

namespace transform {

using namespace lang;

namespace {

bool addsParts(const OperatorRow* row) {
  const auto* rule = row ? std::get_if<GradientRule>(&row->gradient) : nullptr;
  return rule && rule->addsParts;
}

const OperatorRow* namedRow(const Call& call) {
  const auto* op = call.callee.value->as<OperatorRef>();
  return op ? op->row : nullptr;
}

} // namespace

const Expr* PartReads::readBy(const Call& call, const OperatorRow* row, size_t argument) const {
  const Expr* value = call.arguments[argument].value;
  const auto* global = call.callee.value->as<Global>();
  if (global)
    return contains(*global, argument) ? value : nullptr;
  if (argument != 0 || !addsParts(row))
    return nullptr;
  auto field = fields_.find(&call);
  return field == fields_.end() ? value : field->second;
}

PartReads::PartReads(const Module& module) {
  std::map<Parameter, std::vector<Parameter>> givenBy;
  std::vector<Parameter> open;
  for (const Global* global : module.globals) {
    if (!global->function)
      continue;
    findFields(*global->function->body);
    std::unordered_map<const Expr*, size_t> parameters;
    for (const Var* parameter : global->function->parameters)
      parameters.emplace(parameter, parameters.size());
    auto look = [&](const Binding& binding) {
      const auto* call = binding.value->as<Call>();
      const auto* callee = call ? call->callee.value->as<Global>() : nullptr;
      for (size_t i = 0; call && i < call->arguments.size(); ++i) {
        const Expr* value = callee ? call->arguments[i].value : readBy(*call, namedRow(*call), i);
        auto given = parameters.find(value);
        if (given == parameters.end())
          continue;
        if (callee)
          givenBy[{callee, i}].emplace_back(global, given->second);
        else
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

void PartReads::findFields(const Block& body) {
  std::vector<const Block*> blocks{&body};
  while (!blocks.empty()) {
    const Block& block = *blocks.back();
    blocks.pop_back();
    std::unordered_map<const Expr*, const Expr*> firstOf;
    for (const Binding& binding : block.bindings) {
      const auto* tuple = binding.value->as<TupleExpr>();
      if (tuple && !tuple->fields.empty())
        firstOf.emplace(binding.var, tuple->fields[0].value);
      const auto* call = binding.value->as<Call>();
      if (call && !call->arguments.empty() && addsParts(namedRow(*call)))
        if (auto made = firstOf.find(call->arguments[0].value); made != firstOf.end())
          fields_.emplace(call, made->second);
      forEachBlock(*binding.value, [&](const Block& inner) { blocks.push_back(&inner); });
    }
  }
}

} // namespace transform
