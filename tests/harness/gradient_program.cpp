// Sums are of float64, whatever the call computes in.
#include "tests/harness/gradient_program.h"

#include "lang/op/leaves.h"
#include "stdlib/ops.h"
#include "stdlib/ops/gradient.h"

#include <algorithm>

#include <fmt/format.h>

namespace harness {

using namespace lang;
using stdlib::operator+, stdlib::operator-, stdlib::operator*;

namespace {

std::vector<const Type*> leavesOf(const Type* type) {
  std::vector<const Type*> leaves;
  appendTensors(type, leaves);
  return leaves;
}

/// The sum of products, or of their magnitudes.
Term product(TermWriter& d, const Term& a, const Term& b, bool isMagnitude = false) {
  Term total = isMagnitude ? stdlib::map("abs", a * b) : a * b;
  return d.call("cast", {total.rank() == 0 ? total : d.call("sum", {total})},
                {{"dtype", "float64"}});
}

} // namespace

/// Weights are parameters, but for those that `weigh` makes.
GradientProgram::GradientProgram(TypeContext& types, const OperatorSample& call, bool isNamed)
    : module(types), call_(call), make_(module, stdlib::operatorTable()), body_(make_) {
  for (size_t i = 0; i < call_.attributes.rows.size(); ++i)
    settings_.emplace_back(call_.attributes.rows[i].name, call_.attributes.values[i]);
  for (const Type* type : call_.operands)
    operands_.push_back(parameter(type));
  for (const Type* type : call_.operands)
    directions_.push_back(floatParameters(type));
  for (const Type* type : leavesOf(call_.output)) {
    auto isNumber = [](const Dim* dim) { return dim->isConstant(); };
    bool isGiven = type->dtype.isFloat() && !isNamed && std::ranges::all_of(type->shape, isNumber);
    weights_.push_back(isGiven ? parameter(type) : nullptr);
  }
}

std::vector<const Type*> GradientProgram::parameterTypes() const {
  std::vector<const Type*> types;
  for (const Var* parameter : parameters_)
    types.push_back(parameter->annotation);
  return types;
}

size_t GradientProgram::directionCount() const {
  size_t count = 0;
  for (const std::vector<Atom>& leaves : directions_)
    count += leaves.size() - size_t(std::ranges::count(leaves, nullptr));
  return count;
}

const Var* GradientProgram::parameter(const Type* type) {
  parameters_.push_back(
      make_.var(VarOrigin::Parameter, fmt::format("p{}", parameters_.size()), type));
  return parameters_.back();
}

/// Parameters for the float tensors inside a type; null for others.
std::vector<Atom> GradientProgram::floatParameters(const Type* type) {
  std::vector<Atom> made;
  for (const Type* leaf : leavesOf(type))
    made.push_back(leaf->dtype.isFloat() ? parameter(leaf) : nullptr);
  return made;
}

/// The operands moved along directions.
std::vector<Atom> GradientProgram::moved(TermWriter& d, const Leaves& along, const Step& step) {
  std::vector<Atom> atoms;
  for (size_t i = 0; i < operands_.size(); ++i) {
    Term operand(&d, operands_[i], call_.operands[i]);
    bool isTuple = operand.type()->isTuple();
    std::vector<Term> leaves;
    for (size_t field = 0; field < along[i].size(); ++field) {
      Term leaf = isTuple ? d.project(operand, field) : operand;
      Atom direction = along[i][field];
      leaves.push_back(direction ? leaf + step(d, leaf.dtype()) * Term(&d, direction, leaf.type())
                                 : leaf);
    }
    atoms.push_back((isTuple ? d.tuple(leaves) : leaves.front()).atom());
  }
  return atoms;
}

/// The weighted sum of the float tensors of a result.
Term GradientProgram::weighed(TermWriter& d, const Term& value, bool isMagnitude) {
  Term total = d.number(runtime::Float64, 0);
  for (size_t field = 0; field < weights_.size(); ++field)
    if (weights_[field]) {
      Term leaf = value.type()->isTuple() ? d.project(value, field) : value;
      total = total + product(d, leaf, Term(&d, weights_[field], leaf.type()), isMagnitude);
    }
  return total;
}

/// The call itself; attributes are those of the sample.
Atom GradientProgram::called(const std::vector<Atom>& atoms) {
  return body_.call(*call_.row, atoms, std::span<const Setting>(settings_));
}

Term GradientProgram::slope(GradientCall& d) {
  Term total = d.number(runtime::Float64, 0);
  for (size_t i = 0; i < directions_.size(); ++i)
    for (size_t field = 0; field < directions_[i].size(); ++field)
      if (Atom cotangent = d.cotangents()[i][field]) {
        const Type* type = leavesOf(call_.operands[i])[field];
        total =
            total + product(d, Term(&d, cotangent, type), Term(&d, directions_[i][field], type));
      }
  return total;
}

/// Weights are numbers that vary with the place where only the data says how many there are, and
/// over names.
void GradientProgram::weigh(GradientCall& d) {
  std::vector<const Type*> leaves = leavesOf(call_.output);
  for (size_t field = 0; field < leaves.size(); ++field) {
    if (!leaves[field]->dtype.isFloat() || weights_[field])
      continue;
    Term leaf = call_.output->isTuple() ? d.result(field) : d.result();
    Term places = stdlib::castTo(stdlib::placesLike(leaf), leaf.dtype());
    weights_[field] = stdlib::map("cos", places + 1).atom();
  }
}

void GradientProgram::askRule(GradientCall& d) {
  std::get<GradientRule>(call_.row->gradient).build(d);
  for (const std::vector<Atom>& given : d.cotangents())
    isStepwise.push_back(std::ranges::all_of(given, [](Atom atom) { return !atom; }));
}

void GradientProgram::finish(const Term& answer) {
  entry = make_.define("main", make_.function(parameters_, body_.finish(answer.atom())));
}

void GradientProgram::writeQuotients(int exponent) {
  // Exact under a precision: a power of two.
  auto stepOf = [&](double sign) {
    return [exponent, sign](TermWriter& d, runtime::DType dtype) {
      Term power = d.call("power", {d.number(dtype, 2), d.number(dtype, -exponent)});
      return sign < 0 ? -power : power;
    };
  };
  Atom result = called(operands_);
  GradientCall d(body_,
                 {call_.operands, call_.output, call_.attributes, operands_, result, weights_});
  weigh(d);
  askRule(d);
  auto weighedAfter = [&](double sign) {
    return weighed(d, Term(&d, called(moved(d, directions_, stepOf(sign))), call_.output));
  };
  Term middle = weighed(d, Term(&d, result, call_.output)), given = slope(d);
  Term before = weighedAfter(-1), after = weighedAfter(1);
  Term perStep =
      d.call("power", {d.number(runtime::Float64, 2), d.number(runtime::Float64, exponent)});
  Term left = (middle - before) * perStep, right = (after - middle) * perStep;
  Term error = (left + right) * d.number(runtime::Float64, 0.5) - given;
  Term size = weighed(d, Term(&d, result, call_.output), true);
  finish(d.tuple({error, left, right, given, size}));
}

void GradientProgram::writeSlope() {
  Leaves steps;
  for (const Type* type : call_.operands)
    steps.push_back(floatParameters(type));
  std::vector<std::pair<size_t, const Var*>> weightSteps;
  for (size_t field = 0; field < weights_.size(); ++field)
    if (weights_[field])
      weightSteps.emplace_back(field, parameter(leavesOf(call_.output)[field]));
  const Var* distance = parameter(make_.types.scalar(runtime::Float64));
  auto step = [&](TermWriter& d, runtime::DType dtype) {
    return stdlib::castTo(Term(&d, distance, distance->annotation), dtype);
  };
  TermWriter before(body_);
  std::vector<Atom> operands = moved(before, steps, step);
  for (const auto& [field, along] : weightSteps) {
    Term weight(&before, weights_[field], along->annotation);
    weight = weight + step(before, weight.dtype()) * Term(&before, along, along->annotation);
    weights_[field] = weight.atom();
  }
  GradientCall d(body_, {call_.operands, call_.output, call_.attributes, operands, called(operands),
                         weights_});
  weigh(d);
  askRule(d);
  finish(slope(d));
}

} // namespace harness
