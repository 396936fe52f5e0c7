// Forms over the sizes of a kernel as steps, without the table that they were written in.
#pragma once

#include "codegen/image/size_steps.h"
#include "lower/sizes/form.h"

#include <map>

namespace codegen {

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
