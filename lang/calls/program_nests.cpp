// Blocks are walked but for those of groups, which are kernels as a whole.
#include "lang/calls/program_nests.h"

#include "lang/calls/call_function.h"
#include "lang/calls/group.h"
#include "lang/ir/walk.h"
#include "lang/op/op.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace lang {

namespace {

class Collector {
public:
  explicit Collector(const Typing& typing) : typing_(typing) {}

  void visit(const Global& global) {
    if (isGroup(*global.function))
      return group(global, *global.function, global.range);
    std::vector<const Block*> blocks{global.function->body};
    while (!blocks.empty()) {
      const Block* block = blocks.back();
      blocks.pop_back();
      size_t nested = blocks.size();
      for (const Binding& binding : block->bindings)
        visit(global, binding, blocks);
      std::reverse(blocks.begin() + ptrdiff_t(nested), blocks.end());
    }
  }

  std::vector<ProgramNest> take() { return std::move(nests_); }

private:
  void visit(const Global& global, const Binding& binding, std::vector<const Block*>& blocks) {
    const auto* function = binding.value->as<Function>();
    if (function && isGroup(*function))
      return group(global, *function, binding.value->range);
    if (const auto* call = binding.value->as<Call>())
      operatorCall(global, binding, *call);
    forEachBlock(*binding.value, [&](const Block& block) { blocks.push_back(&block); });
  }

  /// Words have no dots.
  std::string freshName(std::string base) {
    std::ranges::replace(base, '.', '_');
    std::string name = base;
    size_t& last = numbers_[base];
    while (!names_.insert(name).second)
      name = fmt::format("{}_{}", base, ++last);
    return name;
  }

  /// The names of the operators that a group calls.
  static std::string nameOf(const Function& group) {
    constexpr size_t longest = 60;
    std::string name;
    for (const Binding& binding : group.body->bindings)
      if (const auto* call = binding.value->as<Call>())
        if (const auto* op = call->callee.value->as<OperatorRef>(); op && name.size() < longest)
          name += (name.empty() ? "" : "_") + std::string(op->row->name);
    return name.empty() ? "group" : name;
  }

  static void addTensors(std::string_view name, const Type* type,
                         std::vector<NamedTensor>& tensors) {
    std::vector<const Type*> leaves;
    appendTensors(type, leaves);
    for (const Type* leaf : leaves)
      tensors.push_back({std::string(name), leaf});
  }

  void add(const Global& global, SourceRange range, const std::string& base,
           const tensor::TensorFunction& function, std::span<const NamedTensor> inputs,
           const Type* result) {
    std::vector<NamedTensor> results;
    addTensors("y", result, results);
    std::string name = freshName(base);
    nests_.push_back({name, range, &global, kernelNest(name, function, inputs, results)});
  }

  void group(const Global& global, const Function& group, SourceRange range) {
    const Type* result = typing_.result(group);
    auto function = group.generics.empty() && result ? groupFunction(group, typing_) : std::nullopt;
    if (!function)
      return;
    std::vector<NamedTensor> inputs;
    for (const Var* parameter : group.parameters)
      addTensors(parameter->name.empty() ? "x" : parameter->name, typing_.of(*parameter), inputs);
    add(global, range, nameOf(group), *function, inputs, result);
  }

  void operatorCall(const Global& global, const Binding& binding, const Call& call) {
    const Type* result = typing_.of(*binding.var);
    auto function = functionOfCall(call, result, typing_);
    if (!function)
      return;
    std::vector<NamedTensor> inputs;
    for (const Operand& argument : call.arguments) {
      const auto* var = argument.value->as<Var>();
      addTensors(var && !var->name.empty() ? var->name : "x", typing_.of(*argument.value), inputs);
    }
    const OperatorRow& row = *call.callee.value->as<OperatorRef>()->row;
    if (function->inputCount == inputs.size())
      add(global, binding.value->range, std::string(row.name), *function, inputs, result);
  }

  const Typing& typing_;
  std::vector<ProgramNest> nests_;
  std::set<std::string> names_;
  /// The last number behind a name.
  std::map<std::string, size_t> numbers_;
};

} // namespace

std::vector<ProgramNest> programNests(const Module& module, const Typing& typing) {
  Collector collector(typing);
  for (const Global* global : module.globals)
    if (global->function)
      collector.visit(*global);
  return collector.take();
}

} // namespace lang
