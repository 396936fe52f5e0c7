// The words of nests' texts, for who writes them and who reads them.
#pragma once

#include "lower/loops/nest.h"
#include "lower/tensor/words.h"

#include <string_view>

namespace loops {

using tensor::combinerOf;
using tensor::combinerWord;
using tensor::findsPlace;
using tensor::functionOf;
using tensor::resultTypeOf;
using tensor::signOf;
using tensor::wordOf;

std::string_view runKindWord(RunKind kind);
std::optional<RunKind> runKindOf(std::string_view word);

std::string_view numbersWord(Numbers numbers);
std::optional<Numbers> numbersOf(std::string_view word);

/// Whether a word means something in forms or lines, so that no size and no loop has it for a name.
bool isReserved(std::string_view word);

/// Calls `visit` with each operation that one needs.
template <typename Visit>
void forEachValue(const Operation& operation, Visit&& visit) {
  for (uint32_t operand : operation.operands)
    visit(operand);
  for (const Place& place : operation.places)
    if (place.value != none)
      visit(place.value);
}

} // namespace loops
