// The order of printing: which value is finished, needed and written when.
#include "lang/print/expr.h"

#include <algorithm>

namespace lang::printing {

ExprPrinter::ExprPrinter(const Module& module, const OperatorTable& operators,
                         const PrintOptions& options)
    : operators_(operators), typing_(options.types), mostInLiteral_(options.mostInLiteral),
      names_(module.globals),
      metadata_(module.metadata), attributes_{metadata_,
                                              [this](const Expr& atom) { return atomText(atom); }} {
}

void ExprPrinter::definition(const Global& global, std::string& out) {
  const Function& function = *global.function;
  vars_.count(*function.body);
  scopes_.emplace_back();
  std::vector<std::string> names = names_.parameters(function.parameters);
  for (size_t i = 0; i < names.size(); ++i)
    vars_[*function.parameters[i]].name = std::move(names[i]);
  texts_.push_back({"def " + names_.global(global) + signatureText(function) + " {"});
  pushBody(*function.body, "}");
  run();
  scopes_.back() = std::move(texts_.back());
  texts_.pop_back();
  finishTop(out);
}

void ExprPrinter::openExpression(const Function& function, std::string& out) {
  vars_.count(*function.body);
  scopes_.emplace_back();
  for (const Var* parameter : function.parameters)
    if (vars_[*parameter].uses == 0)
      atomText(*parameter);
  push({.step = Step::Bindings, .block = function.body});
  run();
  finishTop(out);
}

void ExprPrinter::expression(const Expr& expr, std::string& out) {
  vars_.count(expr);
  scopes_.emplace_back();
  texts_.emplace_back();
  push({.step = Step::EndTail});
  pushValue(&expr, nullptr);
  run();
  finishTop(out);
}

void ExprPrinter::finishTop(std::string& out) {
  pool_.render(scopes_.back(), out);
  scopes_.pop_back();
}

/// Schedules a body in braces: a scope of its own, then `close`.
void ExprPrinter::pushBody(const Block& block, const char* close) {
  push({.step = Step::Write, .text = close});
  push({.step = Step::Close});
  push({.step = Step::Bindings, .block = &block});
  push({.step = Step::Open});
}

/// Schedules what has to be finished before the text of `expr` can be made. The operands of a
/// reference are also needed one by one; those of a call all after they are finished.
void ExprPrinter::pushOperands(const Expr& expr) {
  size_t first = tasks_.size();
  bool needsFirst = expr.kind == ExprKind::RefWrite;
  forEachOperand(expr, [&](const Operand& operand) {
    const Expr* atom = vars_.resolve(operand.value);
    if (const Var* var = vars_.temporary(atom); var && !vars_[*var].isFinished())
      push({.step = Step::Finish, .expr = var});
    if (needsFirst)
      push({.step = Step::Need, .expr = atom});
    needsFirst = false;
  });
  std::reverse(tasks_.begin() + ptrdiff_t(first), tasks_.end());
}

/// Schedules the value of a let, which is written in place unless it is shared.
void ExprPrinter::pushValue(const Expr* expr, const Type* type) {
  if (expr->isAtom())
    expr = vars_.resolve(expr);
  if (const Var* var = vars_.soleTemporary(expr)) {
    type = typeOf(*var);
    expr = vars_[*var].value;
  }
  if (expr->kind == ExprKind::Match) {
    top() += '(';
    push({.step = Step::Write, .text = ")"});
  }
  push({.step = expr->isAtom() ? Step::Atom : Step::Build, .expr = expr, .type = type});
  if (expr->isAtom())
    push({.step = Step::Finish, .expr = expr});
  else
    pushOperands(*expr);
}

void ExprPrinter::run() {
  while (!tasks_.empty()) {
    Task task = tasks_.back();
    tasks_.pop_back();
    perform(task);
  }
}

void ExprPrinter::perform(const Task& task) {
  switch (task.step) {
  case Step::Finish:
    if (const Var* var = vars_.temporary(task.expr); var && !vars_[*var].isFinished()) {
      push({.step = Step::Complete, .expr = var});
      pushOperands(*vars_[*var].value);
    }
    break;
  case Step::Complete:
    complete(static_cast<const Var&>(*task.expr));
    break;
  case Step::Store:
    vars_[static_cast<const Var&>(*task.expr)].text =
        std::make_unique<Text>(std::move(texts_.back()));
    texts_.pop_back();
    completing_.pop_back();
    break;
  case Step::Need:
    atomText(*task.expr);
    break;
  case Step::Build:
    build(*task.expr, task.type);
    break;
  case Step::Atom:
    top() += atomText(*task.expr);
    break;
  case Step::Write:
    top() += task.text;
    break;
  case Step::Open:
    scopes_.emplace_back();
    break;
  case Step::Close:
    closeScope();
    break;
  case Step::Bindings:
    bindings(*task.block, task.index);
    break;
  case Step::EndFirstLet:
    scopes_.emplace_back();
    [[fallthrough]];
  case Step::EndLet:
    top() += ";\n";
    [[fallthrough]];
  case Step::EndTail:
    scopes_.back().append(texts_.back());
    texts_.pop_back();
    break;
  case Step::Arm:
    arm(static_cast<const Match&>(*task.expr), task.index);
    break;
  case Step::EndFunction:
    top() += "}";
    if (typing_)
      top() += functionTypeText(static_cast<const Function&>(*task.expr));
  }
}

/// Makes the text of a temporary whose operands are finished.
void ExprPrinter::complete(const Var& var) {
  const Expr& value = *vars_[var].value;
  texts_.emplace_back();
  completing_.push_back({&var, scopes_.size()});
  push({.step = Step::Store, .expr = &var});
  if (value.kind == ExprKind::Match) {
    top() += '(';
    push({.step = Step::Write, .text = ")"});
  }
  build(value, typeOf(var));
}

/// Goes on with a block at its binding `index`: its next let, or its result.
void ExprPrinter::bindings(const Block& block, size_t index) {
  while (index < block.bindings.size() && !block.bindings[index].isLet())
    ++index;
  if (index == block.bindings.size()) {
    tail(block.result.value);
    return;
  }
  push({.step = Step::Bindings, .block = &block, .index = index + 1});
  push({.step = Step::EndLet});
  beginLet(block.bindings[index]);
}

void ExprPrinter::beginLet(const Binding& binding) {
  texts_.push_back({"let " + binderText(*binding.var) + " = "});
  pushValue(binding.value, typeOf(*binding.var));
}

void ExprPrinter::tail(const Expr* result) {
  result = vars_.resolve(result);
  const Var* var = vars_.soleTemporary(result);
  const Expr* value = var ? vars_[*var].value : nullptr;
  if (value && value->kind == ExprKind::Block) {
    push({.step = Step::Bindings, .block = static_cast<const BlockExpr*>(value)->block});
    return;
  }
  texts_.emplace_back();
  push({.step = Step::EndTail});
  if (!value || value->kind != ExprKind::Match) {
    pushValue(result, nullptr);
    return;
  }
  push({.step = Step::Build, .expr = value});
  pushOperands(*value);
}

void ExprPrinter::arm(const Match& match, size_t index) {
  if (index == match.arms.size()) {
    Text arms = std::move(texts_.back());
    texts_.pop_back();
    pool_.splice(texts_.back(), std::move(arms));
    top() += '}';
    return;
  }
  const Arm& next = match.arms[index];
  if (index > 0)
    top() += '\n';
  appendPattern(top(), *next.pattern);
  top() += " => {";
  push({.step = Step::Arm, .expr = &match, .index = index + 1});
  pushBody(*next.body, "},");
}

void ExprPrinter::closeScope() {
  Text body = std::move(scopes_.back());
  scopes_.pop_back();
  pool_.splice(texts_.back(), std::move(body));
}

/// Writes the line of a finished temporary.
void ExprPrinter::emitLine(const Var& var) {
  PrintedVar& printed = vars_[var];
  printed.name = "%" + std::to_string(nextNumber_++);
  printed.home = openHome();
  Text& scope = scopes_.back();
  scope.chars += printed.name + " = ";
  scope.append(*printed.text);
  scope.chars += ";\n";
  printed.text.reset();
}

/// The temporary to whose text the innermost open block belongs, or null.
const Var* ExprPrinter::openHome() const {
  for (size_t i = completing_.size(); i-- > 0;)
    if (completing_[i].scopes < scopes_.size())
      return completing_[i].var;
  return nullptr;
}

/// The line of a temporary may stand inside the text of another one, such as a branch, that has no
/// line yet. A mention elsewhere would then come before it, so that text is written first. (Relay
/// does not, and cannot read such texts back.)
void ExprPrinter::emitHomes(const Var& var) {
  for (const Var* home = vars_[var].home; home; home = vars_[*home].home) {
    if (vars_[*home].text)
      emitLine(*home);
    else if (vars_[*home].name.empty())
      return;
  }
}

} // namespace lang::printing
