// A mention keeps its function while its group is checked again, since others speak of it.
#include "typecheck/operator_values.h"

#include "lang/ir/builder.h"
#include "lang/op/other_names.h"

#include <fmt/format.h>

namespace typecheck {

using namespace lang;

bool OperatorValues::isOfOneCount(const OperatorRow& row) const {
  bool repeats = !row.operands.empty() && row.operands.back().repeats;
  return !repeats && !ofTwo(operators_, row);
}

const OperatorRow& OperatorValues::ofCount(const OperatorRow& row, size_t count) const {
  const OperatorRow* other = count == 2 && !row.takes(2) ? ofTwo(operators_, row) : nullptr;
  return other ? *other : row;
}

const Function& OperatorValues::make(const void* mention, const OperatorRow& row, size_t count,
                                     SourceRange range) {
  const Function*& made = made_[mention];
  if (made)
    return *made;
  Builder make(module_, operators_);
  make.range = range;
  std::vector<const Var*> parameters;
  for (size_t i = 0; i < count; ++i)
    parameters.push_back(make.var(VarOrigin::Parameter, row.operand(i).name));
  BlockBuilder body(make);
  std::vector<Atom> operands(parameters.begin(), parameters.end());
  made = make.function(parameters, body.finish(body.call(row, operands)));
  for (const Var* parameter : parameters)
    byParameter_[parameter] = made;
  return *made;
}

const Function* OperatorValues::withParameter(const Var& parameter) const {
  auto found = byParameter_.find(&parameter);
  return found == byParameter_.end() ? nullptr : found->second;
}

const Function* OperatorValues::usedBy(const void* mention) const {
  auto found = made_.find(mention);
  return found == made_.end() ? nullptr : found->second;
}

void reportOpenValue(Diagnostics& diagnostics, const Function& value) {
  const Call& call = *value.body->bindings[0].value->as<Call>();
  std::string_view name = call.callee.value->as<OperatorRef>()->row->name;
  diagnostics.report(Message::CannotInfer, value.range, fmt::format("`{}`", name))
      .note(fmt::format("a function says what it is called with: `fn ({}: f32[n]) = {}(...)`",
                        value.parameters[0]->name, name));
}

} // namespace typecheck
