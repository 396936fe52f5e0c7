// Types at run time: where a value crosses into one, and what is looked at there.
//
// `?` lets the checker take a tensor of unknown size for one of a known size, also inside function
// types, data types and references. What it cannot prove is compared when a call binds parameters,
// a constructor its fields, a function returns, and where a value comes out of what may hold
// another one than its type says: the result of a call, a part that a pattern names, what a
// reference holds, the value of a branch. Declared and inferred types count alike. Only tensors are
// compared, alone or in tuples: what lies in data types and closures is compared when it comes out,
// and in the result of a run at its end. A type that names no size costs nothing.
#pragma once

#include "interp/interpret.h"
#include "lang/shape_match.h"

#include <optional>
#include <unordered_set>

namespace interp {

/// What is looked at when a function is called and when it returns.
struct FunctionChecks {
  const lang::Function* function = nullptr;
  /// For messages: `@f`, `%f` or empty.
  std::string name;
  /// The parameters that are compared, by position, with the types that they must have.
  struct Parameter {
    uint32_t position;
    const lang::Type* type;
  };
  std::vector<Parameter> parameters;
  /// What the result must be, or null when it is not compared.
  const lang::Type* result = nullptr;
  /// Names whose sizes a closure takes from the function around it.
  std::vector<const lang::Dim*> outer;
  /// What the body takes for granted of sizes.
  std::span<const lang::Requirement> requirements = {};
  /// Whether something in the body needs the sizes that the arguments gave.
  bool keepsSizes = false;
};

/// What is looked at in a module.
class Boundaries {
public:
  /// Points into the typing.
  Boundaries(const lang::Module& module, const lang::Typing& typing);

  /// Null for most functions.
  const FunctionChecks* of(const lang::Function& function) const {
    return functions_[function.number].get();
  }
  /// What the value of a binding or of a pattern's variable must be, or null when it is not
  /// compared.
  const lang::Type* typeOf(const lang::Var& var) const { return vars_[var.number]; }
  bool isChecked(const lang::Constructor& constructor) const {
    return !constructors_.empty() && constructors_.contains(&constructor);
  }

private:
  friend class BoundaryFinder;
  std::vector<std::unique_ptr<FunctionChecks>> functions_;
  std::vector<const lang::Type*> vars_;
  std::unordered_set<const lang::Constructor*> constructors_;
};

/// Where sizes come from that no parameter gave.
inline constexpr uint32_t fromOutside = UINT32_MAX, fromResult = UINT32_MAX - 1;

/// Compares the arguments of a call, whose sizes go to `sizes`, and what the body requires of them.
/// `call` is null when there is none in the text.
std::optional<Fault> checkArguments(const FunctionChecks& checks, std::span<const Value> arguments,
                                    const lang::Call* call, lang::DimSizes& sizes);

/// Compares what a function returns at `range`; learns sizes of names that only the result has.
std::optional<Fault> checkResult(const FunctionChecks& checks, const Value& value,
                                 lang::DimSizes& sizes, lang::SourceRange range);

/// Compares the value of a variable with `type`; it is written at `place`, if anywhere. Names
/// without a size are free.
std::optional<Fault> checkVar(const lang::Function& function, const lang::Var& var,
                              const lang::Type& type, lang::SourceRange place, const Value& value,
                              const lang::DimSizes& sizes);

/// The first tensor anywhere in a value, also in data types and references, that does not fit, with
/// the type that it should have.
struct WholeMisfit {
  const lang::Type* type;
  const Value* value;
};
std::optional<WholeMisfit> findWholeMisfit(const lang::Type& type, const Value& value,
                                           const lang::DimSizes& sizes);

/// Compares all tensors in the result of a run with its type.
std::optional<Fault> checkWhole(const lang::Function& entry, const lang::Type& type,
                                const Value& value, const lang::DimSizes& sizes);

/// Compares the fields of a new value of a data type.
std::optional<Fault> checkFields(const lang::Constructor& constructor,
                                 std::span<const Value> fields, const lang::Call& call);

/// Whether every value that fits `inner` fits `outer`, so that a check of `inner` is enough.
bool implies(const lang::Type& inner, const lang::DimSizes& innerSizes, const lang::Type& outer,
             const lang::DimSizes& outerSizes);

} // namespace interp
