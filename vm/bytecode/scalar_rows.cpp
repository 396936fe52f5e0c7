#include "vm/bytecode/scalar_rows.h"

#include <algorithm>
#include <type_traits>

namespace bytecode {

namespace {

using runtime::DType;
using runtime::ScalarFunction;
using vm::Op;

template <typename T>
constexpr DType dtypeOf() {
  return {std::is_integral_v<T> ? runtime::DTypeCode::Int : runtime::DTypeCode::Float,
          uint8_t(8 * sizeof(T))};
}

constexpr ScalarRow rows[] = {
#define INSTRUCTION(...)
#define SCALAR(name, text, form, function, type, ...)                                              \
  {RowForm::form, ScalarFunction::function, dtypeOf<type>(), Op::name},
#include "vm/machine/instructions.def"
#undef INSTRUCTION
};

struct ConversionRow {
  DType from, to;
  Op op;
};

constexpr ConversionRow conversions[] = {
#define INSTRUCTION(...)
#define CONVERSION(name, text, from, to, ...) {dtypeOf<from>(), dtypeOf<to>(), Op::Convert##name},
#include "vm/machine/instructions.def"
#undef INSTRUCTION
};

} // namespace

std::optional<Op> findConversion(DType from, DType to) {
  for (const ConversionRow& row : conversions)
    if (row.from == from && row.to == to)
      return row.op;
  return std::nullopt;
}

std::optional<Op> findScalar(RowForm form, ScalarFunction function, DType dtype) {
  for (const ScalarRow& row : rows)
    if (row.form == form && row.function == function && row.dtype == dtype)
      return row.op;
  return std::nullopt;
}

const ScalarRow* scalarRowOf(Op op) {
  auto found = std::ranges::find(rows, op, &ScalarRow::op);
  return found == std::ranges::end(rows) ? nullptr : found;
}

} // namespace bytecode
