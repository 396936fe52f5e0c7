// `list(a, b)`, the list of the prelude that has these elements, where no definition has that name.
#include "parser/resolve/bare_forms.h"

namespace parser {

using lang::SourceRange;

namespace {

const lang::Constructor* listConstructor(ResolveContext& context, std::string_view name) {
  return context.definitions.findConstructor(context.definitions.prelude(), name);
}

Use callOf(ResolveContext& context, const lang::Constructor* constructor, std::vector<Use> fields,
           SourceRange range, SourceRange callee) {
  fields.push_back({constructor, nullptr, callee});
  Node* node = context.makeNode(NodeKind::Call, range);
  node->operands = context.module.arena.copy(fields);
  return {nullptr, node, range};
}

} // namespace

Use buildList(ResolveContext& context, std::span<const Use> elements, SourceRange range,
              SourceRange callee) {
  Use list = callOf(context, listConstructor(context, "Nil"), {}, range, callee);
  const lang::Constructor* cons = listConstructor(context, "Cons");
  for (size_t i = elements.size(); i-- > 0;) {
    SourceRange rest = lang::cover(elements[i].range, elements.back().range);
    list = callOf(context, cons, {elements[i], list}, i == 0 ? range : rest, callee);
  }
  return list;
}

const lang::Pattern* listPattern(ResolveContext& context,
                                 std::span<const lang::Pattern* const> elements,
                                 SourceRange range) {
  runtime::Arena& arena = context.module.arena;
  auto make = [&](std::string_view constructor, std::vector<const lang::Pattern*> parts) {
    auto* pattern = arena.make<lang::Pattern>(lang::PatternKind::Constructor, range);
    pattern->constructor = listConstructor(context, constructor);
    pattern->parts = arena.copy(parts);
    return pattern;
  };
  const lang::Pattern* list = make("Nil", {});
  for (size_t i = elements.size(); i-- > 0;)
    list = make("Cons", {elements[i], list});
  return list;
}

} // namespace parser
