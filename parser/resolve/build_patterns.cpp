// Patterns. Their nesting is bounded by the reader, so recursion is safe.
#include "parser/resolve/bare_forms.h"
#include "parser/resolve/name_hints.h"

#include <algorithm>

namespace parser {

using lang::Message;
using lang::Pattern;
using lang::PatternKind;

namespace {

/// A part that is left out may be anything.
std::span<const Pattern* const> buildParts(ResolveContext& context,
                                           std::span<const surface::Pattern* const> parts,
                                           lang::SourceRange whole) {
  std::vector<const Pattern*> result;
  for (const surface::Pattern* part : parts)
    result.push_back(part ? buildPattern(context, part)
                          : context.module.arena.make<Pattern>(PatternKind::Wildcard, whole));
  return context.module.arena.copy(result);
}

const lang::Var* makeLocal(ResolveContext& context, const surface::LocalPattern& pattern) {
  const lang::Type* annotation = buildType(context, pattern.type);
  const lang::Var* var =
      context.makeVar(pattern.name.text, lang::VarOrigin::Pattern, pattern.name.range, annotation);
  bindLocal(context, var);
  return var;
}

/// In Baton's notation a name may be that of a constructor without fields.
const lang::Constructor* constructorNamed(ResolveContext& context,
                                          const surface::LocalPattern& pattern) {
  return isBare(context) && !pattern.type
             ? context.definitions.findConstructor(*context.unit, pattern.name.text)
             : nullptr;
}

} // namespace

std::vector<const surface::Pattern*> fieldPatterns(ResolveContext& context,
                                                   const surface::ConstructorPattern& pattern,
                                                   const lang::Constructor& constructor) {
  if (pattern.fieldNames.empty())
    return {pattern.fields.begin(), pattern.fields.end()};
  const auto& names = constructor.fieldNames;
  std::vector<const surface::Pattern*> parts(names.size());
  for (size_t i = 0; i < pattern.fields.size(); ++i) {
    const surface::Identifier& name = pattern.fieldNames[i];
    size_t place = size_t(std::ranges::find(names, name.text) - names.begin());
    if (place == names.size()) {
      auto& report = context.diagnostics.report(Message::UnknownField, name.range, constructor.name,
                                                name.text);
      if (wantsHints(context))
        suggestNames(report, name.range, name.text,
                     std::vector{NameChoices{"", {names.begin(), names.end()}}});
      continue;
    }
    if (parts[place])
      context.diagnostics.report(Message::RepeatedArgument, name.range, name.text);
    parts[place] = pattern.fields[i];
  }
  return parts;
}

const Pattern* buildPattern(ResolveContext& context, const surface::Pattern* pattern) {
  auto* result = context.module.arena.make<Pattern>(PatternKind::Wildcard, pattern->range);
  switch (pattern->kind) {
  case surface::PatternKind::Wildcard:
    break;
  case surface::PatternKind::Local: {
    const auto& local = surface::as<surface::LocalPattern>(pattern);
    result->constructor = constructorNamed(context, local);
    result->kind = result->constructor ? PatternKind::Constructor : PatternKind::Var;
    if (!result->constructor)
      result->var = makeLocal(context, local);
    break;
  }
  case surface::PatternKind::Tuple:
    result->kind = PatternKind::Tuple;
    result->parts =
        buildParts(context, surface::as<surface::TuplePattern>(pattern).fields, pattern->range);
    break;
  case surface::PatternKind::Literal:
    result->kind = PatternKind::Var;
    result->var = context.makeVar("literal", lang::VarOrigin::Pattern, pattern->range, nullptr);
    context.bare.literalTests.emplace_back(result->var,
                                           surface::as<surface::LiteralPattern>(pattern).value);
    break;
  case surface::PatternKind::Either:
    break;
  case surface::PatternKind::Constructor: {
    const auto& with = surface::as<surface::ConstructorPattern>(pattern);
    result->constructor = context.definitions.findConstructor(*context.unit, with.name.text);
    std::vector<const surface::Pattern*> fields(with.fields.begin(), with.fields.end());
    bool isSound = true;
    if (result->constructor) {
      size_t errors = context.diagnostics.errorCount();
      auto placed = fieldPatterns(context, with, *result->constructor);
      isSound = context.diagnostics.errorCount() == errors;
      fields = isSound ? placed : fields;
    }
    auto parts = buildParts(context, fields, pattern->range);
    if (!result->constructor && with.fieldNames.empty() && isBare(context) &&
        formNamed(context, with.name.text) == BareForm::List)
      return listPattern(context, parts, pattern->range);
    if (!result->constructor &&
        !reportUnknownMember(context, with.name.text, with.name.range, MemberKind::Constructor)) {
      auto& report =
          context.diagnostics.report(Message::UnknownConstructor, with.name.range, with.name.text);
      if (wantsHints(context))
        suggestNames(report, with.name.range, with.name.text,
                     std::vector{NameChoices{"", context.definitions.constructorNames()}});
    }
    if (!result->constructor || !isSound) {
      // A tuple gives the variables of its parts types.
      result->constructor = nullptr;
      result->kind = PatternKind::Tuple;
      result->parts = parts;
      break;
    }
    result->kind = PatternKind::Constructor;
    result->parts = parts;
    break;
  }
  }
  return result;
}

} // namespace parser
