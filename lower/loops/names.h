// The words of nests' texts, for who writes them and who reads them.
#pragma once

#include "lower/loops/nest.h"

#include <string_view>

namespace loops {

/// In front of `=`: `+`, `max`, `argmin`.
std::string_view combinerWord(Combiner combiner);
std::optional<Combiner> combinerOf(std::string_view word);
/// Whether the combiner looks for a place.
bool findsPlace(Combiner combiner);

/// As an operator between its operands, if it is written so.
std::string_view signOf(ScalarFunction function);
/// As a function: `exp`, `floor_divide`.
std::string wordOf(ScalarFunction function);
/// By either.
std::optional<ScalarFunction> functionOf(std::string_view word);

std::string_view runKindWord(RunKind kind);
std::optional<RunKind> runKindOf(std::string_view word);

std::string_view numbersWord(Numbers numbers);
std::optional<Numbers> numbersOf(std::string_view word);

/// Whether a word means something in forms or lines, so that no size and no loop has it for a name.
bool isReserved(std::string_view word);

/// The element type that a function gives for operands of these types.
DType resultTypeOf(ScalarFunction function, DType operand);

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
