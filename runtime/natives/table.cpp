// All native functions, by name.
#include "runtime/natives/table.h"
#include "runtime/natives/coordinates.h"
#include "runtime/natives/places.h"
#include "runtime/natives/proposal.h"
#include "runtime/natives/random.h"
#include "runtime/natives/recurrence.h"
#include "runtime/natives/scatter.h"
#include "runtime/natives/slices.h"
#include "runtime/natives/sort.h"
#include "runtime/natives/sparse.h"
#include "runtime/natives/suppression.h"

#include <algorithm>

namespace natives {

namespace {

constexpr const Native* all[] = {&addSparse,         &detectBoxes,      &distinctElements,
                                 &drawOutcomes,      &fillDense,        &fillDenseByOperand,
                                 &fillEmptyRows,     &firstOfLines,     &firstOfLinesByOperand,
                                 &invertPermutation, &linearRecurrence, &multiplySparse,
                                 &nonZeroPlaces,     &normalByOperand,  &normalNumbers,
                                 &orderOfLines,      &proposeBoxes,     &randomWords,
                                 &scatterElements,   &scatterSlices,    &searchLines,
                                 &setSlice,          &sortLines,        &splitKey,
                                 &suppressBoxes,     &suppressClasses,  &transposeSparse,
                                 &uniformByOperand,  &uniformNumbers,   &validBoxes};

} // namespace

std::span<const Native* const> table() {
  return all;
}

const Native* find(std::string_view name) {
  auto found = std::ranges::find(all, name, &Native::name);
  return found == std::end(all) ? nullptr : *found;
}

} // namespace natives
