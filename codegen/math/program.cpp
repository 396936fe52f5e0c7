#include "codegen/math/program.h"

#include "codegen/math/functions.h"

namespace codegen {

namespace {

struct OpRow {
  std::string_view name;
  size_t arity;
};

constexpr std::array opRows{
    OpRow{"Parameter", 0},
    OpRow{"Constant", 0},
    OpRow{"Add", 2},
    OpRow{"Subtract", 2},
    OpRow{"Multiply", 2},
    OpRow{"Divide", 2},
    OpRow{"MultiplyAdd", 3},
    OpRow{"SquareRoot", 1},
    OpRow{"Negate", 1},
    OpRow{"Absolute", 1},
    OpRow{"CopySign", 2},
    OpRow{"Floor", 1},
    OpRow{"RoundEven", 1},
    OpRow{"Less", 2},
    OpRow{"LessEqual", 2},
    OpRow{"Equal", 2},
    OpRow{"NotEqual", 2},
    OpRow{"Select", 3},
    OpRow{"And", 2},
    OpRow{"Or", 2},
    OpRow{"Xor", 2},
    OpRow{"Not", 1},
    OpRow{"ShiftLeft", 1},
    OpRow{"ShiftRightLogical", 1},
    OpRow{"ShiftRightArithmetic", 1},
    OpRow{"Bitcast", 1},
    OpRow{"Convert", 1},
};
static_assert(opRows.size() == size_t(MathOp::Convert) + 1);

} // namespace

std::string_view mathOpName(MathOp op) {
  return opRows[size_t(op)].name;
}

size_t mathOpArity(MathOp op) {
  return opRows[size_t(op)].arity;
}

} // namespace codegen
