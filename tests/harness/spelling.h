// What Baton's own notation has beyond Relay's text, and which of it one text of a program uses.
//
// Whether a form is used at a place hangs on seed, form and place alone, so a program that was made
// smaller is written as it was where it is the same, and a form can be left out to see whether a
// finding needs it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace harness {

enum class Form : uint8_t {
  Alias,
  Alternatives,
  BareNumber,
  BracketedTuple,
  Constant,
  Default,
  ElseIf,
  Failure,
  FieldPattern,
  Guard,
  HiddenName,
  Import,
  InfixOperator,
  InlineBody,
  ListLiteral,
  ListPattern,
  LiteralPattern,
  Logic,
  LongType,
  MatchedCondition,
  NamedArgument,
  OpenParameter,
  ParameterPattern,
  PartialCall,
  PartialType,
  Pipe,
  PlacedPipe,
  PositionalAttribute,
  Prefix,
  Printed,
  RecordCall,
  Rest,
  ShortAttribute,
  ShortIndex,
  ShortName,
  SizeName,
  TakingLet,
  TensorLiteral,
  Transposition,
  Count
};

inline constexpr size_t formCount = size_t(Form::Count);

/// What a form is called in reports.
std::string_view formName(Form form);

/// Chooses forms for one text.
class Spelling {
public:
  /// The forms of a seed, of which one is taken wherever it may stand.
  explicit Spelling(uint64_t seed) : seed_(seed), wanted_(Form(seed % formCount)) {}

  /// Whether to use a form that may stand at a place; counts it if so.
  bool takes(Form form, uint64_t place, unsigned percent);
  /// A number below `bound`, which must not be 0, for what else is to be chosen there.
  size_t index(Form form, uint64_t place, size_t bound) const;
  void forbid(Form form) { isForbidden_[size_t(form)] = true; }
  /// How often each form was taken.
  const std::array<size_t, formCount>& counts() const { return counts_; }

private:
  uint64_t seed_;
  Form wanted_;
  std::array<bool, formCount> isForbidden_ = {};
  std::array<size_t, formCount> counts_ = {};
};

} // namespace harness
