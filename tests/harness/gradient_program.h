// The programs that gradient rules are compared by, written with the notation of the rules
// themselves. Both take a call's operands, a direction for each float tensor of them, and a weight
// for each float tensor of the result.
//
// The slope of a call is that of its weighted result along the directions, by its rule.
#pragma once

#include "lang/rules/gradient.h"
#include "tests/harness/samples.h"

namespace harness {

class GradientProgram {
public:
  /// With `isNamed` the types of the call have names for sizes.
  GradientProgram(lang::TypeContext& types, const OperatorSample& call, bool isNamed);

  /// Lets `@main` give the tuple of: the mean of both one-sided quotients less the slope, the
  /// quotients, the slope, and the sum of the magnitudes of the result. The step is two to the
  /// power of `-exponent`.
  void writeQuotients(int exponent);
  /// Lets `@main` give the slope, along a line: it takes a step for each direction and weight
  /// behind them, and as its last parameter how far to go.
  void writeSlope();

  lang::Module module;
  const lang::Global* entry = nullptr;
  /// The operands that the rule gives nothing: steps may be in them.
  std::vector<bool> isStepwise = {};

  /// Types of the parameters.
  std::vector<const lang::Type*> parameterTypes() const;
  size_t directionCount() const;

private:
  using Term = lang::Term;
  using Atom = lang::Atom;
  /// For each operand an atom for each tensor of it; null for one without floats.
  using Leaves = std::vector<std::vector<Atom>>;
  /// How far to go, in a float type.
  using Step = std::function<Term(lang::TermWriter&, runtime::DType)>;

  const lang::Var* parameter(const lang::Type* type);
  std::vector<Atom> floatParameters(const lang::Type* type);
  std::vector<Atom> moved(lang::TermWriter& d, const Leaves& along, const Step& step);
  Term weighed(lang::TermWriter& d, const Term& value, bool isMagnitude = false);
  Atom called(const std::vector<Atom>& atoms);
  Term slope(lang::GradientCall& d);
  void weigh(lang::GradientCall& d);
  void askRule(lang::GradientCall& d);
  void finish(const Term& answer);

  const OperatorSample& call_;
  lang::Builder make_;
  lang::BlockBuilder body_;
  std::vector<lang::Setting> settings_;
  std::vector<const lang::Var*> parameters_;
  std::vector<Atom> operands_;
  Leaves directions_;
  std::vector<Atom> weights_;
};

} // namespace harness
