// Sizes that a closure takes with it are a tensor, the last of what it captured.
#include "interp/comparisons.h"

namespace interp {

namespace {

constexpr int64_t unknownSize = -1;

} // namespace

const checks::FunctionCheck* Comparisons::of(const lang::Function& function) {
  uint32_t number = checks_.function(function);
  return number == checks::none ? nullptr : &tables_.functions[number];
}

std::optional<Comparisons::Fault> Comparisons::arguments(const checks::FunctionCheck& check,
                                                         const Value& closure,
                                                         std::span<const Value> arguments,
                                                         const lang::Call* call) {
  given_.clear();
  if (!check.outer.empty()) {
    const runtime::Tensor& outer = closure.fields().back().tensor();
    for (size_t i = 0; i < check.outer.size(); ++i)
      if (int64_t size = outer.elements<int64_t>()[i]; size != unknownSize)
        given_.add(check.outer[i], size, checks::fromOutside);
  }
  auto fault = checkArguments(check, tables_.sizes, arguments, given_);
  if (!fault)
    return std::nullopt;
  return call ? seenFrom(lang::calledFrom(*call), *std::move(fault)) : std::move(fault->fault);
}

std::optional<Comparisons::Fault> Comparisons::variable(Activation& activation,
                                                        const lang::Var& var, const Value& value,
                                                        lang::SourceRange place) {
  uint32_t number = checks_.value(*activation.function, var);
  if (number == checks::none)
    return std::nullopt;
  return checkValue(tables_.values[number], tables_, value, sizesIn(activation), place);
}

std::optional<Comparisons::Fault> Comparisons::result(Activation& activation, const Value& value,
                                                      lang::SourceRange range) {
  const checks::FunctionCheck* check = of(*activation.function);
  if (!check || !check->result)
    return std::nullopt;
  return checkResult(*check, tables_.sizes, value, sizesIn(activation), range);
}

bool Comparisons::isResultImplied(Activation& activation, const checks::FunctionCheck* next) {
  const checks::FunctionCheck* check = of(*activation.function);
  if (!check || !check->result)
    return true;
  return next && next->result &&
         implies(*next->result, given_, *check->result, sizesIn(activation), tables_.sizes);
}

std::optional<Comparisons::Fault> Comparisons::fields(const lang::Constructor& constructor,
                                                      const lang::Call& call,
                                                      std::span<const Value> fields) {
  uint32_t number = checks_.fields(constructor);
  if (number == checks::none)
    return std::nullopt;
  auto fault = checkFields(tables_.fields[number], tables_.sizes, fields);
  return fault ? std::optional(seenFrom(lang::calledFrom(call), *std::move(fault))) : std::nullopt;
}

std::optional<Comparisons::Fault> Comparisons::whole(const lang::Function& entry,
                                                     const Value& result,
                                                     const checks::KnownSizes& sizes) {
  return checkWhole(entry, lang::resultOf(entry, typing_), result, checks_, sizes);
}

Comparisons::Value Comparisons::outerSizes(const checks::FunctionCheck& check,
                                           Activation& activation) {
  runtime::Tensor outer({runtime::DTypeCode::Int, 64}, {int64_t(check.outer.size())});
  for (size_t i = 0; i < check.outer.size(); ++i) {
    const checks::KnownSizes::Known* known = sizesIn(activation).find(check.outer[i]);
    outer.elements<int64_t>()[i] = known ? known->size : unknownSize;
  }
  return runtime::tensorValue(std::move(outer));
}

/// Names that are met in a call which keeps none get a size that is forgotten.
checks::KnownSizes& Comparisons::sizesIn(Activation& activation) {
  if (activation.sizes)
    return *activation.sizes;
  none_.clear();
  return none_;
}

} // namespace interp
