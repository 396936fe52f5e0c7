// The type of a derivative with respect to a value is that of the value; matrices of derivatives
// are trees of both shapes.
#include "stdlib/ops/derivatives/derivative_types.h"

#include "lang/ir/fields.h"
#include "runtime/limits.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib::derivatives {

using namespace lang;

namespace {

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

const Type* argumentsType(const Question& question) {
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
      question.fail(words("argument {} of the function is `{}` and what it gives `{}`: the "
                          "element types must be the same",
                          i, argument, value));
      return nullptr;
    }
    return productTensor(question, value, leaf);
  });
}

} // namespace

const Type* withTangents(const Question& question, const Type* result) {
  Types own = question.function().parts;
  std::vector<const Type*> parameters(own.begin(), own.end());
  std::ranges::copy(chosen(question), std::back_inserter(parameters));
  return question.types().function(parameters, result);
}

const Type* gradType(Question& question) {
  return sameArguments(question, argumentsType(question));
}

const Type* valueAndGradType(Question& question) {
  return sameArguments(question,
                       pairOf(question, question.function().result, argumentsType(question)));
}

const Type* vjpType(Question& question) {
  const Type* value = question.function().result;
  const Type* back = question.types().function({&value, 1}, argumentsType(question));
  return sameArguments(question, pairOf(question, value, back));
}

const Type* jvpType(Question& question) {
  const Type* value = question.function().result;
  return withTangents(question, pairOf(question, value, value));
}

const Type* transposeType(Question& question) {
  Types own = question.function().parts;
  std::vector<const Type*> parameters(own.begin(), own.end());
  parameters.push_back(question.function().result);
  return question.types().function(parameters, argumentsType(question));
}

const Type* hvpType(Question& question) {
  return withTangents(question, argumentsType(question));
}

const Type* jacobianType(Question& question) {
  for (size_t i : question.wrt) {
    const Type* argument = question.function().parts[i];
    if (isOpen(argument) || isOpen(question.function().result))
      return nullptr;
    if (!isMadeOfTensors(question, argument))
      question.fail(words("argument {} of the function must be a tensor of floats, or a "
                          "tuple or a record of tensors, but it is `{}`",
                          i, argument));
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

const Type* hessianType(Question& question) {
  const Type* argument = argumentsType(question);
  if (isOpen(argument))
    return nullptr;
  std::vector<const Type*> tensors;
  if (isMadeOfTensors(question, argument))
    addTensors(question, argument, tensors);
  if (tensors.empty() || !std::ranges::all_of(tensors, isFloat)) {
    question.fail(words("argument {} of the function must be a tensor of floats, or a tuple "
                        "or a record of them, but it is `{}`",
                        question.wrt[0], argument),
                  {{"`hvp` takes values of other types"}});
    return nullptr;
  }
  const Type* square = treeOf(question, argument, [&](const Type* value) {
    return partialType(question, value, question.wrt[0]);
  });
  return square ? sameArguments(question, square) : nullptr;
}

} // namespace stdlib::derivatives
