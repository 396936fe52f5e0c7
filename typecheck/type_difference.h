// Where two types differ, in words: of large types nobody reads two whole texts to compare them.
#pragma once

#include "lang/source/diagnostic.h"
#include "lang/types/type.h"

namespace typecheck {

/// Two types that do not agree. Texts of long types have `...` for what agrees.
struct TypeDifference {
  lang::Words left, right;
  /// The first parts that differ, and where they are, such as "field `.1.0`"; empty at the top.
  const lang::Type *leftPart, *rightPart;
  lang::Words place;
  /// Whether the texts leave something out.
  bool isAbbreviated = false;
};

/// Whether types agree as far as they are known.
bool agree(const lang::Type* left, const lang::Type* right);

TypeDifference differenceOf(const lang::Type* left, const lang::Type* right);

/// A type for a message: of a long one what is deep inside, or behind many parts, is `...`.
lang::Words shortType(const lang::Type* type);

/// Says in a report where types differ: the place if the message leaves something out, and the
/// shapes of tensors.
void showDifference(lang::Diagnostic& report, const lang::Type* expected, const lang::Type* found);

} // namespace typecheck
