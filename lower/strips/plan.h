// What a tensor function becomes before it runs: per stage a graph of values, and from it a nest of
// loops whose bodies are steps over strips.
//
// The way: lower (plan_lower) turns the expression into a Graph in which index arithmetic is affine
// where it can be and every load is safe to execute; guards (plan_guards) adds the checks that make
// a fault of those positions and divisors that count; contract (plan_contract) takes sums of
// products out; merge (plan_merge) joins axes that every access walks as one; lanes (plan_lanes)
// chooses the axis of the strips; schedule (plan_schedule) places each value at the outermost loop
// that it depends on. Axes of extent 1 are gone after lowering.
//
// Whatever hangs on extents is a Size (size.h), so a plan serves a class of extents: openSizes()
// lists what has to be written anew for others of the class. Stages ask Sizes before they decide.
#pragma once

#include "lower/elements/kernels.h"
#include "lower/elements/products.h"
#include "lower/strips/size.h"
#include "runtime/kernel_code.h"
#include "runtime/list.h"

#include <bitset>
#include <optional>
#include <string>

namespace lower {

inline constexpr size_t maxAxes = 128;
inline constexpr uint32_t none = UINT32_MAX;
using AxisSet = std::bitset<maxAxes>;
/// A bool for each value, tensor and so on; bits would be more code and no faster.
using Flags = List<uint8_t>;

/// One summand of an affine form: a coefficient times the position along an axis.
struct AffineTerm {
  uint32_t axis;
  Size coefficient;
};

/// A constant plus terms, in int64; terms are sorted by axis and not zero.
struct Affine {
  static constexpr bool movesAsBytes = true;

  Size constant = 0;
  List<AffineTerm> terms = {};

  Size coefficient(uint32_t axis) const {
    for (const AffineTerm& term : terms)
      if (term.axis == axis)
        return term.coefficient;
    return 0;
  }
};

/// The values that an integer can take, both ends included; the ends of int64 where none is known.
struct Range {
  Size low = INT64_MIN, high = INT64_MAX;
};

/// A position of a load along one dimension that may leave [0, extent).
struct AffineBound {
  static constexpr bool movesAsBytes = true;

  Affine position;
  Size extent;
  uint32_t dimension;
};

/// A position of a load that is no affine form: the int64 value `position` times `stride`.
struct IndexTerm {
  uint32_t position;
  Size stride;
  Size extent;
  uint32_t dimension;
  bool inside;
};

enum class GraphValueKind : uint8_t { Number, Affine, Load, Outside, Apply, Cast, Reduce };

/// A node of the graph. Which fields count depends on the kind.
struct GraphValue {
  static constexpr bool movesAsBytes = true;

  GraphValueKind kind;
  Element element;
  AxisSet axes = {};
  Range range = {};
  /// Apply: its operands. Cast and Reduce: one. Outside: the load.
  List<uint32_t> operands = {};
  ScalarFunction function = ScalarFunction::Add;

  /// Number: `integer` for integers and bool, else `real`.
  double real = 0;
  int64_t integer = 0;

  /// Affine: the value. Load: the position in the buffer, without the IndexTerms. Reduce: the
  /// row-major position over the reduced axes.
  Affine affine = {};

  /// Load: out of tensor `tensor`; outside it reads the Number `fill`.
  uint32_t tensor = 0;
  List<AffineBound> bounds = {};
  List<IndexTerm> indices = {};
  uint32_t fill = none;

  Combiner combiner = Combiner::Sum;
  List<uint32_t> reduced = {};
};

/// A value that faults where `flag`, a bool value, holds: an integer division or a load.
struct Faultable {
  uint32_t value;
  uint32_t flag;
};

/// Reports a fault where `flag` holds, and `mask` too when there is one.
struct Check {
  Faultable fault;
  uint32_t mask;
};

/// The expression of one stage. An operand's number is below that of its user, until guards appends
/// masks; from then on `order` counts.
struct Graph {
  /// Per axis.
  List<Size> extents;
  List<uint32_t> outputAxes;
  List<GraphValue> values;
  List<Faultable> faultables;
  List<Check> checks;
  /// The values that count, operands before users.
  List<uint32_t> order;
  /// Per value: the mask of the lanes in which it counts, or none when it always does or that is
  /// not known in time.
  List<uint32_t> masks;
  uint32_t root = none;
  /// The position in the result's buffer.
  Affine store;
};

enum class StepKind : uint8_t {
  Affine,
  Load,
  Outside,
  Apply,
  Splat,
  Start,
  Accumulate,
  Loop,
  Check,
  Place,
  Store
};

/// One action on registers. Register numbers are value numbers first, then those of splats and
/// accumulators. `lane` is the axis along which the step runs, or none for single elements.
struct Step {
  StepKind kind;
  uint32_t out = none;
  uint32_t lane = none;
  uint32_t operands[3] = {none, none, none};
  ApplyKernel kernel = nullptr;
  /// Skipped when this register of bools holds in no lane.
  uint32_t mask = none;
  /// Affine, Load, Outside, reductions: the value of the graph. Check: the number of the check.
  uint32_t value = none;
  /// Loop: the block that it runs.
  uint32_t block = none;
  /// Load: always into the register's own memory, because the result is built there.
  bool copies = false;
  /// Affine, Load, Outside: how far the form goes from one lane to the next.
  Size laneStride = 0;
};

/// A loop over `axis`, in strips when `strips` is set; the root block has no axis and runs once.
struct Block {
  static constexpr bool movesAsBytes = true;

  uint32_t axis = none;
  bool strips = false;
  uint32_t parent = none;
  uint32_t depth = 0;
  List<Step> steps = {};
};

/// A register: a strip along `lane`, or one element. Accumulators take several elements a lane.
struct Register {
  Element element;
  uint32_t lane = none;
  uint32_t perLane = 1;
};

/// A register that holds a Number from the start.
struct ConstantRegister {
  uint32_t number;
  uint32_t value;
};

/// How one Reduce runs: along strips of its own axis `lane`, or lane by lane when that is none.
struct ReducePlan {
  static constexpr bool movesAsBytes = true;

  ReduceKernels kernels = {};
  uint32_t lane = none;
  /// Its loops, outermost first.
  List<uint32_t> blocks = {};
  /// The register of its accumulators.
  uint32_t accumulators = none;
};

/// The axis of strips for the result (or none), and per value, for reductions, that of strips of
/// their own (none when they run lane by lane).
struct Lanes {
  uint32_t result = none;
  List<uint32_t> ofReduce;
  /// All of them.
  AxisSet axes;
};

/// A graph with its loops. `chain` lists the root block and those of the output axes (of a side of
/// a contraction also of the summed axes), outermost first; reductions hang below by Loop steps.
struct Nest {
  Graph graph;
  List<Block> blocks;
  List<uint32_t> chain;
  List<Register> registers;
  List<ConstantRegister> constants;
  /// Per value, for Reduce.
  List<ReducePlan> reduces;
  /// Elements of a strip.
  size_t stripLength = 1;
  Lanes lanes;
  /// Estimated nanoseconds.
  double cost = 0;
};

/// A sum of products left[batch, m, k] * right[batch, n, k]. Each side is a nest of its own whose
/// chain is batch, m or n, strips, k, and whose root is of type panelElement(); `columns` is the
/// side whose axes are last in the result, or of which there are many when the other has few.
struct Contraction {
  struct Side {
    Nest nest;
    List<uint32_t> axes;
    uint32_t root = none;
    /// Number of chain blocks before those of the summed axes.
    size_t outerBlocks = 0;
    Size count = 1;
    /// Strips run along the last summed axis instead of the last of `axes`.
    bool runsAlongSum = false;
  };
  Side rows, columns;
  List<Size> extents;
  List<uint32_t> batch, summed;
  Affine store;
  Element element = Element::Float32;
  /// The rows are kept as a whole, and nothing is packed.
  bool hasFewRows = false;
};

enum class StagePlanKind : uint8_t { Map, Contract, Reshape, Scan, Empty };

/// Along the middle of three extents; the kernel knows what it does.
struct Scan {
  Size outer = 1, extent = 1, inner = 1;
  bool exclusive = false;
  bool multiplies = false;
  ScanKernel kernel = nullptr;
};

/// Makes the tensor `result` from tensors before it.
struct StagePlan {
  static constexpr bool movesAsBytes = true;

  StagePlanKind kind = StagePlanKind::Empty;
  uint32_t result = 0;
  Nest map;
  Contraction contraction;
  uint32_t source = 0;
  Scan scan;
};

/// A tensor of a program; those beyond the function's own are sums of products taken out.
struct PlanTensor {
  static constexpr bool movesAsBytes = true;

  runtime::DType dtype;
  Element element;
  List<Size> shape;
  Size count;
  /// The last stage that reads it, by its place in the list.
  size_t lastUse = 0;
};

/// All stages of a function.
struct Program {
  /// Not empty when the function cannot run; then nothing else counts.
  std::string problem;
  runtime::FaultKind problemKind = runtime::FaultKind::Internal;
  List<PlanTensor> tensors;
  size_t inputCount = 0;
  List<StagePlan> stages;
  List<uint32_t> results;
  /// Per tensor the one that it is a new shape of, or itself.
  List<uint32_t> roots;
  /// What callers are told of them; shapes and sizes hang on the numbers.
  List<runtime::CodeResult> codeResults;
};

/// Plans a function whose extents are constants.
Program makeProgram(const tensor::TensorFunction& function);
/// Plans a function for the extents that are the parameters of `sizes`: those of the inputs and
/// then of the results, one after the other. Then `sizes` has the class of the plan, and is closed.
Program makeProgram(const tensor::TensorFunction& function, Sizes& sizes);

/// All sizes of a program that are no constants.
List<Size*> openSizes(Program& program);

} // namespace lower
