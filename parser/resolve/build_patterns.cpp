// Patterns. Their nesting is bounded by the reader, so recursion is safe.
#include "parser/resolve/name_hints.h"

namespace parser {

using lang::Message;
using lang::Pattern;
using lang::PatternKind;

namespace {

std::span<const Pattern* const> buildParts(ResolveContext& context,
                                           std::span<const surface::Pattern* const> parts) {
  std::vector<const Pattern*> result;
  for (const surface::Pattern* part : parts)
    result.push_back(buildPattern(context, part));
  return context.module.arena.copy(result);
}

const lang::Var* makeLocal(ResolveContext& context, const surface::LocalPattern& pattern) {
  const lang::Type* annotation = buildType(context, pattern.type);
  const lang::Var* var =
      context.makeVar(pattern.name.text, lang::VarOrigin::Pattern, pattern.name.range, annotation);
  bindLocal(context, var);
  return var;
}

} // namespace

const Pattern* buildPattern(ResolveContext& context, const surface::Pattern* pattern) {
  auto* result = context.module.arena.make<Pattern>(PatternKind::Wildcard, pattern->range);
  switch (pattern->kind) {
  case surface::PatternKind::Wildcard:
    break;
  case surface::PatternKind::Local:
    result->kind = PatternKind::Var;
    result->var = makeLocal(context, surface::as<surface::LocalPattern>(pattern));
    break;
  case surface::PatternKind::Tuple:
    result->kind = PatternKind::Tuple;
    result->parts = buildParts(context, surface::as<surface::TuplePattern>(pattern).fields);
    break;
  case surface::PatternKind::Constructor: {
    const auto& with = surface::as<surface::ConstructorPattern>(pattern);
    auto parts = buildParts(context, with.fields);
    result->constructor = context.definitions.findConstructor(*context.unit, with.name.text);
    if (!result->constructor) {
      auto& report =
          context.diagnostics.report(Message::UnknownConstructor, with.name.range, with.name.text);
      if (wantsHints(context))
        suggestNames(report, with.name.range, with.name.text,
                     std::vector{NameChoices{"", context.definitions.constructorNames()}});
      // A tuple gives the variables of its parts types.
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
