// A strip program: a loop nest as flat code that is run without being compiled further.
//
// codegen/strips/ is the portable back end. An instruction does one thing for a strip of elements
// in a row, in the loops of lower/elements; what is around it, loops and positions, is arithmetic
// on numbers of 64 bits. All of a program is arrays of small structs without pointers, so it can be
// written to a file. Sizes are given to a run; what hangs on them alone is computed once, by the
// code in front of all loops.
//
// Three kinds of things are named by their places: numbers (constants, sizes, variables of loops,
// positions), registers (strips, or one element each), and buffers. A register is either its own
// memory or, when `Row`, `Load` or `Place` made it, may lie in a buffer.
#pragma once

#include "lower/elements/kernels.h"
#include "runtime/list.h"

namespace strips {

using lower::Element;
using runtime::List;

inline constexpr uint32_t none = UINT32_MAX;
/// No strip is longer.
inline constexpr size_t longestStrip = 1024;

/// What an instruction does; n are numbers, r are registers. Targets are distances from the
/// instruction.
enum class Code : uint8_t {
  /// n[out] = n[a] + n[b] * n[c], which wraps.
  Sum,
  /// n[out] = n[a] / n[b] rounded down, 0 where n[b] is 0.
  Quotient,
  Least,
  Greatest,
  /// n[out] = n[a] * n[b] of two that are not negative, or the most that a number can be.
  Count,
  /// n[out] = 0, and n[c] = lanes of the first strip if there is a c; to `target` when n[a] <= 0.
  /// The last instruction before the target is a Next. Flag 1: iterations run by threads, n[a] is
  /// used by nothing else, and parallelCosts[b] is what an iteration takes.
  Loop,
  /// Goes on by 1, or by a strip; back to `target` while n[out] < n[a].
  Next,
  /// To `target` unless n[a] < n[b].
  Unless,
  /// Makes buffer `out` at least n[a] elements of `element` long; without an `a` it is this
  /// thread's
  /// small scratch.
  Allocate,
  /// r[out] is buffer `a` at element n[b].
  Row,
  /// r[out] is what access `a` reads. Flag 1: it is put where r[out] is.
  Load,
  /// r[out], bools: where access `a` is outside.
  Outside,
  /// r[out][j] = n[a] + j * n[b].
  Position,
  /// r[out][0] = n[a] as an int64.
  Number,
  /// All lanes of r[out] are r[a][0].
  Splat,
  /// r[out] = kernel(r[a], r[b], r[c]).
  Apply,
  /// Buffer `a` at n[b] + j * n[c] = r[out][j].
  Store,
  /// Buffer `a` at r[b][j] = r[out][j].
  StoreAt,
  /// r[out][j] = r[b][0] and all of r[a] up to lane j added up or multiplied; flags are those of
  /// Scanning.
  Scan,
  /// Joins each lane of r[a] to r[out] with the same lane.
  Join,
  /// Joins all lanes of r[a] to r[out][0]. Flag 1: one after the other.
  Reduce,
  /// Adds the products of r[a] and r[b], floats of 32 bits, to the float of 64 bits r[out][0].
  AddProducts,
  /// Adds the products of r[a] and r[b][0] to r[out], lane by lane, all floats of 32 bits.
  AddScaled,
  /// Places r[a] and values r[b], of `element`, are joined to the best ones so far, r[out] and
  /// r[c];
  /// flags are those of Extreme.
  JoinPlaces,
  /// A fault where r[a] holds, and r[b] too if there is one: of access `c`, or of a division.
  Check,
  /// Contraction `a`.
  Contract,
  Stop,
};

/// Flags of Scan.
enum Scanning : uint8_t { Multiplies = 1, InOrder = 2 };
/// Flags of JoinPlaces.
enum Extreme : uint8_t { Largest = 1, LastWins = 2, EachLane = 4 };

struct Instruction {
  Code code;
  uint8_t flags = 0;
  Element element = Element::Bool;
  /// In the table of kernels.
  uint32_t kernel = none;
  uint32_t out = none, a = none, b = none, c = none;
  /// The number that has the lanes.
  uint32_t count = 0;
  int32_t target = 0;
};

enum class KernelKind : uint8_t { Apply, Cast, AddLanes, AddAll };

/// A loop of lower/elements, by what it is asked for with.
struct KernelName {
  KernelKind kind;
  runtime::ScalarFunction function = runtime::ScalarFunction::Add;
  lower::Combiner combiner = lower::Combiner::Sum;
  Element from, to = Element::Bool;
  friend bool operator==(const KernelName&, const KernelName&) = default;
};

/// A dimension of an access whose position may be outside, or is a value.
struct Place {
  /// The register that has positions, or none: then they are n[position] + j * n[lane].
  uint32_t value = none;
  uint32_t position = none, lane = none;
  /// Numbers: how many elements there are, and how far apart; of a position that is no value the
  /// second is in the offset already.
  uint32_t extent, stride = none;
  uint32_t dimension = 0;
  /// Whether the register has one for each lane.
  bool isStrip = false;
};

/// A read: at n[offset] + j * n[lane], and what the places add. Outside it reads r[fill][0], or 0.
struct Access {
  uint32_t buffer;
  Element element;
  uint32_t offset = none, lane = none;
  uint32_t fill = none;
  uint32_t firstPlace = 0, placeCount = 0;
};

/// An axis of a contraction: its variable, its end and how far apart its elements are in the
/// result, as numbers.
struct Axis {
  uint32_t variable, end, stride;
};

/// One factor of a sum of products: code that leaves a strip of n[count] lanes in r[root], along
/// the last of its axes, or along the last summed one.
struct Side {
  uint32_t firstAxis = 0, axisCount = 0;
  uint32_t count = none;
  uint32_t begin = 0, end = 0;
  uint32_t root = none;
  bool runsAlongSum = false;
};

/// A sum of products over `summed` axes, for all batches, rows and columns, is made in a buffer, of
/// which it is the first `offset`, and the strides of its axes on.
struct Contraction {
  uint32_t buffer, offset;
  /// Of what is made, and of the factors in panels.
  Element element, panel;
  uint32_t firstBatch = 0, batchCount = 0, firstSummed = 0, summedCount = 0;
  Side rows = {}, columns = {};
};

struct BufferInfo {
  Element element;
  /// Scratch that has its memory from the start: its place there, and its bytes.
  uint32_t offset = none, bytes = 0;
};

/// A register's own memory, in that of a thread; one that only lies in buffers has none.
struct RegisterInfo {
  uint32_t offset = 0, bytes = 0;
};

struct Program {
  List<Instruction> code;
  /// What numbers are at first: sizes come from number 0 on.
  List<int64_t> numbers;
  uint32_t sizeCount = 0;
  List<BufferInfo> buffers;
  /// Inputs and then outputs are the first of them.
  uint32_t inputs = 0, givenBuffers = 0;
  List<RegisterInfo> registers;
  /// What each thread needs for registers and small scratch.
  uint32_t memoryBytes = 0;
  uint32_t stripLength = 1;
  List<KernelName> kernels;
  List<Access> accesses;
  List<Place> places;
  List<Axis> axes;
  List<Contraction> contractions;
  /// Nanoseconds.
  List<double> parallelCosts;
};

} // namespace strips
