// One tensor function over open extents as something to call: a plan is made for the extents of a
// call, and kept while it is used.
#pragma once

#include "lower/runner.h"
#include "runtime/recent.h"
#include "tensor/bind.h"

namespace lower {

class Kernel {
public:
  /// Extents that the function leaves open are given by the inputs' shapes and the results'.
  explicit Kernel(tensor::TensorFunction function) : binder_(std::move(function)) {}

  /// What computes the function for these shapes; it serves one run at a time.
  std::shared_ptr<Runner> runnerFor(std::span<const runtime::Shape> inputs,
                                    std::span<const runtime::Shape> results);

private:
  struct Key {
    std::vector<int64_t> extents;

    friend bool operator==(const Key&, const Key&) = default;
    size_t hash() const;
  };
  struct Planned {
    Key key;
    Runner runner;

    size_t bytes() const { return runner.bytes() + key.extents.size() * sizeof(int64_t); }
  };

  tensor::ExtentBinder binder_;
  runtime::RecentlyUsed<Planned> planned_;
};

} // namespace lower
