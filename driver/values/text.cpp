// Recursion goes into tuples and the leading fields of constructors, to a fixed depth; the last
// field of constructors, along which lists are long, is followed by a loop.
#include "driver/values/text.h"

#include "driver/values/tensor_text.h"
#include "lang/calls/run_value.h"
#include "lang/source/utf8.h"

#include <algorithm>
#include <fmt/format.h>

namespace driver {

namespace {

using runtime::Value;
using runtime::ValueKind;

constexpr size_t widestTuple = 90;

/// How much of a value is shown.
struct Bounds {
  size_t depth = 16;
  size_t parts = 1000;
  size_t fields = 100;
  size_t links = 12;
  /// Elements of tensors, alone and inside of other values.
  int64_t elements = 100, inlineElements = 64;
  /// Show types of tensors, and do not count what is left out.
  bool isBrief = false;
  /// Show elements of tensors too.
  bool showsElements = false;
};
constexpr Bounds fully{.depth = 200,
                       .parts = 10'000'000,
                       .fields = SIZE_MAX,
                       .links = SIZE_MAX,
                       .elements = INT64_MAX,
                       .inlineElements = INT64_MAX};
constexpr Bounds briefly{.depth = 4, .parts = 24, .fields = 8, .links = 3, .isBrief = true};
constexpr Bounds shortly{
    .depth = 4, .parts = 24, .fields = 8, .links = 3, .isBrief = true, .showsElements = true};

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
  ValueWriter(lang::TypeContext& types, const lang::Typing& typing, Bounds bounds = {},
              ValueStyle style = {})
      : types_(types), typing_(typing), bounds_(bounds), style_(style) {}

  std::string text(const Value& value, Place place) {
    if (place.depth >= bounds_.depth || parts_ >= bounds_.parts)
      return "...";
    ++parts_;
    switch (value.kind()) {
    case ValueKind::Tensor:
      if (bounds_.isBrief && value.tensor().rank() > 0)
        return briefTensor(value);
      return tensorText(value,
                        {.mostElements = place.isInline ? bounds_.inlineElements : bounds_.elements,
                         .isInline = place.isInline,
                         .isBare = style_.isBare});
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
    return fmt::format("<constructor {}>", name(value));
  }

private:
  /// The type of a function; one of an executable is its name.
  std::string closure(const runtime::Symbol& symbol) {
    const auto* function = static_cast<const lang::Function*>(symbol.definition);
    return function ? lang::typeText(lang::functionType(types_, *function, typing_), notation())
                    : std::string(symbol.name);
  }

  lang::Notation notation() const {
    return style_.isBare ? lang::Notation::Baton : lang::Notation::Relay;
  }

  /// The name of a constructor; one of the module `nn` begins with it.
  std::string name(const Value& value) const {
    return lang::plainName(lang::printable(value.symbol().name)).in(notation());
  }

  std::string briefTensor(const Value& value) {
    constexpr int64_t few = 8, longestRow = 3;
    const runtime::Tensor& tensor = value.tensor();
    std::string type = tensorTypeText(tensor.dtype(), tensor.shape(), notation());
    if (!bounds_.showsElements || tensor.size() == 0)
      return type;
    if (tensor.size() <= few)
      return tensorText(value, {few, true, style_.isBare});
    int64_t shown = std::min<int64_t>(tensor.size(), longestRow);
    return fmt::format("{} [{}, ...]", type, fmt::join(firstElements(tensor, shown), ", "));
  }

  /// The elements at the beginning of a tensor, whatever its shape.
  std::vector<std::string> firstElements(const runtime::Tensor& tensor, int64_t count) const {
    std::vector<std::string> texts;
    for (int64_t i = 0; i < count; ++i) {
      runtime::Tensor element(tensor.dtype(), {});
      std::copy_n(tensor.bytes() + size_t(i) * tensor.dtype().bytes(), tensor.dtype().bytes(),
                  element.bytes());
      texts.push_back(
          tensorText(runtime::tensorValue(std::move(element)), {.isBare = style_.isBare}));
    }
    return texts;
  }

  std::string tuple(std::span<const Value> fields, Place place) {
    return inParentheses(fields, {}, place, fields.size() == 1 ? "," : "");
  }

  /// Fields on one line where there is room, else each on its own; `names` are those that they
  /// have.
  std::string inParentheses(std::span<const Value> fields, std::span<const std::string_view> names,
                            Place place, std::string_view last) {
    std::vector<std::string> texts;
    size_t width = 0;
    bool hasLines = false;
    for (size_t i = 0; i < std::min(fields.size(), bounds_.fields); ++i) {
      std::string prefix = names.empty() ? "" : std::string(names[i]) + " = ";
      texts.push_back(prefix + indented(text(fields[i], place.inner(false)), prefix.size()));
      width += texts.back().size() + 2;
      hasLines |= texts.back().find('\n') != std::string::npos;
    }
    if (fields.size() > bounds_.fields)
      texts.push_back(fmt::format("... {} more", fields.size() - bounds_.fields));
    if (place.isInline || (!hasLines && width <= widestTuple))
      return fmt::format("({}{})", fmt::join(texts, ", "), last);
    std::string result = "(\n";
    for (const std::string& text : texts)
      result += fmt::format("  {},\n", indented(text, 2));
    return result + ")";
  }

  /// The constructor of a record, whose fields have names; null for any other value, and where only
  /// the machine knows it.
  const lang::Constructor* recordOf(const Value& value) const {
    const auto* made = static_cast<const lang::Constructor*>(value.symbol().definition);
    return style_.isBare && made && !made->fieldNames.empty() ? made : nullptr;
  }

  std::string constructor(const Value& value, Place place) {
    if (const lang::Constructor* made = recordOf(value))
      return name(value) + inParentheses(value.fields(), made->fieldNames, place, "");
    std::string result;
    bool isList = style_.isBare && isWholeList(value);
    size_t links = 0;
    const Value* link = &value;
    for (; isLink(*link) && links < bounds_.links; ++links) {
      result += isList ? (links == 0 ? "list(" : "") : name(*link) + "(";
      for (const Value& field : link->fields().first(link->fields().size() - 1))
        result += text(field, place.inner(true)) + ", ";
      link = &link->fields().back();
    }
    if (isList && !isLink(*link))
      return result.substr(0, result.size() - 2) + ")";
    result += rest(*link, place);
    return result + std::string(isList ? 1 : links, ')');
  }

  /// What is behind the links that are shown.
  std::string rest(const Value& value, Place place) {
    if (isLink(value) && bounds_.isBrief)
      return "...";
    size_t more = 0;
    for (const Value* link = &value; isLink(*link); link = &link->fields().back())
      ++more;
    if (more > 0)
      return fmt::format("... {} more", more);
    return value.kind() == ValueKind::Constructor ? name(value) : text(value, place.inner(true));
  }

  /// Whether a value is a list of the prelude that has elements.
  static bool isWholeList(const Value& value) {
    return value.symbol().name == "Cons" && value.fields().size() == 2;
  }

  lang::TypeContext& types_;
  const lang::Typing& typing_;
  const Bounds bounds_;
  const ValueStyle style_;
  size_t parts_ = 0;
};

} // namespace

std::string valueText(const runtime::Value& value, lang::TypeContext& types,
                      const lang::Typing& typing, ValueStyle style) {
  return ValueWriter(types, typing, style.isFull ? fully : Bounds(), style).text(value, {});
}

std::string briefValueText(const runtime::Value& value, lang::TypeContext& types,
                           const lang::Typing& typing, ValueStyle style) {
  return ValueWriter(types, typing, briefly, style).text(value, {.isInline = true});
}

std::string shortValueText(const runtime::Value& value, lang::TypeContext& types,
                           const lang::Typing& typing, ValueStyle style) {
  return ValueWriter(types, typing, shortly, style).text(value, {.isInline = true});
}

} // namespace driver
