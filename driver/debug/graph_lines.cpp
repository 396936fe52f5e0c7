// A walk over all expressions with a stack of its own, since programs are long.
#include "driver/debug/graph_lines.h"

#include <vector>

namespace driver {

using namespace parser::surface;

namespace {

class Lines {
public:
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> found;

  void walk(const Expr* root) {
    open(root);
    while (!exprs_.empty()) {
      const Expr* expr = exprs_.back();
      exprs_.pop_back();
      enter(*expr);
    }
  }

private:
  void open(const Expr* expr) {
    if (expr)
      exprs_.push_back(expr);
  }

  void open(std::span<const Expr* const> list) {
    exprs_.insert(exprs_.end(), list.begin(), list.end());
  }

  void enterSequence(const Sequence& sequence) {
    for (const Item& item : sequence.items) {
      if (item.kind == ItemKind::Graph)
        found.emplace(std::pair(item.value->range.begin, item.value->range.end), item.number);
      open(item.value);
    }
    open(sequence.result);
  }

  void enter(const Expr& expr) {
    switch (expr.kind) {
    case ExprKind::FunctionLiteral:
      return open(as<FunctionLiteral>(&expr).function->body);
    case ExprKind::If:
      open(as<If>(&expr).condition);
      open(as<If>(&expr).then);
      return open(as<If>(&expr).otherwise);
    case ExprKind::Match:
      open(as<Match>(&expr).scrutinee);
      for (const Arm& arm : as<Match>(&expr).arms)
        open(arm.body);
      return;
    case ExprKind::RefNew:
      return open(as<RefNew>(&expr).value);
    case ExprKind::RefRead:
      return open(as<RefRead>(&expr).cell);
    case ExprKind::RefWrite:
      open(as<RefWrite>(&expr).cell);
      return open(as<RefWrite>(&expr).value);
    case ExprKind::Tuple:
      return open(as<Tuple>(&expr).fields);
    case ExprKind::Project:
      return open(as<Project>(&expr).operand);
    case ExprKind::Call:
      open(as<Call>(&expr).callee);
      return open(as<Call>(&expr).arguments);
    case ExprKind::Infix:
      open(as<Infix>(&expr).left);
      return open(as<Infix>(&expr).right);
    case ExprKind::Sequence:
      return enterSequence(as<Sequence>(&expr));
    default:
      return;
    }
  }

  std::vector<const Expr*> exprs_;
};

} // namespace

std::map<std::pair<uint32_t, uint32_t>, uint32_t> graphLines(const File& file) {
  Lines lines;
  lines.walk(file.expr);
  for (const Definition* definition : file.definitions)
    if (const auto* function = tryAs<FunctionDefinition>(definition))
      lines.walk(function->function->body);
  return std::move(lines.found);
}

} // namespace driver
