// Copies that go along what they read in one loop and along what they write in the loop inside, as
// packing and transposing do: squares of elements are turned around in registers.
#pragma once

#include "codegen/llvm/statement.h"

namespace codegen {

/// Elements that lie side by side in `from` while `outer` runs, and in `to` while `inner` does,
/// which is all that `outer` holds. Both must outlive this.
struct Transposition {
  const loops::Node *outer, *inner;
  uint32_t from, to;
  /// Where elements are, as one number, and how many lie between those of `from` for `inner`, and
  /// of `to` for `outer`.
  Form read, written, rowsApart, columnsApart;
};

/// What a loop is, if its squares are worth turning around.
std::optional<Transposition> transpositionOf(loops::Nest& nest, const loops::Node& loop,
                                             uint32_t vectorBytes);

/// The iterations of the outer loop from `begin` on to before `end`.
void writeTransposition(const Surroundings& around, const Transposition& copy, const IrValue& begin,
                        const IrValue& end);

} // namespace codegen
