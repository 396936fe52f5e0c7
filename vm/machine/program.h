// A program in bytecode: what the compiler makes, the verifier reads and the machine runs.
#pragma once

#include "codegen/strips/sized_program.h"
#include "lower/tensor/expression.h"
#include "runtime/checks/boundary.h"
#include "runtime/checks/shapes.h"
#include "runtime/native.h"
#include "vm/machine/object.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace vm {

enum class Op : uint16_t {
#define INSTRUCTION(name, ...) name,
#include "vm/machine/instructions.def"
#undef INSTRUCTION
};

inline constexpr uint16_t opCount = 0
#define INSTRUCTION(...) +1
#include "vm/machine/instructions.def"
#undef INSTRUCTION
    ;

/// One unit of code: an instruction, or four more of its operands.
struct Word {
  uint16_t op, a, b, c;
};
static_assert(sizeof(Word) == 8);

/// Whether it is a call with a second word, which says how one argument comes into its place.
inline constexpr bool isFusedCall(Op op) {
  return op >= Op::CallMove && op <= Op::TailAddI64;
}
inline constexpr bool fusesAdd(Op op) {
  return op == Op::CallAddI32 || op == Op::CallAddI64 || op == Op::TailAddI32 ||
         op == Op::TailAddI64;
}

inline constexpr uint16_t none = UINT16_MAX;

/// Target number `i` of the list of long targets behind an instruction.
inline int32_t arm(const Word* at, size_t i) {
  int32_t words;
  std::memcpy(&words, reinterpret_cast<const std::byte*>(at + 1) + 4 * i, 4);
  return words;
}
inline void setArm(Word* at, size_t i, int32_t words) {
  std::memcpy(reinterpret_cast<std::byte*>(at + 1) + 4 * i, &words, 4);
}

/// Operands b and c as one number.
inline uint32_t wide(Word word) {
  return uint32_t(word.b) | uint32_t(word.c) << 16;
}

/// How a slot is used: a scalar of an element type, or a reference, which the holder gives up
/// (Owned) or only looks at (Borrowed).
enum class Hold : uint8_t { Scalar, Owned, Borrowed };

struct Rep {
  Hold hold = Hold::Owned;
  runtime::DType dtype = {};

  bool isScalar() const { return hold == Hold::Scalar; }
  friend bool operator==(Rep, Rep) = default;
};

/// Maker and Operator: a constructor and an operator as values; a Maker is called as a Closure is.
enum class LayoutKind : uint8_t { Tuple, Data, Closure, Maker, Operator, Cell, Boxed };

/// What objects of one kind have in common. Data: `tag` is the place of the constructor in its
/// type.
struct Layout {
  LayoutKind kind = LayoutKind::Boxed;
  uint16_t tag = 0;
  std::vector<Rep> fields = {};
  /// The constructor or function, for who asks what an object is.
  runtime::Symbol symbol = {};
  /// Closure: the function for each signature by which it may be called.
  struct Entry {
    uint16_t signature;
    uint32_t function;
  };
  std::vector<Entry> entries = {};
};

/// The layout of boxed values.
inline constexpr uint16_t boxedLayout = 0;

/// How a closure is called: it owns all arguments, and its own object behind them.
struct Signature {
  std::vector<Rep> parameters;
  Rep result;
};

/// Parameters are in the first registers; a closure's own object follows them, owned.
struct Function {
  /// `@f`, `%f`, or what it does for one that no text has.
  std::string name;
  runtime::SourceRange range = {};
  /// Its words in the program's code.
  uint32_t start = 0;
  uint32_t size = 0;
  uint16_t registers = 0;
  std::vector<Rep> parameters;
  Rep result;
  /// Of a function that ends with the fields of a tuple, in the first registers: these. The result
  /// is a reference then, which nobody makes.
  std::vector<Rep> flat = {};
  /// Whether it gets a closure's object behind the parameters.
  bool isClosure = false;
};

/// An object that lives as long as the program: of a layout without fields, or a boxed value.
struct Static {
  uint16_t layout = boxedLayout;
  runtime::Value value = {};
};

/// A step into a tuple of this layout.
struct SiteStep {
  uint16_t layout, field;
};

/// A tensor that a kernel or native function takes: where it is in the operands, and its type.
struct SiteInput {
  uint16_t operand = 0;
  std::vector<SiteStep> path = {};
  runtime::DType dtype;
  uint16_t rank = 0;
  /// It lies in a register or field itself.
  bool isScalar = false;
};

struct KernelResult {
  uint16_t rank = 0;
  bool isScalar = false;
};

/// A tensor function that code calls.
struct KernelSite {
  std::vector<SiteInput> inputs;
  std::vector<KernelResult> results;
  /// The layout of the tuple of the results, or none when there is one and no tuple.
  uint16_t resultLayout = none;
  /// For which extents it is made, and those of the results.
  checks::Shapes shapes;
  tensor::TensorFunction function;
  /// Of programs that run without what makes kernels: those for the sizes that calls may have, of
  /// which the first that is for them counts.
  std::vector<strips::SizedProgram> programs = {};
};

/// A native function that code calls. Which results it has, it says by itself.
struct NativeSite {
  std::string name;
  runtime::NativeParameters parameters = {};
  std::vector<SiteInput> inputs = {};
  /// The layout of the tuple of the results, or none when there is one and no tuple.
  uint16_t resultLayout = none;
  /// The function of that name, for the verifier and for runs.
  const runtime::Native* function = nullptr;
};

/// What a site asks for. Language: an operator, which whoever runs the program has to apply. Show:
/// that its operand is shown. Arguments: that those of a function are compared; behind them may be
/// the sizes of a closure, and the result is the sizes known. OuterSizes: the sizes of the operand
/// that a closure takes. Value, Result: that one is compared, with the sizes known behind it.
/// Fields: that those of a constructor are. Unmatched: a fault, since no arm is for the operand, or
/// since the program says so.
/// Deliver: that the value of a call is written into tensors. Unbox: the condition in a tensor.
enum class SiteKind : uint8_t {
  Language,
  Show,
  Arguments,
  OuterSizes,
  Value,
  Result,
  Fields,
  Unmatched,
  Deliver,
  Unbox
};

/// Something that code asks for and no instruction does: operands are borrowed but for those that
/// are given, a result is owned.
struct HostSite {
  SiteKind kind = SiteKind::Language;
  runtime::SourceRange range = {};
  /// What is compared, by number: a function's, a value's or fields. Of Show: one of how many
  /// calls.
  uint32_t check = checks::none;
  /// Of Fields: the call.
  uint32_t caller = checks::none;
  /// Of Arguments.
  bool hasOuterSizes = false;
  /// The name of the operator, the label of what is shown, or why the run ends, by number, or none.
  uint32_t op = checks::none;
  std::vector<Rep> operands = {};
  /// Of Language: the operands that the call owns and gives up, in order.
  std::vector<uint16_t> given = {};
  bool hasResult = true;
  Rep result = {};
  /// The kernel that does it where it can, by its number, or none.
  static constexpr uint32_t noKernel = UINT32_MAX;
  uint32_t kernel = noKernel;
  /// Of Language: the native function that does it where it can, by its number, or none.
  uint32_t native = checks::none;

  bool neverReturns() const { return kind == SiteKind::Unmatched; }
};

/// A call in the text; of a function that compares its arguments, with the number of its check.
struct Caller {
  checks::CalledFrom from;
  uint32_t callee = checks::none;
};

/// Where code comes from, with the operator and the caller by number, or none.
struct Origin {
  runtime::SourceRange range;
  uint32_t op = checks::none;
  uint32_t caller = checks::none;
};

/// The code from `start` on is of an origin.
struct Place {
  uint32_t start;
  uint32_t origin;
};

struct Program {
  std::vector<Word> code;
  std::vector<Function> functions;
  std::vector<Layout> layouts{{}};
  std::vector<Signature> signatures;
  std::vector<uint64_t> words;
  std::vector<Static> statics;
  std::vector<HostSite> sites;
  std::vector<KernelSite> kernels;
  std::vector<NativeSite> natives;
  checks::Tables checks;
  /// Names of operators.
  std::vector<std::string> operators;
  std::vector<Caller> callers;
  std::vector<Origin> origins;
  /// In the order of `start`.
  std::vector<Place> places;
  /// The function that a run calls.
  std::vector<uint32_t> entries;
};

} // namespace vm
