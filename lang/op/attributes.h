// Attributes of operators and functions: values, the schema that an operator declares for them, and
// typed access for the operator's own functions.
//
// An operator call always carries one value per schema row, defaults filled in, already checked
// against the row's kind; so the accessors of Attributes never fail on a checked program.
#pragma once

#include "lang/source/source.h"
#include "runtime/arena.h"
#include "runtime/dtype.h"

#include <optional>
#include <string>
#include <vector>

namespace lang {

using runtime::Arena;

struct Expr;

enum class AttributeValueKind : uint8_t { Null, Int, Float, Bool, String, List, Expr, Meta };

/// One attribute value.
struct AttributeValue {
  AttributeValueKind kind = AttributeValueKind::Null;
  /// Int and Float: the width that the text gave, 32 unless it said otherwise.
  uint8_t width = 32;
  int64_t integer = 0;
  double real = 0;
  std::string_view text = {};
  std::span<const AttributeValue> items = {};
  /// Expr: an atom. Meta: the object, and in `items` what the reader understood of its inside.
  const Expr* expr = nullptr;
  const void* meta = nullptr;
};

AttributeValue intAttribute(int64_t value, uint8_t width = 32);
AttributeValue floatAttribute(double value);
AttributeValue boolAttribute(bool value);
AttributeValue stringAttribute(std::string_view text);
AttributeValue listAttribute(std::span<const AttributeValue> items);
bool operator==(const AttributeValue& left, const AttributeValue& right);

/// What a schema row accepts. Bool and Float take integers too, as TVM does, and IntList takes one
/// for a list of equal ones.
enum class AttributeKind : uint8_t {
  Int,
  Float,
  Bool,
  String,
  DType,
  IntList,
  FloatList,
  IntListList,
  IntOrIntList,
  Expr,
  Object
};

/// One attribute that an operator declares.
struct AttributeRow {
  std::string_view name;
  AttributeKind kind;
  /// The default as the text format writes it (`-1`, `[1, 1]`, `"NCHW"`, `None`); empty when the
  /// attribute must be given.
  std::string_view defaultText;
  std::string_view doc;
  /// True when `None` is a value even though the default is something else or missing.
  bool nullable = false;
  /// True when Relay's attribute object holds the scalar as an object of its own, as it does for
  /// everything nullable; then the metadata section has the number of that object. Texts are read
  /// either way, since versions of Relay differ in which of them are objects.
  bool boxed = false;
  /// Of an element type: whether the use of the result may decide it where numbers do without one.
  bool isByUse = false;
  /// Of an IntList: how many entries an integer stands for, where the default does not tell.
  uint8_t length = 0;

  /// The row of a list of that many entries.
  constexpr AttributeRow ofLength(size_t entries) const {
    AttributeRow row = *this;
    row.length = uint8_t(entries);
    return row;
  }
};

/// Reads the text of a default into a value; the texts come from operator tables only.
AttributeValue parseAttributeDefault(Arena& arena, std::string_view text);

/// The attributes of one call, in the order of the schema.
struct Attributes {
  std::span<const AttributeRow> rows;
  std::span<const AttributeValue> values;
  /// Where a text gives each of them, name and value; empty, or invalid where it gives none.
  std::span<const SourceRange> places = {};

  const AttributeValue& get(std::string_view name) const;
  bool isNull(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  bool boolean(std::string_view name) const;
  std::string_view text(std::string_view name) const;
  /// An integer list; a single integer counts as a list of one; null as the empty list.
  std::vector<int64_t> integers(std::string_view name) const;
  std::vector<double> reals(std::string_view name) const;
  std::vector<std::vector<int64_t>> integerLists(std::string_view name) const;
  /// The element type, or nothing when it is unset (`""`).
  std::optional<runtime::DType> dtype(std::string_view name) const;
};

} // namespace lang
