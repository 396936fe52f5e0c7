// A derivative that is asked for: what is wrong with the function, with the arguments that `wrt`
// names, and with what the function gives. Every part of it may wait for a type.
#pragma once

#include "lang/ir/differentiable.h"
#include "lang/op/relation.h"
#include "lang/types/type.h"

#include <optional>
#include <string>
#include <vector>

namespace stdlib::derivatives {

using lang::Type;

/// A derivative that is asked for: of which function, with respect to which of its arguments.
struct Question {
  const lang::RelationCall& call;
  std::vector<size_t> wrt = {};
  /// Whether they were given as a list, and the derivatives with respect to them are a tuple.
  bool isList = false;
  /// Whether a type that matters is not known yet.
  bool waits = false;
  /// What is wrong, once something is.
  std::optional<lang::RelationResult> failure = {};

  const Type& function() const { return *call.operands[0]; }
  lang::TypeContext& types() const { return call.types; }

  /// The first problem counts.
  void fail(lang::Words problem, std::vector<lang::CallFix> fixes = {});
};

/// Whether a type, whatever its extents may be, is still to be found out.
bool isOpen(const Type* type);
bool isFloat(const Type* type);
/// Whether a type parameter is in a type, outside of functions and references.
bool holdsParameter(const Type* type);
/// Whether a type has floats, or stands for types that may: callers tell what a type parameter is,
/// and copies for them are asked again.
bool mayHoldFloats(const Type* type);

/// Why operand 0 is no function that has a derivative, or the wait for it.
std::optional<lang::RelationResult> functionProblem(const lang::RelationCall& call);

/// Why there is no derivative with respect to a value of a type, as the end of a sentence; empty
/// when there is one.
std::string_view reasonAgainst(const Type* type);
/// Reads `wrt`.
void readArguments(Question& question);
/// Whether there are derivatives with respect to the arguments that were read.
void checkArguments(Question& question);

// What the function gives.

void checkScalar(Question& question);
void checkFloatTensors(Question& question);
void checkHoldsFloats(Question& question);

/// Whether a type is tensors, and tuples and records of them.
bool isMadeOfTensors(Question& question, const Type* type);
/// The tensors in such a type.
void addTensors(Question& question, const Type* type, std::vector<const Type*>& tensors);

} // namespace stdlib::derivatives
