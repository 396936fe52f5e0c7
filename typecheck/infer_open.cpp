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

/// The parameters of a definition are unknowns of each use.
Inference::OpenUse Inference::enterUse(const lang::Global& global) {
  OpenUse use{global};
  for (const lang::TypeParameter* generic : global.function->generics)
    use.generics.push_back(generic->kind == lang::ParameterKind::Dimension
                               ? unifier_.types().dimension(unifier_.dims().fresh())
                               : unifier_.fresh());
  return use;
}

/// A declared type of the definition at this use.
const Type* Inference::declaredAt(OpenUse& use, const Type* declared) {
  const Type* own = unifier_.withFreshUnknowns(declared, use.unknowns);
  return freshDims(unifier_.substitute(own, use.global.function->generics, use.generics),
                   use.sizes);
}

const Type* Inference::addOpenUse(OpenUse& use, const void* mention,
                                  std::span<const Type* const> operands,
                                  std::span<const lang::Operand> places, lang::SourceRange range) {
  for (const lang::Var* parameter : use.global.function->parameters)
    if (parameter->partial)
      freshDims(unifier_.types().tensor(parameter->partial->shape, runtime::Float32), use.sizes);
  std::vector<std::pair<const Dim*, const Dim*>> names(use.sizes.begin(), use.sizes.end());
  for (size_t i = 0; i < use.generics.size(); ++i)
    if (use.generics[i]->kind == lang::TypeKind::Dimension)
      names.emplace_back(unifier_.types().symbol(use.global.function->generics[i]),
                         use.generics[i]->shape[0]);
  PendingRelation relation;
  relation.open = &use.global;
  relation.mention = mention;
  relation.definition = definition_;
  relation.places = places;
  relation.names = relations_.arena().copy(names);
  relation.range = range;
  relation.result = checking_.open.sizesOfResult(use.global).empty()
                        ? unifier_.fresh()
                        : unifier_.slot(declaredAt(use, use.global.function->resultAnnotation));
  relations_.add(relation, operands);
  return relation.result;
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
  OpenUse use = enterUse(global);
  std::vector<const Type*> wanted;
  for (size_t i = 0; i < parameters.size(); ++i)
    wanted.push_back(parameters[i]->annotation ? declaredAt(use, parameters[i]->annotation)
                                               : arguments[i]);
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i]->annotation) {
      auto mismatch = [this, &call, i, wanted](const Type*, const Type* given) {
        reportArgument(call, i, wanted[i], given, wanted);
      };
      require(wanted[i], arguments[i], call.arguments[i].range, mismatch, true);
    }
  return addOpenUse(use, &call.callee, arguments, call.arguments, call.range);
}

/// As a value it is a function of types that are still unknown.
const Type* Inference::inferOpenValue(const void* mention, lang::SourceRange range,
                                      const lang::Global& global) {
  OpenUse use = enterUse(global);
  std::vector<const Type*> parameters;
  for (const lang::Var* parameter : global.function->parameters)
    parameters.push_back(parameter->annotation ? declaredAt(use, parameter->annotation)
                                               : unifier_.fresh());
  const Type* result = addOpenUse(use, mention, parameters, {}, range);
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
