// Attributes: values as written or as metadata holds them, checked against an operator's schema.
#include "lang/op/op.h"
#include "parser/resolve/attribute_words.h"
#include "parser/resolve/bare_forms.h"
#include "parser/resolve/index_map_text.h"
#include "parser/resolve/metadata_fields.h"
#include "parser/resolve/name_hints.h"
#include "parser/resolve/size_hints.h"

#include "lang/op/attribute_schema.h"
#include "lang/op/named_arguments.h"

#include <algorithm>
#include <charconv>

namespace parser {

using lang::AttributeKind;
using lang::AttributeRow;
using lang::AttributeValue;
using lang::AttributeValueKind;
using lang::Message;

namespace {

constexpr std::string_view typeKeyAttribute = "attrs_type_key";

AttributeValue metadataValue(ResolveContext& context, size_t number);

int64_t integerOf(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

double realOf(std::string_view text) {
  return std::strtod(std::string(text).c_str(), nullptr);
}

/// The items of an array node; the reader of the section has ruled out cycles and deep nesting.
AttributeValue metadataArray(ResolveContext& context, const lang::MetadataNode& node) {
  std::vector<AttributeValue> items;
  for (size_t item : node.data)
    items.push_back(metadataValue(context, item));
  return lang::listAttribute(context.module.arena.copy(items));
}

/// An object of the metadata section as a value; what Baton does not interpret stays a reference.
AttributeValue metadataValue(ResolveContext& context, size_t number) {
  const lang::MetadataNode& node = context.module.metadata.nodes[number];
  const std::string& key = node.typeKey;
  if (key.empty())
    return {};
  if (key == "runtime.BoxInt" || key == "runtime.BoxBool")
    return lang::intAttribute(integerOf(node.repr));
  if (key == "runtime.BoxFloat")
    return lang::floatAttribute(realOf(node.repr));
  if (key == "runtime.String")
    return lang::stringAttribute(node.repr);
  if (key == "IntImm") {
    auto dtype = runtime::parseDType(fieldOf(node, "dtype"));
    return lang::intAttribute(integerOf(fieldOf(node, "value")), dtype ? dtype->bits : 32);
  }
  if (key == "FloatImm")
    return lang::floatAttribute(realOf(fieldOf(node, "value")));
  if (key == "Array")
    return metadataArray(context, node);
  AttributeValue value;
  value.kind = AttributeValueKind::Meta;
  value.text = key;
  value.meta = &node;
  if (key == "tir.IndexMap") {
    std::string map = indexMapText(context.module.metadata, node);
    lang::Arena& arena = context.module.arena;
    if (!map.empty())
      value.items = arena.copy(std::vector{lang::stringAttribute(arena.copyText(map))});
  }
  return value;
}

AttributeValue exprValue(ResolveContext& context, const surface::Expr* expr) {
  if (const auto* meta = surface::tryAs<surface::Meta>(expr);
      meta && meta->meta.key != "relay.Constant") {
    auto number = findMetadata(context, meta->meta, meta->range);
    return number ? metadataValue(context, *number) : AttributeValue{};
  }
  AttributeValue value;
  value.kind = AttributeValueKind::Expr;
  value.expr = buildExpr(context, expr).atom;
  if (!value.expr)
    return {};
  return value;
}

/// A value as written. Booleans are the integers 1 and 0, as in TVM; a schema turns them back.
AttributeValue writtenValue(ResolveContext& context, const surface::AttributeValue& written) {
  switch (written.kind) {
  case surface::AttributeKind::Null:
    return {};
  case surface::AttributeKind::Int:
    return lang::intAttribute(written.integer, written.width ? written.width : 32);
  case surface::AttributeKind::Bool:
    return lang::intAttribute(written.boolean);
  case surface::AttributeKind::Float:
    return lang::floatAttribute(written.real);
  case surface::AttributeKind::String:
    return lang::stringAttribute(context.module.arena.copyText(written.text));
  case surface::AttributeKind::List: {
    std::vector<AttributeValue> items;
    for (const surface::AttributeValue& item : written.list)
      items.push_back(writtenValue(context, item));
    return lang::listAttribute(context.module.arena.copy(items));
  }
  case surface::AttributeKind::Expr:
    return exprValue(context, written.expr);
  }
  return {};
}

/// The part of a value that is not of the kind which it should have, and where it stands.
struct Culprit {
  const AttributeValue* value;
  lang::SourceRange range;
};

/// What the items of a list are to be; nothing for what is no list.
std::optional<AttributeKind> itemKind(AttributeKind list) {
  switch (list) {
  case AttributeKind::IntList:
  case AttributeKind::IntOrIntList:
    return AttributeKind::Int;
  case AttributeKind::FloatList:
    return AttributeKind::Float;
  case AttributeKind::IntListList:
    return AttributeKind::IntList;
  default:
    return std::nullopt;
  }
}

bool fits(AttributeKind kind, const AttributeValue& value) {
  auto item = itemKind(kind);
  if (item && value.kind == AttributeValueKind::List)
    return std::ranges::all_of(value.items, [&](auto& part) { return fits(*item, part); });
  return value.kind == AttributeValueKind::Int ||
         (kind == AttributeKind::Float && value.kind == AttributeValueKind::Float);
}

/// Of a list of the wrong items, the first of these.
Culprit culpritOf(AttributeKind kind, const AttributeValue& value,
                  const surface::AttributeValue* written, lang::SourceRange range) {
  auto item = itemKind(kind);
  if (!item || !written || written->list.size() != value.items.size())
    return {&value, range};
  for (size_t i = 0; i < value.items.size(); ++i)
    if (!fits(*item, value.items[i]))
      return culpritOf(*item, value.items[i], &written->list[i], written->list[i].range);
  return {&value, range};
}

/// Puts values in the order of a schema.
class AttributeFiller {
public:
  AttributeFiller(ResolveContext& context, const lang::OperatorRow& row)
      : context_(context), row_(row) {
    auto defaults = context.environment.operators.defaults(&row);
    values_.assign(defaults.begin(), defaults.end());
    places_.resize(values_.size());
  }

  /// `written` is the value in the text, or null.
  void set(std::string_view name, lang::SourceRange nameRange, lang::SourceRange range,
           const AttributeValue& value, const surface::AttributeValue* written = nullptr) {
    auto found = std::ranges::find(row_.attributes, name, &AttributeRow::name);
    if (found == row_.attributes.end()) {
      return reportUnknown(name, nameRange);
    }
    size_t index = size_t(found - row_.attributes.begin());
    places_[index] = lang::cover(nameRange, range);
    if (lang::fitsSchema(*found, value)) {
      values_[index] = lang::storedAttribute(context_.module.arena, *found, value);
      return;
    }
    failed_ = true;
    Culprit wrong = culpritOf(found->kind, value, written, range);
    auto& report =
        context_.diagnostics.report(Message::AttributeMismatch, wrong.range, name, row_.name,
                                    kindText(found->kind), valueText(*wrong.value));
    if (wrong.value->kind == AttributeValueKind::Expr)
      noteComputed(report, context_, row_);
    suggestValue(report, found->kind, *wrong.value, wrong.range);
  }

  /// Lets what is not given be `None` where that is a value, and the attributes `later` anyhow.
  void allowNull(std::span<const std::string_view> later) {
    mayBeNull_ = true;
    later_ = later;
  }

  /// For a value that was reported.
  void fail(std::string_view name, lang::SourceRange range) {
    failed_ = true;
    auto found = std::ranges::find(row_.attributes, name, &AttributeRow::name);
    if (found != row_.attributes.end())
      places_[size_t(found - row_.attributes.begin())] = range;
    else
      reportUnknown(name, range);
  }

  const lang::Attributes* finish(const surface::Call& call) {
    for (size_t i = 0; i < values_.size(); ++i) {
      const AttributeRow& row = row_.attributes[i];
      bool mayMiss =
          (mayBeNull_ && lang::isNullable(row)) || std::ranges::count(later_, row.name) > 0;
      if (places_[i].isValid() || !row.defaultText.empty() || mayMiss)
        continue;
      failed_ = true;
      // An unknown attribute may be the missing one.
      if (misspelt_)
        break;
      suggestMissing(
          context_.diagnostics.report(Message::MissingAttribute, call.range, row_.name, row.name),
          row, call);
    }
    if (failed_)
      return nullptr;
    runtime::Arena& arena = context_.module.arena;
    return arena.make<lang::Attributes>(row_.attributes, arena.copy(values_), arena.copy(places_));
  }

private:
  void reportUnknown(std::string_view name, lang::SourceRange range) {
    failed_ = misspelt_ = true;
    auto& report = context_.diagnostics.report(Message::UnknownAttribute, range, row_.name, name);
    std::vector<std::string_view> names;
    for (const AttributeRow& row : row_.attributes)
      names.push_back(row.name);
    if (names.empty())
      report.note(fmt::format("`{}` has no attributes", row_.name));
    else
      report.note(fmt::format("its attributes are {}", fmt::join(names, ", ")));
    suggestAttributes(report, name, row_, places_);
  }

  /// What somebody may have meant by a value of another kind.
  static void suggestValue(lang::Diagnostic& report, AttributeKind kind,
                           const AttributeValue& value, lang::SourceRange range) {
    bool isOne = value.kind == AttributeValueKind::List && value.items.size() == 1;
    bool isWord = kind != AttributeKind::String && value.kind == AttributeValueKind::String;
    if (isWord && (value.text == "same" || value.text == "SAME"))
      report.note(
          "so many zeros stand at each side: half of a kernel of odd size keeps sizes as they "
          "are, 1 for a kernel of 3");
    if (isWord && (value.text == "valid" || value.text == "VALID"))
      report.suggest({"without zeros at the sides it is {}", {{range, "0"}}});
    if (kind == AttributeKind::DType && value.kind == AttributeValueKind::Int)
      report.note("the sizes of a shape stand in brackets: `[2, 3]`");
    if (kind == AttributeKind::DType && value.kind == AttributeValueKind::String)
      suggestDType(report, range, value.text, true);
    else if (kind == AttributeKind::Int && isOne)
      report.suggest({"write {}", {{range, fmt::format("{}", value.items[0].integer)}}});
    else if (value.kind == AttributeValueKind::Float && value.real == double(int32_t(value.real)))
      report.suggest({"write {}", {{range, fmt::format("{}", int32_t(value.real))}}});
  }

  /// Arguments beyond the operands are attributes without their names.
  void suggestMissing(lang::Diagnostic& report, const AttributeRow& row,
                      const surface::Call& call) const {
    std::vector<lang::ExtraArgument> extra;
    for (size_t i = row_.operands.size(); i < call.arguments.size(); ++i)
      extra.push_back({call.arguments[i]->range, formOf(*call.arguments[i])});
    std::vector<bool> given;
    for (lang::SourceRange place : places_)
      given.push_back(place.isValid());
    uint32_t end = call.range.end - 1;
    for (lang::Suggestion& suggestion : lang::namedArguments(row_, given, extra, end))
      report.suggest(std::move(suggestion));
    bool isFirst = call.arguments.empty() && call.attributes.empty();
    if (lang::isNullable(row))
      report.suggest({"`None` leaves it open: {}",
                      {{{end, end}, fmt::format("{}{}=None", isFirst ? "" : ", ", row.name)}}});
  }

  static bool isInt(const surface::Expr* expr) {
    return expr->kind == surface::ExprKind::IntLiteral;
  }

  static lang::ArgumentForm formOf(const surface::Expr& argument) {
    using lang::ArgumentForm;
    switch (argument.kind) {
    case surface::ExprKind::IntLiteral:
      return ArgumentForm::Int;
    case surface::ExprKind::BoolLiteral:
      return ArgumentForm::Bool;
    case surface::ExprKind::FloatLiteral:
      return ArgumentForm::Float;
    case surface::ExprKind::Tuple:
      return std::ranges::all_of(surface::as<surface::Tuple>(&argument).fields, isInt)
                 ? ArgumentForm::IntTuple
                 : ArgumentForm::Other;
    case surface::ExprKind::TensorLiteral: {
      auto elements = surface::as<surface::TensorLiteral>(&argument).elements;
      return std::ranges::all_of(elements, isInt) ? ArgumentForm::IntList
                                                  : ArgumentForm::IntListList;
    }
    default:
      return ArgumentForm::Other;
    }
  }

  ResolveContext& context_;
  const lang::OperatorRow& row_;
  std::vector<AttributeValue> values_;
  /// Where the text gives each, or invalid.
  std::vector<lang::SourceRange> places_;
  bool mayBeNull_ = false;
  std::span<const std::string_view> later_ = {};
  bool misspelt_ = false;
  bool failed_ = false;
};

/// The number of an object that a field is, or nothing.
std::optional<size_t> objectNumber(ResolveContext& context, const std::string& text) {
  size_t number = SIZE_MAX;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool isReference = error == std::errc{} && end == text.data() + text.size() &&
                     number < context.module.metadata.nodes.size();
  return isReference ? std::optional(number) : std::nullopt;
}

/// A text of an attribute object: itself, or the number of the object that holds it. Which of the
/// two a field has changed between versions of TVM, and no attribute is a text of digits.
AttributeValue objectText(ResolveContext& context, const std::string& text) {
  auto number = objectNumber(context, text);
  if (number && context.module.metadata.nodes[*number].typeKey == "runtime.String")
    return metadataValue(context, *number);
  return lang::stringAttribute(context.module.arena.copyText(text));
}

/// A field of an attribute object: machine numbers stand there as they are, boxed ones and lists as
/// the number of an object, 0 for null; texts either way.
AttributeValue objectField(ResolveContext& context, const AttributeRow& row,
                           const std::string& text) {
  bool isScalar = row.kind == AttributeKind::Int || row.kind == AttributeKind::Float ||
                  row.kind == AttributeKind::Bool;
  if (row.kind == AttributeKind::String || row.kind == AttributeKind::DType)
    return objectText(context, text);
  if (isScalar && !row.boxed && !lang::isNullable(row))
    return row.kind == AttributeKind::Float ? lang::floatAttribute(realOf(text))
                                            : lang::intAttribute(integerOf(text));
  auto number = objectNumber(context, text);
  return number ? metadataValue(context, *number) : AttributeValue{};
}

void fillFromObject(ResolveContext& context, const lang::OperatorRow& row, AttributeFiller& filler,
                    const surface::Meta& reference) {
  auto number = findMetadata(context, reference.meta, reference.range);
  if (!number)
    return;
  const lang::MetadataNode& node = context.module.metadata.nodes[*number];
  for (const auto& [name, text] : node.fields) {
    auto found = std::ranges::find(row.attributes, name, &AttributeRow::name);
    if (found != row.attributes.end())
      filler.set(name, reference.range, reference.range, objectField(context, *found, text));
  }
}

/// `attrs_type_key` may stand in any attribute list, and must then name the operator's own kind.
void checkTypeKey(ResolveContext& context, const lang::OperatorRow& row,
                  const surface::Attribute& attribute) {
  if (attribute.value.kind == surface::AttributeKind::String &&
      attribute.value.text == row.attributesKey)
    return;
  context.diagnostics.report(Message::AttributeMismatch, attribute.value.range, typeKeyAttribute,
                             row.name,
                             row.attributesKey.empty() ? std::string("of no use")
                                                       : fmt::format("\"{}\"", row.attributesKey),
                             valueText(writtenValue(context, attribute.value)));
}

/// Reports a size with a name in an attribute of numbers.
bool reportSize(ResolveContext& context, const lang::OperatorRow& row, const surface::Call& call,
                const surface::Attribute& attribute) {
  auto found = std::ranges::find(row.attributes, attribute.key.text, &AttributeRow::name);
  const surface::Name* size = sizeIn(context, attribute.value);
  if (!size || found == row.attributes.end())
    return false;
  auto& report = context.diagnostics.report(Message::AttributeMismatch, size->range,
                                            attribute.key.text, row.name, kindText(found->kind),
                                            fmt::format("the size `{}`", size->name));
  if (wantsHints(context))
    hintAtSizeAttribute(report, context, row, call, attribute, *size);
  return true;
}

/// A value in which something was reported is not compared with the schema.
void setWritten(ResolveContext& context, AttributeFiller& filler,
                const surface::Attribute& attribute) {
  size_t errors = context.diagnostics.errorCount();
  AttributeValue value = writtenValue(context, attribute.value);
  if (context.diagnostics.errorCount() > errors)
    filler.fail(attribute.key.text, attribute.key.range);
  else
    filler.set(attribute.key.text, attribute.key.range, attribute.value.range, value,
               &attribute.value);
}

} // namespace

bool namesAttributes(const surface::MetaReference& reference) {
  return reference.key.starts_with("relay.attrs.");
}

const lang::Attributes* buildAttributes(ResolveContext& context, const lang::OperatorRow& row,
                                        const surface::Call& call) {
  AttributeFiller filler(context, row);
  for (const surface::Attribute& attribute : call.attributes) {
    if (attribute.key.text == typeKeyAttribute)
      checkTypeKey(context, row, attribute);
    else if (reportSize(context, row, call, attribute))
      filler.fail(attribute.key.text, attribute.key.range);
    else
      setWritten(context, filler, attribute);
  }
  if (call.metaTail && namesAttributes(call.metaTail->meta))
    fillFromObject(context, row, filler, *call.metaTail);
  return filler.finish(call);
}

namespace {

/// What an expression says as the value of an attribute: literals, lists of them, names of element
/// types. Anything else is the atom that it is, which some attributes take.
AttributeValue literalAttribute(ResolveContext& context, const surface::Expr* expr) {
  if (const auto* integer = surface::tryAs<surface::IntLiteral>(expr))
    return lang::intAttribute(integer->value, integer->dtype.bits ? integer->dtype.bits : 32);
  if (const auto* real = surface::tryAs<surface::FloatLiteral>(expr))
    return lang::floatAttribute(real->value);
  if (const auto* boolean = surface::tryAs<surface::BoolLiteral>(expr))
    return lang::intAttribute(boolean->value);
  if (const auto* text = surface::tryAs<surface::TextLiteral>(expr))
    return lang::stringAttribute(context.module.arena.copyText(text->text));
  std::span<const surface::Expr* const> elements;
  if (const auto* list = surface::tryAs<surface::TensorLiteral>(expr))
    elements = list->elements;
  else if (const auto* tuple = surface::tryAs<surface::Tuple>(expr))
    elements = tuple->fields;
  if (!elements.empty() || expr->kind == surface::ExprKind::TensorLiteral) {
    std::vector<AttributeValue> items;
    for (const surface::Expr* element : elements)
      items.push_back(literalAttribute(context, element));
    return lang::listAttribute(context.module.arena.copy(items));
  }
  if (const auto* name = surface::tryAs<surface::Name>(expr)) {
    if (name->name == "none")
      return {};
    if (const surface::Expr* number = literalConstant(context, *name))
      return literalAttribute(context, number);
    if (auto dtype = namedDType(name->name); dtype && !context.locals.find(name->name))
      return lang::stringAttribute(context.module.arena.copyText(runtime::dtypeName(*dtype)));
  }
  AttributeValue value = exprValue(context, expr);
  if (value.kind == AttributeValueKind::Null) {
    value.kind = AttributeValueKind::Expr;
    value.expr =
        context.module.arena.make<lang::Hole>(lang::Expr{lang::ExprKind::Hole, expr->range});
  }
  return value;
}

} // namespace

const lang::Attributes* buildGivenAttributes(ResolveContext& context, const lang::OperatorRow& row,
                                             std::span<const GivenAttribute> given,
                                             lang::SourceRange call,
                                             std::span<const std::string_view> later) {
  AttributeFiller filler(context, row);
  for (const GivenAttribute& each : given) {
    size_t errors = context.diagnostics.errorCount();
    AttributeValue value = each.value ? literalAttribute(context, each.value) : AttributeValue{};
    if (context.diagnostics.errorCount() > errors)
      filler.fail(each.name.text, each.name.range);
    else
      filler.set(each.name.text, each.name.range, each.range, value);
  }
  filler.allowNull(later);
  surface::Call place;
  place.range = call;
  return filler.finish(place);
}

const lang::Attributes* defaultAttributes(ResolveContext& context, const lang::OperatorRow& row) {
  auto defaults = context.environment.operators.defaults(&row);
  return context.module.arena.make<lang::Attributes>(row.attributes, defaults);
}

std::span<const lang::NamedAttribute> buildNamed(ResolveContext& context,
                                                 std::span<const surface::Attribute> attributes) {
  std::vector<lang::NamedAttribute> named;
  std::unordered_map<std::string_view, size_t> places;
  for (const surface::Attribute& attribute : attributes) {
    AttributeValue value = isBare(context) ? literalAttribute(context, attribute.value.expr)
                                           : writtenValue(context, attribute.value);
    auto [place, isNew] = places.try_emplace(attribute.key.text, named.size());
    if (isNew)
      named.push_back({context.module.arena.copyText(attribute.key.text), value});
    else
      named[place->second].value = value;
  }
  std::stable_partition(named.begin(), named.end(), [](const lang::NamedAttribute& attribute) {
    return attribute.name != "virtual_device";
  });
  return context.module.arena.copy(named);
}

} // namespace parser
