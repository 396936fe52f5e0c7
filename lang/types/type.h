// Types of the language. They are interned: equal types are the same pointer within one
// TypeContext. An `Unknown` is a variable of the type checker; a `Variable` is a type parameter,
// which stands only for itself; `Error` is the poison that keeps one mistake from becoming many.
#pragma once

#include "lang/types/dim.h"
#include "runtime/arena.h"
#include "runtime/dtype.h"
#include "runtime/source_range.h"
#include "runtime/words.h"

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace lang {

using runtime::Arena;
using runtime::Notation;
using runtime::Words;
using runtime::words;

struct Constructor;
struct OperatorRow;
struct Type;

enum class TypeKind : uint8_t {
  Tensor,
  Tuple,
  Function,
  Reference,
  Variable,
  Data,
  Operator,
  Dimension,
  Unknown,
  Error
};

/// What a declared parameter stands for; the first use of one that is Open decides.
enum class ParameterKind : uint8_t { Open, Type, Dimension };

/// A declared type or dimension parameter; identity is its address.
struct TypeParameter {
  std::string_view name;
  mutable ParameterKind kind = ParameterKind::Open;
};

using Types = std::span<const Type* const>;
using Dims = std::span<const Dim* const>;

/// A data type: `type List[A] { Cons(A, List[A]), Nil }`.
struct TypeDefinition {
  std::string_view name;
  runtime::SourceRange range;
  std::span<const TypeParameter* const> generics = {};
  std::span<const Constructor* const> constructors = {};
  bool isExtern = false;
};

/// One type; which fields count depends on the kind.
struct Type {
  TypeKind kind;
  /// Tensor: element type and extents. Dimension, an argument of a dimension parameter: the extent.
  runtime::DType dtype = {};
  Dims shape = {};
  /// Tensor: its extents count in 64 bits, as a text says by `4i64` for any of them. Sizes are
  /// equal in whatever bits they count. Only where a number below 2^31 is among the extents: larger
  /// ones need 64 bits anyhow, and names could not tell it in a text.
  bool isWide = false;
  /// Tuple: fields. Function: parameters. Data: arguments. Reference: the one content type.
  Types parts = {};
  /// Function: result.
  const Type* result = nullptr;
  /// Function: its own type parameters.
  std::span<const TypeParameter* const> generics = {};
  /// Variable: the parameter it names.
  const TypeParameter* parameter = nullptr;
  /// Data: the data type.
  const TypeDefinition* definition = nullptr;
  /// Operator: the operator that is used as a value, and its name.
  const OperatorRow* op = nullptr;
  std::string_view opName = {};
  /// Unknown: its number.
  uint32_t number = 0;
  /// True when an unknown type or dimension occurs anywhere inside.
  bool hasUnknown = false;
  /// True when a named dimension occurs anywhere inside.
  bool hasSymbol = false;
  /// True when an extent anywhere inside is `?`.
  bool hasAny = false;
  /// How deep the type is nested, from 1, and how many types it holds, written out; both saturate.
  /// Shared parts can make a small graph a huge text, so the checker bounds both.
  uint16_t depth = 1;
  uint32_t size = 1;

  bool isTensor() const { return kind == TypeKind::Tensor; }
  bool isTuple() const { return kind == TypeKind::Tuple; }
  bool isUnknown() const { return kind == TypeKind::Unknown; }
  bool isError() const { return kind == TypeKind::Error; }
};

/// Makes and owns types and dimensions.
class TypeContext {
public:
  TypeContext();
  TypeContext(const TypeContext&) = delete;
  TypeContext& operator=(const TypeContext&) = delete;

  const Dim* constant(int64_t value);
  const Dim* any() const { return any_; }
  /// A type parameter that nobody wrote; the same name and origin give the same parameter.
  const TypeParameter* parameter(std::string_view name, const void* origin);
  /// A named dimension; the same name and origin give the same symbol.
  const Dim* symbol(std::string_view name, const void* origin = nullptr);
  /// The dimension that a declared parameter stands for.
  const Dim* symbol(const TypeParameter* parameter);
  const Dim* unknownDim(uint32_t number);

  /// Sum, difference and product in normal form; `?` absorbs, and what overflows or is too long is
  /// `?`.
  const Dim* add(const Dim* left, const Dim* right);
  const Dim* subtract(const Dim* left, const Dim* right);
  const Dim* multiply(const Dim* left, const Dim* right);
  /// The sum of dimensions times numbers, as one step: the sums on the way are not made.
  const Dim* addAll(std::span<const DimTerm> summands);
  /// Floor of the quotient; `?` for a divisor below 1.
  const Dim* floorDivide(const Dim* left, int64_t divisor);
  /// How often a form was too long so far, to tell that from an overflow.
  uint64_t longForms() const { return longForms_; }
  /// The form with `replace` applied to every symbol and unknown in it.
  const Dim* substitute(const Dim* dim, const std::function<const Dim*(const Dim*)>& replace);

  /// `isWide` is dropped where the extents cannot tell it (see Type).
  const Type* tensor(Dims shape, runtime::DType dtype, bool isWide = false);
  const Type* tensor(std::initializer_list<const Dim*> shape, runtime::DType dtype) {
    return tensor(Dims(shape.begin(), shape.size()), dtype);
  }
  const Type* scalar(runtime::DType dtype) { return tensor(Dims{}, dtype); }
  const Type* tensorOf(std::span<const int64_t> shape, runtime::DType dtype);
  const Type* tuple(Types fields);
  const Type* function(Types parameters, const Type* result,
                       std::span<const TypeParameter* const> generics = {});
  const Type* reference(const Type* content);
  const Type* variable(const TypeParameter* parameter);
  const Type* data(const TypeDefinition* definition, Types arguments);
  const Type* operatorType(const OperatorRow* op, std::string_view name);
  const Type* dimension(const Dim* dim);
  const Type* unknown(uint32_t number);
  const Type* error() const { return error_; }

  Arena& arena() { return arena_; }

private:
  const Dim* internDim(const Dim& dim);
  const Dim* internForm(const Dim& dim);
  const Dim* tooLong();
  const Dim* sum(std::vector<DimTerm> terms, int64_t number);
  const Dim* multiplyVariables(const Dim* left, const Dim* right);
  const Type* intern(const Type& type);

  Arena arena_;
  /// All but the unknowns, which are most of all types and have numbers to be found by.
  std::unordered_multimap<size_t, const Type*> types_;
  std::vector<const Type*> unknowns_;
  std::unordered_multimap<size_t, const Dim*> dims_;
  std::map<std::pair<const void*, std::string_view>, const TypeParameter*> parameters_;
  std::vector<const Dim*> smallConstants_;
  const Dim* any_ = nullptr;
  uint64_t longForms_ = 0;
  const Type* error_ = nullptr;
};

/// Whether an extent is a number that counts in 32 bits unless something says otherwise.
bool isNarrowNumber(const Dim* dim);
/// Whether positions in a tensor of this type need 64 bits, by what is known of its extents.
bool countsIn64Bits(const Type& tensor);

/// The type as a notation writes it: `Tensor[(1, n), float32]` or `f32[1, n]`, `fn (A) -> B`.
std::string typeText(const Type* type, Notation notation = Notation::Relay);
std::string dimText(const Dim* dim);
/// Types and dimensions in words.
Words spelled(const Type* type);
Words spelled(const Dim* dim);
/// A shape alone: `(1, 3)`, for messages, which do not tell in how many bits extents count.
std::string shapeText(Dims shape);

/// The product of dimensions.
const Dim* product(TypeContext& types, Dims dims);

} // namespace lang
