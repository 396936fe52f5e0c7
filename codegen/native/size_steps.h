// Forms over the sizes of a kernel as a flat list of steps, so that they can be kept with machine
// code, without the table that they were written in.
#pragma once

#include "lower/sizes/form.h"

namespace codegen {

enum class SizeStepKind : uint8_t { Number, Size, Sum, Product, Quotient, Least, Greatest };

/// A Number is `a`, a Size that with the number `a`; of others `a` and `b` are earlier steps.
struct SizeStep {
  SizeStepKind kind;
  int64_t a = 0, b = 0;
  friend auto operator<=>(const SizeStep&, const SizeStep&) = default;
};

using SizeSteps = std::vector<SizeStep>;

/// Whether each step hangs on earlier ones and on so many sizes alone.
bool areSound(const SizeSteps& steps, size_t sizes);

/// What each step gives for these sizes; nothing where it, or what it hangs on, passes 64 bits or
/// divides by what is not positive. The steps are sound.
std::vector<std::optional<int64_t>> valuesOf(const SizeSteps& steps,
                                             std::span<const int64_t> sizes);

/// Writes forms of a table as steps, each once.
class SizeStepWriter {
public:
  /// The names of the sizes, in their order; forms have no others.
  SizeStepWriter(const sizes::Table& table, std::vector<sizes::Name> sizes);

  /// The step that gives a form.
  uint32_t stepOf(sizes::Form form);
  SizeSteps take() { return std::move(steps_); }

private:
  uint32_t stepOf(const sizes::Term& term);
  uint32_t stepOf(sizes::Atom atom);
  uint32_t step(SizeStep step);

  const sizes::Table& table_;
  std::vector<sizes::Name> sizes_;
  SizeSteps steps_;
  std::map<SizeStep, uint32_t> known_;
  std::map<sizes::Form, uint32_t> ofForm_;
};

} // namespace codegen
