// Common subexpressions: what was computed already, in the same block or in one around it, is used
// again.
//
//   let %a = %x + 1f;                       let %a = add(%x, 1f);
//   let %b = %x + 1f;                       let %f = fn () {
//   let %f = fn () { %x + 1f };      =>       %a
//   (%a, %b, %f)                            };
//                                           (%a, %a, %f)
//
// Calls of operators and constructors, tuples, projections and constants count, when their operands
// are the same and their types too: `Nil` of one type is not `Nil` of another one. A let that
// declares a type stays. `let %b = %a` is `%a`. Values without effects are equal whenever they are
// computed, so nothing is asked of what happens in between.
#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "transform/analysis/effects.h"
#include "transform/analysis/placement.h"
#include "transform/analysis/same_bits.h"
#include "transform/passes.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace transform {

using namespace lang;

namespace {

/// What an operand is: the same for two nodes that name the same.
const void* identity(const Expr& atom) {
  const auto* op = atom.as<OperatorRef>();
  return op ? static_cast<const void*>(op->row) : &atom;
}

/// Equality and hashes of values whose operands are those of the copy.
struct SameValue {
  size_t operator()(const Expr* value) const {
    size_t hash = size_t(value->kind);
    if (value->isAtom())
      return combine(hash, hashOf(value));
    forEachOperand(*value, [&](const Operand& operand) {
      hash = combine(hash, hashOf(identity(*operand.value)));
    });
    if (const auto* project = value->as<Project>())
      hash = combine(hash, project->index);
    return hash;
  }

  bool operator()(const Expr* left, const Expr* right) const {
    if (left->kind != right->kind)
      return false;
    if (left->isAtom())
      return left == right;
    if (const auto* tuple = left->as<TupleExpr>())
      return operands(tuple->fields, right->as<TupleExpr>()->fields);
    if (const auto* project = left->as<Project>()) {
      const auto& other = *right->as<Project>();
      return project->index == other.index && project->tuple.value == other.tuple.value;
    }
    const auto &call = *left->as<Call>(), &other = *right->as<Call>();
    return identity(*call.callee.value) == identity(*other.callee.value) &&
           operands(call.arguments, other.arguments) &&
           (!call.attributes ||
            std::ranges::equal(call.attributes->values, other.attributes->values));
  }

private:
  static bool operands(std::span<const Operand> left, std::span<const Operand> right) {
    return std::ranges::equal(left, right, [](const Operand& a, const Operand& b) {
      return identity(*a.value) == identity(*b.value);
    });
  }
};

class Sharer : public Rewriter {
public:
  Sharer(const Module& from, Builder& into, const Typing& typing)
      : Rewriter(from, into), typing_(typing), tensorsChange_(writesTensors(from)) {}

private:
  /// A value that was computed, and the variables that hold it: the old one, for its type.
  struct Computed {
    const Var* old;
    Atom atom;
  };

  bool isShared(const Expr& value) const {
    const auto* call = value.as<Call>();
    if (!call)
      return value.kind == ExprKind::Tuple || value.kind == ExprKind::Project ||
             value.kind == ExprKind::Constant;
    if (const auto* op = call->callee.value->as<OperatorRef>())
      return isFunction(op->row->action) && call->named.empty();
    return call->callee.value->kind == ExprKind::Constructor && call->named.empty();
  }

  /// Whether an operator gives the same whenever it is called with the same.
  bool isFunction(Action action) const {
    bool callsAnother = action == Action::Call || action == Action::CallInto;
    Effect effect = effectOf(action);
    return !tensorsChange_ && !callsAnother && !effect.writes && !effect.allocates;
  }

  bool haveOneType(const Expr& left, const Expr& right) const {
    return typing_.of(left) && typing_.of(left) == typing_.of(right);
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    if (old.var->annotation && old.isLet())
      return Rewriter::bind(old, value, out);
    if (value->kind == ExprKind::Var && haveOneType(*old.var, *old.value))
      return value;
    if (!isShared(*value))
      return Rewriter::bind(old, value, out);
    auto [known, isNew] = computed_.try_emplace(value);
    if (!isNew && haveOneType(*known->second.old, *old.var))
      return known->second.atom;
    Atom atom = Rewriter::bind(old, value, out);
    if (isNew) {
      known->second = {old.var, atom};
      inScope_.push_back(value);
    }
    return atom;
  }

  /// Constants with equal bits become one node.
  Atom atom(const Expr& old) override {
    Atom copy = Rewriter::atom(old);
    const auto* constant = copy->as<Constant>();
    return constant ? *constants_.insert(constant).first : copy;
  }

  void openBlock(const Block&, BlockBuilder&) override { scopes_.push_back(inScope_.size()); }

  /// What was computed in a block is not there outside of it.
  void closeBlock(const Block&) override {
    for (; inScope_.size() > scopes_.back(); inScope_.pop_back())
      computed_.erase(inScope_.back());
    scopes_.pop_back();
  }

  const Typing& typing_;
  bool tensorsChange_;
  std::unordered_map<const Expr*, Computed, SameValue, SameValue> computed_;
  std::unordered_set<const Constant*, SameBits, SameBits> constants_;
  std::vector<const Expr*> inScope_;
  std::vector<size_t> scopes_;
};

} // namespace

std::unique_ptr<Module> commonSubexpressions(const Module& module, const PassContext& context) {
  Module shared(module.types);
  Builder make(shared, context.operators);
  Sharer(module, make, context.typing).module();
  return place(shared, context.operators);
}

} // namespace transform
