// What checking a module gives: a table beside it, by the numbers of its variables and functions.
//
// Checking does not change a module, so it can be checked as often as one likes, before and after a
// pass. A typing speaks of the module that was checked and of no other, not even of a copy. What is
// not known is null or empty: nothing is known of a module that was not checked, and not all of one
// with errors.
#pragma once

#include "lang/ir/expr.h"

namespace lang {

/// What a definition needs of its named dimensions: `dim` is at least `least` and a multiple of
/// `divisor`, because of the operator call at `range`.
struct Requirement {
  const Dim* dim;
  int64_t least;
  const OperatorRow* row;
  SourceRange range;
  int64_t divisor = 1;

  bool operator==(const Requirement&) const = default;
};

/// The types of one module.
class Typing {
public:
  /// The type of an atom that is a variable or a constant; null for any other expression.
  const Type* of(const Expr& atom) const;
  /// The type of a function's result.
  const Type* result(const Function& function) const;
  /// The type parameters of a function: the declared ones, then those that the checker found.
  std::span<const TypeParameter* const> generics(const Function& function) const;
  /// What the body of a global's function takes for granted of its named dimensions.
  std::span<const Requirement> requirements(const Function& function) const;

  void setType(const Var& var, const Type* type);
  void setResult(const Function& function, const Type* type);
  /// `generics` begin with the declared ones.
  void setGenerics(const Function& function, std::vector<const TypeParameter*> generics);
  void setRequirements(const Function& function, std::vector<Requirement> requirements);

  bool operator==(const Typing&) const = default;

private:
  struct FunctionTyping {
    const Type* result = nullptr;
    /// Empty when there are no others than the declared ones.
    std::vector<const TypeParameter*> generics = {};
    std::vector<Requirement> requirements = {};

    bool operator==(const FunctionTyping&) const = default;
  };
  const FunctionTyping* find(const Function& function) const;
  FunctionTyping& at(const Function& function);

  /// By Var::number and Function::number; what lies beyond the end is not known.
  std::vector<const Type*> vars_;
  std::vector<FunctionTyping> functions_;
};

/// The type of a function with its type parameters, or null when a part of it is not known.
const Type* functionType(TypeContext& types, const Function& function, const Typing& typing);

} // namespace lang
