// Blocks: each binding in its turn, after the blocks inside of its value.
#include "parser/restore/body.h"

#include "parser/restore/mixed_numbers.h"
#include "parser/restore/types.h"

#include <algorithm>

namespace parser::restoring {

const surface::Function* BodyRestorer::definition(const lang::Function& function) {
  vars_.count(*function.body);
  reserveNames(function);
  // Where numbers are all that says the type of a parameter, they have to say theirs.
  auto isUntold = [&](const lang::Var* parameter) {
    const lang::Type* type = shared_.typing->of(*parameter);
    return !shared_.showsTypes && type && type->isTensor() &&
           (!parameter->annotation || parameter->annotation->isUnknown());
  };
  mixesNumbers_ = shared_.typing && (mixesNumbers(*function.body, *shared_.typing) ||
                                     std::ranges::any_of(function.parameters, isUntold));
  frames_.push_back({.block = function.body, .function = &function});
  run();
  return this->function(function, true);
}

/// Names of definitions that the body uses are none of its locals, and it is known what locals will
/// be called.
void BodyRestorer::reserveNames(const lang::Function& function) {
  for (std::string_view word : {"ops", "prelude", "none", "ref", "ref_read", "ref_write"})
    locals_.reserve(word);
  for (const lang::Var* parameter : function.parameters)
    locals_.expect(parameter->name);
  lang::walk(
      *function.body, [&](const lang::Binding& binding) { expectNames(binding); },
      [&](const lang::Operand& operand) {
        if (const auto* global = operand.value->as<lang::Global>())
          locals_.reserve(global->name);
      });
}

void BodyRestorer::expectNames(const lang::Binding& binding) {
  if (binding.isLet())
    locals_.expect(binding.var->name);
  if (const auto* function = binding.value->as<lang::Function>())
    for (const lang::Var* parameter : function->parameters)
      locals_.expect(parameter->name);
  if (const auto* match = binding.value->as<lang::Match>())
    for (const lang::Arm& arm : match->arms)
      lang::forEachPatternVar(*arm.pattern,
                              [&](const lang::Var& var) { locals_.expect(var.name); });
}

void BodyRestorer::run() {
  while (!frames_.empty())
    step();
}

void BodyRestorer::step() {
  Frame& frame = frames_.back();
  if (!frame.isOpen)
    openFrame(frame);
  if (frame.next == frame.block->bindings.size())
    return finishFrame();
  const lang::Binding& binding = frame.block->bindings[frame.next];
  bool isShown = binding.isLet() || (vars_[*binding.var].uses > 0 && !binding.value->isAtom());
  if (!isShown) {
    ++frame.next;
    return;
  }
  if (!frame.isEntered) {
    frame.isEntered = true;
    size_t before = frames_.size();
    enter(binding);
    if (frames_.size() > before)
      return;
  }
  Piece made = binding.value->isAtom() ? operand(*binding.value) : value(*binding.value);
  if (const auto* other = binding.value->as<lang::Var>())
    renamed_.emplace(binding.var, other);
  if (binding.isLet())
    bindLet(binding, made.expr);
  else
    pieces_[binding.var->number] = vars_[*binding.var].uses > 1 ? named(*binding.var, made) : made;
  frames_.back().isEntered = false;
  ++frames_.back().next;
}

/// Schedules the blocks inside of a value. A function may call itself by the name of its let.
void BodyRestorer::enter(const lang::Binding& binding) {
  const auto* function = binding.value->as<lang::Function>();
  if (binding.isLet() && function && !binding.var->name.empty())
    nameOf(*binding.var);
  std::vector<Frame> inside;
  if (function)
    inside.push_back({.block = function->body, .function = function});
  else if (const auto* match = binding.value->as<lang::Match>())
    for (const lang::Arm& arm : match->arms)
      inside.push_back({.block = arm.body, .pattern = arm.pattern});
  else
    lang::forEachBlock(*binding.value,
                       [&](const lang::Block& block) { inside.push_back({.block = &block}); });
  for (; !inside.empty(); inside.pop_back())
    frames_.push_back(std::move(inside.back()));
}

void BodyRestorer::openFrame(Frame& frame) {
  frame.isOpen = true;
  frame.mark = locals_.mark();
  if (frame.function)
    for (const lang::Var* parameter : frame.function->parameters)
      nameOf(*parameter);
  if (frame.pattern)
    lang::forEachPatternVar(*frame.pattern, [&](const lang::Var& var) { nameOf(var); });
}

void BodyRestorer::finishFrame() {
  const surface::Expr* result = operand(*frames_.back().block->result.value).expr;
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  if (!frame.items.empty()) {
    auto* sequence = make<surface::Sequence>();
    sequence->braces = true;
    sequence->items = arena_.copy(frame.items);
    sequence->result = result;
    result = sequence;
  }
  bodies_[frame.block] = result;
  locals_.leave(frame.mark);
}

void BodyRestorer::bindLet(const lang::Binding& binding, const surface::Expr* value) {
  surface::Item item;
  item.kind = binding.var->name.empty() ? surface::ItemKind::Effect : surface::ItemKind::Let;
  item.value = value;
  if (item.kind == surface::ItemKind::Let)
    item.name = {nameOf(*binding.var), {}};
  if (item.kind == surface::ItemKind::Let)
    item.type = writtenType(binding.var->annotation, inferredType(*binding.var));
  frames_.back().items.push_back(item);
}

/// `lazy x1 = value;` in the block that is being restored, and its name.
Piece BodyRestorer::named(const lang::Var& var, Piece value) {
  surface::Item item;
  item.kind = surface::ItemKind::Graph;
  item.name = {locals_.number(arena_, var), {}};
  item.value = value.expr;
  frames_.back().items.push_back(item);
  return words(item.name.text);
}

} // namespace parser::restoring
