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

#include "lang/ir/module.h"
#include "lang/ir/typing.h"

#include <memory>
#include <unordered_set>

namespace lang {

/// What is looked at when a function is called and when it returns.
struct FunctionChecks {
  const Function* function = nullptr;
  /// For messages: `@f`, `%f` or empty.
  std::string name;
  /// The parameters that are compared, by position, with the types that they must have.
  struct Parameter {
    uint32_t position;
    const Type* type;
  };
  std::vector<Parameter> parameters;
  /// What the result must be, or null when it is not compared.
  const Type* result = nullptr;
  /// Names whose sizes a closure takes from the function around it.
  std::vector<const Dim*> outer;
  /// What the body takes for granted of sizes.
  std::span<const Requirement> requirements = {};
  /// Whether something in the body needs the sizes that the arguments gave.
  bool keepsSizes = false;
};

/// What is looked at in a module.
class Boundaries {
public:
  /// Points into the typing.
  Boundaries(const Module& module, const Typing& typing);

  /// Null for most functions.
  const FunctionChecks* of(const Function& function) const {
    return functions_[function.number].get();
  }
  /// What the value of a binding or of a pattern's variable must be, or null when it is not
  /// compared.
  const Type* typeOf(const Var& var) const { return vars_[var.number]; }
  bool isChecked(const Constructor& constructor) const {
    return !constructors_.empty() && constructors_.contains(&constructor);
  }
  /// Whether a call is one of a constructor, and compares the fields that it is given.
  bool comparesFields(const Call& call) const {
    const auto* constructor = call.callee.value->as<Constructor>();
    return constructor && isChecked(*constructor) && !provenCalls_.contains(&call);
  }

private:
  friend class BoundaryFinder;
  friend class ProvenSizes;
  std::vector<std::unique_ptr<FunctionChecks>> functions_;
  std::vector<const Type*> vars_;
  std::unordered_set<const Constructor*> constructors_;
  /// Calls of those whose fields fit.
  std::unordered_set<const Call*> provenCalls_;
};

} // namespace lang
