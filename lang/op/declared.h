// Operators by name alone, for headers that hand them on: a change of lang/op/op.h then rebuilds
// what looks into rows.
#pragma once

#include <cstdint>
#include <span>

namespace lang {

struct OperatorRow;
class OperatorTable;
enum class Action : uint8_t;
using OperatorFamily = std::span<const OperatorRow>;

} // namespace lang
