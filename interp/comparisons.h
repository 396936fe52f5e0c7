// What a run compares with declared types: arguments, results, variables, fields of new values.
// What that is, lang/calls/boundary.h says; here it is done with the sizes that calls keep.
#pragma once

#include "interp/observer.h"
#include "lang/calls/run_checks.h"

namespace interp {

class Comparisons {
public:
  using Fault = runtime::RunFault;
  using Value = runtime::Value;

  /// Both must outlive this.
  Comparisons(const lang::Module& module, const lang::Typing& typing)
      : typing_(typing), boundaries_(module, typing), checks_(module, boundaries_, tables_) {}

  /// Null for most functions.
  const checks::FunctionCheck* of(const lang::Function& function);
  bool isCompared(const lang::Var& var) const { return boundaries_.typeOf(var); }

  /// Compares the arguments of a call, which is null for the first one.
  std::optional<Fault> arguments(const checks::FunctionCheck& check, const Value& closure,
                                 std::span<const Value> arguments, const lang::Call* call);
  /// The sizes that the arguments gave which were compared last.
  const checks::KnownSizes& given() const { return given_; }

  std::optional<Fault> variable(Activation& activation, const lang::Var& var, const Value& value,
                                lang::SourceRange place);
  /// Compares what a call returns at `range`.
  std::optional<Fault> result(Activation& activation, const Value& value, lang::SourceRange range);
  /// Whether the result of a call needs no check of its own when it is that of a function with
  /// `next`, whose arguments were just compared.
  bool isResultImplied(Activation& activation, const checks::FunctionCheck* next);
  std::optional<Fault> fields(const lang::Constructor& constructor, const lang::Call& call,
                              std::span<const Value> fields);

  /// The sizes that the arguments of a run give, and its whole result.
  checks::KnownSizes sizesOf(const lang::Function& entry, std::span<const Value> arguments) {
    return lang::sizesOf(entry, arguments, checks_);
  }
  std::optional<Fault> whole(const lang::Function& entry, const Value& result,
                             const checks::KnownSizes& sizes);

  /// The sizes that a closure takes with it from a call.
  Value outerSizes(const checks::FunctionCheck& check, Activation& activation);

private:
  checks::KnownSizes& sizesIn(Activation& activation);

  const lang::Typing& typing_;
  lang::Boundaries boundaries_;
  checks::Tables tables_;
  lang::RunChecks checks_;
  /// `none_` is for calls that keep none.
  checks::KnownSizes given_, none_;
};

} // namespace interp
