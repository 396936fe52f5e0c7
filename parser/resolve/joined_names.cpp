// Names that dots join: of a text that is imported, `optim.adam`, or of an operator, `nn.dense`.
// Where both have the same word in front, the text comes first.
#include "lang/op/op.h"
#include "parser/resolve/bare_forms.h"
#include "parser/resolve/foreign_calls.h"
#include "parser/resolve/initialisers.h"
#include "parser/resolve/name_hints.h"

#include <algorithm>

namespace parser {

using lang::Message;
using lang::SourceRange;

namespace {

/// What a name begins with that is to be an operator's or one of the prelude, whatever else is
/// called so.
constexpr std::string_view operatorRoom = "ops", preludeRoom = "prelude";

/// More than an operator's name has; a chain of fields may be long.
constexpr size_t mostNameParts = 8;

/// The words of `a.b.c`, last first; none for what is no name, or begins with a local.
std::vector<std::string_view> partsOf(const ResolveContext& context, const surface::Expr* expr) {
  std::vector<std::string_view> parts;
  for (const auto* field = surface::tryAs<surface::Field>(expr);
       field && parts.size() < mostNameParts; field = surface::tryAs<surface::Field>(expr)) {
    parts.push_back(field->name.text);
    expr = field->operand;
  }
  const auto* root = surface::tryAs<surface::Name>(expr);
  if (!root || context.locals.find(root->name))
    return {};
  parts.push_back(root->name);
  return parts;
}

std::string joined(const std::vector<std::string_view>& parts) {
  return fmt::format("{}", fmt::join(parts.rbegin(), parts.rend(), "."));
}

/// The text that is imported as the first word of a name, if it is.
std::optional<Unit*> importedUnit(const ResolveContext& context,
                                  const std::vector<std::string_view>& parts) {
  const auto& imports = context.unit->imports;
  auto found = parts.size() < 2 ? imports.end() : imports.find(parts.back());
  return found == imports.end() ? std::nullopt : std::optional(found->second);
}

bool defines(const Unit& unit, std::string_view name) {
  return unit.globals.contains(name) || unit.constructors.contains(name) ||
         unit.constants.contains(name);
}

/// Whether there are operators whose names have that word in front.
bool isOfOperators(const ResolveContext& context, std::string_view word) {
  if (word == operatorRoom || word == preludeRoom)
    return true;
  std::string room = fmt::format("{}.", word);
  return std::ranges::any_of(context.environment.operators.all(),
                             [&](const auto* row) { return row->name.starts_with(room); });
}

std::vector<std::string_view> namesOf(const Unit& unit, MemberKind kind) {
  std::vector<std::string_view> names;
  if (kind == MemberKind::Type)
    for (const auto& [name, type] : unit.types)
      names.push_back(name);
  if (kind != MemberKind::Type)
    for (const auto& [name, constructor] : unit.constructors)
      names.push_back(name);
  if (kind == MemberKind::Value) {
    for (const auto& [name, global] : unit.globals)
      names.push_back(name);
    for (const auto& [name, constant] : unit.constants)
      names.push_back(name);
  }
  return names;
}

} // namespace

/// The unit of the type in `Net.init` or `nn.Linear.init`; null for any other name.
static const Unit* unitInitialised(const ResolveContext& context,
                                   const std::vector<std::string_view>& parts) {
  if (parts.size() < 2 || parts.size() > 3 || parts[0] != initialiser)
    return nullptr;
  auto imported = importedUnit(context, parts);
  const Unit* unit = parts.size() == 2 ? context.unit : imported.value_or(nullptr);
  auto type = unit ? unit->types.find(parts[1]) : context.unit->types.end();
  bool isData = unit && type != unit->types.end() && !type->second.surface->alias;
  return isData ? unit : nullptr;
}

bool isJoinedName(const ResolveContext& context, const surface::Expr* expr) {
  std::vector<std::string_view> parts = partsOf(context, expr);
  if (unitInitialised(context, parts))
    return true;
  if (auto unit = importedUnit(context, parts)) {
    std::string_view member = parts[parts.size() - 2];
    if (parts.size() == 2 || !*unit || defines(**unit, member))
      return parts.size() == 2;
  }
  return isOfForeignLibrary(context, expr) ||
         (parts.size() > 1 && !context.unit->constants.contains(parts.back()) &&
          isOfOperators(context, parts.back()));
}

const lang::Expr* findCallee(ResolveContext& context, const surface::Expr* expr) {
  if (const auto* name = surface::tryAs<surface::Name>(expr))
    return findBareName(context, name->name, name->range);
  std::vector<std::string_view> parts = partsOf(context, expr);
  if (parts.size() < 2)
    return nullptr;
  if (const Unit* unit = unitInitialised(context, parts))
    return findInitialiser(context, *unit, parts[1]);
  if (auto unit = importedUnit(context, parts); unit && *unit && parts.size() == 2)
    if (const lang::Expr* own = findOwn(context, **unit, parts[0]))
      return own;
  if (parts.back() == preludeRoom && parts.size() == 2) {
    context.definitions.showOfPrelude(parts[0]);
    return findOwn(context, context.definitions.prelude(), parts[0]);
  }
  if (parts.back() == operatorRoom)
    parts.pop_back();
  const lang::OperatorRow* row = context.environment.operators.find(joined(parts));
  return row ? operatorAtom(context, *row, expr->range) : nullptr;
}

Use buildJoinedName(ResolveContext& context, const surface::Expr* expr) {
  std::vector<std::string_view> parts = partsOf(context, expr);
  auto unit = importedUnit(context, parts);
  if (unit && *unit)
    if (auto constant = (*unit)->constants.find(parts[0]); constant != (*unit)->constants.end())
      return buildModuleConstant(context, **unit, *constant->second, expr->range);
  if (const lang::Expr* found = findCallee(context, expr))
    return buildFound(context, found, expr->range);
  if (const Unit* ofType = unitInitialised(context, parts)) {
    reportNoInitialiser(context, *ofType, parts[1], expr->range);
    return buildUnknown(context, expr->range);
  }
  std::string_view name = context.module.arena.copyText(joined(parts));
  if (reportUnknownMember(context, name, expr->range, MemberKind::Value))
    return buildUnknown(context, expr->range);
  return unknownName(context, name, expr->range);
}

bool reportUnknownMember(ResolveContext& context, std::string_view name, SourceRange range,
                         MemberKind kind) {
  auto there = Definitions::imported(*context.unit, name);
  if (!there || !there->unit)
    return there.has_value();
  std::string_view text = name.substr(0, name.size() - there->name.size() - 1);
  auto& report = context.diagnostics.report(Message::UnknownMember, range, text, there->name);
  if (wantsHints(context)) {
    std::string before = fmt::format("{}.", text);
    suggestNames(report, range, there->name,
                 std::vector{NameChoices{context.module.arena.copyText(before),
                                         namesOf(*there->unit, kind)}});
  }
  return true;
}

} // namespace parser
