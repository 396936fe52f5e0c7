// Type relations: what an operator's rule may ask, and what it answers.
//
// One rule serves the checker, where extents may be `?`, symbols or linear forms, and run time,
// where they are numbers. A rule is a pure function: it looks at the operand types and attributes
// and answers with the result type, with what it learned of operands, or with the problem.
#pragma once

#include "lang/op/attributes.h"
#include "lang/types/type.h"
#include "runtime/result.h"
#include "runtime/tensor.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace checks {
enum class SizeKind : uint8_t;
}

namespace lang {

/// One dimension of one operand, which must be a tensor, or of a field of a tuple operand.
struct DimMark {
  size_t operand;
  size_t dim;
  std::optional<size_t> field = {};
};

/// What a relation takes for granted of a size: `dim` is at least `least` and a multiple of
/// `divisor`. Only sizes over named dimensions need be told; the caller of a definition has to
/// fulfil it.
struct DimBound {
  const Dim* dim;
  int64_t least = 0;
  int64_t divisor = 1;
};

/// One change of a call, told in terms of operands and attributes, since a relation knows no text.
struct CallChange {
  enum class Kind : uint8_t {
    /// Gives the attribute `name` the value `text`.
    Attribute,
    /// Puts `text` before the operand, or before its field, and `after` behind it.
    Wrap,
    /// Exchanges the operand with the one before it.
    Swap,
    /// Writes the operand, if it is a number, as one of the element type `name`.
    Number
  };
  Kind kind;
  size_t operand = 0;
  std::optional<size_t> field = {};
  std::string name = {};
  Words text = {};
  Words after = {};
};

/// Changes with which a relation would hold, in words in which `{}` stands for the new code; or,
/// without changes, something worth knowing.
struct CallFix {
  Words text;
  std::vector<CallChange> changes = {};
  /// True when it is of no interest once one of those before it helps.
  bool isFallback = false;
  /// True when it is worth telling even if the rest of the program does not take the change.
  bool isFact = false;
  /// Without changes: the operand that the words go on about, if they begin with its name.
  std::optional<size_t> about = {};
};

/// The answer of a type relation.
struct RelationResult {
  enum class Outcome : uint8_t { Solved, Waiting, Failed };
  Outcome outcome = Outcome::Solved;
  /// Solved: the type of the result. Waiting: what is known of it, or null.
  const Type* output = nullptr;
  /// Solved: types that operands must have, such as that of a weight; by operand number.
  std::vector<std::pair<size_t, const Type*>> operands;
  /// Waiting: the operand whose type is needed. Failed: the operand at fault, if one is.
  std::optional<size_t> operand;
  /// Failed: the situation, and what may mend it, best first.
  Words problem;
  std::vector<CallFix> fixes;
  /// Failed: no type is wrong, but an extent of the result passes 64 bits.
  bool isTooLarge = false;
  /// Failed: the dimensions that clash; they are marked below the shapes of the operands.
  std::vector<DimMark> marks;
  /// Solved: what must hold of the named dimensions beside what the types say.
  std::vector<DimBound> bounds;
  /// Solved: what Relay accepts though hardly anybody means it, for a warning; may be empty.
  Words doubt;
};

/// What comparing two dimensions tells. Named dimensions stand for every size, so two forms over
/// them are the same, or different for some sizes, which is `Different`. `Maybe` when a `?`, an
/// unknown or a symbol of Relay's leaves it open, or when forms with quotients stay close for large
/// sizes: `n / 2 * 2` is `n` for all sizes that there are if they must be even.
enum class DimMatch : uint8_t { Same, Different, Maybe };
DimMatch matchDims(const Dim* left, const Dim* right);

/// What an answer may leave to the sizes of a run (shapes_of.h).
struct SizeSteps {
  /// The name of what Broadcast, Least, Greatest or Scaled makes of two sizes; it must not be
  /// negative.
  std::function<const Dim*(checks::SizeKind, const Dim*, const Dim*)> compute;
  /// Has the answer hold only where two sizes are equal.
  std::function<void(const Dim*, const Dim*)> needEqual;
};

/// A question to a type relation. The caller made sure that the operand count is right and that
/// operands declared as tensors or tuples are such, unless they are declared inferable and unknown.
struct RelationCall {
  TypeContext& types;
  Types operands;
  const Attributes& attributes;
  /// Per operand its value when it is known (a constant, or at run time), else null.
  std::span<const runtime::Tensor* const> values = {};
  /// Null unless the answer is for all sizes of a run. Names stand for one size each then, so what
  /// names cannot tell is left to steps.
  const SizeSteps* steps = nullptr;
  /// Per operand what its elements are as sizes, where it is a scalar or a vector of integers and
  /// that is known. Only a checker of programs in which sizes are values knows it.
  std::span<const std::optional<Dims>> sizes = {};
  /// What the text calls the operator, where that is another name than its own.
  std::string_view calledAs = {};

  bool isKnown(size_t i) const { return !operands[i]->isUnknown(); }
  Dims shape(size_t i) const { return operands[i]->shape; }
  size_t rank(size_t i) const { return operands[i]->shape.size(); }
  runtime::DType dtype(size_t i) const { return operands[i]->dtype; }
  /// The fields of a tuple operand; each is known to be a tensor.
  Types fields(size_t i) const { return operands[i]->parts; }
  const runtime::Tensor* value(size_t i) const { return i < values.size() ? values[i] : nullptr; }
  std::optional<Dims> sizesIn(size_t i) const { return i < sizes.size() ? sizes[i] : std::nullopt; }

  RelationResult solved(const Type* output) const;
  RelationResult solved(Dims shape, runtime::DType dtype) const;
  RelationResult solved(const std::vector<const Dim*>& shape, runtime::DType dtype) const;
  RelationResult waitFor(size_t operand) const;
  RelationResult failed(Words problem) const;
  RelationResult failed(runtime::Problem problem) const { return failed(std::move(problem.text)); }
  /// Fails because the result is too large for any memory.
  RelationResult failedForSize(Words problem) const;
  RelationResult failedAt(size_t operand, Words problem) const;
  RelationResult failedAt(size_t operand, runtime::Problem problem) const {
    return failedAt(operand, std::move(problem.text));
  }
  /// Fails because of dimensions; the first one's operand is the one at fault.
  RelationResult failedOn(std::vector<DimMark> marks, Words problem) const;

  /// An axis attribute made non-negative, or nothing when it lies outside -rank .. rank-1.
  std::optional<size_t> normalAxis(int64_t axis, size_t rank) const;

  /// Whether two dimensions that must be equal surely differ. What is left to steps does not.
  bool differ(const Dim* left, const Dim* right) const;

  /// The dimension that two equal ones have: the one that says more; null when they differ.
  const Dim* meetDims(const Dim* left, const Dim* right) const;

  /// numpy broadcasting of one aligned pair, as Relay does it: 1 gives way, then `?`; null when the
  /// extents differ.
  const Dim* broadcastDims(const Dim* left, const Dim* right) const;

  /// numpy broadcasting of two shapes; nothing when a pair differs, and then `where` gets the
  /// dimension, counted from the back from 1.
  std::optional<std::vector<const Dim*>> broadcastShapes(Dims left, Dims right,
                                                         size_t* where = nullptr) const;
};

} // namespace lang
