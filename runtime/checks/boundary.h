// Where a value crosses into a declared type: what is looked at there, and what is said when it
// does not fit. When that is, lang/calls/boundary.h says.
#pragma once

#include "runtime/checks/sizes.h"
#include "runtime/run_fault.h"

namespace checks {

using runtime::RunFault;
using runtime::SourceRange;

inline constexpr uint32_t none = UINT32_MAX;

/// A parameter that is compared; the position is the source of the sizes that it gives.
struct Parameter {
  uint32_t position = 0;
  Declared type;
  /// Whether the program says so, or it was found out.
  bool isDeclared = false;
  /// `%x`, or empty.
  std::string name;
  SourceRange range;
};

/// What a body takes for granted of a size: at least so much, and a multiple of `divisor`.
struct Need {
  uint32_t size = 0;
  int64_t least = 0;
  int64_t divisor = 1;
  /// The operator that needs it, or empty.
  std::string op;
  SourceRange range;
};

/// What is looked at when a function is called and when it returns.
struct FunctionCheck {
  /// For messages: `@f`, `%f` or empty.
  std::string name;
  std::vector<Parameter> parameters;
  std::optional<Declared> result;
  bool isResultDeclared = false;
  /// Names whose sizes a closure takes from the function around it.
  std::vector<uint32_t> outer;
  std::vector<Need> needs;
  /// Whether something in the body needs the sizes that the arguments gave.
  bool keepsSizes = false;
};

/// What the value of a variable must be.
struct ValueCheck {
  Declared type;
  bool isDeclared = false;
  /// As it was given, or empty.
  std::string name;
  SourceRange range;
  /// The function whose parameters gave sizes, by number, or none.
  uint32_t function = none;
};

/// What the fields of a new value must be.
struct FieldsCheck {
  std::string constructor;
  std::vector<Declared> fields;
};

/// All that one program has of them, named by their numbers.
struct Tables {
  SizeTable sizes;
  std::vector<FunctionCheck> functions;
  std::vector<ValueCheck> values;
  std::vector<FieldsCheck> fields;
};

/// Where sizes come from that no parameter gave.
inline constexpr uint32_t fromOutside = UINT32_MAX, fromResult = UINT32_MAX - 1;

/// A call in the text. Without ranges of arguments, these stand where the call does.
struct CalledFrom {
  SourceRange range;
  std::vector<SourceRange> arguments = {};

  SourceRange argument(size_t i) const { return i < arguments.size() ? arguments[i] : range; }
};

/// Why a call is refused, with the place in the callee.
struct CallFault {
  RunFault fault;
  /// What to say of that place, if it is one, when the fault is shown at the call.
  std::string label;
  /// The argument that does not fit, if it is one.
  std::optional<uint32_t> argument = {};
};
/// The fault as it is seen from a call.
RunFault seenFrom(const CalledFrom& call, CallFault fault);

/// Compares the arguments of a call, whose sizes go to `sizes`, and what the body needs of them.
std::optional<CallFault> checkArguments(const FunctionCheck& check, const SizeTable& table,
                                        std::span<const runtime::Value> arguments,
                                        KnownSizes& sizes);

/// Learns the sizes that arguments give, which were compared before; parameters behind them count
/// for nothing.
void learnSizes(const FunctionCheck& check, const SizeTable& table,
                std::span<const runtime::Value> arguments, KnownSizes& sizes);

/// Compares what a function returns at `range`; learns sizes of names that only the result has.
std::optional<RunFault> checkResult(const FunctionCheck& check, const SizeTable& table,
                                    const runtime::Value& value, KnownSizes& sizes,
                                    SourceRange range);

/// Compares the value of a variable; it is written at `place`, if anywhere. Names without a size
/// are free.
std::optional<RunFault> checkValue(const ValueCheck& check, const Tables& tables,
                                   const runtime::Value& value, const KnownSizes& sizes,
                                   SourceRange place);

/// Compares the fields of a new value; nothing but the call has a place.
std::optional<CallFault> checkFields(const FieldsCheck& check, const SizeTable& table,
                                     std::span<const runtime::Value> fields);

/// Says that a part of the result of a run, which `misfit` is, is not of the type `type`, which
/// `wanted` tells.
RunFault wholeFault(const FunctionCheck* entry, const Declared& wanted, const runtime::Words& type,
                    bool isDeclared, const runtime::Value& misfit, const SizeTable& table,
                    const KnownSizes& sizes, SourceRange range);

/// Whether every value that fits `inner` fits `outer`, so that a check of `inner` is enough.
bool implies(const Declared& inner, const KnownSizes& innerSizes, const Declared& outer,
             const KnownSizes& outerSizes, const SizeTable& table);

} // namespace checks
