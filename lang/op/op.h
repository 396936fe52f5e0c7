// The interface of the operator table: one row holds everything that Baton knows of an operator.
//
// Rows stand in stdlib/ops/ beside their two or three functions; adding an operator
// touches that file alone. Nothing registers itself: a table is made from a list of families and
// handed on, so tests can make tables of two operators. No file outside stdlib/ names an operator.
#pragma once

#include "lang/op/compute.h"
#include "lang/op/relation.h"
#include "runtime/natives/parameters.h"

#include <algorithm>
#include <functional>
#include <map>
#include <variant>

namespace lang {

/// What an operand may be; `Any` is left to the relation.
enum class OperandKind : uint8_t { Tensor, TensorTuple, Any };

/// One operand.
struct OperandRow {
  std::string_view name;
  std::string_view doc;
  OperandKind kind = OperandKind::Tensor;
  /// True when the relation can work, or even infer the operand's type, while it is unknown.
  bool inferable = false;
  /// True of a last operand of which a call may have any number, but at least one.
  bool repeats = false;
};

/// The native function of a row, and what gives its parameters, once for a call site.
struct Native {
  const runtime::Native* function = nullptr;
  runtime::NativeParameters (*decode)(const Attributes& attributes, Types operands) = nullptr;
  /// Whether, with these attributes, it only compares elements and moves them: then it can be given
  /// others that are in the same order, such as int64 ranks in place of floats. Null: it computes.
  bool (*onlyOrders)(const Attributes& attributes) = nullptr;

  explicit operator bool() const { return function != nullptr; }
};

/// The native function as one that only compares and moves elements, always or with some
/// attributes.
constexpr Native ordering(
    Native native, bool (*onlyOrders)(const Attributes&) = [](const Attributes&) { return true; }) {
  native.onlyOrders = onlyOrders;
  return native;
}

/// A native function whose parameters, a struct, `decode(attributes, operandTypes)` gives.
template <const auto& function, auto decode>
constexpr Native nativeOf() {
  using Parameters = typename std::remove_cvref_t<decltype(function)>::Parameters;
  return {&function, [](const Attributes& attributes, Types operands) {
            return natives::parametersOf<Parameters>(decode(attributes, operands));
          }};
}

/// A native function that neither attributes nor types tell anything.
template <const auto& function>
constexpr Native nativeOf() {
  return {&function, [](const Attributes&, Types) { return runtime::NativeParameters(); }};
}

class GradientCall;
class SimplifyCall;

/// `expr` is a call of the operator: `cotangent` coming in, `value` goes to the operands that have
/// a cotangent, as one value or a tuple. Written where there is a choice, as at ties.
struct GradientExample {
  std::string_view expr;
  std::string_view cotangent;
  std::string_view value;
};

/// The gradient as a function that emits core IR (lang/rules/gradient.h): from the operands, the
/// result and its cotangent to the cotangents of the operands, each of the operand's own type.
struct GradientRule {
  void (*build)(GradientCall& call);
  std::span<const GradientExample> examples = {};
  /// Whether the cotangent of operand 0, or of its first field, is zero but in parts, which the
  /// rule adds to what that has gathered (GradientCall::takeSum).
  bool addsParts = false;
};

/// Why an operator has no gradient, or one that is zero wherever there is one.
struct NoGradient {
  std::string_view reason;
  bool isZero = false;
};

using Gradient = std::variant<NoGradient, GradientRule>;

/// What the rule makes of a call, both in the language, over the variables `%x`, `%y` of type
/// `Tensor[(2, 3), float32]`, `%i` of `Tensor[(2, 3), int32]`, `%t` of `Tensor[(4, 2, 3), float32]`
/// and `%n` of `Tensor[(n, 3), float32]`.
struct SimplifyExample {
  std::string_view expr;
  std::string_view simpler;
};

/// A rule that says a call more simply where it can (lang/rules/simplify.h), with examples.
struct SimplifyRule {
  void (*rewrite)(SimplifyCall& call) = nullptr;
  std::span<const SimplifyExample> examples = {};
};

/// `expr => value`: both sides in the language; run as tests on every engine, shown in the docs.
struct Example {
  std::string_view expr;
  std::string_view value;
};

/// Whether the shape of the result needs shapes alone, or values of operands too. The checker hands
/// constants to a relation only where it says Constants, since Relay types the others with `?`.
enum class ShapeNeeds : uint8_t { Shapes, Values, Constants };

/// Of an operator that computes from an operand what another one takes as an attribute of that
/// name: the other one.
struct FixedForm {
  std::string_view name = {};
  /// The numbers by which an attribute says the same as sizes, for data of a shape; nothing where
  /// none do. Null: sizes that are numbers.
  std::optional<std::vector<int64_t>> (*numbersFor)(Dims data, Dims sizes) = nullptr;
};

/// What a call does. All but Compute and Allocate take values of any type, and do by themselves
/// what they say: their rows have neither `compute` nor `native`, all others have one of the two.
enum class Action : uint8_t {
  Compute,
  /// Computes into memory that may be written to afterwards, so two calls never share a result.
  Allocate,
  /// Gives back operand 0.
  Pass,
  /// Gives `()`.
  Nothing,
  /// Tells the person who runs the program operand 0, and gives it back; or ends the run, of the
  /// role Fail.
  Show,
  /// Calls operand 0, a function, with the fields of operand 1.
  Call,
  /// As Call, and writes the results into the fields of operand 2, which Allocate made. Gives `()`.
  CallInto,
  /// Stands for code that a pass writes before the program runs; no engine sees it.
  Expand
};

/// What a call says of the derivative of operand 0, a function; the types are in the rows.
enum class Derivative : uint8_t {
  None,
  /// Of the one float that it gives, with respect to the arguments that `wrt` tells.
  Grad,
  /// The value and its gradient.
  ValueAndGrad,
  /// The value, and the function from cotangents of it to those of the arguments.
  Vjp,
  /// From arguments and tangents of them to the value and its tangent.
  Jvp,
  /// From arguments and tangents of them to the tangent of the gradient.
  Hvp,
  Jacobian,
  Hessian,
  /// The function itself, whose values are computed again on the way back.
  Checkpoint,
  /// The function itself, whose pull-back is operand 1.
  Custom,
  /// The function itself, whose tangent operand 1 gives from arguments and tangents of them.
  CustomTangent,
  /// Of a linear function: from arguments and a cotangent of its value to cotangents of arguments.
  Transpose,
  /// Operand 0, a function of scalars, on the float leaves of the other operands: a value of the
  /// results, or the sum of them.
  MapLeaves,
  SumLeaves
};

/// What readers and passes need beside operators that have an infix spelling: tensors of the type
/// of operand 0, all zeros, all ones, or with one one; the number of its elements; operand 0 in the
/// element type of operand 1; tensors of tensors; a value itself, so that what is computed from it
/// is not taken for what was computed before; prefixes; what brackets around tensors make; reading
/// along one dimension at positions, or a slice, and at places along several; the places of what is
/// true; the quotient of integers that `/` of Baton's notation means; one extent of a shape, and
/// another shape; `.T`; what shows a value while the program runs; and what ends it.
enum class Role : uint8_t {
  None,
  ZerosLike,
  OnesLike,
  OneAt,
  Size,
  CastLike,
  PartsLike,
  WithPart,
  Barrier,
  Negate,
  Not,
  Stack,
  Take,
  TakePoints,
  Places,
  FloorDivide,
  Slice,
  Extent,
  Shape,
  Reshape,
  MatrixTranspose,
  NewAxis,
  Print,
  Fail,
  SplitKey
};

/// What integers and truth values as operands are likely to be meant as, where a text leaves open
/// what they are: as given; as reals, since of integers the result is one, without what stands
/// behind the point; the same where operand 1 is a negative number; truth values as numbers of
/// which 1 is true, since of them the result is one.
enum class NumbersMeant : uint8_t { AsGiven, Reals, RealsOfNegativePowers, Counts };

/// One operator.
struct OperatorRow {
  std::string_view name;
  /// What other libraries call it, separated by blanks; for searches and suggestions.
  std::string_view synonyms = {};
  /// One sentence, for lists and hovers.
  std::string_view doc;
  /// What the sentence leaves open: formulas, edge cases, sources. May be empty.
  std::string_view details = {};
  std::span<const OperandRow> operands;
  std::span<const AttributeRow> attributes = {};
  /// The key of the attribute object in Relay's metadata, such as `relay.attrs.Conv2DAttrs`.
  std::string_view attributesKey = {};
  RelationResult (*relation)(const RelationCall& call);
  void (*compute)(ComputeCall& call) = nullptr;
  Native native = {};
  Action action = Action::Compute;
  Derivative derivative = Derivative::None;
  FixedForm fixed = {};
  Role role = Role::None;
  Gradient gradient;
  SimplifyRule simplify = {};
  std::span<const Example> examples;
  ShapeNeeds shapeNeeds = ShapeNeeds::Shapes;
  /// The infix spelling, such as `+`, or empty.
  std::string_view infix = {};
  NumbersMeant numbersMeant = NumbersMeant::AsGiven;
  /// True when Relay registers no attribute type: its text then carries `attrs_type_key`.
  bool unregisteredAttributes = false;

  /// What operand `i` of a call is.
  const OperandRow& operand(size_t i) const { return operands[std::min(i, operands.size() - 1)]; }
  bool takes(size_t count) const {
    bool isMore = count > operands.size() && !operands.empty() && operands.back().repeats;
    return count == operands.size() || isMore;
  }
  /// The row with a role.
  constexpr OperatorRow inRole(Role its) const {
    OperatorRow row = *this;
    row.role = its;
    return row;
  }
  /// The row with numbers that are meant so.
  constexpr OperatorRow meaning(NumbersMeant numbers) const {
    OperatorRow row = *this;
    row.numbersMeant = numbers;
    return row;
  }
  /// How many operands a call has, in words.
  std::string operandCount() const;
  /// The names in `synonyms`.
  std::vector<std::string_view> otherNames() const;
};

using OperatorFamily = std::span<const OperatorRow>;

/// An operator of Relay's that Baton leaves out, and why, as the end of a sentence.
struct AbsentOperator {
  std::string_view name;
  std::string_view reason;
};

/// All operators by name, with defaults read. Two rows of one name throw std::logic_error.
class OperatorTable {
public:
  explicit OperatorTable(std::span<const OperatorFamily> families,
                         std::span<const AbsentOperator> absent = {});

  /// The operator of that name, or nullptr.
  const OperatorRow* find(std::string_view name) const;
  /// The operator with an infix spelling, or nullptr.
  const OperatorRow* findInfix(std::string_view symbol) const;
  /// The operator of that role, which there must be.
  const OperatorRow& withRole(Role role) const;
  /// The operator that computes what `row` has as an attribute of that name; null when there is
  /// none.
  const OperatorRow* computing(const OperatorRow& row, std::string_view attribute) const;
  /// Why there is no operator of that name, if there is a reason.
  std::optional<std::string_view> reasonOfAbsence(std::string_view name) const;
  /// In the order of their names.
  const std::vector<const OperatorRow*>& all() const { return rows_; }
  /// The default of each attribute; Null for those that must be given.
  std::span<const AttributeValue> defaults(const OperatorRow* row) const;
  /// Names near to `name`, best first, for suggestions.
  std::vector<std::string_view> similar(std::string_view name) const;

private:
  Arena arena_;
  std::span<const AbsentOperator> absent_;
  std::vector<const OperatorRow*> rows_;
  std::unordered_map<std::string_view, const OperatorRow*> byName_, byInfix_;
  std::unordered_map<const OperatorRow*, std::span<const AttributeValue>> defaults_;
};

/// The tensor expression of a call that the relation accepted with result type `output`, or the
/// problem that the types leave its form open.
runtime::Checked<TensorFunction> tensorFunctionOf(const OperatorRow& row, Types operands,
                                                  const Type* output, const Attributes& attributes);

/// Asks an operator's relation after checking operand count and kinds; the one way to call it.
RelationResult applyRelation(const OperatorRow& row, const RelationCall& call);

} // namespace lang
