// Variables that the new code knows before it sees the function's body are captured, but for the
// parameters.
#include "transform/differentiate/part_cells.h"

#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "lang/rules/gradient.h"

#include <algorithm>

namespace transform {

using namespace lang;

PartCells::PartCells(Translation& code, const Function& function, BlockBuilder& out) {
  auto look = [&](const Binding& binding) {
    const auto* call = binding.value->as<Call>();
    const OperatorRow* row = call ? code.rowOf(*call) : nullptr;
    const auto* rule = row ? std::get_if<GradientRule>(&row->gradient) : nullptr;
    const auto* var = rule && rule->addsParts ? call->arguments[0].value->as<Var>() : nullptr;
    if (!var || !code.isKnown(*var) || !code.isVaried(static_cast<const Expr&>(*var)) ||
        find(*var) || std::ranges::count(function.parameters, var) > 0)
      return;
    const Type* type = code.typing.of(*var);
    if (!type->isTensor() || type->shape.empty())
      return;
    Atom zero = code.types.zero(out, code.mapped(*var), type);
    cells_.push_back({var, zero, out.bind(code.make.refNew(zero))});
  };
  walk(*function.body, look, [](const Operand&) {});
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
