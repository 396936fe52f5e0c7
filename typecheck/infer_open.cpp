// What only modules that are not completed have: uses of open definitions, records with other
// fields, sizes as numbers.
#include "typecheck/infer.h"

#include <fmt/format.h>

namespace typecheck {

using lang::Message;
using lang::Type;

/// The open definition that an atom is; null for anything else.
const lang::Global* Inference::openGlobal(const lang::Expr& expr) const {
  const auto* global = expr.as<lang::Global>();
  return global && checking_.open.isOpen(*global) ? global : nullptr;
}

const Type* Inference::addOpenUse(const void* mention, const lang::Global& global,
                                  std::span<const Type* const> operands,
                                  std::span<const lang::Operand> places, SizeMap& sizes,
                                  lang::SourceRange range) {
  PendingRelation relation;
  relation.open = &global;
  relation.mention = mention;
  relation.definition = definition_;
  relation.places = places;
  relation.names = namesAt(global, sizes);
  relation.range = range;
  relation.result = !checking_.open.sizesOfResult(global).empty()
                        ? unifier_.slot(resultAt(global, sizes))
                        : unifier_.fresh();
  relations_.add(relation, operands);
  return relation.result;
}

/// The declared result of a definition at one use, whose sizes are open where nothing tells them.
const Type* Inference::resultAt(const lang::Global& global, SizeMap& sizes) {
  Unifier::FreshUnknowns unknowns;
  const Type* result = unifier_.withFreshUnknowns(global.function->resultAnnotation, unknowns);
  return unifier_.mapDims(result, [&](const lang::Dim* form) {
    return unifier_.types().substitute(form, [&](const lang::Dim* name) {
      if (name->kind != lang::DimKind::Symbol || name->hasForeign)
        return name;
      const lang::Dim*& own = sizes[name];
      return own ? own : own = unifier_.dims().fresh();
    });
  });
}

/// What the names of sizes in a definition are at one use of it, beside those that are known.
std::span<const std::pair<const Dim*, const Dim*>> Inference::namesAt(const lang::Global& global,
                                                                      SizeMap& sizes) {
  for (const lang::Var* parameter : global.function->parameters)
    if (parameter->partial)
      freshDims(unifier_.types().tensor(parameter->partial->shape, runtime::Float32), sizes);
  std::vector<std::pair<const Dim*, const Dim*>> names(sizes.begin(), sizes.end());
  return relations_.arena().copy(names);
}

/// What the definition declares of its parameters is asked of the arguments at once.
const Type* Inference::inferOpenCall(const lang::Call& call, const lang::Global& global) {
  const auto& parameters = global.function->parameters;
  std::vector<const Type*> arguments;
  for (const lang::Operand& argument : call.arguments)
    arguments.push_back(inferOperand(argument));
  if (arguments.size() != parameters.size()) {
    size_t given = arguments.size(), wanted = parameters.size();
    diagnostics_.report(Message::ArgumentCount, call.range, fmt::format("`@{}`", global.name),
                        wanted, wanted == 1 ? "" : "s",
                        given == 1 ? "1 is" : fmt::format("{} are", given));
    return unifier_.types().error();
  }
  SizeMap sizes;
  Unifier::FreshUnknowns unknowns;
  std::vector<const Type*> wanted(parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i)
    wanted[i] =
        parameters[i]->annotation
            ? freshDims(unifier_.withFreshUnknowns(parameters[i]->annotation, unknowns), sizes)
            : arguments[i];
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i]->annotation) {
      auto mismatch = [this, &call, i, wanted](const Type*, const Type* given) {
        reportArgument(call, i, wanted[i], given, wanted);
      };
      require(wanted[i], arguments[i], call.arguments[i].range, mismatch, true);
    }
  return addOpenUse(&call.callee, global, arguments, call.arguments, sizes, call.range);
}

/// As a value it is a function of types that are still unknown.
const Type* Inference::inferOpenValue(const void* mention, lang::SourceRange range,
                                      const lang::Global& global) {
  SizeMap sizes;
  Unifier::FreshUnknowns unknowns;
  std::vector<const Type*> parameters;
  for (const lang::Var* parameter : global.function->parameters)
    parameters.push_back(
        parameter->annotation
            ? freshDims(unifier_.withFreshUnknowns(parameter->annotation, unknowns), sizes)
            : unifier_.fresh());
  const Type* result = addOpenUse(mention, global, parameters, {}, sizes, range);
  return unifier_.types().function(parameters, result);
}

/// A record with other fields.
const Type* Inference::inferChange(const lang::Call& call, const lang::Constructor& change) {
  std::vector<const Type*> operands;
  for (const lang::Operand& argument : call.arguments)
    operands.push_back(inferOperand(argument));
  PendingRelation relation;
  relation.change = &change;
  relation.places = call.arguments;
  relation.range = call.range;
  relation.result = unifier_.fresh();
  relations_.add(relation, operands);
  return relation.result;
}

/// A size as a number. Its name is one of the definition's, or what that has found out.
const Type* Inference::inferSize(const lang::Call& call, const lang::Constant& size) {
  checking_.sizes->set(call, ownDims(unifier_.types().dimension(size.size))->shape[0]);
  return inferConstant(size);
}

} // namespace typecheck
