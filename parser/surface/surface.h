// The surface tree: what a text says, before any name has a meaning.
//
// parser/ reads texts: parser/baton/ and parser/relay/ make this tree of one in either notation,
// parser/metadata/ reads the section behind `#[metadata]`, parser/resolve/ turns the tree into the
// core IR.
//
// All nodes are plain structs in an arena; names point into the source text. Parentheses leave no
// node. Long programs are flat (a Sequence has a list of items), long operator and call chains lean
// to the left: `Infix::left`, `Call::callee` and what is left of a dot, a bracket or `with` must be
// walked by a loop. Along every other edge a tree is at most `maximumDepth` deep, so
// there recursion is safe.
#pragma once

#include "lang/source/source.h"
#include "runtime/dtype.h"
#include "runtime/words.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace parser::surface {

/// The deepest tree a reader hands out, left spines not counted; also the deepest bracket nesting.
inline constexpr uint32_t maximumDepth = 4000;

using lang::SourceRange;

using runtime::Notation;

struct Expr;
struct Type;
struct Pattern;
struct Attribute;
struct Function;

/// A name as written, without its sigil; the range includes the sigil.
struct Identifier {
  std::string_view text;
  SourceRange range;
};

/// `meta[key][index]`.
struct MetaReference {
  std::string_view key;
  uint32_t index = 0;
};

// Types.

enum class TypeKind : uint8_t { Hole, Named, Tensor, Tuple, Function, Ref, Meta, Size };

struct Type {
  TypeKind kind;
  /// Depth of this tree, from 1.
  uint16_t depth = 1;
  SourceRange range;
};

/// `_`: no annotation.
struct HoleType : Type {
  static constexpr TypeKind tag = TypeKind::Hole;
};

/// A scalar dtype, a type parameter or a data type: `int32`, `A`, `List[A]`. In Baton's notation
/// also a tensor, `f32[n, 784]`, and as an argument the name of a size.
struct NamedType : Type {
  static constexpr TypeKind tag = TypeKind::Named;
  std::string_view name;
  std::span<const Type* const> arguments;
};

enum class DimKind : uint8_t {
  Integer,
  Any,
  Named,
  Meta,
  Hole,
  Leading,
  Sum,
  Difference,
  Product,
  Quotient
};

/// One extent of a tensor type. Named dimensions, holes, arithmetic and leading extents, `..`, are
/// Baton's addition.
struct Dim {
  DimKind kind = DimKind::Any;
  bool is64 = false;
  SourceRange range;
  int64_t value = 0;
  std::string_view name;
  MetaReference meta;
  /// Of an operation: its two sides. Chains lean to the left.
  const Dim* left = nullptr;
  const Dim* right = nullptr;
};

/// `Tensor[(2, ?), float32]`.
struct TensorType : Type {
  static constexpr TypeKind tag = TypeKind::Tensor;
  std::span<const Dim> shape;
  Identifier dtype;
};

/// `(A, B)`; `(A)` is a tuple of one.
struct TupleType : Type {
  static constexpr TypeKind tag = TypeKind::Tuple;
  std::span<const Type* const> fields;
};

/// `fn [A](A) -> A`.
struct FunctionType : Type {
  static constexpr TypeKind tag = TypeKind::Function;
  std::span<const Identifier> generics;
  std::span<const Type* const> parameters;
  const Type* result = nullptr;
};

/// `ref(T)`.
struct RefType : Type {
  static constexpr TypeKind tag = TypeKind::Ref;
  const Type* inner = nullptr;
};

/// `meta[IncompleteType][0]`: an unknown type as TVM prints it.
struct MetaType : Type {
  static constexpr TypeKind tag = TypeKind::Meta;
  MetaReference meta;
};

/// A size among the arguments of a type: `784`, `2 * n`, `..`; a name alone is a NamedType.
struct SizeType : Type {
  static constexpr TypeKind tag = TypeKind::Size;
  const Dim* dim = nullptr;
};

// Attributes.

enum class AttributeKind : uint8_t { Int, Float, Bool, String, Null, List, Expr };

/// The value of an attribute. A meta reference, an operator or a global is an `Expr`; in Baton's
/// notation every value has its expression, as the callee decides what it is.
struct AttributeValue {
  AttributeKind kind = AttributeKind::Null;
  bool boolean = false;
  /// 16, 32 or 64 for Int and Float.
  uint8_t width = 0;
  /// Depth of this tree, from 1.
  uint16_t depth = 1;
  SourceRange range;
  int64_t integer = 0;
  double real = 0;
  /// The bytes of a string, escapes decoded.
  std::string_view text;
  std::span<const AttributeValue> list;
  const Expr* expr = nullptr;
};

/// `key=value`; a dotted key is one text without blanks. A repeated key stands twice in a list.
struct Attribute {
  Identifier key;
  AttributeValue value;
};

// Patterns.

enum class PatternKind : uint8_t { Wildcard, Local, Constructor, Tuple, Literal, Either };

struct Pattern {
  PatternKind kind;
  SourceRange range;
};

struct WildcardPattern : Pattern {
  static constexpr PatternKind tag = PatternKind::Wildcard;
};

/// `%x` or `%x: T`.
struct LocalPattern : Pattern {
  static constexpr PatternKind tag = PatternKind::Local;
  Identifier name;
  const Type* type = nullptr;
};

/// `Cons(%h, _)`; `Nil` has no fields. In `Dense(b = bias)`, which leaves out what it does not ask
/// for, fields have names, one for each pattern.
struct ConstructorPattern : Pattern {
  static constexpr PatternKind tag = PatternKind::Constructor;
  Identifier name;
  std::span<const Pattern* const> fields;
  std::span<const Identifier> fieldNames;
};

/// `(%a, %b)`; `(%a)` is a tuple of one.
struct TuplePattern : Pattern {
  static constexpr PatternKind tag = PatternKind::Tuple;
  std::span<const Pattern* const> fields;
};

/// `0`, `true`: an IntLiteral, FloatLiteral or BoolLiteral.
struct LiteralPattern : Pattern {
  static constexpr PatternKind tag = PatternKind::Literal;
  const Expr* value = nullptr;
};

/// `p | q`.
struct EitherPattern : Pattern {
  static constexpr PatternKind tag = PatternKind::Either;
  std::span<const Pattern* const> alternatives;
};

// Expressions.

enum class ExprKind : uint8_t {
  Error,
  IntLiteral,
  FloatLiteral,
  BoolLiteral,
  TextLiteral,
  Hole,
  Placeholder,
  TensorLiteral,
  Local,
  Graph,
  Global,
  Name,
  Meta,
  FunctionLiteral,
  If,
  Match,
  RefNew,
  RefRead,
  RefWrite,
  Tuple,
  Project,
  Field,
  Index,
  With,
  Call,
  Prefix,
  Infix,
  Sequence
};

struct Expr {
  ExprKind kind;
  /// Depth of this tree, from 1, left spines not counted.
  uint16_t depth = 1;
  SourceRange range;
};

/// Stands where text could not be read; the reader has reported it already.
struct ErrorExpr : Expr {
  static constexpr ExprKind tag = ExprKind::Error;
};

/// `_`, in Baton's notation `?`: an expression that is still to be written.
struct Hole : Expr {
  static constexpr ExprKind tag = ExprKind::Hole;
};

struct IntLiteral : Expr {
  static constexpr ExprKind tag = ExprKind::IntLiteral;
  /// Of no bits for a number that takes the type that its use asks for.
  runtime::DType dtype = runtime::Int32;
  int64_t value = 0;
};

/// The value is what the text says in double; it is rounded to the type when stored.
struct FloatLiteral : Expr {
  static constexpr ExprKind tag = ExprKind::FloatLiteral;
  /// As for integers.
  runtime::DType dtype = runtime::Float32;
  double value = 0;
};

struct BoolLiteral : Expr {
  static constexpr ExprKind tag = ExprKind::BoolLiteral;
  bool value = false;
};

/// `"loss"`, escapes decoded.
struct TextLiteral : Expr {
  static constexpr ExprKind tag = ExprKind::TextLiteral;
  std::string_view text;
};

/// `_` among the arguments of a call, which makes it a function.
struct Placeholder : Expr {
  static constexpr ExprKind tag = ExprKind::Placeholder;
};

/// `[[1f, 2f], [3f, 4f]]`, Baton's addition: the elements are number or bool literals or tensor
/// literals again, in Baton's notation any expressions. That rows are of one length and kind is for
/// the resolver to check.
struct TensorLiteral : Expr {
  static constexpr ExprKind tag = ExprKind::TensorLiteral;
  std::span<const Expr* const> elements;
};

/// `%x`.
struct Local : Expr {
  static constexpr ExprKind tag = ExprKind::Local;
  std::string_view name;
};

/// `%12`.
struct Graph : Expr {
  static constexpr ExprKind tag = ExprKind::Graph;
  uint32_t number = 0;
};

/// `@main`.
struct Global : Expr {
  static constexpr ExprKind tag = ExprKind::Global;
  std::string_view name;
};

/// An operator or a constructor; dotted names are one text without blanks: `nn.relu`. In Baton's
/// notation whatever has a name.
struct Name : Expr {
  static constexpr ExprKind tag = ExprKind::Name;
  std::string_view name;
};

struct Meta : Expr {
  static constexpr ExprKind tag = ExprKind::Meta;
  MetaReference meta;
};

/// `fn [A](%x: A) -> A { ... }`.
struct FunctionLiteral : Expr {
  static constexpr ExprKind tag = ExprKind::FunctionLiteral;
  const Function* function = nullptr;
};

/// `else if` makes an If as `otherwise`.
struct If : Expr {
  static constexpr ExprKind tag = ExprKind::If;
  const Expr* condition = nullptr;
  const Expr* then = nullptr;
  const Expr* otherwise = nullptr;
};

/// One arm of a match, which a guard may leave to those behind it.
struct Arm {
  const Pattern* pattern = nullptr;
  const Expr* body = nullptr;
  const Expr* guard = nullptr;
};

/// `match` (complete) or `match?` (partial).
struct Match : Expr {
  static constexpr ExprKind tag = ExprKind::Match;
  bool isPartial = false;
  const Expr* scrutinee = nullptr;
  std::span<const Arm> arms;
};

struct RefNew : Expr {
  static constexpr ExprKind tag = ExprKind::RefNew;
  const Expr* value = nullptr;
};

struct RefRead : Expr {
  static constexpr ExprKind tag = ExprKind::RefRead;
  const Expr* cell = nullptr;
};

struct RefWrite : Expr {
  static constexpr ExprKind tag = ExprKind::RefWrite;
  const Expr* cell = nullptr;
  const Expr* value = nullptr;
};

struct Tuple : Expr {
  static constexpr ExprKind tag = ExprKind::Tuple;
  std::span<const Expr* const> fields;
};

/// `%t.1`.
struct Project : Expr {
  static constexpr ExprKind tag = ExprKind::Project;
  uint32_t index = 0;
  const Expr* operand = nullptr;
};

/// `p.w`, `nn.dense`, `x.T`: a field, or a name of a module or of operators.
struct Field : Expr {
  static constexpr ExprKind tag = ExprKind::Field;
  Identifier name;
  const Expr* operand = nullptr;
};

enum class SubscriptKind : uint8_t { At, Slice, Rest };

/// `i`, `1:n:2` of which each part may be left out, or `..`.
struct Subscript {
  SubscriptKind kind = SubscriptKind::At;
  SourceRange range;
  /// `at`, or where a slice begins.
  const Expr* begin = nullptr;
  const Expr* end = nullptr;
  const Expr* step = nullptr;
};

/// `x[0, 1:, ..]`.
struct Index : Expr {
  static constexpr ExprKind tag = ExprKind::Index;
  const Expr* operand = nullptr;
  std::span<const Subscript> subscripts;
};

/// `p with (w = e)`: a record with other fields.
struct With : Expr {
  static constexpr ExprKind tag = ExprKind::With;
  const Expr* operand = nullptr;
  std::span<const Attribute> fields;
};

/// `f(a, b, k=1)`. A meta reference that stands last before `)` is in `metaTail` and not in
/// `arguments`; when it names no attribute object it is the last argument after all.
struct Call : Expr {
  static constexpr ExprKind tag = ExprKind::Call;
  const Expr* callee = nullptr;
  std::span<const Expr* const> arguments;
  std::span<const Attribute> attributes;
  const Meta* metaTail = nullptr;
};

enum class InfixOp : uint8_t {
  Multiply,
  Divide,
  Add,
  Subtract,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  Remainder,
  MatrixProduct,
  Power,
  And,
  Or,
  Pipe
};

enum class PrefixOp : uint8_t { Negate, Not };

struct Prefix : Expr {
  static constexpr ExprKind tag = ExprKind::Prefix;
  PrefixOp op = PrefixOp::Negate;
  SourceRange opRange;
  const Expr* operand = nullptr;
};

struct Infix : Expr {
  static constexpr ExprKind tag = ExprKind::Infix;
  InfixOp op = InfixOp::Add;
  SourceRange opRange;
  const Expr* left = nullptr;
  const Expr* right = nullptr;
};

enum class ItemKind : uint8_t { Graph, Let, Effect, FreeVar };

/// One item of a sequence before its result. Graph: number, value. Let: name or pattern, type (or
/// nullptr), value. Effect: value. FreeVar: name, type (or nullptr).
struct Item {
  ItemKind kind = ItemKind::Effect;
  uint32_t number = 0;
  SourceRange range;
  Identifier name;
  const Type* type = nullptr;
  const Expr* value = nullptr;
  /// What a let takes apart, or null.
  const Pattern* pattern = nullptr;
};

/// `a; let %x = b; c`. `braces` is set for `{ ... }` as an item, which opens a scope of its own;
/// then the items may be empty. Bodies of functions, branches and arms are no such items: a
/// Sequence there has no braces.
struct Sequence : Expr {
  static constexpr ExprKind tag = ExprKind::Sequence;
  bool braces = false;
  std::span<const Item> items;
  const Expr* result = nullptr;
};

// Functions and definitions.

/// `%x {virtual_device=...}: T`, or `x: T = default`.
struct Parameter {
  Identifier name;
  const Type* type = nullptr;
  std::span<const Attribute> attributes;
  const Expr* defaultValue = nullptr;
  /// What takes the argument apart, in place of a name, or null.
  const Pattern* pattern = nullptr;
};

/// What follows `fn` or `def @name`.
struct Function {
  SourceRange range;
  std::span<const Identifier> generics;
  std::span<const Parameter> parameters;
  std::span<const Attribute> attributes;
  const Type* result = nullptr;
  const Expr* body = nullptr;
};

enum class DefinitionKind : uint8_t { Function, Type, Constant, Test, Import };

struct Definition {
  DefinitionKind kind;
  SourceRange range;
  Identifier name;
};

struct FunctionDefinition : Definition {
  static constexpr DefinitionKind tag = DefinitionKind::Function;
  const Function* function = nullptr;
};

/// `Cons(A, List[A])`, `Node(left: Tree, right: Tree)`.
struct Constructor {
  Identifier name;
  std::span<const Type* const> fields;
  /// Of all fields, or empty.
  std::span<const Identifier> fieldNames;
};

/// A record has one constructor, of its own name. An alias has none.
struct TypeDefinition : Definition {
  static constexpr DefinitionKind tag = DefinitionKind::Type;
  bool isExtern = false;
  std::span<const Identifier> generics;
  std::span<const Constructor> constructors;
  const Type* alias = nullptr;
};

/// `let rate = 1e-3;` beside definitions.
struct ConstantDefinition : Definition {
  static constexpr DefinitionKind tag = DefinitionKind::Constant;
  const Type* type = nullptr;
  const Expr* value = nullptr;
};

/// `test "..." { ... }`; the name is the text.
struct TestDefinition : Definition {
  static constexpr DefinitionKind tag = DefinitionKind::Test;
  const Expr* body = nullptr;
};

/// `import layers/attention as att`; the name is what it is called by.
struct ImportDefinition : Definition {
  static constexpr DefinitionKind tag = DefinitionKind::Import;
  Identifier path;
};

/// A whole text: definitions, or one expression, or neither when the text is empty.
struct File {
  Notation notation = Notation::Relay;
  SourceRange range;
  /// `0.0.5`, `0.0.4`, or empty when there is no header.
  std::string_view version;
  SourceRange versionRange;
  std::span<const Definition* const> definitions;
  const Expr* expr = nullptr;
  /// Every comment with its delimiters, in the order of the text.
  std::span<const SourceRange> comments;
  /// What follows `#[metadata]`, to the end of the text; invalid when there is no such section.
  SourceRange metadata;
};

/// The node as its own kind, which the caller has checked: `as<Call>(expr)`.
template <typename Node, typename Base>
const Node& as(const Base* base) {
  return static_cast<const Node&>(*base);
}

/// The node when it is of that kind, else nullptr.
template <typename Node, typename Base>
const Node* tryAs(const Base* base) {
  return base->kind == Node::tag ? static_cast<const Node*>(base) : nullptr;
}

} // namespace parser::surface
