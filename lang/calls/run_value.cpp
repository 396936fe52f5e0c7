#include "lang/calls/run_value.h"

#include "lang/op/op.h"

namespace lang {

runtime::Value operatorValue(const OperatorRow& row) {
  return runtime::symbolValue(runtime::ValueKind::Operator, {&row, row.name});
}

} // namespace lang
