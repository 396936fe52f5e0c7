// Types are looked through by explicit stacks, but for records, whose nesting the reader bounds.
#include "stdlib/ops/derivatives/derivative_question.h"

#include "lang/ir/fields.h"
#include "lang/op/op.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/fixes.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib::derivatives {

using namespace lang;

void Question::fail(Words problem, std::vector<CallFix> fixes) {
  if (failure)
    return;
  failure = call.failedAt(0, std::move(problem));
  failure->fixes = std::move(fixes);
}

bool isOpen(const Type* type) {
  if (!type->hasUnknown)
    return false;
  std::vector<const Type*> open = {type};
  while (!open.empty()) {
    const Type* part = open.back();
    open.pop_back();
    if (part->isUnknown())
      return true;
    open.insert(open.end(), part->parts.begin(), part->parts.end());
    if (part->result)
      open.push_back(part->result);
  }
  return false;
}

bool isFloat(const Type* type) {
  return type->isTensor() && type->dtype.isFloat();
}

bool holdsParameter(const Type* type) {
  std::vector<const Type*> open = {type};
  while (!open.empty()) {
    const Type* part = open.back();
    open.pop_back();
    if (part->kind == TypeKind::Variable)
      return true;
    if (part->isTuple() || part->kind == TypeKind::Data)
      open.insert(open.end(), part->parts.begin(), part->parts.end());
  }
  return false;
}

bool mayHoldFloats(const Type* type) {
  return holdsFloats(type) || holdsParameter(type);
}

namespace {

/// How a function is written that calls an operator.
Words wrapped(const OperatorRow& op) {
  constexpr std::string_view names[] = {"x", "y", "z"};
  std::vector<Words> parameters, arguments;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    arguments.push_back(
        localName(i < std::size(names) ? std::string(names[i]) : fmt::format("x{}", i)));
    parameters.push_back(words("{}: Tensor[...]", arguments.back()));
  }
  return words("fn ({}) {{ {}({}) }}", runtime::joined(std::move(parameters), ", "), op.name,
               runtime::joined(std::move(arguments), ", "));
}

} // namespace

std::optional<RelationResult> functionProblem(const RelationCall& call) {
  const Type& function = *call.operands[0];
  if (!call.isKnown(0))
    return call.waitFor(0);
  if (function.kind == TypeKind::Operator)
    return mended(
        call.failedAt(0, fmt::format("a function is needed, but `{}` is an operator: it takes "
                                     "arguments of many types, and a function of one",
                                     function.op->name)),
        {words("write a function that calls it: `{}`", wrapped(*function.op))});
  if (function.kind != TypeKind::Function)
    return call.failedAt(0, words("a function is needed, but this is `{}`", &function));
  if (!function.generics.empty())
    return call.failedAt(0, words("the function must not be generic, but it is `{}`", &function));
  return std::nullopt;
}

namespace {

/// The problem of entry `axis` of `wrt`; counts what is right.
void addArgument(Question& question, int64_t given) {
  auto count = int64_t(question.function().parts.size());
  int64_t number = given < 0 ? given + count : given;
  if (number < 0 || number >= count)
    return question.fail(
        fmt::format("`wrt` asks for argument {}, but the function takes {}", given,
                    counted(count, "argument")),
        {{count == 1 ? "its number is 0"
                     : fmt::format("they count from 0: the last is {} or -1", count - 1)}});
  if (std::ranges::find(question.wrt, size_t(number)) != question.wrt.end())
    return question.fail(fmt::format("`wrt` asks for argument {} twice", number));
  question.wrt.push_back(size_t(number));
}

} // namespace

void readArguments(Question& question) {
  if (question.function().parts.empty())
    return question.fail("the function takes no arguments, so it has no derivative");
  question.isList = question.call.attributes.get("wrt").kind == AttributeValueKind::List;
  for (int64_t given : question.call.attributes.integers("wrt"))
    addArgument(question, given);
  if (question.wrt.empty())
    question.fail("`wrt` is empty: there is no argument to differentiate with respect to");
}

std::string_view reasonAgainst(const Type* type) {
  if (type->kind == TypeKind::Function || type->kind == TypeKind::Operator)
    return "and there is no derivative with respect to a function";
  if (type->kind == TypeKind::Reference)
    return "and there is no derivative with respect to a reference";
  if (holdsFunctions(type))
    return "which holds a function or a reference, and there is no derivative with respect to "
           "those";
  if (mayHoldFloats(type))
    return "";
  if (type->isTensor() && type->dtype.isInteger())
    return "and an integer has no derivative";
  return type->isTensor() ? "and only floats have a derivative"
                          : "which holds no floats, and only floats have a derivative";
}

namespace {

/// Another argument that `wrt` may ask for.
std::vector<CallFix> otherArgument(const Question& question) {
  const AttributeRow& row = question.call.attributes.rows[0];
  Types parameters = question.function().parts;
  for (size_t i = 0; i < parameters.size() && !question.isList; ++i)
    if (!isOpen(parameters[i]) && reasonAgainst(parameters[i]).empty())
      return {
          {fmt::format("with respect to argument {}: {{}}", i),
           {{CallChange::Kind::Attribute, 0, {}, std::string(row.name), std::to_string(i), {}}}}};
  return {};
}

} // namespace

void checkArguments(Question& question) {
  for (size_t i : question.wrt) {
    const Type* type = question.function().parts[i];
    if (isOpen(type)) {
      question.waits = true;
      continue;
    }
    if (std::string_view reason = reasonAgainst(type); !reason.empty())
      question.fail(words("argument {} of the function is `{}`, {}", i, type, reason),
                    otherArgument(question));
  }
}

namespace {

bool waitsForResult(Question& question) {
  bool isWaiting = isOpen(question.function().result);
  question.waits |= isWaiting;
  return isWaiting;
}

} // namespace

void checkScalar(Question& question) {
  const Type* type = question.function().result;
  if (waitsForResult(question))
    return;
  Words gives = words("the function must give one float, but it gives `{}`", type);
  if (!isFloat(type))
    return type->isTensor() || !holdsFloats(type)
               ? question.fail(std::move(gives))
               : question.fail(std::move(gives),
                               {{"`vjp` takes a function that gives several values"}});
  if (!type->shape.empty())
    question.fail(std::move(gives),
                  {{"give the `sum` or the `mean` of the elements; `jacobian` has a derivative of "
                    "each element, and `vjp` that of a weighted sum of them"}});
}

namespace {

/// The first part of a type that is no tensor, tuple or record; null when there is none. A record
/// that holds itself is one.
const Type* partThatIsNoTensor(Question& question, const Type* type,
                               std::vector<const TypeDefinition*>& around) {
  if (type->isTensor())
    return nullptr;
  bool isInside = std::ranges::find(around, type->definition) != around.end();
  if (!type->isTuple() && (!isRecord(*type) || isInside))
    return type;
  around.push_back(type->definition);
  const Type* found = nullptr;
  for (const Type* field : fieldTypes(question.types(), *type))
    found = found ? found : partThatIsNoTensor(question, field, around);
  around.pop_back();
  return found;
}

} // namespace

bool isMadeOfTensors(Question& question, const Type* type) {
  std::vector<const TypeDefinition*> around;
  return !partThatIsNoTensor(question, type, around);
}

void addTensors(Question& question, const Type* type, std::vector<const Type*>& tensors) {
  if (type->isTensor())
    tensors.push_back(type);
  else
    for (const Type* field : fieldTypes(question.types(), *type))
      addTensors(question, field, tensors);
}

void checkFloatTensors(Question& question) {
  const Type* type = question.function().result;
  if (waitsForResult(question))
    return;
  std::vector<const Type*> tensors;
  if (isMadeOfTensors(question, type))
    addTensors(question, type, tensors);
  if (tensors.empty() || !std::ranges::all_of(tensors, isFloat))
    question.fail(
        words("the function must give a tensor of floats, or a tuple or a record of them, "
              "but it gives `{}`",
              type),
        holdsFloats(type)
            ? std::vector<CallFix>{{"`vjp` and `jvp` take a function that gives other values too"}}
            : std::vector<CallFix>{});
}

void checkHoldsFloats(Question& question) {
  const Type* type = question.function().result;
  if (waitsForResult(question))
    return;
  if (holdsFunctions(type))
    question.fail(words("the function gives `{}`, and a function or a reference has no "
                        "derivative as a result",
                        type));
  else if (!mayHoldFloats(type))
    question.fail(words("the function gives `{}`, which holds no floats, so it has no "
                        "derivative",
                        type));
}

} // namespace stdlib::derivatives
