// Open numbers among the operands of operators.
//
// A relation is a pure function, so which element type it asks for is found by asking it: first
// with the element types of the other operands, then with the one that numbers have by themselves.
// Where all operands are open it is asked with several: an operator that takes them all, and gives
// what it takes, gives an open number that agrees with its operands.
#include "typecheck/number_relations.h"

#include "lang/ir/numbers_meant.h"

#include <algorithm>

namespace typecheck {

using lang::RelationResult;

namespace {

/// The type of an operand in which open numbers have an element type.
const Type* withElement(Unifier& unifier, const Type* operand, runtime::DType dtype) {
  if (const OpenNumbers::Number* number = unifier.numbers().of(operand))
    return unifier.types().tensor(number->shape, dtype);
  if (!operand->isTuple() || !operand->hasUnknown)
    return operand;
  std::vector<const Type*> fields;
  for (const Type* field : operand->parts)
    fields.push_back(withElement(unifier, field, dtype));
  return unifier.types().tuple(fields);
}

/// The element types of known tensors among the operands, each once.
std::vector<runtime::DType> elementsOf(std::span<const Type* const> operands) {
  std::vector<runtime::DType> found;
  auto add = [&](const Type* type) {
    if (type->isTensor() && std::ranges::count(found, type->dtype) == 0)
      found.push_back(type->dtype);
  };
  for (const Type* operand : operands) {
    add(operand);
    if (operand->isTuple())
      std::ranges::for_each(operand->parts, add);
  }
  return found;
}

} // namespace

template <typename Visit>
void NumberRelations::forEachNumber(std::span<const Type* const> operands, Visit visit) {
  for (const Type* operand : operands) {
    if (unifier_.numbers().of(operand))
      visit(operand);
    else if (operand->isTuple())
      for (const Type* field : operand->parts)
        if (unifier_.numbers().of(field))
          visit(field);
  }
}

/// The class of an open number.
OpenClass NumberRelations::classOf(const Type* number) {
  return unifier_.numbers().classOf(*unifier_.numbers().of(number));
}

/// Whether an operand is an open number, or a tuple with one.
bool NumberRelations::holdsNumber(const Type* operand) {
  bool found = false;
  forEachNumber({&operand, 1}, [&](const Type*) { found = true; });
  return found;
}

/// The operand to wait for: one of which nothing is known, or else a number.
size_t NumberRelations::awaitedBeside(std::span<const Type* const> operands) {
  auto isOther = [&](const Type* operand) {
    auto isNumber = [&](const Type* unknown) { return unifier_.numbers().of(unknown) != nullptr; };
    return !std::ranges::all_of(unifier_.openUnknowns(operand), isNumber);
  };
  auto found = std::ranges::find_if(operands, isOther);
  if (found == operands.end())
    found = std::ranges::find_if(operands, [&](const Type* each) { return holdsNumber(each); });
  return size_t(found - operands.begin());
}

/// The answer with open numbers of an element type, where all of them may have it and nothing else
/// is open.
std::optional<RelationResult> NumberRelations::answerWith(const PendingRelation& relation,
                                                          std::span<const Type* const> operands,
                                                          runtime::DType dtype) {
  bool isFit = true;
  forEachNumber(operands,
                [&](const Type* number) { isFit = isFit && holdsNumbers(dtype, classOf(number)); });
  std::vector<const Type*> known;
  for (const Type* operand : operands) {
    known.push_back(withElement(unifier_, operand, dtype));
    isFit = isFit && (!known.back()->hasUnknown || known.back()->isTensor());
  }
  if (!isFit)
    return std::nullopt;
  RelationResult result = answer_(relation, known);
  return result.outcome == RelationResult::Outcome::Solved ? std::optional(std::move(result))
                                                           : std::nullopt;
}

NumberRelations::Found NumberRelations::ask(const PendingRelation& relation,
                                            std::span<const Type* const> operands) {
  // Where any element type would do beside the others, theirs say nothing of the numbers.
  bool isFree = elementsOf(operands).empty() || (answerWith(relation, operands, runtime::Float32) &&
                                                 answerWith(relation, operands, runtime::Float64));
  if (isFree)
    return linkNumbers(relation, operands);
  return {decideByOthers(relation, operands), nullptr};
}

bool NumberRelations::decideByOthers(const PendingRelation& relation,
                                     std::span<const Type* const> operands) {
  std::vector<runtime::DType> candidates = elementsOf(operands);
  OpenClass its = OpenClass::Integer;
  forEachNumber(operands, [&](const Type* number) { its = std::max(its, classOf(number)); });
  candidates.push_back(ownElement(its));
  for (runtime::DType dtype : candidates)
    if (answerWith(relation, operands, dtype)) {
      decideAll(operands, dtype);
      return true;
    }
  return decideRefused(relation, operands);
}

/// Where numbers are of several types, as a shape and bounds are, each has the one that it has by
/// itself; but an integer that is refused as one is a float if that is taken.
bool NumberRelations::decideRefused(const PendingRelation& relation,
                                    std::span<const Type* const> operands) {
  std::vector<const Type*> known;
  for (const Type* operand : operands) {
    const OpenNumbers::Number* number = unifier_.numbers().of(operand);
    known.push_back(number ? withElement(unifier_, operand, ownElement(classOf(operand)))
                           : operand);
    if (known.back()->hasUnknown)
      return false;
  }
  std::vector<const Type*> floats;
  RelationResult result = answer_(relation, known);
  while (result.outcome == RelationResult::Outcome::Failed && result.operand) {
    size_t refused = *result.operand;
    if (!unifier_.numbers().of(operands[refused]) || known[refused]->dtype.isFloat())
      return false;
    floats.push_back(operands[refused]);
    known[refused] = withElement(unifier_, operands[refused], runtime::Float32);
    result = answer_(relation, known);
  }
  if (result.outcome != RelationResult::Outcome::Solved || floats.empty())
    return false;
  decideAll(floats, runtime::Float32);
  return true;
}

/// Numbers of which an operator takes one element type only, as an attribute may say, are of that.
bool NumberRelations::decideByOnlyFit(const PendingRelation& relation,
                                      std::span<const Type* const> operands) {
  static constexpr runtime::DType candidates[] = {runtime::Int32, runtime::Int64, runtime::Float64,
                                                  runtime::Float16, runtime::BFloat16};
  std::vector<runtime::DType> fits;
  for (runtime::DType dtype : candidates)
    if (answerWith(relation, operands, dtype))
      fits.push_back(dtype);
  if (fits.size() == 1)
    decideAll(operands, fits[0]);
  return fits.size() == 1;
}

void NumberRelations::decideAll(std::span<const Type* const> operands, runtime::DType dtype) {
  forEachNumber(operands, [&](const Type* number) {
    if (const OpenNumbers::Number* open = unifier_.numbers().of(number))
      unifier_.numbers().decide(OpenNumbers::Number(*open), dtype);
  });
}

/// The numbers agree from here on, where the operator takes them all.
NumberRelations::Found NumberRelations::linkNumbers(const PendingRelation& relation,
                                                    std::span<const Type* const> operands) {
  const Type* first = nullptr;
  bool isReal = false;
  forEachNumber(operands, [&](const Type* number) {
    first = first ? first : number;
    isReal |= classOf(number) == OpenClass::Real;
  });
  // Whether it gives for operands of an element type a tensor of the same.
  auto isAlike = [](const std::optional<RelationResult>& result, runtime::DType dtype) {
    return result && result->output->isTensor() && result->output->dtype == dtype;
  };
  auto follows = [&](runtime::DType dtype) {
    return isAlike(answerWith(relation, operands, dtype), dtype);
  };
  auto ofFloats = answerWith(relation, operands, runtime::Float32);
  if (!ofFloats)
    return {decideByOnlyFit(relation, operands), nullptr};
  isReal = isReal || lang::meansReals(*relation.row, relation.places);
  auto ofIntegers = isReal ? std::nullopt : answerWith(relation, operands, runtime::Int32);
  bool takesIntegers = ofIntegers.has_value();
  forEachNumber(operands, [&](const Type* number) {
    unifier_.numbers().link(*unifier_.numbers().of(first), *unifier_.numbers().of(number));
  });
  if (!takesIntegers)
    unifier_.numbers().makeReal(*unifier_.numbers().of(first));
  bool givesWhatItTakes =
      isAlike(ofFloats, runtime::Float32) && follows(runtime::Float64) &&
      (!takesIntegers || (isAlike(ofIntegers, runtime::Int32) && follows(runtime::Int64)));
  return {false,
          givesWhatItTakes ? unifier_.numbers().addLike(ofFloats->output->shape, first) : nullptr};
}

} // namespace typecheck
