// Functions that go over a list step by step, and the products of a step that its element and
// weights alone decide, which several steps could make at once.
#pragma once

#include "lang/ir/module.h"
#include "lang/ir/typing.h"
#include "transform/analysis/use_counts.h"

#include <optional>
#include <unordered_map>

namespace transform {

/// A function that is a match on a parameter, with an arm that calls it again, once, for the rest.
struct ListSteps {
  const lang::Global* global;
  const lang::Match* match;
  /// Of the match.
  size_t arm;
  /// The parameter that is the list, and which field of its constructor is the rest.
  size_t list, rest;
  /// The binding of the arm's body that is the call.
  size_t call;

  const lang::Arm& step() const { return match->arms[arm]; }
  std::span<const lang::Binding> before() const { return step().body->bindings.first(call); }
  const lang::Call& next() const {
    return static_cast<const lang::Call&>(*step().body->bindings[call].value);
  }
  const lang::Function& function() const { return *global->function; }
};

/// Nothing where the function is no such one, and where something besides the call asks for the
/// list or its rest.
std::optional<ListSteps> listStepsOf(const lang::Global& global, const UseCounts& uses);

/// What decides a value of a step: the element alone, or nothing that differs from step to step.
enum class StepValue : uint8_t { Own, OfElement, Shared };
using StepValues = std::unordered_map<const lang::Expr*, StepValue>;

/// Of the names that a step begins with.
StepValues stepValuesOf(const ListSteps& steps);
StepValue stepValueOf(const lang::Expr& atom, const StepValues& values);

/// A product of rows, which an element gives, and weights that all steps share.
struct RowProduct {
  /// Among the bindings that were looked at, and which argument the rows are.
  size_t binding, operand;
  /// How many there are in one step.
  int64_t rows;
};

/// The products among bindings, whose values are added; what is made of a product is the step's
/// own.
std::vector<RowProduct> rowProducts(std::span<const lang::Binding> bindings, StepValues& values,
                                    const lang::Typing& typing);

} // namespace transform
