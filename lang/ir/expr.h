// The core IR: immutable nodes in an arena, told apart by a kind byte.
//
// A body is a flat Block: bindings and a result. Every operand is an atom (variable, constant,
// global, operator, constructor), so a long program is a long list and never a deep nest, and
// sharing is a variable used twice. Relay's graph form and its let form are two ways to write the
// same blocks: a binding that came from a nested call or a `%0 = ...` line is a temporary, one that
// came from `let` is a let. A temporary means "evaluated when first needed in this block"; the
// resolver puts it in the innermost block that holds all its uses, before the first.
//
// Nodes say what was written and are never changed by a later stage; the types that checking finds
// are in a table beside the module (typing.h).
#pragma once

#include "lang/op/attributes.h"
#include "lang/source/source.h"
#include "lang/types/type.h"
#include "runtime/tensor.h"

namespace lang {

struct Block;
struct Function;
struct OperatorRow;
struct Pattern;

enum class ExprKind : uint8_t {
  Var,
  Constant,
  Global,
  Operator,
  Constructor,
  Hole,
  Tuple,
  Project,
  Call,
  If,
  Match,
  Function,
  RefNew,
  RefRead,
  RefWrite,
  Block
};

/// Base of all expressions.
struct Expr {
  ExprKind kind;
  SourceRange range;

  /// The node as a `T`, or nullptr when it is another kind.
  template <typename T>
  const T* as() const {
    return kind == T::kindOf ? static_cast<const T*>(this) : nullptr;
  }
  /// True for the kinds that may be operands.
  bool isAtom() const { return kind <= ExprKind::Hole; }
};

enum class VarOrigin : uint8_t { Parameter, Let, Temporary, Pattern, Free };

/// What the text says of a tensor type that it leaves partly open, `f32[.., n]`, `_[n]`: the
/// element type unless it has no bits, and the dimensions, before which others may stand.
struct PartialTensor {
  runtime::DType dtype = {};
  Dims shape = {};
  bool hasLeading = false;
};

/// A variable: its one node is both binder and use. The range is that of the binder.
struct Var : Expr {
  static constexpr ExprKind kindOf = ExprKind::Var;
  /// As written, without `%`; empty for temporaries and for the binder of `a; b`.
  std::string_view name;
  VarOrigin origin;
  /// Dense within a module, for side tables.
  uint32_t number;
  /// What the program says of its type, or null.
  const Type* annotation = nullptr;
  /// A parameter's device from metadata, kept for printing, or null.
  const AttributeValue* device = nullptr;
  /// Of a parameter of a definition that may be open and has no annotation; or null.
  const PartialTensor* partial = nullptr;
};

/// Whether a constant is an open number, which takes the element type that its use asks for, and
/// which numbers it is: integers as int64, or reals as float64.
enum class OpenNumber : uint8_t { None, Integer, Real };

/// A constant: a scalar in `bits`, or a tensor. The type of an open number is an unknown of its own
/// until the module is completed (typecheck/check.h).
struct Constant : Expr {
  static constexpr ExprKind kindOf = ExprKind::Constant;
  const Type* type;
  /// The little-endian bits of a scalar; unused when `tensor` is set.
  uint64_t bits = 0;
  const runtime::Tensor* tensor = nullptr;
  OpenNumber open = OpenNumber::None;
  /// Of an open integer that is called, without arguments: the size that the call stands for.
  const Dim* size = nullptr;
};

/// The value of a constant as a tensor.
runtime::Tensor constantTensor(const Constant& constant);

/// A global function, as binder and use. `function` is null for one that only was mentioned.
struct Global : Expr {
  static constexpr ExprKind kindOf = ExprKind::Global;
  std::string_view name;
  /// Dense within a module.
  uint32_t number;
  mutable const Function* function = nullptr;
};

/// An operator as a callee or a value.
struct OperatorRef : Expr {
  static constexpr ExprKind kindOf = ExprKind::Operator;
  const OperatorRow* row;
};

/// A constructor of a data type, as binder and use. One without a definition stands, in a module
/// that is not completed, for that of a record, which is its first argument, with other fields.
struct Constructor : Expr {
  static constexpr ExprKind kindOf = ExprKind::Constructor;
  std::string_view name;
  Types fields;
  mutable const TypeDefinition* definition = nullptr;
  /// Its place among the constructors of the type.
  uint32_t index = 0;
  /// Of all fields, or empty. Relay's text has none, so those of an executable are set afterwards.
  mutable std::span<const std::string_view> fieldNames = {};
};

/// An expression that is still to be written, `_`. A program with one has an error and never runs.
struct Hole : Expr {
  static constexpr ExprKind kindOf = ExprKind::Hole;
  /// The locals in scope there, innermost first; of very many only the innermost ones.
  std::span<const Var* const> scope;
};

/// The one data type that operators mention: what TVM's machine allocates tensors in. It is the
/// same in every module, and has no constructors.
extern const TypeDefinition storageDefinition;

/// A use of an atom at a place.
struct Operand {
  const Expr* value = nullptr;
  SourceRange range;
};

struct FieldHint;

struct NamedAttribute {
  std::string_view name;
  AttributeValue value;
};

struct TupleExpr : Expr {
  static constexpr ExprKind kindOf = ExprKind::Tuple;
  std::span<const Operand> fields;
};

/// A field of a tuple. In a module that is not completed it may also be one of a record, by name.
struct Project : Expr {
  static constexpr ExprKind kindOf = ExprKind::Project;
  Operand tuple;
  uint32_t index;
  std::string_view field = {};
  /// Of a pattern, which has all fields: how many. Else 0.
  uint32_t fieldCount = 0;
  /// What is said where there is no such field, if that is a habit of another language.
  const FieldHint* hint = nullptr;
};

/// A call. The callee is any atom; a call of an operator carries its full attributes, a call of
/// anything else keeps attributes only to print them.
struct Call : Expr {
  static constexpr ExprKind kindOf = ExprKind::Call;
  Operand callee;
  std::span<const Operand> arguments;
  const Attributes* attributes = nullptr;
  std::span<const NamedAttribute> named = {};
};

struct If : Expr {
  static constexpr ExprKind kindOf = ExprKind::If;
  Operand condition;
  const Block* thenBlock;
  const Block* elseBlock;
};

struct Arm {
  const Pattern* pattern;
  const Block* body;
  SourceRange range;
};

/// `match`, or `match?` when partial.
struct Match : Expr {
  static constexpr ExprKind kindOf = ExprKind::Match;
  Operand scrutinee;
  bool isPartial;
  std::span<const Arm> arms;
};

/// A function literal, or the function of a global.
struct Function : Expr {
  static constexpr ExprKind kindOf = ExprKind::Function;
  /// Dense within a module.
  uint32_t number;
  /// As declared; a typing may know more of a global whose parameters may be of any type.
  std::span<const TypeParameter* const> generics;
  std::span<const Var* const> parameters;
  const Type* resultAnnotation;
  const Block* body;
  std::span<const NamedAttribute> attributes;
  /// Of a definition: whether its uses may decide what its parameters are (typecheck/).
  bool mayBeOpen = false;
  /// What it says of its result instead of an annotation; or null.
  const PartialTensor* partialResult = nullptr;
};

struct RefNew : Expr {
  static constexpr ExprKind kindOf = ExprKind::RefNew;
  Operand content;
};

struct RefRead : Expr {
  static constexpr ExprKind kindOf = ExprKind::RefRead;
  Operand reference;
};

struct RefWrite : Expr {
  static constexpr ExprKind kindOf = ExprKind::RefWrite;
  Operand reference;
  Operand value;
};

/// A block in a place where its value is wanted at once: `(let %x = 1; add(%x, %x))` as an operand.
struct BlockExpr : Expr {
  static constexpr ExprKind kindOf = ExprKind::Block;
  const Block* block;
};

/// Evaluates `value` and names it. `place` is where the value is written: an atom that is a binder
/// and its uses at once has the place of the binder.
struct Binding {
  const Var* var;
  const Expr* value;
  SourceRange place = {};
  bool isLet() const { return var->origin != VarOrigin::Temporary; }
};

/// Bindings in the order of evaluation, and the result.
struct Block {
  std::span<const Binding> bindings;
  Operand result;
};

enum class PatternKind : uint8_t { Wildcard, Var, Constructor, Tuple };

struct Pattern {
  PatternKind kind;
  SourceRange range;
  const Var* var = nullptr;
  const Constructor* constructor = nullptr;
  std::span<const Pattern* const> parts = {};
  /// Of an arm: whether a value that matches may still be one for later arms, which its body asks.
  bool isGuarded = false;
};

namespace detail {
template <typename... Fs>
struct Overload : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overload(Fs...) -> Overload<Fs...>;
} // namespace detail

/// Calls the function whose parameter is the node's kind; leaving out a kind does not compile,
/// unless a function takes `const Expr&`.
template <typename... Fs>
decltype(auto) match(const Expr& expr, Fs&&... functions) {
  detail::Overload on{std::forward<Fs>(functions)...};
  switch (expr.kind) {
  case ExprKind::Var:
    return on(static_cast<const Var&>(expr));
  case ExprKind::Constant:
    return on(static_cast<const Constant&>(expr));
  case ExprKind::Global:
    return on(static_cast<const Global&>(expr));
  case ExprKind::Operator:
    return on(static_cast<const OperatorRef&>(expr));
  case ExprKind::Constructor:
    return on(static_cast<const Constructor&>(expr));
  case ExprKind::Hole:
    return on(static_cast<const Hole&>(expr));
  case ExprKind::Tuple:
    return on(static_cast<const TupleExpr&>(expr));
  case ExprKind::Project:
    return on(static_cast<const Project&>(expr));
  case ExprKind::Call:
    return on(static_cast<const Call&>(expr));
  case ExprKind::If:
    return on(static_cast<const If&>(expr));
  case ExprKind::Match:
    return on(static_cast<const Match&>(expr));
  case ExprKind::Function:
    return on(static_cast<const Function&>(expr));
  case ExprKind::RefNew:
    return on(static_cast<const RefNew&>(expr));
  case ExprKind::RefRead:
    return on(static_cast<const RefRead&>(expr));
  case ExprKind::RefWrite:
    return on(static_cast<const RefWrite&>(expr));
  case ExprKind::Block:
    break;
  }
  return on(static_cast<const BlockExpr&>(expr));
}

} // namespace lang
