// The sides of a comparison get names that no text can have, and are compared by these.
#include "parser/resolve/tests.h"

#include "parser/surface/node_depth.h"

namespace parser {

using namespace surface;

namespace {

constexpr std::string_view leftName = "left side", rightName = "right side";

bool isComparison(const Expr* expr) {
  const auto* infix = tryAs<Infix>(expr);
  return infix && infix->op >= InfixOp::Less && infix->op <= InfixOp::NotEqual;
}

Item letOf(std::string_view name, const Expr* value) {
  return {
      .kind = ItemKind::Let, .range = value->range, .name = {name, value->range}, .value = value};
}

const Expr* tupleOf(runtime::Arena& arena, SourceRange range, std::vector<const Expr*> fields) {
  auto* tuple = newNode<Tuple>(arena, range);
  tuple->fields = arena.copy(fields);
  return tuple;
}

} // namespace

const Expr* resultOf(const Expr* body) {
  while (const auto* sequence = tryAs<Sequence>(body))
    body = sequence->result;
  return body;
}

const Expr* testedBody(runtime::Arena& arena, const Expr* body) {
  auto* made = newNode<Sequence>(arena, body->range);
  made->depth = body->depth;
  std::vector<Item> items;
  const Expr* result = body;
  if (const auto* sequence = tryAs<Sequence>(body); sequence && !sequence->braces) {
    items.assign(sequence->items.begin(), sequence->items.end());
    result = sequence->result;
  }
  if (!isComparison(result)) {
    made->result = tupleOf(arena, result->range, {result});
  } else {
    const auto& comparison = as<Infix>(result);
    items.push_back(letOf(leftName, comparison.left));
    items.push_back(letOf(rightName, comparison.right));
    auto name = [&](std::string_view text, const Expr* of) {
      auto* node = newNode<Name>(arena, of->range);
      node->name = text;
      return node;
    };
    auto* compared = arena.make<Infix>(comparison);
    compared->left = name(leftName, comparison.left);
    compared->right = name(rightName, comparison.right);
    made->result = tupleOf(arena, result->range, {compared, compared->left, compared->right});
  }
  made->items = arena.copy(items);
  return made;
}

} // namespace parser
