// What only modules that are not completed have: uses of open definitions, records with other
// fields, sizes as numbers.
#include "lang/op/op.h"
#include "typecheck/walk.h"

#include <fmt/format.h>

namespace typecheck {

using lang::Message;
using lang::Type;

const Type* Walk::addOpenUse(OpenUse& use, const void* mention,
                             std::span<const Type* const> operands,
                             std::span<const lang::Operand> places, lang::SourceRange range) {
  PendingRelation relation;
  relation.open = &use.global;
  relation.mention = mention;
  relation.definition = sizes_.definition();
  relation.scope = group_.seen.genericScope;
  relation.places = places;
  relation.names = relations_.arena().copy(mentions_.namesOf(use));
  relation.range = range;
  relation.result =
      checking_.open.sizesOfResult(use.global).empty()
          ? unifier_.fresh()
          : unifier_.slot(mentions_.declaredAt(use, use.global.function->resultAnnotation));
  relations_.add(relation, operands);
  return relation.result;
}

/// What the definition declares of its parameters is asked of the arguments at once.
const Type* Walk::inferOpenCall(const lang::Call& call, const lang::Global& global) {
  const auto& parameters = global.function->parameters;
  std::vector<const Type*> arguments = inferOperands(call.arguments);
  if (arguments.size() != parameters.size()) {
    size_t given = arguments.size(), wanted = parameters.size();
    diagnostics_.report(Message::ArgumentCount, call.range,
                        lang::words("`{}`", lang::globalName(global.name)), wanted,
                        wanted == 1 ? "" : "s", given == 1 ? "1 is" : fmt::format("{} are", given));
    return unifier_.types().error();
  }
  OpenUse use = mentions_.use(global);
  std::vector<const Type*> wanted;
  for (size_t i = 0; i < parameters.size(); ++i)
    wanted.push_back(parameters[i]->annotation
                         ? mentions_.declaredAt(use, parameters[i]->annotation)
                         : arguments[i]);
  bool fits = true;
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i]->annotation) {
      auto mismatch = [this, &call, i, wanted](const Type*, const Type* given) {
        reportArgument(call, i, wanted[i], given, wanted);
      };
      fits &= group_.require(wanted[i], arguments[i], call.arguments[i].range, mismatch, true);
    }
  if (!fits)
    return unifier_.types().error();
  return addOpenUse(use, &call.callee, arguments, call.arguments, call.range);
}

/// As a value it is a function of types that are still unknown.
const Type* Walk::inferOpenValue(const void* mention, lang::SourceRange range,
                                 const lang::Global& global) {
  OpenUse use = mentions_.use(global);
  std::vector<const Type*> parameters;
  for (const lang::Var* parameter : global.function->parameters)
    parameters.push_back(parameter->annotation ? mentions_.declaredAt(use, parameter->annotation)
                                               : unifier_.fresh());
  const Type* result = addOpenUse(use, mention, parameters, {}, range);
  return unifier_.types().function(parameters, result);
}

/// What the types of the use do not tell is found out in the definition, and the other way round.
void Walk::join(const PendingRelation& use) {
  const Instance* instance = checking_.open.ownOf(use.mention);
  if (!instance)
    instance = checking_.open.makeOwn(use.mention, *use.open, relations_.numbersOfOperands(use));
  if (!instance) {
    diagnostics_.report(Message::OpenUse, use.range, lang::plainName(use.open->name),
                        "the program has too many instances already");
    unifier_.unify(use.result, unifier_.types().error());
    return;
  }
  checking_.cover();
  group_.seen.joined.push_back(
      {instance, use.open, use.range, {use.operands.begin(), use.operands.end()}});
  const Type* function = unifier_.instantiate(walkOwn(*instance));
  checking_.open.use(use.mention, instance->global);
  for (size_t i = 0; i < use.operands.size(); ++i) {
    lang::SourceRange range = i < use.places.size() ? use.places[i].range : use.range;
    auto mismatch = [this, &use, i, range](const Type* wanted, const Type* given) {
      group_.reportTypes(Message::ArgumentMismatch, range, wanted, given, i + 1,
                         lang::words("`{}`", lang::globalName(use.open->name)));
    };
    group_.require(function->parts[i], use.operands[i], range, mismatch, true);
  }
  if (!group_.unify(use.result, function->result, use.range))
    group_.reportTypes(Message::TypeMismatch, use.range, use.result, function->result);
}

/// Infers the functions of an instance as a part of the group, and answers with the type of its
/// own.
const Type* Walk::walkOwn(const Instance& instance) {
  const Type* type = nullptr;
  for (const lang::Global* member : instance.group) {
    typing_.setRequirements(*member->function, {});
    sizes_.enterOwn(*member);
    const Type* declared = declare(*member->function);
    type = member == instance.global ? declared : type;
  }
  for (const lang::Global* member : instance.group) {
    sizes_.goBackTo(*member);
    inferBody(*member->function);
  }
  return type;
}

/// An operator as a value is a function; anything else is itself.
const Type* Walk::asFunction(const Type* value, const void* mention, lang::SourceRange range) {
  const Type* known = unifier_.shallow(value);
  if (known->kind != lang::TypeKind::Operator || !checking_.functions.ofOperators)
    return value;
  PendingRelation relation;
  relation.asValue = known->op;
  relation.mention = mention;
  relation.definition = sizes_.definition();
  relation.scope = group_.seen.genericScope;
  relation.range = range;
  if (checking_.functions.ofOperators->isOfOneCount(*known->op))
    return operatorFunction(relation, known->op->operands.size());
  relation.result = unifier_.fresh();
  relations_.add(relation, {&relation.result, 1});
  return relation.result;
}

/// The type of the function that an operator's name stands for.
const Type* Walk::operatorFunction(const PendingRelation& value, size_t count) {
  OperatorValues& values = *checking_.functions.ofOperators;
  const lang::OperatorRow& row = values.ofCount(*value.asValue, count);
  for (const lang::AttributeRow& attribute : row.attributes)
    if (attribute.defaultText.empty()) {
      diagnostics_.report(Message::MissingAttribute, value.range, row.name, attribute.name)
          .note(fmt::format("`{}(_, {} = ...)` is a function that gives it", row.name,
                            attribute.name));
      return unifier_.types().error();
    }
  if (!row.takes(count))
    count = row.operands.size();
  const lang::Function& function = values.make(value.mention, row, count, value.range);
  checking_.cover();
  const Type* type = declare(function);
  checkBody(function, inferBlock(*function.body));
  return type;
}

/// A record with other fields.
const Type* Walk::inferChange(const lang::Call& call, const lang::Constructor& change) {
  std::vector<const Type*> operands = inferOperands(call.arguments);
  PendingRelation relation;
  relation.change = &change;
  relation.places = call.arguments;
  relation.range = call.range;
  relation.result = unifier_.fresh();
  relations_.add(relation, operands);
  return relation.result;
}

/// A size as a number. Its name is one of the definition's, or what that has found out.
const Type* Walk::inferSize(const lang::Call& call, const lang::Constant& size) {
  checking_.sizes->set(call, sizes_.own(unifier_.types().dimension(size.size))->shape[0]);
  return inferConstant(size);
}

} // namespace typecheck
