// Cells for tensors that a closure captures and reads in parts.
//
// What a closure captures gathers its cotangent in a cell, since calls may come from anywhere
// (adjoint.h). Of a tensor that is read in parts the cell's content itself is added to, in place,
// by operators and by functions that the closure hands the tensor to: while that happens the cell
// holds zeros that are made once with the closure, so that nobody else holds what is added to.
// Nothing that could call a function value runs meanwhile, so no other call of the closure sees
// that.
#pragma once

#include "transform/differentiate/part_reads.h"
#include "transform/differentiate/translation.h"

#include <vector>

namespace transform {

class PartCells {
public:
  /// A captured variable, its cell, and zeros like it.
  struct Cell {
    const lang::Var* captured;
    lang::Atom zero;
    lang::Atom cell;
    bool isUsed = false;
  };

  /// Makes the cells of a function literal in `out`, where it is made itself.
  PartCells(Translation& code, const lang::Function& function, const PartReads& reads,
            lang::BlockBuilder& out);

  /// The cell of a variable, or null.
  Cell* find(const lang::Var& var);
  /// The cells that something was added to.
  std::vector<Cell> used() const;

private:
  void add(Translation& code, const lang::Var& var, lang::BlockBuilder& out);

  std::vector<Cell> cells_;
};

/// What a cell holds, which is to be put back with more in it by `putBack`.
lang::Atom takeContent(lang::Builder& make, PartCells::Cell& cell, lang::BlockBuilder& out);
void putBack(lang::Builder& make, const PartCells::Cell& cell, lang::Atom content,
             lang::BlockBuilder& out);

} // namespace transform
