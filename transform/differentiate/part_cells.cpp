// Variables that the new code knows before it sees the function's body are captured, but for the
// parameters.
#include "transform/differentiate/part_cells.h"

#include "lang/ir/walk.h"

#include <algorithm>

namespace transform {

using namespace lang;

PartCells::PartCells(Translation& code, const Function& function, const PartReads& reads,
                     BlockBuilder& out) {
  auto look = [&](const Binding& binding) {
    const auto* call = binding.value->as<Call>();
    for (size_t i = 0; call && i < call->arguments.size(); ++i) {
      const Expr* read = reads.readBy(*call, code.rowOf(*call), i);
      const auto* var = read ? read->as<Var>() : nullptr;
      if (var && std::ranges::count(function.parameters, var) == 0)
        add(code, *var, out);
    }
  };
  walk(*function.body, look, [](const Operand&) {});
}

void PartCells::add(Translation& code, const Var& var, BlockBuilder& out) {
  const Type* type = code.typing.of(var);
  if (!code.isKnown(var) || !code.isVaried(static_cast<const Expr&>(var)) || find(var) ||
      !type->isTensor() || type->shape.empty())
    return;
  Atom zero = code.types.zero(out, code.mapped(var), type);
  cells_.push_back({&var, zero, out.bind(code.make.refNew(zero))});
}

PartCells::Cell* PartCells::find(const Var& var) {
  auto found = std::ranges::find(cells_, &var, &Cell::captured);
  return found == cells_.end() ? nullptr : &*found;
}

std::vector<PartCells::Cell> PartCells::used() const {
  std::vector<Cell> used;
  std::ranges::copy_if(cells_, std::back_inserter(used), &Cell::isUsed);
  return used;
}

Atom takeContent(Builder& make, PartCells::Cell& cell, BlockBuilder& out) {
  cell.isUsed = true;
  Atom content = out.let("g", make.refRead(cell.cell));
  out.let("", make.refWrite(cell.cell, cell.zero));
  return content;
}

void putBack(Builder& make, const PartCells::Cell& cell, Atom content, BlockBuilder& out) {
  out.let("", make.refWrite(cell.cell, content));
}

} // namespace transform
