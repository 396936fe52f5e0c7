// Examples are read without the checker: literals have their types, and the relation gives that of
// the call.
#include "stdlib/gradient_reference.h"

#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "lang/print/print.h"
#include "parser/relay/parse.h"
#include "parser/resolve/resolve.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace stdlib {

using namespace lang;

namespace {

constexpr ptrdiff_t mostLines = 16;

/// What the variables of a text are bound to.
using Values = std::unordered_map<const Expr*, const Expr*>;

/// The type of an operand that is a literal, or a tuple of literals; null for others.
const Type* literalType(TypeContext& types, const Values& values, Atom atom) {
  if (const auto* constant = atom->as<Constant>())
    return constant->type;
  auto bound = values.find(atom);
  const auto* tuple = bound == values.end() ? nullptr : bound->second->as<TupleExpr>();
  if (!tuple)
    return nullptr;
  std::vector<const Type*> fields;
  for (const Operand& field : tuple->fields) {
    const auto* constant = field.value->as<Constant>();
    if (!constant)
      return nullptr;
    fields.push_back(constant->type);
  }
  return types.tuple(fields);
}

std::unique_ptr<Module> resolved(TypeContext& types, const OperatorTable& table, Arena& trees,
                                 const SourceFile& source) {
  Diagnostics diagnostics;
  const auto* file = parser::parseText(trees, source, diagnostics);
  if (!file || diagnostics.hasErrors())
    return nullptr;
  auto module = parser::resolve(*file, source, {}, {types, table, {}}, diagnostics);
  return diagnostics.hasErrors() ? nullptr : std::move(module);
}

} // namespace

std::optional<WrittenCall> writtenCall(const Module& module, const OperatorRow& row) {
  Values values;
  const Call* found = nullptr;
  walk(
      module,
      [&](const Binding& binding) {
        values[binding.var] = binding.value;
        const auto* call = binding.value->as<Call>();
        const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
        if (op && op->row == &row && !found)
          found = call;
      },
      [](const Operand&) {});
  if (!found)
    return std::nullopt;
  WrittenCall call;
  std::deque<runtime::Tensor> tensors;
  std::vector<const runtime::Tensor*> constants;
  for (const Operand& operand : found->arguments) {
    call.atoms.push_back(operand.value);
    call.operands.push_back(literalType(module.types, values, operand.value));
    if (!call.operands.back())
      return std::nullopt;
    const auto* constant = operand.value->as<Constant>();
    constants.push_back(constant ? &tensors.emplace_back(constantTensor(*constant)) : nullptr);
  }
  if (found->attributes)
    call.attributes = *found->attributes;
  RelationResult answer =
      applyRelation(row, {module.types, call.operands, call.attributes, constants});
  call.result = answer.output;
  return answer.outcome == RelationResult::Outcome::Solved ? std::optional(call) : std::nullopt;
}

std::string gradientProgram(const OperatorTable& table, const OperatorRow& row) {
  if (!std::holds_alternative<GradientRule>(row.gradient))
    return "";
  TypeContext types;
  SourceMap sources;
  Arena trees;
  for (const Example& example : row.examples) {
    const SourceFile* source = sources.add("example", std::string(example.expr));
    auto module = resolved(types, table, trees, *source);
    auto call = module ? writtenCall(*module, row) : std::nullopt;
    if (!call)
      continue;
    GradientFunction made =
        gradientFunction(types, table, row, call->operands, call->result, call->attributes);
    std::string text = printGlobal(*made.module, *made.global, table).text;
    if (!made.given.empty() && std::ranges::count(text, '\n') <= mostLines)
      return text;
  }
  return "";
}

} // namespace stdlib
