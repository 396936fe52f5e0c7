// `let pattern = value`: the value is named, and each name of the pattern is what a match of one
// arm gives; so are those of a pattern in place of a parameter's name. A match that could fail is
// found as any other is.
#include "parser/resolve/bare_forms.h"

#include <algorithm>
#include <fmt/format.h>

namespace parser {

using lang::Message;

namespace {

class PatternLets {
public:
  PatternLets(ResolveContext& context, std::vector<LetItem>& items)
      : context_(context), items_(items) {}

  void build(const surface::Item& item) {
    const lang::Type* annotation = buildType(context_, item.type);
    Use value = buildExpr(context_, item.value);
    const lang::Var* whole =
        context_.makeVar("whole", lang::VarOrigin::Let, item.pattern->range, annotation);
    items_.push_back({whole, value});
    takeApart({whole, nullptr, item.pattern->range}, *item.pattern);
  }

  /// Adds the lets of a pattern, and those of what is in it before them.
  void takeApart(Use value, const surface::Pattern& pattern) {
    switch (pattern.kind) {
    case surface::PatternKind::Wildcard:
      return;
    case surface::PatternKind::Local:
      return name(value, surface::as<surface::LocalPattern>(&pattern));
    case surface::PatternKind::Tuple:
      return fields(value, pattern, surface::as<surface::TuplePattern>(&pattern).fields);
    case surface::PatternKind::Constructor:
      return constructor(value, surface::as<surface::ConstructorPattern>(&pattern));
    case surface::PatternKind::Literal:
    case surface::PatternKind::Either:
      context_.diagnostics.report(Message::RefutableLet, pattern.range);
      return;
    }
  }

private:
  void name(Use value, const surface::LocalPattern& local) {
    const lang::Type* annotation = buildType(context_, local.type);
    const lang::Var* var =
        context_.makeVar(local.name.text, lang::VarOrigin::Let, local.name.range, annotation);
    items_.push_back({var, value});
    auto isSame = [&](const lang::Var* other) { return other->name == var->name; };
    if (auto other = std::ranges::find_if(names_, isSame); other != names_.end())
      reportRepeated(context_, *var, **other);
    names_.push_back(var);
    bindLocal(context_, var);
  }

  void fields(Use value, const surface::Pattern& pattern,
              std::span<const surface::Pattern* const> parts) {
    for (size_t i = 0; i < parts.size(); ++i) {
      Node* node = context_.makeNode(NodeKind::Project, pattern.range);
      node->operands = context_.module.arena.copy(std::initializer_list<Use>{value});
      node->index = uint32_t(i);
      node->fieldCount = uint32_t(parts.size());
      part({nullptr, node, pattern.range}, *parts[i]);
    }
  }

  /// A part that is taken apart itself gets a name before.
  void part(Use value, const surface::Pattern& pattern) {
    using enum surface::PatternKind;
    if (pattern.kind != Tuple && pattern.kind != Constructor)
      return takeApart(value, pattern);
    const lang::Var* whole = context_.makeVar("part", lang::VarOrigin::Let, pattern.range, nullptr);
    items_.push_back({whole, value});
    takeApart({whole, nullptr, pattern.range}, pattern);
  }

  void constructor(Use value, const surface::ConstructorPattern& pattern) {
    const lang::Constructor* found =
        context_.definitions.findConstructor(*context_.unit, pattern.name.text);
    if (!found && formNamed(context_, pattern.name.text) == BareForm::List) {
      context_.diagnostics.report(Message::RefutableLet, pattern.range);
      return unknown(pattern.fields);
    }
    if (!found) {
      if (!reportUnknownMember(context_, pattern.name.text, pattern.name.range,
                               MemberKind::Constructor))
        context_.diagnostics.report(Message::UnknownConstructor, pattern.name.range,
                                    pattern.name.text);
      return unknown(pattern.fields);
    }
    std::vector<const surface::Pattern*> parts = fieldPatterns(context_, pattern, *found);
    for (size_t i = 0; i < parts.size(); ++i)
      if (parts[i] && parts[i]->kind != surface::PatternKind::Wildcard)
        part(fieldOf(value, pattern, *found, i, parts.size()), *parts[i]);
    for (const surface::Pattern* each : pattern.fields)
      if (std::ranges::count(parts, each) == 0)
        unknown({&each, 1});
  }

  /// Names of what was reported, so that their uses are not reported too.
  void unknown(std::span<const surface::Pattern* const> patterns) {
    for (const surface::Pattern* pattern : patterns) {
      auto* hole =
          context_.module.arena.make<lang::Hole>(lang::Expr{lang::ExprKind::Hole, pattern->range});
      takeApart({hole, nullptr, pattern->range}, *pattern);
    }
  }

  /// `match value { Constructor(_, x, _) => x }`.
  Use fieldOf(Use value, const surface::ConstructorPattern& pattern,
              const lang::Constructor& constructor, size_t field, size_t count) {
    runtime::Arena& arena = context_.module.arena;
    const lang::Var* var = context_.makeVar("x", lang::VarOrigin::Pattern, pattern.range, nullptr);
    std::vector<const lang::Pattern*> parts;
    for (size_t i = 0; i < count; ++i) {
      auto* made = arena.make<lang::Pattern>(lang::PatternKind::Wildcard, pattern.range);
      if (i == field)
        *made = {lang::PatternKind::Var, pattern.range, var};
      parts.push_back(made);
    }
    auto* whole = arena.make<lang::Pattern>(lang::PatternKind::Constructor, pattern.range);
    whole->constructor = &constructor;
    whole->parts = arena.copy(parts);
    Node* node = context_.makeNode(NodeKind::Match, pattern.range);
    node->operands = arena.copy(std::initializer_list<Use>{value});
    node->patterns = arena.copy(std::vector<const lang::Pattern*>{whole});
    node->bodies = arena.copy(std::initializer_list<Use>{Use{var, nullptr, pattern.range}});
    return {nullptr, node, pattern.range};
  }

  ResolveContext& context_;
  std::vector<LetItem>& items_;
  /// What the pattern binds so far.
  std::vector<const lang::Var*> names_ = {};
};

} // namespace

void buildPatternLets(ResolveContext& context, const surface::Item& item,
                      std::vector<LetItem>& items) {
  PatternLets(context, items).build(item);
}

std::vector<LetItem> buildParameterLets(ResolveContext& context, const surface::Function& function,
                                        const lang::Function& head) {
  std::vector<LetItem> items;
  for (size_t i = 0; i < head.parameters.size(); ++i)
    if (const surface::Pattern* pattern = function.parameters[i].pattern)
      PatternLets(context, items)
          .takeApart({head.parameters[i], nullptr, pattern->range}, *pattern);
  return items;
}

std::string_view parameterName(ResolveContext& context, std::span<const surface::Parameter> list,
                               size_t index) {
  if (!list[index].pattern)
    return list[index].name.text;
  std::string made = fmt::format("argument{}", index + 1);
  while (std::ranges::any_of(list, [&](const auto& each) { return each.name.text == made; }))
    made += "_";
  return context.module.arena.copyText(made);
}

} // namespace parser
