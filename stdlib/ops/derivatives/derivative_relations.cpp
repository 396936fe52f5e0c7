// Derivatives as expressions: functions from functions to functions.
//
// A call of most of these stands for code, which a pass writes before the program runs. The types
// here are all that the checker knows of them: a derivative with respect to a value has the type of
// the value, so that it can be added to it, and integers inside it have zeros. What is only
// integers has no derivative, and a function has none of its own.
//
// A relation that waits gives what is known of the result already: the arguments in a call of the
// derivative may be all that tells the type of an argument of the function.
#include "stdlib/ops/derivatives/derivative_relations.h"

#include "lang/op/op.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/derivatives/derivative_types.h"
#include "stdlib/ops/fixes.h"

#include <fmt/format.h>

namespace stdlib {

using namespace lang;

namespace {

RelationResult derivativeRelation(const RelationCall& call,
                                  void (*checkResult)(derivatives::Question&),
                                  const Type* (*resultOf)(derivatives::Question&)) {
  if (auto problem = derivatives::functionProblem(call))
    return *problem;
  derivatives::Question question{call};
  derivatives::readArguments(question);
  if (!question.failure)
    derivatives::checkArguments(question);
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
  return derivativeRelation(call, derivatives::checkScalar, derivatives::gradType);
}

RelationResult gradientAtRelation(const RelationCall& call) {
  if (auto problem = derivatives::functionProblem(call))
    return *problem;
  const Type& function = *call.operands[0];
  if (function.parts.size() != 1)
    return mended(call.failedAt(0, words("a function of one argument is needed, but this is "
                                         "`{}`",
                                         &function)),
                  {"several arguments can be one tuple"});
  const Type* argument = function.parts[0];
  RelationResult answer = derivatives::isOpen(argument) ? call.waitFor(0) : call.solved(argument);
  answer.output = argument;
  answer.operands = {{1, argument}};
  return answer;
}

RelationResult valueAndGradRelation(const RelationCall& call) {
  return derivativeRelation(call, derivatives::checkScalar, derivatives::valueAndGradType);
}

RelationResult vjpRelation(const RelationCall& call) {
  return derivativeRelation(call, derivatives::checkHoldsFloats, derivatives::vjpType);
}

RelationResult jvpRelation(const RelationCall& call) {
  return derivativeRelation(call, derivatives::checkHoldsFloats, derivatives::jvpType);
}

RelationResult hvpRelation(const RelationCall& call) {
  return derivativeRelation(call, derivatives::checkScalar, derivatives::hvpType);
}

RelationResult transposeRelation(const RelationCall& call) {
  return derivativeRelation(call, derivatives::checkHoldsFloats, derivatives::transposeType);
}

RelationResult jacobianRelation(const RelationCall& call) {
  if (!isOneOf(call.attributes.text("mode"), {"auto", "forward", "reverse"}))
    return choiceFailure(call, "mode", "`auto`, `forward` or `reverse`");
  return derivativeRelation(call, derivatives::checkFloatTensors, derivatives::jacobianType);
}

RelationResult hessianRelation(const RelationCall& call) {
  return derivativeRelation(call, derivatives::checkScalar, derivatives::hessianType);
}

} // namespace stdlib
