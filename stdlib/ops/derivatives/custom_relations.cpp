// Functions that say something of their derivative: they keep their type, and the rule that comes
// with one has the type that follows from it.
#include "stdlib/ops/derivatives/derivative_relations.h"
#include "stdlib/ops/derivatives/derivative_types.h"

#include "lang/op/op.h"
#include "stdlib/ops/fixes.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

using namespace lang;

namespace derivatives {

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
      question.fail(words("argument {} of the function is `{}`, which mentions a type "
                          "parameter, and that may stand for floats or not",
                          i, type));
    else if (holdsFloats(type) && holdsFunctions(type))
      question.fail(words("argument {} of the function is `{}`, {}", i, type, reasonAgainst(type)));
    else if (holdsFloats(type))
      found.push_back(i);
  }
  if (found.empty())
    question.fail(
        words("no argument of the function {}, so it has no derivative: it is `{}`",
              std::ranges::count(isLeft, true) ? "is left that holds floats" : "holds floats",
              &question.function()));
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

} // namespace

} // namespace derivatives

RelationResult sameAsFunction(const RelationCall& call) {
  if (auto problem = derivatives::functionProblem(call))
    return *problem;
  return call.solved(call.operands[0]);
}

namespace {

/// Gives the function itself; operand 1 is a rule of that type.
RelationResult ruledRelation(const RelationCall& call,
                             const Type* (*ruleType)(derivatives::Question&,
                                                     const std::vector<size_t>&)) {
  RelationResult answer = sameAsFunction(call);
  if (answer.outcome != RelationResult::Outcome::Solved)
    return answer;
  if (derivatives::isOpen(call.operands[0])) {
    answer = call.waitFor(0);
    answer.output = call.operands[0];
    return answer;
  }
  derivatives::Question question{call};
  std::vector<size_t> ruled = derivatives::ruledArguments(question);
  if (question.failure)
    return *question.failure;
  answer.operands = {{1, ruleType(question, ruled)}};
  return answer;
}

} // namespace

RelationResult customRelation(const RelationCall& call) {
  return ruledRelation(call, derivatives::pullbackType);
}

RelationResult customTangentRelation(const RelationCall& call) {
  return ruledRelation(call, derivatives::tangentRuleType);
}

} // namespace stdlib
