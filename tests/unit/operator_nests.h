// Loop nests of calls of all operators, with data, and what they are to give.
//
// BATON_SCHEDULES is the number of nests for each row of the operator table.
#pragma once

#include "lower/loops/nest.h"
#include "runtime/fault.h"
#include "runtime/value.h"
#include "tests/harness/random.h"

#include <functional>
#include <optional>

/// The nest of a call, whose extents are numbers.
struct NestCase {
  std::string_view row;
  tensor::TensorFunction function;
  std::vector<runtime::Value> inputs;
  loops::Nest nest;

  /// What speaks against results or a fault, by the reference; empty when nothing does.
  std::string disagreement(std::span<const runtime::Value> results,
                           const runtime::Fault* fault) const;
};

void forEachNestCase(uint64_t seed,
                     const std::function<void(const NestCase&, harness::Random&)>& check);
