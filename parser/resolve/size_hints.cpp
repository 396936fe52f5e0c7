// The guesses here are tried before they are shown.
#include "parser/resolve/size_hints.h"

#include "lang/op/attribute_schema.h"
#include "lang/op/op.h"
#include "lang/op/other_names.h"

#include <algorithm>
#include <fmt/format.h>

namespace parser {

using lang::Dim;
using lang::Type;

namespace {

/// More locals are not looked at.
constexpr size_t mostLocals = 500;

bool hasSize(const Dim* root, std::string_view name) {
  std::vector<const Dim*> stack{root};
  while (!stack.empty()) {
    const Dim* dim = stack.back();
    stack.pop_back();
    if (dim->kind == lang::DimKind::Symbol && dim->name == name)
      return true;
    for (const lang::DimTerm& term : dim->terms)
      stack.push_back(term.variable);
  }
  return false;
}

bool hasSize(const Type* root, std::string_view name) {
  std::vector<const Type*> stack{root};
  while (!stack.empty()) {
    const Type* type = stack.back();
    stack.pop_back();
    if (!type->hasSymbol)
      continue;
    if (std::ranges::any_of(type->shape, [&](const Dim* dim) { return hasSize(dim, name); }))
      return true;
    stack.insert(stack.end(), type->parts.begin(), type->parts.end());
  }
  return false;
}

bool isBound(const ResolveContext& context, std::string_view name) {
  return context.definitions.findConstructor(*context.unit, name) ||
         context.environment.operators.find(name);
}

std::string_view textOf(const ResolveContext& context, lang::SourceRange range) {
  return textAt(context, range);
}

/// The shape that an attribute writes with names of sizes; nothing for anything else.
std::optional<std::vector<const Dim*>> writtenShape(const ResolveContext& context,
                                                    const surface::AttributeValue& value) {
  lang::TypeContext& types = context.module.types;
  std::vector<const Dim*> dims;
  for (const surface::AttributeValue& item : value.list) {
    const auto* name = item.expr ? surface::tryAs<surface::Name>(item.expr) : nullptr;
    if (item.kind == surface::AttributeKind::Int && item.integer >= 0) {
      dims.push_back(types.constant(item.integer));
    } else if (name) {
      const auto* parameter = context.typeParameters.find(name->name);
      dims.push_back(parameter ? types.symbol(parameter) : types.symbol(name->name));
    } else {
      return std::nullopt;
    }
  }
  return dims;
}

/// Calls of the operator that takes its shape from a tensor, for locals that have the shape.
void suggestLike(lang::Diagnostic& report, const ResolveContext& context,
                 const lang::OperatorRow& like, const surface::Call& call,
                 std::span<const Dim* const> shape) {
  for (const lang::Var* local : context.locals.values(mostLocals)) {
    const Type* type = local->annotation;
    if (!type || !type->isTensor() || !std::ranges::equal(type->shape, shape))
      continue;
    std::vector<lang::Words> operands{lang::localName(local->name)};
    for (const surface::Expr* argument : call.arguments)
      operands.emplace_back(textOf(context, argument->range));
    // Some of these operators have the tensor first, others last.
    for (size_t i = 0; i < std::min<size_t>(operands.size(), 2); ++i) {
      std::ranges::rotate(operands, operands.begin() + ptrdiff_t(i));
      report.suggest(
          {"an operator takes the shape of a tensor: {}",
           {{call.range, lang::words("{}({})", like.name, runtime::joined(operands, ", "))}},
           {},
           !report.suggestions.empty()});
    }
  }
}

const lang::OperatorRow* likeOf(const ResolveContext& context, const lang::OperatorRow& row) {
  return context.environment.operators.find(fmt::format("{}_like", row.name));
}

} // namespace

const lang::Var* localWithSize(const ResolveContext& context, std::string_view name) {
  if (isBound(context, name))
    return nullptr;
  for (const lang::Var* local : context.locals.values(mostLocals))
    if (local->annotation && hasSize(local->annotation, name))
      return local;
  return nullptr;
}

void hintAtSizeValue(lang::Diagnostic& report, const ResolveContext& context, std::string_view name,
                     const lang::Var& local) {
  report.label(local.range, fmt::format("`{}` is a size of this", name));
  if (const auto* shape = lang::calledElsewhere(context.environment.operators, "shape"))
    report.note(lang::words("a size is part of types; `{}({})` gives those of `{}` as a tensor",
                            shape->name, lang::localName(local.name), lang::localName(local.name)));
}

const surface::Name* sizeIn(const ResolveContext& context, const surface::AttributeValue& value) {
  if (const auto* name = value.expr ? surface::tryAs<surface::Name>(value.expr) : nullptr)
    return localWithSize(context, name->name) ? name : nullptr;
  for (const surface::AttributeValue& item : value.list)
    if (const surface::Name* found = sizeIn(context, item))
      return found;
  return nullptr;
}

void hintAtSizeAttribute(lang::Diagnostic& report, const ResolveContext& context,
                         const lang::OperatorRow& row, const surface::Call& call,
                         const surface::Attribute& attribute, const surface::Name& size) {
  const lang::Var* local = localWithSize(context, size.name);
  report.label(local->range, fmt::format("`{}` is a size of this", size.name));
  noteComputed(report, context, row);
  auto schema = std::ranges::find(row.attributes, attribute.key.text, &lang::AttributeRow::name);
  bool isRequired = schema != row.attributes.end() && schema->defaultText.empty();
  if (isRequired && schema->kind == lang::AttributeKind::Int && lang::isNullable(*schema))
    report.suggest({"{} leaves it to the operands", {{attribute.value.range, "None"}}});
  auto isName = [](const surface::AttributeValue& item) { return item.expr != nullptr; };
  if (attribute.key.text == "newshape" && std::ranges::count_if(attribute.value.list, isName) == 1)
    report.suggest({"the one extent that is left is {}", {{size.range, "-1"}}});
  const lang::OperatorRow* like = likeOf(context, row);
  auto shape = writtenShape(context, attribute.value);
  if (like && shape)
    suggestLike(report, context, *like, call, *shape);
}

void noteComputed(lang::Diagnostic& report, const ResolveContext& context,
                  const lang::OperatorRow& row) {
  std::string note = "an attribute is in the text, known before the program runs";
  if (const lang::OperatorRow* like = likeOf(context, row))
    note += fmt::format("; `{}` takes the shape of a tensor", like->name);
  if (const auto* computed = context.environment.operators.find(fmt::format("dyn.{}", row.name)))
    note += fmt::format("; `{}` takes what is computed", computed->name);
  report.note(std::move(note));
}

} // namespace parser
