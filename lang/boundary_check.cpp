// Comparing values with types, and what is said when they differ. Recursion follows types, whose
// nesting the checker bounds.
#include "lang/boundary.h"

#include "lang/op.h"
#include "lang/utf8.h"

#include <algorithm>
#include <fmt/format.h>

namespace lang {

using runtime::FaultKind;
using runtime::Value;
using runtime::ValueKind;

namespace {

/// Compares the tensors in a value; learns sizes.
bool matchValue(const Type& type, const Value& value, uint32_t source, ShapeMatcher& matcher) {
  if (type.isTensor())
    return value.kind() == ValueKind::Tensor &&
           matcher.match(type, value.tensor().dtype(), value.tensor().shape(), source);
  if (!type.isTuple())
    return true;
  if (value.kind() != ValueKind::Tuple || value.fields().size() != type.parts.size())
    return false;
  for (size_t i = 0; i < type.parts.size(); ++i)
    if (!matchValue(*type.parts[i], value.fields()[i], source, matcher))
      return false;
  return true;
}

/// A part of a value that does not fit, and the type that it should have.
struct Misfit {
  const Type* type;
  const Value* value;
  /// The way to it: `.0.1`.
  std::string path;
  std::vector<size_t> dims = {};
};

/// The first part of a value that does not fit.
std::optional<Misfit> findMisfit(const Type& type, const Value& value, const DimSizes& sizes) {
  if (type.isTensor()) {
    if (value.kind() != ValueKind::Tensor)
      return Misfit{&type, &value, ""};
    auto dims = misfits(type, value.tensor().dtype(), value.tensor().shape(), sizes);
    if (dims && dims->empty())
      return std::nullopt;
    return Misfit{&type, &value, "", dims ? std::move(*dims) : std::vector<size_t>()};
  }
  if (!type.isTuple())
    return std::nullopt;
  if (value.kind() != ValueKind::Tuple || value.fields().size() != type.parts.size())
    return Misfit{&type, &value, ""};
  for (size_t i = 0; i < type.parts.size(); ++i)
    if (auto found = findMisfit(*type.parts[i], value.fields()[i], sizes)) {
      found->path = fmt::format(".{}{}", i, found->path);
      return found;
    }
  return std::nullopt;
}

std::vector<std::string> sizeTexts(const Value& tensor) {
  std::vector<std::string> texts;
  for (int64_t size : tensor.tensor().shape())
    texts.push_back(std::to_string(size));
  return texts;
}

std::string valueText(const Value& value) {
  if (value.kind() == ValueKind::Tuple)
    return fmt::format("a tuple of {} fields", value.fields().size());
  if (value.kind() != ValueKind::Tensor)
    return "no tensor";
  std::string dtype = runtime::dtypeName(value.tensor().dtype());
  if (value.tensor().rank() == 0)
    return fmt::format("`{}`", dtype);
  std::string sizes;
  for (const std::string& size : sizeTexts(value))
    sizes += (sizes.empty() ? "" : ", ") + size;
  return fmt::format("`Tensor[({}), {}]`", sizes, dtype);
}

/// Wanted and actual shape one below the other; none unless their dimensions can be compared.
ShapeTable shapesOf(const Misfit& misfit, std::string_view origin) {
  if (misfit.dims.empty())
    return {};
  std::string dtype = runtime::dtypeName(misfit.type->dtype);
  ShapeRow declared{std::string(origin), {}, dtype, misfit.dims, "", {}};
  ShapeRow given{"given", sizeTexts(*misfit.value), dtype, misfit.dims, "", {}};
  for (const Dim* dim : misfit.type->shape)
    declared.dims.push_back(dimText(dim));
  return {{std::move(declared), std::move(given)}};
}

std::string parameterName(const Function& function, size_t i) {
  std::string_view name = function.parameters[i]->name;
  return name.empty() ? "" : fmt::format("%{}", printable(name));
}

/// The words for the parameter that gave a size.
std::string sourceText(const Function& function, uint32_t source) {
  if (source == fromOutside)
    return "in the function around it";
  if (source == fromResult)
    return "elsewhere in the result";
  return fmt::format("in `{}`", parameterName(function, source));
}

/// Where a type comes from that a value must have.
std::string_view originOf(bool isDeclared) {
  return isDeclared ? "declared" : "inferred";
}

/// Says that `subject` is declared, or whatever `origin` is, as one type, `verb` another.
RunFault faultOf(const Misfit& misfit, const DimSizes& sizes, SourceRange range,
                 const std::string& subject, std::string_view origin, std::string_view verb,
                 const std::function<std::string(uint32_t)>& source) {
  RunFault fault{
      {FaultKind::Sizes, fmt::format("{} is {} as `{}`, but {} {}", subject, origin,
                                     typeText(misfit.type), verb, valueText(*misfit.value))},
      range};
  fault.shapes = shapesOf(misfit, origin);
  for (size_t dim : misfit.dims)
    if (std::string note =
            misfitText(misfit.type->shape[dim], misfit.value->tensor().shape()[dim], sizes, source);
        !note.empty())
      fault.notes.push_back(std::move(note));
  return fault;
}

std::string functionText(const FunctionChecks& checks) {
  return checks.name.empty() ? "this function" : fmt::format("`{}`", printable(checks.name));
}

using Parameter = FunctionChecks::Parameter;

/// The parameter whose argument does not fit, if there is one.
const Parameter* matchArguments(const FunctionChecks& checks, std::span<const Value> arguments,
                                DimSizes& sizes) {
  ShapeMatcher matcher(sizes);
  for (const Parameter& each : checks.parameters)
    if (!matchValue(*each.type, arguments[each.position], each.position, matcher))
      return &each;
  auto failed = matcher.finish();
  return failed ? &*std::ranges::find(checks.parameters, *failed, &Parameter::position) : nullptr;
}

/// Where an argument of a function stands. An operator that calls one hands on the fields of a tuple.
SourceRange argumentRange(const Call& call, size_t i) {
  return call.callee.value->as<OperatorRef>() ? call.range : call.arguments[i].range;
}

RunFault argumentFault(const FunctionChecks& checks, const Parameter& failed, const Value& argument,
                       const Call* call, const DimSizes& sizes) {
  const Function& function = *checks.function;
  uint32_t i = failed.position;
  const Var& parameter = *function.parameters[i];
  bool isDeclared = failed.type == parameter.annotation;
  auto misfit = findMisfit(*failed.type, argument, sizes);
  std::string subject = fmt::format("argument `{}{}` of {}", parameterName(function, i),
                                    misfit->path, functionText(checks));
  SourceRange range = call ? argumentRange(*call, i) : parameter.range;
  RunFault fault = faultOf(*misfit, sizes, range, subject, originOf(isDeclared), "here it is",
                           [&](uint32_t source) { return sourceText(function, source); });
  if (call)
    fault.labels.push_back({parameter.range, isDeclared ? "declared here" : "the parameter"});
  return fault;
}

std::optional<RunFault> checkRequirements(const FunctionChecks& checks, const Call* call,
                                          const DimSizes& sizes) {
  for (const Requirement& needed : checks.requirements) {
    auto size = sizeOf(needed.dim, sizes);
    if (!size || (*size >= needed.least && *size % needed.divisor == 0))
      continue;
    std::string cause = needed.row ? fmt::format(" for `{}`", needed.row->name) : "";
    std::string need = needed.divisor > 1 ? fmt::format("a multiple of {}", needed.divisor)
                                          : fmt::format("at least {}", needed.least);
    RunFault fault{{FaultKind::Sizes,
                    fmt::format("{} needs `{}` to be {}{}, but it is {}", functionText(checks),
                                dimText(needed.dim), need, cause, *size)},
                   call ? call->range : needed.range};
    if (call)
      fault.labels.push_back({needed.range, "needed here"});
    return fault;
  }
  return std::nullopt;
}

} // namespace

std::optional<RunFault> checkArguments(const FunctionChecks& checks,
                                       std::span<const Value> arguments, const Call* call,
                                       DimSizes& sizes) {
  if (const Parameter* failed = matchArguments(checks, arguments, sizes))
    return argumentFault(checks, *failed, arguments[failed->position], call, sizes);
  return checkRequirements(checks, call, sizes);
}

std::optional<RunFault> checkResult(const FunctionChecks& checks, const Value& value,
                                    DimSizes& sizes, SourceRange range) {
  ShapeMatcher matcher(sizes);
  if (matchValue(*checks.result, value, fromResult, matcher) && !matcher.finish())
    return std::nullopt;
  auto misfit = findMisfit(*checks.result, value, sizes);
  std::string field = misfit->path.empty() ? "" : fmt::format("field `{}` of ", misfit->path);
  return faultOf(*misfit, sizes, range,
                 fmt::format("{}the result of {}", field, functionText(checks)),
                 originOf(checks.result == checks.function->resultAnnotation), "it is",
                 [&](uint32_t source) { return sourceText(*checks.function, source); });
}

std::optional<RunFault> checkVar(const Function& function, const Var& var, const Type& type,
                                 SourceRange place, const Value& value, const DimSizes& sizes) {
  auto misfit = findMisfit(type, value, sizes);
  if (!misfit)
    return std::nullopt;
  bool isDeclared = &type == var.annotation;
  std::string field = misfit->path.empty() ? "" : fmt::format("field `{}` of ", misfit->path);
  std::string subject = var.name.empty()
                            ? field + "what this gives"
                            : fmt::format("`%{}{}`", printable(var.name), misfit->path);
  RunFault fault =
      faultOf(*misfit, sizes, place.isValid() ? place : var.range, subject, originOf(isDeclared),
              "its value is", [&](uint32_t source) { return sourceText(function, source); });
  if (place.isValid() && isDeclared)
    fault.labels.push_back({var.range, "declared here"});
  return fault;
}

std::optional<RunFault> checkWhole(const Function& entry, const Type& type, const Value& value,
                                   const DimSizes& sizes) {
  auto whole = findWholeMisfit(type, value, sizes);
  if (!whole)
    return std::nullopt;
  auto misfit = findMisfit(*whole->type, *whole->value, sizes);
  if (!misfit)
    misfit = Misfit{whole->type, whole->value, ""};
  return faultOf(*misfit, sizes, entry.body->result.range, "a part of the result of the run",
                 originOf(entry.resultAnnotation != nullptr), "it is",
                 [&](uint32_t source) { return sourceText(entry, source); });
}

std::optional<RunFault> checkFields(const Constructor& constructor, std::span<const Value> fields,
                                    const Call& call) {
  DimSizes sizes;
  ShapeMatcher matcher(sizes);
  std::optional<uint32_t> failed;
  for (uint32_t i = 0; i < fields.size() && !failed; ++i)
    if (!matchValue(*constructor.fields[i], fields[i], i, matcher))
      failed = i;
  if (!failed)
    failed = matcher.finish();
  if (!failed)
    return std::nullopt;
  auto misfit = findMisfit(*constructor.fields[*failed], fields[*failed], sizes);
  std::string subject =
      fmt::format("field {}{} of `{}`", *failed, misfit->path, printable(constructor.name));
  return faultOf(*misfit, sizes, call.arguments[*failed].range, subject, "declared", "here it is",
                 [](uint32_t source) { return fmt::format("in field {}", source); });
}

bool implies(const Type& inner, const DimSizes& innerSizes, const Type& outer,
             const DimSizes& outerSizes) {
  if (outer.isTuple()) {
    if (!inner.isTuple() || inner.parts.size() != outer.parts.size())
      return false;
    for (size_t i = 0; i < outer.parts.size(); ++i)
      if (!implies(*inner.parts[i], innerSizes, *outer.parts[i], outerSizes))
        return false;
    return true;
  }
  if (!outer.isTensor())
    return true;
  if (!inner.isTensor() || inner.dtype != outer.dtype || inner.shape.size() != outer.shape.size())
    return false;
  for (size_t i = 0; i < outer.shape.size(); ++i) {
    const Dim* wanted = outer.shape[i];
    if (wanted->isAny() || wanted->kind == DimKind::Unknown)
      continue;
    auto wantedSize = sizeOf(wanted, outerSizes);
    auto size = sizeOf(inner.shape[i], innerSizes);
    bool bothFree =
        !wantedSize && !size && wanted == inner.shape[i] && wanted->kind == DimKind::Symbol;
    if (!bothFree && (!size || wantedSize != size))
      return false;
  }
  return true;
}

} // namespace lang
