#include "typecheck/mentions.h"

namespace typecheck {

bool Mentions::isFullyDeclared(const lang::Function& function) {
  auto isDeclared = [](const Type* type) { return type && !type->hasUnknown; };
  for (const lang::Var* parameter : function.parameters)
    if (!isDeclared(parameter->annotation) && !group_.foundType(*parameter))
      return false;
  return isDeclared(function.resultAnnotation) || group_.foundResult(function);
}

const Type* Mentions::typeOf(const lang::Global& global) {
  const lang::Function& function = *global.function;
  const Checking& checking = group_.checking;
  if (!sizes_.isEntered(global))
    return sizes_.instance(lang::functionType(unifier_.types(), function, checking.typing), global,
                           range);
  std::vector<const Type*> parameters;
  for (const lang::Var* parameter : function.parameters)
    parameters.push_back(checking.vars.types[parameter->number]);
  const Type* type =
      unifier_.types().function(parameters, checking.functions.resultTypes[function.number],
                                checking.typing.generics(function));
  return isFullyDeclared(function) ? sizes_.instance(unifier_.resolve(type), global, range) : type;
}

const Type* Mentions::typeOf(const lang::Constructor& constructor) {
  TypeContext& types = unifier_.types();
  std::vector<const Type*> arguments;
  for (const lang::TypeParameter* generic : constructor.definition->generics)
    arguments.push_back(generic->kind == lang::ParameterKind::Dimension
                            ? types.dimension(types.symbol(generic))
                            : types.variable(generic));
  std::vector<const Type*> fields;
  SizeMap sizes;
  for (const Type* field : constructor.fields)
    fields.push_back(sizes_.fresh(field, sizes));
  return types.function(fields, types.data(constructor.definition, arguments),
                        constructor.definition->generics);
}

const Type* Mentions::fieldType(const lang::Constructor& constructor, size_t field,
                                const Type* data) {
  const Type* function = unifier_.instantiate(typeOf(constructor));
  unifier_.unify(function->result, data, true);
  return function->parts[field];
}

const lang::Global* Mentions::openDefinition(const lang::Expr& expr) const {
  const auto* global = expr.as<lang::Global>();
  return global && group_.checking.open.isOpen(*global) ? global : nullptr;
}

OpenUse Mentions::use(const lang::Global& global) {
  OpenUse use{global};
  for (const lang::TypeParameter* generic : global.function->generics)
    use.generics.push_back(generic->kind == lang::ParameterKind::Dimension
                               ? unifier_.types().dimension(unifier_.dims().fresh())
                               : unifier_.fresh());
  return use;
}

const Type* Mentions::declaredAt(OpenUse& use, const Type* declared) {
  const Type* own = unifier_.withFreshUnknowns(declared, use.unknowns);
  return sizes_.fresh(unifier_.substitute(own, use.global.function->generics, use.generics),
                      use.sizes);
}

std::vector<std::pair<const Dim*, const Dim*>> Mentions::namesOf(OpenUse& use) {
  for (const lang::Var* parameter : use.global.function->parameters)
    if (parameter->partial)
      sizes_.fresh(unifier_.types().tensor(parameter->partial->shape, runtime::Float32), use.sizes);
  std::vector<std::pair<const Dim*, const Dim*>> names(use.sizes.begin(), use.sizes.end());
  for (size_t i = 0; i < use.generics.size(); ++i)
    if (use.generics[i]->kind == lang::TypeKind::Dimension)
      names.emplace_back(unifier_.types().symbol(use.global.function->generics[i]),
                         use.generics[i]->shape[0]);
  return names;
}

} // namespace typecheck
