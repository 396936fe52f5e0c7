// Recursion goes into tuples and the leading fields of constructors, to a fixed depth; the last
// field of constructors, along which lists are long, is followed by a loop.
#include "driver/value_text.h"

#include "driver/tensor_text.h"
#include "lang/run_value.h"
#include "lang/utf8.h"

#include <fmt/format.h>

namespace driver {

namespace {

using runtime::Value;
using runtime::ValueKind;

constexpr size_t mostDepth = 16;
constexpr size_t mostParts = 1000;
constexpr size_t mostFields = 100;
constexpr size_t mostLinks = 12;
constexpr size_t widestTuple = 90;

/// Where a value stands, which decides how it may be laid out.
struct Place {
  size_t depth = 0;
  bool isInline = false;

  Place inner(bool inlined) const { return {depth + 1, isInline || inlined}; }
};

/// A constructor whose last field may continue a list.
bool isLink(const Value& value) {
  return value.kind() == ValueKind::Constructor && !value.fields().empty();
}

class ValueWriter {
public:
  ValueWriter(lang::TypeContext& types, const lang::Typing& typing)
      : types_(types), typing_(typing) {}

  std::string text(const Value& value, Place place) {
    if (place.depth >= mostDepth || parts_ >= mostParts)
      return "...";
    ++parts_;
    switch (value.kind()) {
    case ValueKind::Tensor:
      return tensorText(value, place.isInline ? TensorLayout{24, true} : TensorLayout());
    case ValueKind::Tuple:
      return tuple(value.fields(), place);
    case ValueKind::Constructor:
      return constructor(value, place);
    case ValueKind::Closure:
      return fmt::format("<{}>", closure(value.symbol()));
    case ValueKind::Reference:
      return fmt::format("ref({})", text(value.content(), place.inner(true)));
    case ValueKind::Operator:
      return fmt::format("<operator {}>", value.symbol().name);
    case ValueKind::Maker:
      break;
    }
    return fmt::format("<constructor {}>", lang::printable(value.symbol().name));
  }

private:
  /// The type of a function; one of an executable is its name.
  std::string closure(const runtime::Symbol& symbol) {
    const auto* function = static_cast<const lang::Function*>(symbol.definition);
    return function ? lang::typeText(lang::functionType(types_, *function, typing_))
                    : std::string(symbol.name);
  }

  std::string tuple(std::span<const Value> fields, Place place) {
    std::vector<std::string> texts;
    size_t width = 0;
    bool hasLines = false;
    for (const Value& field : fields.first(std::min(fields.size(), mostFields))) {
      texts.push_back(text(field, place.inner(false)));
      width += texts.back().size() + 2;
      hasLines |= texts.back().find('\n') != std::string::npos;
    }
    if (fields.size() > mostFields)
      texts.push_back(fmt::format("... {} more", fields.size() - mostFields));
    if (place.isInline || (!hasLines && width <= widestTuple))
      return fmt::format("({}{})", fmt::join(texts, ", "), fields.size() == 1 ? "," : "");
    std::string result = "(\n";
    for (const std::string& text : texts)
      result += fmt::format("  {},\n", indented(text, 2));
    return result + ")";
  }

  std::string constructor(const Value& value, Place place) {
    std::string result;
    size_t links = 0;
    const Value* link = &value;
    for (; isLink(*link) && links < mostLinks; ++links) {
      result += lang::printable(link->symbol().name) + "(";
      for (const Value& field : link->fields().first(link->fields().size() - 1))
        result += text(field, place.inner(true)) + ", ";
      link = &link->fields().back();
    }
    if (isLink(*link)) {
      size_t more = 0;
      for (; isLink(*link); ++more)
        link = &link->fields().back();
      result += fmt::format("... {} more", more);
    } else if (link->kind() == ValueKind::Constructor) {
      result += lang::printable(link->symbol().name);
    } else {
      result += text(*link, place.inner(true));
    }
    return result + std::string(links, ')');
  }

  lang::TypeContext& types_;
  const lang::Typing& typing_;
  size_t parts_ = 0;
};

} // namespace

std::string valueText(const runtime::Value& value, lang::TypeContext& types,
                      const lang::Typing& typing) {
  return ValueWriter(types, typing).text(value, {});
}

} // namespace driver
