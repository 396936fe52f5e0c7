// Simplification: what can be said more simply is.
//
//   let %a = (%x, %y).0 * 1f;
//   let %b = if (True) { negative(%a) } else { %y };         =>   subtract(%x, %x)
//   transpose(transpose(%b, axes=None), axes=None) + %a
//
// Calls of operators become what the rules of their rows say (lang/rules/simplify.h). The language
// has rules of its own: a field of a tuple that is in sight is the field, a tuple of all fields of
// a tuple is that tuple, `let %b = %a` is `%a`, `if` on a constant is one of its branches, and a
// match on a constructor in sight is one of its arms; in sight is what an arm around has matched,
// too. A let that declares a type stays.
//
// One walk in the order of evaluation is enough: whatever a rule looks at stands before, and what
// it writes is simplified at once. An answer has the type of what it stands for, to the letter, so
// the types of a module do not change. Types are those of the old module throughout; the new one
// has copies of its type parameters, which no rule writes down.
#include "lang/rules/simplify.h"
#include "lang/ir/rewrite.h"
#include "lang/op/op.h"
#include "lang/types/type_text.h"
#include "transform/analysis/effects.h"
#include "transform/analysis/placement.h"
#include "transform/analysis/type_deciders.h"
#include "transform/passes.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace transform {

using namespace lang;

namespace {

/// Whether a type has arguments that what it is the type of may not tell: `Nil` is a list of
/// anything. Functions tell their types.
bool hasArguments(const Type* root) {
  std::vector<const Type*> stack{root};
  std::unordered_set<const Type*> seen;
  while (!stack.empty()) {
    const Type* type = stack.back();
    stack.pop_back();
    if (type->kind == TypeKind::Data && !type->parts.empty())
      return true;
    if (type->kind != TypeKind::Function && seen.insert(type).second)
      stack.insert(stack.end(), type->parts.begin(), type->parts.end());
  }
  return false;
}

/// How deep rules may be applied to what rules write.
constexpr size_t deepestRule = 16;

/// The value of a constant truth; nothing for other atoms.
std::optional<bool> truthOf(const Expr* value) {
  const auto* constant = value ? value->as<Constant>() : nullptr;
  if (!constant || constant->type->dtype != runtime::Bool || !constant->type->shape.empty())
    return std::nullopt;
  return constantTensor(*constant).elements<uint8_t>()[0] != 0;
}

class Simplifier : public Rewriter {
public:
  Simplifier(const Module& from, Builder& into, const Typing& typing)
      : Rewriter(from, into), typing_(typing), decidesType_(typeDeciders(from, typing)),
        tensorsChange_(writesTensors(from)) {}

private:
  // What is known.

  const Type* typeOf(const Expr& copy) const {
    if (const auto* constant = copy.as<Constant>())
      return constant->type;
    auto found = types_.find(&copy);
    return found == types_.end() ? nullptr : found->second;
  }

  /// The value of a variable of the copy, or the atom itself.
  const Expr* valueOf(const Expr& copy) const {
    if (copy.kind != ExprKind::Var)
      return &copy;
    auto found = values_.find(&copy);
    return found == values_.end() ? nullptr : found->second;
  }

  /// Notes what a variable of the copy is bound to, where looking at it again is sound.
  void learn(Atom var, const Expr* value, const Type* type) {
    types_[var] = type;
    const auto* call = value->as<Call>();
    bool isKnown =
        value->kind == ExprKind::Tuple || value->kind == ExprKind::Project ||
        value->kind == ExprKind::Constant || value->kind == ExprKind::Constructor ||
        (call && (isComputed(*call) || call->callee.value->kind == ExprKind::Constructor));
    if (isKnown)
      values_[var] = value;
    else if (auto same = values_.find(value); same != values_.end())
      values_[var] = same->second;
  }

  /// Whether a call does nothing but compute a tensor.
  bool isComputed(const Call& call) const {
    const auto* op = call.callee.value->as<OperatorRef>();
    return op && op->row->action == Action::Compute && call.named.empty() && !tensorsChange_;
  }

  Atom atom(const Expr& old) override {
    Atom copy = Rewriter::atom(old);
    if (old.kind == ExprKind::Var)
      types_.try_emplace(copy, typing_.of(old));
    return copy;
  }

  // Before a value is copied: branches and arms that are never taken.

  /// The part of a value that decides what it is, if one does.
  const Block* decided(const Expr& value) {
    if (const auto* branch = value.as<If>()) {
      auto truth = truthOf(valueOf(*atom(*branch->condition.value)));
      return truth ? (*truth ? branch->thenBlock : branch->elseBlock) : nullptr;
    }
    const auto* match = value.as<Match>();
    return match ? decidedArm(*match) : nullptr;
  }

  /// A pattern against what is known of a value.
  enum class Fit : uint8_t { Yes, No, Open };
  struct Bound {
    const Var* var;
    Atom atom;
  };

  const Block* decidedArm(const Match& match) {
    Atom scrutinee = atom(*match.scrutinee.value);
    for (const Arm& arm : match.arms) {
      bound_.clear();
      Fit fit = fitOf(*arm.pattern, scrutinee, bound_);
      if (fit == Fit::No)
        continue;
      auto isTyped = [&](const Bound& each) {
        const Type* type = typing_.of(*each.var);
        if (each.atom->kind == ExprKind::Constant && decidesType_[each.var->number])
          return false;
        return type && typeOf(*each.atom) == type && isOpenable(type);
      };
      return fit == Fit::Yes && std::ranges::all_of(bound_, isTyped) ? arm.body : nullptr;
    }
    return nullptr;
  }

  Fit fitOf(const Pattern& root, Atom scrutinee, std::vector<Bound>& bound) const {
    struct Task {
      const Pattern* pattern;
      Atom atom;
    };
    Fit fit = Fit::Yes;
    std::vector<Task> tasks{{&root, scrutinee}};
    while (!tasks.empty()) {
      auto [pattern, atom] = tasks.back();
      tasks.pop_back();
      if (pattern->var)
        bound.push_back({pattern->var, atom});
      if (pattern->kind == PatternKind::Wildcard || pattern->kind == PatternKind::Var)
        continue;
      auto fields = fieldsOf(*pattern, atom, fit);
      if (fit == Fit::No)
        return fit;
      for (size_t i = 0; fields && i < fields->size(); ++i)
        tasks.push_back({pattern->parts[i], (*fields)[i].value});
    }
    return fit;
  }

  /// The fields of a value that are matched with the parts of a pattern. Tells in `fit` when the
  /// constructor is another one, or not known.
  std::optional<std::span<const Operand>> fieldsOf(const Pattern& pattern, Atom atom,
                                                   Fit& fit) const {
    const Expr* value = valueOf(*atom);
    const auto* tuple = value ? value->as<TupleExpr>() : nullptr;
    const auto* call = value ? value->as<Call>() : nullptr;
    const Expr* maker = call ? call->callee.value : value;
    const auto* constructor = maker ? maker->as<Constructor>() : nullptr;
    if (pattern.kind == PatternKind::Tuple && tuple)
      return tuple->fields;
    if (pattern.kind == PatternKind::Constructor && constructor) {
      if (constructor->index != pattern.constructor->index)
        fit = Fit::No;
      else
        return call ? call->arguments : std::span<const Operand>{};
    } else if (fit == Fit::Yes) {
      fit = Fit::Open;
    }
    return std::nullopt;
  }

  /// Inside of an arm, what was matched is the constructor of its pattern.
  void openBlock(const Block& block, BlockBuilder&) override {
    auto found = arms_.find(&block);
    if (found == arms_.end())
      return;
    auto [scrutinee, pattern] = found->second;
    const Expr*& value = values_[scrutinee];
    before_[&block] = std::exchange(value, value ? value : matched(*pattern));
  }

  void closeBlock(const Block& block) override {
    if (auto found = before_.find(&block); found != before_.end())
      values_[arms_[&block].first] = found->second;
  }

  /// A call of the constructor whose fields are the variables of the pattern; nothing is known of
  /// those that have none.
  const Expr* matched(const Pattern& pattern) {
    if (pattern.parts.empty())
      return pattern.constructor;
    std::vector<Operand> fields;
    for (const Pattern* part : pattern.parts)
      fields.push_back({part->var ? atom(*part->var) : &unknown_});
    auto* call = make.arena.make<Call>(Expr{ExprKind::Call, pattern.range});
    call->callee = {pattern.constructor};
    call->arguments = make.arena.copy(fields);
    return call;
  }

  Fate enter(const Binding& binding) override {
    bound_.clear();
    if (const auto* match = binding.value->as<Match>())
      for (const Arm& arm : match->arms)
        if (arm.pattern->kind == PatternKind::Constructor)
          arms_[arm.body] = {atom(*match->scrutinee.value), arm.pattern};
    part_ = decided(*binding.value);
    if (!part_)
      return Fate::Copy;
    const Type* type = typing_.of(*binding.var);
    if (decidesType_[binding.var->number])
      return Fate::Copy;
    bool isTyped = typing_.of(*part_->result.value) == type && type && isOpenable(type);
    return binding.var->annotation || isTyped ? Fate::Splice : Fate::Copy;
  }

  const Block& spliced(const Binding& binding, BlockBuilder& out) override {
    for (const Bound& each : bound_)
      if (losesArguments(typing_.of(*each.var), *each.atom))
        declare(*each.var, each.atom, binding.place, out);
      else
        substitute(*each.var, each.atom);
    return *part_;
  }

  // Types of what stays, where it followed from what goes.

  static bool losesArguments(const Type* type, const Expr& copy) {
    const auto* var = copy.as<Var>();
    return hasArguments(type) && !(var && var->annotation);
  }

  /// Whether a type follows from any value that has it, or can be declared.
  bool isOpenable(const Type* type) { return !hasArguments(type) || facts_.isShown(type); }

  const Type* declared(const Var& old) override {
    return &old == declared_ ? typing_.of(old) : Rewriter::declared(old);
  }

  /// Binds the copy of a variable as a let that declares its type.
  Atom declare(const Var& old, const Expr* value, SourceRange place, BlockBuilder& out) {
    declared_ = &old;
    Var* var = fresh(old);
    var->origin = VarOrigin::Let;
    out.append({var, value, place});
    learn(var, value, typing_.of(old));
    return var;
  }

  // After it is copied.

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    const Type* type = typing_.of(*old.var);
    BlockBuilder written(make);
    const Expr* simple = type ? simplified(value, type, written, 0) : value;
    if (simple->kind == ExprKind::Constant && decidesType_[old.var->number])
      simple = value;
    // A function that does nothing but call itself is no other name for anything.
    if (value->kind == ExprKind::Function && simple->isAtom() && simple == fresh(*old.var))
      simple = value;
    if (simple->kind == ExprKind::Var) {
      // What was just written takes the place of the old value.
      for (const Binding& each : written.bindings())
        if (each.var != simple)
          out.append(each);
      auto own = std::ranges::find(written.bindings(), simple, &Binding::var);
      if (own != written.bindings().end())
        simple = own->value;
    }
    bool isOpened = simple->isAtom() && !old.value->isAtom() && value->kind != ExprKind::Tuple;
    if (isOpened && !old.var->annotation && type && losesArguments(type, *simple))
      return declare(*old.var, simple, old.place, out);
    bool isKept = old.var->annotation ||
                  (simple->kind == ExprKind::Constant && decidesType_[old.var->number]);
    if (!isKept && isAlias(*simple, type))
      return simple;
    Atom var = Rewriter::bind(old, simple, out);
    learn(var, simple, type);
    return var;
  }

  /// Whether uses of a variable may become uses of what it is bound to. Tensors are written once.
  bool isAlias(const Expr& value, const Type* type) const {
    const auto* constant = value.as<Constant>();
    bool isName = value.kind == ExprKind::Var || (constant && !constant->tensor);
    return isName && type && typeOf(value) == type;
  }

  /// An atom or a value that is the same as this one, of this type.
  const Expr* simplified(const Expr* value, const Type* type, BlockBuilder& written, size_t depth) {
    const Expr* simple = value;
    if (const auto* call = value->as<Call>())
      simple = simplifiedCall(*call, type, written, depth);
    else if (const auto* project = value->as<Project>())
      simple = isOpenable(type) ? fieldOf(*project) : nullptr;
    else if (const auto* tuple = value->as<TupleExpr>())
      simple = whole(*tuple);
    else if (const auto* function = value->as<Function>())
      simple = callee(*function);
    bool isSame = simple && (!simple->isAtom() || simple == value || typeOf(*simple) == type);
    return isSame ? simple : value;
  }

  /// The function that a literal does nothing but call with its own arguments, or null.
  static Atom callee(const Function& function) {
    const Block& body = *function.body;
    const auto* call = body.bindings.size() == 1 ? body.bindings[0].value->as<Call>() : nullptr;
    bool isCall = call && call->callee.value->kind == ExprKind::Var && call->named.empty() &&
                  body.result.value == body.bindings[0].var && function.attributes.empty() &&
                  function.generics.empty();
    auto isSame = [](const Operand& argument, const Var* parameter) {
      return argument.value == parameter;
    };
    return isCall && std::ranges::count(function.parameters, call->callee.value) == 0 &&
                   std::ranges::equal(call->arguments, function.parameters, isSame)
               ? call->callee.value
               : nullptr;
  }

  /// The field of a tuple that is in sight, or null.
  Atom fieldOf(const Project& project) const {
    const Expr* value = valueOf(*project.tuple.value);
    const auto* tuple = value ? value->as<TupleExpr>() : nullptr;
    return tuple ? tuple->fields[project.index].value : nullptr;
  }

  /// The tuple all of whose fields these are, in order, or null.
  Atom whole(const TupleExpr& tuple) const {
    Atom source = nullptr;
    for (size_t i = 0; i < tuple.fields.size(); ++i) {
      const Expr* value = valueOf(*tuple.fields[i].value);
      const auto* project = value ? value->as<Project>() : nullptr;
      if (!project || project->index != i || (source && project->tuple.value != source))
        return nullptr;
      source = project->tuple.value;
    }
    return source;
  }

  const Expr* simplifiedCall(const Call& call, const Type* type, BlockBuilder& written,
                             size_t depth) {
    if (!isComputed(call) || depth > deepestRule)
      return &call;
    const auto& row = *static_cast<const OperatorRef*>(call.callee.value)->row;
    auto isTyped = [&](const Operand& operand) { return typeOf(*operand.value) != nullptr; };
    if (!row.simplify.rewrite || !std::ranges::all_of(call.arguments, isTyped))
      return &call;
    SimplifyScope scope{[&](const Var& var) { return valueOf(var); },
                        [&](const Expr& atom) { return typeOf(atom); },
                        [&](const Expr* value, const Type* valueType) {
                          return bindWritten(value, valueType, written, depth + 1);
                        }};
    SimplifyCall question(written, call, type, scope);
    row.simplify.rewrite(question);
    return question.answer() ? question.answer() : &call;
  }

  Atom bindWritten(const Expr* value, const Type* type, BlockBuilder& written, size_t depth) {
    const Expr* simple = simplified(value, type, written, depth);
    if (simple->isAtom())
      return simple;
    Atom var = written.bind(simple);
    learn(var, simple, type);
    return var;
  }

  const Typing& typing_;
  printing::TypeFacts facts_;
  std::vector<bool> decidesType_;
  bool tensorsChange_;
  /// Of variables of the copy: their types, in terms of the old module, and what they are bound to.
  std::unordered_map<const Expr*, const Type*> types_;
  std::unordered_map<const Expr*, const Expr*> values_;
  /// What is matched and the pattern of an arm, by its body; and what was known before.
  std::unordered_map<const Block*, std::pair<Atom, const Pattern*>> arms_;
  std::unordered_map<const Block*, const Expr*> before_;
  Hole unknown_{Expr{ExprKind::Hole}};
  /// The part that the binding at hand comes down to, and what the variables of its pattern are.
  const Block* part_ = nullptr;
  std::vector<Bound> bound_;
  /// The variable whose copy declares its type.
  const Var* declared_ = nullptr;
};

} // namespace

std::unique_ptr<Module> simplify(const Module& module, const PassContext& context) {
  Module simple(module.types);
  Builder make(simple, context.operators);
  Simplifier(module, make, context.typing).module();
  return place(simple, context.operators);
}

} // namespace transform
