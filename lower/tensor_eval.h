// Evaluation of tensor functions: plan once, run often.
//
//   Plan plan = compile(call.take());
//   std::vector<Array> outputs;
//   if (auto fault = run(plan, inputs, precision, outputs)) ... fault->problem ...
//
// A plan is for constant extents. It is immutable and may run in several threads at once, as long
// as all runs have the same precision.
#pragma once

#include "lang/tensor_expr.h"
#include "lower/array.h"
#include "runtime/fault.h"

#include <optional>
#include <string>

namespace lower {

struct PlanData;

/// A planned tensor function; copies share it.
class Plan {
public:
  Plan() = default;
  explicit Plan(std::shared_ptr<const PlanData> data) : data_(std::move(data)) {}
  const PlanData& data() const { return *data_; }
  explicit operator bool() const { return data_ != nullptr; }

private:
  std::shared_ptr<const PlanData> data_;
};

/// Plans a function whose extents are all constants. Problems show when the plan runs.
Plan compile(lang::TensorFunction&& function);

/// Runs a plan; `outputs` becomes the results, in order. Inputs whose floats are not stored as
/// `precision` asks are converted first.
/// A fault is a division by zero, a position outside a tensor, no memory, or a function that is not
/// well formed (which the plan remembers).
std::optional<runtime::Fault> run(const Plan& plan, std::span<const Array> inputs,
                                  Precision precision, std::vector<Array>& outputs);

} // namespace lower
