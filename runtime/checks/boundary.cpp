// Comparing values with types, and what is said when they differ. Recursion follows types, whose
// nesting is bounded.
#include "runtime/checks/boundary.h"

#include "runtime/shape_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace checks {

using runtime::FaultKind;
using runtime::Notation;
using runtime::ShapeRow;
using runtime::Value;
using runtime::ValueKind;
using runtime::Words;
using runtime::words;
using Kind = Declared::Kind;

namespace {

/// Compares the tensors in a value; learns sizes.
bool matchValue(const Declared& type, const Value& value, uint32_t source, ShapeMatcher& matcher) {
  if (type.kind == Kind::Tensor)
    return value.kind() == ValueKind::Tensor &&
           matcher.match(type, value.tensor().dtype(), value.tensor().shape(), source);
  if (type.kind != Kind::Tuple)
    return true;
  if (value.kind() != ValueKind::Tuple || value.fields().size() != type.parts.size())
    return false;
  for (size_t i = 0; i < type.parts.size(); ++i)
    if (!matchValue(type.parts[i], value.fields()[i], source, matcher))
      return false;
  return true;
}

/// A part of a value that does not fit, and the type that it should have.
struct Misfit {
  const Declared* type;
  const Value* value;
  /// The way to it: `.0.1`.
  std::string path;
  std::vector<size_t> dims = {};
};

/// The first part of a value that does not fit.
std::optional<Misfit> findMisfit(const Declared& type, const Value& value, const SizeTable& table,
                                 const KnownSizes& sizes) {
  if (type.kind == Kind::Tensor) {
    if (value.kind() != ValueKind::Tensor)
      return Misfit{&type, &value, ""};
    auto dims = misfits(type, value.tensor().dtype(), value.tensor().shape(), table, sizes);
    if (dims && dims->empty())
      return std::nullopt;
    return Misfit{&type, &value, "", dims ? std::move(*dims) : std::vector<size_t>()};
  }
  if (type.kind != Kind::Tuple)
    return std::nullopt;
  if (value.kind() != ValueKind::Tuple || value.fields().size() != type.parts.size())
    return Misfit{&type, &value, ""};
  for (size_t i = 0; i < type.parts.size(); ++i)
    if (auto found = findMisfit(type.parts[i], value.fields()[i], table, sizes)) {
      found->path = fmt::format(".{}{}", i, found->path);
      return found;
    }
  return std::nullopt;
}

std::vector<std::string> sizeTexts(const Value& tensor) {
  std::vector<std::string> texts;
  for (int64_t size : tensor.tensor().shape())
    texts.push_back(fmt::format("{}", size));
  return texts;
}

/// A tensor type with these extents.
Words tensorWords(runtime::DType dtype, const std::vector<std::string>& extents) {
  if (extents.empty())
    return runtime::spelled(dtype);
  return Words([dtype, text = fmt::format("{}", fmt::join(extents, ", "))](Notation notation) {
    return runtime::tensorText(dtype, text, notation);
  });
}

/// What a value must be. The text of a tensor's type is Relay's, which says more of its extents.
Words typeWords(const Declared& type, const SizeTable& table) {
  if (type.kind != Kind::Tensor)
    return type.text;
  std::vector<std::string> extents;
  for (uint32_t size : type.shape)
    extents.push_back(table[size].text);
  return runtime::either(type.text, tensorWords(type.dtype, extents).in(Notation::Baton));
}

/// A name with its sigil, as tables have it: `%x`, `@f`.
Words nameWords(std::string_view name) {
  return name.starts_with('%')   ? runtime::localName(name.substr(1))
         : name.starts_with('@') ? runtime::globalName(name.substr(1))
                                 : name;
}

Words valueWords(const Value& value) {
  if (value.kind() == ValueKind::Tuple)
    return fmt::format("a tuple of {} fields", value.fields().size());
  if (value.kind() != ValueKind::Tensor)
    return "no tensor";
  return words("`{}`", tensorWords(value.tensor().dtype(), sizeTexts(value)));
}

/// Wanted and actual shape one below the other; none unless their dimensions can be compared.
std::vector<ShapeRow> shapesOf(const Misfit& misfit, const SizeTable& table,
                               std::string_view origin) {
  if (misfit.dims.empty())
    return {};
  std::vector<ShapeRow> rows(2);
  for (ShapeRow& row : rows) {
    row.dtype = runtime::spelled(misfit.type->dtype);
    row.marks = misfit.dims;
  }
  rows[0].name = origin;
  for (uint32_t size : misfit.type->shape)
    rows[0].dims.push_back(table[size].text);
  rows[1].name = "given";
  rows[1].dims = sizeTexts(*misfit.value);
  return rows;
}

/// What a misfit is said with: the tables, and the words for where sizes come from.
struct Context {
  const SizeTable& table;
  const KnownSizes& sizes;
  runtime::FunctionRef<Words(uint32_t)> source;
};

/// The words for the parameter that gave a size.
Words sourceWords(const FunctionCheck* check, uint32_t source) {
  if (source == fromOutside)
    return "in the function around it";
  if (source == fromResult || !check)
    return "elsewhere in the result";
  auto given = std::ranges::find(check->parameters, source, &Parameter::position);
  return words("in `{}`", nameWords(given == check->parameters.end() ? "" : given->name));
}

auto sourcesOf(const FunctionCheck* check) {
  return [check](uint32_t source) { return sourceWords(check, source); };
}

/// Where a type comes from that a value must have.
std::string_view originOf(bool isDeclared) {
  return isDeclared ? "declared" : "inferred";
}

/// Says that `subject` is declared, or whatever `origin` is, as one type, `verb` another.
RunFault faultOf(const Misfit& misfit, const Words& type, const Context& context, SourceRange range,
                 const Words& subject, std::string_view origin, std::string_view verb) {
  RunFault fault{{FaultKind::Sizes, words("{} is {} as `{}`, but {} {}", subject, origin, type,
                                          verb, valueWords(*misfit.value))},
                 range};
  fault.shapes.rows = shapesOf(misfit, context.table, origin);
  for (size_t dim : misfit.dims)
    if (Words note = misfitWords(misfit.type->shape[dim], misfit.value->tensor().shape()[dim],
                                 context.table, context.sizes, context.source);
        !note.empty())
      fault.notes.push_back(std::move(note));
  return fault;
}

Words functionWords(const FunctionCheck& check) {
  return check.name.empty() ? "this function" : words("`{}`", nameWords(check.name));
}

/// The parameter whose argument does not fit, if there is one.
const Parameter* matchArguments(const FunctionCheck& check, const SizeTable& table,
                                std::span<const Value> arguments, KnownSizes& sizes) {
  ShapeMatcher matcher(table, sizes);
  for (const Parameter& each : check.parameters)
    if (!matchValue(each.type, arguments[each.position], each.position, matcher))
      return &each;
  auto failed = matcher.finish();
  return failed ? &*std::ranges::find(check.parameters, *failed, &Parameter::position) : nullptr;
}

CallFault argumentFault(const FunctionCheck& check, const Parameter& failed, const Value& argument,
                        const SizeTable& table, const KnownSizes& sizes) {
  auto misfit = findMisfit(failed.type, argument, table, sizes);
  Words subject =
      words("argument `{}{}` of {}", nameWords(failed.name), misfit->path, functionWords(check));
  return {faultOf(*misfit, typeWords(*misfit->type, table), {table, sizes, sourcesOf(&check)},
                  failed.range, subject, originOf(failed.isDeclared), "here it is"),
          failed.isDeclared ? "declared here" : "the parameter", failed.position};
}

std::optional<CallFault> checkNeeds(const FunctionCheck& check, const SizeTable& table,
                                    const KnownSizes& sizes) {
  for (const Need& need : check.needs) {
    auto size = sizeOf(need.size, table, sizes);
    if (!size || (*size >= need.least && *size % need.divisor == 0))
      continue;
    std::string cause = need.op.empty() ? "" : fmt::format(" for `{}`", need.op);
    std::string what = need.divisor > 1 ? fmt::format("a multiple of {}", need.divisor)
                                        : fmt::format("at least {}", need.least);
    return CallFault{
        {{FaultKind::Sizes, words("{} needs `{}` to be {}{}, but it is {}", functionWords(check),
                                  table[need.size].text, what, cause, *size)},
         need.range},
        "needed here"};
  }
  return std::nullopt;
}

} // namespace

RunFault seenFrom(const CalledFrom& call, CallFault fault) {
  RunFault& seen = fault.fault;
  if (seen.range.isValid())
    seen.labels.push_back({seen.range, std::move(fault.label)});
  seen.range = fault.argument ? call.argument(*fault.argument) : call.range;
  return std::move(seen);
}

std::optional<CallFault> checkArguments(const FunctionCheck& check, const SizeTable& table,
                                        std::span<const Value> arguments, KnownSizes& sizes) {
  if (const Parameter* failed = matchArguments(check, table, arguments, sizes))
    return argumentFault(check, *failed, arguments[failed->position], table, sizes);
  return checkNeeds(check, table, sizes);
}

void learnSizes(const FunctionCheck& check, const SizeTable& table,
                std::span<const Value> arguments, KnownSizes& sizes) {
  ShapeMatcher matcher(table, sizes);
  for (const Parameter& each : check.parameters)
    if (each.position < arguments.size())
      matchValue(each.type, arguments[each.position], each.position, matcher);
  matcher.finish();
}

std::optional<RunFault> checkResult(const FunctionCheck& check, const SizeTable& table,
                                    const Value& value, KnownSizes& sizes, SourceRange range) {
  ShapeMatcher matcher(table, sizes);
  if (matchValue(*check.result, value, fromResult, matcher) && !matcher.finish())
    return std::nullopt;
  auto misfit = findMisfit(*check.result, value, table, sizes);
  std::string field = misfit->path.empty() ? "" : fmt::format("field `{}` of ", misfit->path);
  return faultOf(*misfit, typeWords(*misfit->type, table), {table, sizes, sourcesOf(&check)}, range,
                 words("{}the result of {}", field, functionWords(check)),
                 originOf(check.isResultDeclared), "it is");
}

std::optional<RunFault> checkValue(const ValueCheck& check, const Tables& tables,
                                   const Value& value, const KnownSizes& sizes, SourceRange place) {
  auto misfit = findMisfit(check.type, value, tables.sizes, sizes);
  if (!misfit)
    return std::nullopt;
  const FunctionCheck* function =
      check.function == none ? nullptr : &tables.functions[check.function];
  std::string field = misfit->path.empty() ? "" : fmt::format("field `{}` of ", misfit->path);
  Words subject = check.name.empty()
                      ? field + "what this gives"
                      : words("`{}{}`", runtime::localName(check.name), misfit->path);
  RunFault fault = faultOf(
      *misfit, typeWords(*misfit->type, tables.sizes), {tables.sizes, sizes, sourcesOf(function)},
      place.isValid() ? place : check.range, subject, originOf(check.isDeclared), "its value is");
  if (place.isValid() && check.isDeclared)
    fault.labels.push_back({check.range, "declared here"});
  return fault;
}

RunFault wholeFault(const FunctionCheck* entry, const Declared& wanted, const Words& type,
                    bool isDeclared, const Value& value, const SizeTable& table,
                    const KnownSizes& sizes, SourceRange range) {
  auto misfit = findMisfit(wanted, value, table, sizes);
  if (!misfit)
    misfit = Misfit{&wanted, &value, ""};
  return faultOf(*misfit, misfit->type == &wanted ? type : typeWords(*misfit->type, table),
                 {table, sizes, sourcesOf(entry)}, range, "a part of the result of the run",
                 originOf(isDeclared), "it is");
}

std::optional<CallFault> checkFields(const FieldsCheck& check, const SizeTable& table,
                                     std::span<const Value> fields) {
  KnownSizes sizes;
  ShapeMatcher matcher(table, sizes);
  std::optional<uint32_t> failed;
  for (uint32_t i = 0; i < fields.size() && !failed; ++i)
    if (!matchValue(check.fields[i], fields[i], i, matcher))
      failed = i;
  if (!failed)
    failed = matcher.finish();
  if (!failed)
    return std::nullopt;
  auto misfit = findMisfit(check.fields[*failed], fields[*failed], table, sizes);
  Words subject =
      words("field {}{} of `{}`", *failed, misfit->path, runtime::plainName(check.constructor));
  auto place = [](uint32_t source) { return Words(fmt::format("in field {}", source)); };
  return CallFault{faultOf(*misfit, typeWords(*misfit->type, table), {table, sizes, place}, {},
                           subject, "declared", "here it is"),
                   "", failed};
}

bool implies(const Declared& inner, const KnownSizes& innerSizes, const Declared& outer,
             const KnownSizes& outerSizes, const SizeTable& table) {
  if (outer.kind == Kind::Other)
    return true;
  if (inner.kind != outer.kind)
    return false;
  if (outer.kind == Kind::Tuple)
    return std::ranges::equal(inner.parts, outer.parts,
                              [&](const Declared& left, const Declared& right) {
                                return implies(left, innerSizes, right, outerSizes, table);
                              });
  if (inner.dtype != outer.dtype || inner.shape.size() != outer.shape.size())
    return false;
  for (size_t i = 0; i < outer.shape.size(); ++i) {
    uint32_t wanted = outer.shape[i];
    if (table[wanted].kind == SizeKind::Open)
      continue;
    auto wantedSize = sizeOf(wanted, table, outerSizes);
    auto size = sizeOf(inner.shape[i], table, innerSizes);
    bool bothFree =
        !wantedSize && !size && wanted == inner.shape[i] && table[wanted].kind == SizeKind::Name;
    if (!bothFree && (!size || wantedSize != size))
      return false;
  }
  return true;
}

} // namespace checks
