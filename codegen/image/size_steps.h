// Arithmetic on the sizes of a kernel as a flat list of steps, which is kept with machine code and
// needs nothing of what forms are (codegen/native/size_step_writer.h).
#pragma once

#include "runtime/list.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace codegen {

enum class SizeStepKind : uint8_t { Number, Size, Sum, Product, Quotient, Least, Greatest };

/// A Number is `a`, a Size that with the number `a`; of others `a` and `b` are earlier steps.
struct SizeStep {
  SizeStepKind kind;
  int64_t a = 0, b = 0;
  friend auto operator<=>(const SizeStep&, const SizeStep&) = default;
};

using SizeSteps = runtime::List<SizeStep>;

/// Whether each step hangs on earlier ones and on so many sizes alone.
bool areSound(const SizeSteps& steps, size_t sizes);

/// What each step gives for these sizes; nothing where it, or what it hangs on, passes 64 bits or
/// divides by what is not positive. The steps are sound.
runtime::List<std::optional<int64_t>> valuesOf(const SizeSteps& steps,
                                               std::span<const int64_t> sizes);

} // namespace codegen
