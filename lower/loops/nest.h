// Loop nests: what a kernel does, loop by loop, as a tree that is rewritten, verified and printed.
//
// lower/loops/ lies between tensor functions, which say what every element is, and back ends, which
// spell out loops. A nest is a plain value: statements under loops and conditions, buffers, and
// forms (lower/sizes) over sizes and the variables of loops for every position. Whoever changes a
// nest makes a new one and asks the verifier (verify.h), so a rewrite need not prove what it does.
//
// Legality hangs on coordinates. A statement defines elements of its target: the positions that it
// stores at are its spatial coordinates, one for each dimension; a statement with a combiner runs
// over reduced coordinates besides, which it names. Loops may be cut, joined and moved as long as
// all coordinates between the place where the target is allocated and the statement are still gone
// through once. All loops start at 0.
#pragma once

#include "lower/sizes/facts.h"
#include "lower/tensor/expression.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace loops {

using runtime::DType;
using runtime::ScalarFunction;
using sizes::Form;
using sizes::Name;
using tensor::Combiner;

inline constexpr uint32_t none = UINT32_MAX;

enum class Space : uint8_t { Input, Output, Scratch };

/// Elements in row-major order. Scratch is there from its Allocation to the end of the body that
/// holds that; what it holds first is anything.
struct Buffer {
  std::string name;
  DType dtype;
  std::vector<Form> extents;
  Space space;
};

/// Where a load reads along one dimension: a form, or the value of an int64 operation. `isChecked`
/// when it may lie outside, which is a fault.
struct Place {
  Form form = {};
  uint32_t value = none;
  bool isChecked = false;
};

enum class OperationKind : uint8_t { Number, Position, Load, Apply, Cast };

/// One step of straight code; operands are earlier ones. A step counts only as far as the values
/// that are stored need it: of a Select the chosen side, of a load the value outside of its buffer.
struct Operation {
  OperationKind kind;
  DType dtype;
  /// Number: as in tensor::ScalarNumber.
  double real = 0;
  int64_t integer = 0;
  /// Position: an int64.
  Form position = {};
  /// Load. Its operand, if it has one, is the value at places outside.
  uint32_t buffer = none;
  std::vector<Place> places = {};
  ScalarFunction function = ScalarFunction::Add;
  std::vector<uint32_t> operands = {};
};

/// A value and the element that it goes to.
struct Store {
  uint32_t buffer;
  std::vector<Form> position;
  uint32_t value;
};

/// A coordinate that a statement with a combiner goes through besides those that it stores at, from
/// 0 to its extent.
struct Reduced {
  Form position;
  Form extent;
};

/// Straight code, and where its values go. With a combiner they are joined to what is there. The
/// Arg combiners have two stores: a place, and the extreme value that is there. Without a combiner
/// a statement may read its own target at elements before the one that it stores, as sums so far
/// do.
struct Statement {
  std::vector<Operation> operations;
  std::optional<Combiner> combiner;
  std::vector<Store> stores;
  std::vector<Reduced> reduced = {};
};

/// Grouped: a few iterations at once whose elements lie side by side, in each lane of a loop
/// around; they may be joined to one element.
enum class RunKind : uint8_t { Serial, Unrolled, Vector, Parallel, Grouped };

struct Loop {
  Name variable;
  Form end;
  RunKind kind = RunKind::Serial;
};

/// left < right.
struct Condition {
  Form left, right;
};

struct Allocation {
  uint32_t buffer;
};

/// Only loops and conditions have a body.
struct Node {
  std::variant<Loop, Condition, Allocation, Statement> what;
  std::vector<Node> body = {};
};

/// What floating point may do: sums in the order of the text, or in any.
enum class Numbers : uint8_t { Reference, Reordered };

/// What a kernel takes for granted of one of its sizes.
struct Assumption {
  Name size;
  int64_t least = 0, multiple = 1;
};

struct Nest {
  std::string name;
  sizes::Table table = {};
  /// The sizes that a call gives, with what is assumed of them.
  std::vector<Assumption> sizes = {};
  /// Inputs, then outputs, then scratch.
  std::vector<Buffer> buffers = {};
  Numbers numbers = Numbers::Reordered;
  std::vector<Node> body = {};
};

/// Loops and conditions are nested no deeper; what reads or builds nests sees to it, so walks
/// may recur.
inline constexpr size_t deepestNesting = 48;

/// What is known at the outermost place of a nest.
sizes::Facts factsOf(Nest& nest);
/// Adds what a loop or a condition says to those inside.
void enter(sizes::Facts& facts, sizes::Table& table, const Node& node);

/// The nest as a text, which read.h takes.
std::string textOf(const Nest& nest);

} // namespace loops
