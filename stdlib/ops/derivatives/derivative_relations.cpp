// Derivatives as expressions: functions from functions to functions.
//
// A call of most of these stands for code, which a pass writes before the program runs. The types
// here are all that the checker knows of them: a derivative with respect to a value has the type of
// the value, so that it can be added to it, and integers inside it have zeros. What is only
// integers has no derivative, and a function has none of its own.
//
// A relation that waits gives what is known of the result already: the arguments in a call of the
// derivative may be all that tells the type of an argument of the function.
#include "lang/ir/differentiable.h"
#include "lang/ir/fields.h"
#include "lang/op/op.h"
#include "runtime/limits.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/fixes.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

// What is asked.

/// Whether a type, whatever its extents may be, is still to be found out.
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

/// Whether a type parameter is in a type, outside of functions and references.
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

/// Whether a type has floats, or stands for types that may: callers tell what a type parameter is,
/// and copies for them are asked again.
bool mayHoldFloats(const Type* type) {
  return holdsFloats(type) || holdsParameter(type);
}

/// A derivative that is asked for: of which function, with respect to which of its arguments.
struct Question {
  const RelationCall& call;
  std::vector<size_t> wrt = {};
  /// Whether they were given as a list, and the derivatives with respect to them are a tuple.
  bool isList = false;
  /// Whether a type that matters is not known yet.
  bool waits = false;
  /// What is wrong, once something is.
  std::optional<RelationResult> failure = {};

  const Type& function() const { return *call.operands[0]; }
  TypeContext& types() const { return call.types; }

  void fail(std::string problem, std::vector<CallFix> fixes = {}) {
    if (failure)
      return;
    failure = call.failedAt(0, std::move(problem));
    failure->fixes = std::move(fixes);
  }
};

/// How a function is written that calls an operator.
std::string wrapped(const OperatorRow& op) {
  constexpr std::string_view names[] = {"%x", "%y", "%z"};
  std::vector<std::string> parameters, arguments;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    arguments.push_back(i < std::size(names) ? std::string(names[i]) : fmt::format("%x{}", i));
    parameters.push_back(arguments.back() + ": Tensor[...]");
  }
  return fmt::format("fn ({}) {{ {}({}) }}", fmt::join(parameters, ", "), op.name,
                     fmt::join(arguments, ", "));
}

/// Why operand 0 is no function that has a derivative, or the wait for it.
std::optional<RelationResult> functionProblem(const RelationCall& call) {
  const Type& function = *call.operands[0];
  if (!call.isKnown(0))
    return call.waitFor(0);
  if (function.kind == TypeKind::Operator)
    return mended(
        call.failedAt(0, fmt::format("a function is needed, but `{}` is an operator: it takes "
                                     "arguments of many types, and a function of one",
                                     function.op->name)),
        {fmt::format("write a function that calls it: `{}`", wrapped(*function.op))});
  if (function.kind != TypeKind::Function)
    return call.failedAt(
        0, fmt::format("a function is needed, but this is `{}`", typeText(&function)));
  if (!function.generics.empty())
    return call.failedAt(
        0, fmt::format("the function must not be generic, but it is `{}`", typeText(&function)));
  return std::nullopt;
}

// Which arguments.

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

void readArguments(Question& question) {
  if (question.function().parts.empty())
    return question.fail("the function takes no arguments, so it has no derivative");
  question.isList = question.call.attributes.get("wrt").kind == AttributeValueKind::List;
  for (int64_t given : question.call.attributes.integers("wrt"))
    addArgument(question, given);
  if (question.wrt.empty())
    question.fail("`wrt` is empty: there is no argument to differentiate with respect to");
}

/// Why there is no derivative with respect to a value of a type, as the end of a sentence; empty
/// when there is one.
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

void checkArguments(Question& question) {
  for (size_t i : question.wrt) {
    const Type* type = question.function().parts[i];
    if (isOpen(type)) {
      question.waits = true;
      continue;
    }
    if (std::string_view reason = reasonAgainst(type); !reason.empty())
      question.fail(
          fmt::format("argument {} of the function is `{}`, {}", i, typeText(type), reason),
          otherArgument(question));
  }
}

// What the function gives.

bool waitsForResult(Question& question) {
  bool isWaiting = isOpen(question.function().result);
  question.waits |= isWaiting;
  return isWaiting;
}

void checkScalar(Question& question) {
  const Type* type = question.function().result;
  if (waitsForResult(question))
    return;
  std::string gives =
      fmt::format("the function must give one float, but it gives `{}`", typeText(type));
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

bool isMadeOfTensors(Question& question, const Type* type) {
  std::vector<const TypeDefinition*> around;
  return !partThatIsNoTensor(question, type, around);
}

/// The tensors in a type that is made of them.
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
        fmt::format("the function must give a tensor of floats, or a tuple or a record of them, "
                    "but it gives `{}`",
                    typeText(type)),
        holdsFloats(type)
            ? std::vector<CallFix>{{"`vjp` and `jvp` take a function that gives other values too"}}
            : std::vector<CallFix>{});
}

void checkHoldsFloats(Question& question) {
  const Type* type = question.function().result;
  if (waitsForResult(question))
    return;
  if (holdsFunctions(type))
    question.fail(fmt::format("the function gives `{}`, and a function or a reference has no "
                              "derivative as a result",
                              typeText(type)));
  else if (!mayHoldFloats(type))
    question.fail(fmt::format("the function gives `{}`, which holds no floats, so it has no "
                              "derivative",
                              typeText(type)));
}

// The types of derivatives.

/// The types of the arguments that are asked for.
std::vector<const Type*> chosen(const Question& question) {
  std::vector<const Type*> types;
  for (size_t i : question.wrt)
    types.push_back(question.function().parts[i]);
  return types;
}

const Type* gathered(const Question& question, Types types) {
  return question.isList ? question.types().tuple(types) : types[0];
}

const Type* gradientType(const Question& question) {
  return gathered(question, chosen(question));
}

const Type* pairOf(const Question& question, const Type* first, const Type* second) {
  const Type* fields[] = {first, second};
  return question.types().tuple(fields);
}

/// The function from the same arguments.
const Type* sameArguments(const Question& question, const Type* result) {
  return question.types().function(question.function().parts, result);
}

/// The function from the same arguments and a tangent of each that was asked for.
const Type* withTangents(const Question& question, const Type* result) {
  Types own = question.function().parts;
  std::vector<const Type*> parameters(own.begin(), own.end());
  std::ranges::copy(chosen(question), std::back_inserter(parameters));
  return question.types().function(parameters, result);
}

/// A tensor of both shapes, which has a derivative of each element of the first by each of the
/// second; null when it can't be.
const Type* productTensor(Question& question, const Type* value, const Type* argument) {
  std::vector<const Dim*> shape(value->shape.begin(), value->shape.end());
  shape.insert(shape.end(), argument->shape.begin(), argument->shape.end());
  if (shape.size() > runtime::mostDimensions) {
    question.fail(fmt::format("the derivative has rank {}, but tensors have at most {} dimensions",
                              shape.size(), runtime::mostDimensions));
    return nullptr;
  }
  return question.types().tensor(shape, argument->dtype, value->isWide || argument->isWide);
}

const Type* gradResult(Question& question) {
  return sameArguments(question, gradientType(question));
}

const Type* valueAndGradResult(Question& question) {
  return sameArguments(question,
                       pairOf(question, question.function().result, gradientType(question)));
}

const Type* vjpResult(Question& question) {
  const Type* value = question.function().result;
  const Type* back = question.types().function({&value, 1}, gradientType(question));
  return sameArguments(question, pairOf(question, value, back));
}

const Type* jvpResult(Question& question) {
  const Type* value = question.function().result;
  return withTangents(question, pairOf(question, value, value));
}

const Type* transposeResult(Question& question) {
  Types own = question.function().parts;
  std::vector<const Type*> parameters(own.begin(), own.end());
  parameters.push_back(question.function().result);
  return question.types().function(parameters, gradientType(question));
}

const Type* hvpResult(Question& question) {
  return withTangents(question, gradientType(question));
}

/// The type with what `ofTensor` gives in place of each tensor, and tuples for records.
template <typename OfTensor>
const Type* treeOf(Question& question, const Type* type, const OfTensor& ofTensor) {
  if (type->isTensor())
    return ofTensor(type);
  std::vector<const Type*> fields;
  for (const Type* field : fieldTypes(question.types(), *type))
    fields.push_back(question.failure ? nullptr : treeOf(question, field, ofTensor));
  return question.failure ? nullptr : question.types().tuple(fields);
}

/// The derivative of a tensor by argument `i`.
const Type* partialType(Question& question, const Type* value, size_t i) {
  const Type* argument = question.function().parts[i];
  return treeOf(question, argument, [&](const Type* leaf) -> const Type* {
    if (leaf->dtype.isFloat() && leaf->dtype != value->dtype) {
      question.fail(fmt::format("argument {} of the function is `{}` and what it gives `{}`: the "
                                "element types must be the same",
                                i, typeText(argument), typeText(value)));
      return nullptr;
    }
    return productTensor(question, value, leaf);
  });
}

/// Null while it is not known, and when it can't be.
const Type* jacobianResult(Question& question) {
  for (size_t i : question.wrt) {
    const Type* argument = question.function().parts[i];
    if (isOpen(argument) || isOpen(question.function().result))
      return nullptr;
    if (!isMadeOfTensors(question, argument))
      question.fail(fmt::format("argument {} of the function must be a tensor of floats, or a "
                                "tuple or a record of tensors, but it is `{}`",
                                i, typeText(argument)));
  }
  if (question.failure)
    return nullptr;
  const Type* derivatives =
      treeOf(question, question.function().result, [&](const Type* value) -> const Type* {
        std::vector<const Type*> partials;
        for (size_t i : question.wrt)
          partials.push_back(question.failure ? nullptr : partialType(question, value, i));
        return question.failure ? nullptr : gathered(question, partials);
      });
  return question.failure ? nullptr : sameArguments(question, derivatives);
}

/// As above.
const Type* hessianResult(Question& question) {
  const Type* argument = gradientType(question);
  if (isOpen(argument))
    return nullptr;
  std::vector<const Type*> tensors;
  if (isMadeOfTensors(question, argument))
    addTensors(question, argument, tensors);
  if (tensors.empty() || !std::ranges::all_of(tensors, isFloat)) {
    question.fail(fmt::format("argument {} of the function must be a tensor of floats, or a tuple "
                              "or a record of them, but it is `{}`",
                              question.wrt[0], typeText(argument)),
                  {{"`hvp` takes values of other types"}});
    return nullptr;
  }
  const Type* square = treeOf(question, argument, [&](const Type* value) {
    return partialType(question, value, question.wrt[0]);
  });
  return square ? sameArguments(question, square) : nullptr;
}

RelationResult derivativeRelation(const RelationCall& call, void (*checkResult)(Question&),
                                  const Type* (*resultOf)(Question&)) {
  if (auto problem = functionProblem(call))
    return *problem;
  Question question{call};
  readArguments(question);
  if (!question.failure)
    checkArguments(question);
  if (!question.failure)
    checkResult(question);
  const Type* output = question.failure ? nullptr : resultOf(question);
  if (question.failure)
    return *question.failure;
  RelationResult answer = question.waits ? call.waitFor(0) : call.solved(output);
  answer.output = output;
  return answer;
}

} // namespace

RelationResult gradRelation(const RelationCall& call) {
  return derivativeRelation(call, checkScalar, gradResult);
}

RelationResult gradientAtRelation(const RelationCall& call) {
  if (auto problem = functionProblem(call))
    return *problem;
  const Type& function = *call.operands[0];
  if (function.parts.size() != 1)
    return mended(call.failedAt(0, fmt::format("a function of one argument is needed, but this is "
                                               "`{}`",
                                               typeText(&function))),
                  {"several arguments can be one tuple"});
  const Type* argument = function.parts[0];
  RelationResult answer = isOpen(argument) ? call.waitFor(0) : call.solved(argument);
  answer.output = argument;
  answer.operands = {{1, argument}};
  return answer;
}

RelationResult valueAndGradRelation(const RelationCall& call) {
  return derivativeRelation(call, checkScalar, valueAndGradResult);
}

RelationResult vjpRelation(const RelationCall& call) {
  return derivativeRelation(call, checkHoldsFloats, vjpResult);
}

RelationResult jvpRelation(const RelationCall& call) {
  return derivativeRelation(call, checkHoldsFloats, jvpResult);
}

RelationResult hvpRelation(const RelationCall& call) {
  return derivativeRelation(call, checkScalar, hvpResult);
}

RelationResult transposeRelation(const RelationCall& call) {
  return derivativeRelation(call, checkHoldsFloats, transposeResult);
}

RelationResult jacobianRelation(const RelationCall& call) {
  if (!isOneOf(call.attributes.text("mode"), {"auto", "forward", "reverse"}))
    return choiceFailure(call, "mode", "`auto`, `forward` or `reverse`");
  return derivativeRelation(call, checkFloatTensors, jacobianResult);
}

RelationResult hessianRelation(const RelationCall& call) {
  return derivativeRelation(call, checkScalar, hessianResult);
}

// Functions that say something of their derivative.

RelationResult sameAsFunction(const RelationCall& call) {
  if (auto problem = functionProblem(call))
    return *problem;
  return call.solved(call.operands[0]);
}

namespace {

/// The arguments of a function that its rule is about: those that hold floats, other than those
/// that `nondiff` names. Fails the question where there is none or where that is not known.
std::vector<size_t> ruledArguments(Question& question) {
  Types parameters = question.function().parts;
  auto count = int64_t(parameters.size());
  std::vector<bool> isLeft(parameters.size(), false);
  for (int64_t given : question.call.attributes.integers("nondiff")) {
    int64_t number = given < 0 ? given + count : given;
    if (number < 0 || number >= count)
      question.fail(fmt::format("`nondiff` names argument {}, but the function takes {}", given,
                                counted(count, "argument")));
    else
      isLeft[size_t(number)] = true;
  }
  std::vector<size_t> found;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (isLeft[i])
      continue;
    const Type* type = parameters[i];
    if (holdsParameter(type))
      question.fail(fmt::format("argument {} of the function is `{}`, which mentions a type "
                                "parameter, and that may stand for floats or not",
                                i, typeText(type)));
    else if (holdsFloats(type) && holdsFunctions(type))
      question.fail(fmt::format("argument {} of the function is `{}`, {}", i, typeText(type),
                                reasonAgainst(type)));
    else if (holdsFloats(type))
      found.push_back(i);
  }
  if (found.empty())
    question.fail(
        fmt::format("no argument of the function {}, so it has no derivative: it is `{}`",
                    std::ranges::count(isLeft, true) ? "is left that holds floats" : "holds floats",
                    typeText(&question.function())));
  if (holdsFunctions(question.function().result))
    checkHoldsFloats(question);
  return found;
}

const Type* tupleUnlessOne(TypeContext& types, const std::vector<const Type*>& parts) {
  return parts.size() == 1 ? parts[0] : types.tuple(parts);
}

/// The type of the pull-back of a function: from its arguments, what it gave if there is a
/// parameter for that, and a cotangent to the cotangents of the arguments that have one.
const Type* pullbackType(Question& question, const std::vector<size_t>& ruled) {
  const Type& function = question.function();
  const Type& given = *question.call.operands[1];
  std::vector<const Type*> cotangents, parameters(function.parts.begin(), function.parts.end());
  for (size_t i : ruled)
    cotangents.push_back(function.parts[i]);
  if (given.kind == TypeKind::Function && given.parts.size() == parameters.size() + 2)
    parameters.push_back(function.result);
  parameters.push_back(function.result);
  return question.types().function(parameters, tupleUnlessOne(question.types(), cotangents));
}

/// The type of the forward rule of a function: from its arguments and a tangent of each that has
/// one to the tangent of what it gives.
const Type* tangentRuleType(Question& question, const std::vector<size_t>& ruled) {
  question.wrt = ruled;
  return withTangents(question, question.function().result);
}

/// Gives the function itself; operand 1 is a rule of that type.
RelationResult ruledRelation(const RelationCall& call,
                             const Type* (*ruleType)(Question&, const std::vector<size_t>&)) {
  RelationResult answer = sameAsFunction(call);
  if (answer.outcome != RelationResult::Outcome::Solved)
    return answer;
  if (isOpen(call.operands[0])) {
    answer = call.waitFor(0);
    answer.output = call.operands[0];
    return answer;
  }
  Question question{call};
  std::vector<size_t> ruled = ruledArguments(question);
  if (question.failure)
    return *question.failure;
  answer.operands = {{1, ruleType(question, ruled)}};
  return answer;
}

} // namespace

RelationResult customRelation(const RelationCall& call) {
  return ruledRelation(call, pullbackType);
}

RelationResult customTangentRelation(const RelationCall& call) {
  return ruledRelation(call, tangentRuleType);
}

} // namespace stdlib
