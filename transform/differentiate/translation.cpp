// Atoms and bindings of the new code.
#include "transform/differentiate/translation.h"

#include "lang/ir/copy.h"
#include "lang/ir/differentiable.h"
#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "transform/analysis/endless_instances.h"

#include <unordered_set>

#include <fmt/format.h>

namespace transform {

using namespace lang;

void forEachOperandWithin(const Expr& value, const std::function<void(const Expr&)>& visit) {
  if (value.isAtom())
    visit(value);
  forEachOperand(value, [&](const Operand& operand) { visit(*operand.value); });
  forEachBlock(value, [&](const Block& block) {
    walk(
        block, [](const Binding&) {}, [&](const Operand& operand) { visit(*operand.value); });
  });
}

Translation::Translation(Builder& builder, const Typing& ofOld, Diagnostics& sink, Mode mode,
                         SymbolicZeros* zeros)
    : make(builder), typing(ofOld), findings(sink), types(builder, mode, zeros),
      useful(builder.module, ofOld), effects_(builder.module) {
  auto see = [&](const Var& var) {
    if (const Type* type = typing.of(var))
      types.see(type);
  };
  for (const Global* global : make.module.globals)
    if (global->function)
      for (const Var* parameter : global->function->parameters)
        see(*parameter);
  walk(
      make.module,
      [&](const Binding& binding) {
        definitions_[binding.var] = &binding;
        countUses(*binding.value);
        see(*binding.var);
      },
      [&](const Operand& operand) { ++uses_[operand.value].all; });
}

void Translation::reset() {
  atoms_.clear();
  primal_.clear();
  outside_.clear();
  varied.clear();
  wildcards_.clear();
}

void Translation::fail(SourceRange range, const Words& what) {
  findings.report(Message::UnknownDerivative, range, what);
}

void Translation::failOf(SourceRange range, const Expr& function, std::string_view where) {
  const auto* var = function.as<Var>();
  bool isNamed = var && !var->name.empty();
  fail(range,
       isNamed ? words("`{}`{}", localName(var->name), where) : words("a function{}", where));
}

void Translation::failGeneric(SourceRange range, const Global& global) {
  if (auto growing = growingCall(global, make.types, typing))
    findings.report(Message::EndlessInstances, growing->call->range, globalName(global.name),
                    globalName(growing->callee->name), growing->parameter->name, growing->type);
  else
    findings.report(Message::GenericDerivative, range, words("`{}`", globalName(global.name)));
}

const Type* Translation::typeOf(const Expr& atom) const {
  if (const auto* global = atom.as<Global>())
    return functionType(make.types, *global->function, typing);
  if (const auto* op = atom.as<OperatorRef>())
    return make.types.operatorType(op->row, op->row->name);
  // What it is used at is not known; `mapped` refuses it.
  if (atom.kind == ExprKind::Constructor)
    return make.types.function({}, make.types.tuple({}));
  return typing.of(atom);
}

const Attributes& Translation::attributesOf(const Call& call) {
  static const Attributes none{};
  const Attributes* given = call.attributes;
  if (!given)
    given = make.call(*rowOf(call), {})->attributes;
  return given ? *given : none;
}

bool Translation::isVaried(const Expr& atom) const {
  auto found = varied.find(atom.as<Var>());
  return found != varied.end() && found->second;
}

/// Whether the way back has to pass a binding: what it gives may depend on what is differentiated,
/// or it may touch functions and references, which may lead to that.
bool Translation::isVaried(const Binding& binding) const {
  const Type* type = typing.of(*binding.var);
  if (holdsFunctions(type))
    return true;
  bool isReached = false, touchesFunctions = false;
  forEachOperandWithin(*binding.value, [&](const Expr& atom) {
    const auto* var = atom.as<Var>();
    isReached |= isVaried(atom);
    touchesFunctions |= var && holdsFunctions(typing.of(*var));
  });
  if (touchesFunctions || !isReached || !holdsFloats(type))
    return touchesFunctions;
  const auto* call = binding.value->as<Call>();
  bool isPassed = !call;
  for (size_t i = 0; call && i < call->arguments.size(); ++i)
    isPassed |= isVaried(*call->arguments[i].value) && useful.passes(*call, i);
  return isPassed && useful.isUseful(*binding.var);
}

std::vector<const Var*> Translation::primalParameters(const Function& function) {
  std::vector<const Var*> parameters;
  for (const Var* old : function.parameters) {
    const Type* type = typing.of(*old);
    parameters.push_back(parameter(*old, type));
    (holdsFunctions(type) ? primal_[old] : known(*old)) = parameters.back();
  }
  return parameters;
}

Var* Translation::parameter(const Var& old, const Type* type) {
  return make.var(VarOrigin::Parameter, old.name, type);
}

const Type* Translation::declared(const Var& old) {
  if (!old.annotation || !holdsFunctions(old.annotation))
    return old.annotation;
  return types.dual(typing.of(old));
}

Var* Translation::patternVar(const Var& old) {
  Var* var = make.var(VarOrigin::Pattern, old.name, declared(old));
  known(old) = var;
  return var;
}

/// Binds what stands for an old variable, under its name.
void Translation::bindAs(const Binding& old, const Expr* value, BlockBuilder& out,
                         bool isDeclared) {
  VarOrigin origin = old.isLet() || keepsSteps ? VarOrigin::Let : VarOrigin::Temporary;
  Var* var = make.var(origin, old.var->name, isDeclared ? declared(*old.var) : nullptr);
  known(*old.var) = var;
  out.append({var, value, old.place});
}

void Translation::nameAs(const Binding& old, Atom atom, BlockBuilder& out) {
  const Type* type = typing.of(*old.var);
  bool isShown = keepsSteps && atom && old.isLet() && !old.var->name.empty() &&
                 !holdsFunctions(type) && type->kind != TypeKind::Reference;
  if (isShown)
    bindAs(old, atom, out);
  else
    known(*old.var) = atom;
}

/// What does not depend on what is differentiated stays as it is.
void Translation::copy(const Binding& binding, BlockBuilder& out) {
  const Expr& value = *binding.value;
  bool hasBlocks = false;
  forEachBlock(value, [&](const Block&) { hasBlocks = true; });
  if (value.isAtom()) {
    nameAs(binding, mapped(value), out);
    return;
  }
  // What no arm gives has no type but that of its use, which may be gone.
  if (const auto* end = value.as<Match>(); end && !hasBlocks) {
    const Type* type = typing.of(*binding.var);
    Var* var =
        make.var(VarOrigin::Let, binding.var->name, holdsFunctions(type) ? types.dual(type) : type);
    known(*binding.var) = var;
    out.append({var, make.match(copied(*end->scrutinee.value), {}, end->isPartial), binding.place});
    return;
  }
  if (!hasBlocks)
    return bindAs(binding, rebuilt(value, [this](const Expr& atom) { return copied(atom); }), out);
  std::vector<Substitution> free;
  forEachOperandWithin(value, [&](const Expr& atom) {
    if (auto found = atoms_.find(atom.as<Var>()); found != atoms_.end())
      free.push_back({found->first, found->second});
  });
  const Block* copied = copyBlock(make, *make.block({binding}, binding.var), free);
  out.append(copied->bindings[0]);
  known(*binding.var) = copied->result.value;
}

/// What stands for an atom of a copied value. Functions go into that which are not differentiated.
Atom Translation::copied(const Expr& atom) {
  return atom.as<Var>() ? mapped(atom) : &atom;
}

/// The value, which has no blocks, over the atoms of the new code.
const Expr* Translation::rebuilt(const Expr& value) {
  return rebuilt(value, [this](const Expr& atom) { return mapped(atom); });
}

const Expr* Translation::rebuilt(const Expr& value,
                                 const std::function<Atom(const Expr&)>& standingFor) {
  auto over = [&](const Operand& operand) { return standingFor(*operand.value); };
  auto all = [&](std::span<const Operand> operands) {
    std::vector<Atom> atoms;
    for (const Operand& operand : operands)
      atoms.push_back(over(operand));
    return atoms;
  };
  auto none = [](const Expr&) -> const Expr* {
    throw std::logic_error("a value with blocks is rebuilt");
  };
  return match(
      value, none,
      [&](const TupleExpr& tuple) -> const Expr* { return make.tuple(all(tuple.fields)); },
      [&](const Project& project) -> const Expr* {
        return make.project(over(project.tuple), project.index);
      },
      [&](const Call& call) -> const Expr* {
        const Expr& callee = *call.callee.value;
        Atom target = copied(callee);
        auto* made = make.arena.make<Call>(Expr{ExprKind::Call, call.range});
        made->callee = make.operand(target);
        made->arguments = make.operands(all(call.arguments));
        const auto* op = target->as<OperatorRef>();
        made->attributes =
            op && !call.attributes ? make.call(*op->row, {})->attributes : call.attributes;
        made->named = call.named;
        return made;
      },
      [&](const RefNew& ref) -> const Expr* { return make.refNew(over(ref.content)); },
      [&](const RefRead& ref) -> const Expr* { return make.refRead(over(ref.reference)); },
      [&](const RefWrite& ref) -> const Expr* {
        return make.refWrite(over(ref.reference), over(ref.value));
      });
}

std::vector<Atom> Translation::mapped(std::span<const Operand> operands) {
  std::vector<Atom> atoms;
  for (const Operand& operand : operands)
    atoms.push_back(mapped(*operand.value));
  return atoms;
}

/// What stands for an atom in the new code.
Atom Translation::mapped(const Expr& atom) {
  if (const auto* global = atom.as<Global>()) {
    std::vector<bool> mask;
    if (global->function)
      for (const Var* each : global->function->parameters)
        mask.push_back(holdsFloats(typing.of(*each)));
    return derivativeOf(*global, mask);
  }
  if (const auto* constructor = atom.as<Constructor>())
    fail(make.range, words("the constructor `{}`, as a value,", plainName(constructor->name)));
  const auto* var = atom.as<Var>();
  if (!var)
    return &atom;
  if (auto found = atoms_.find(var); found != atoms_.end() && found->second)
    return found->second;
  if (!typing.of(*var)->generics.empty()) {
    findings.report(Message::GenericDerivative, make.range,
                    var->name.empty() ? "a local function" : words("`{}`", localName(var->name)));
    return known(*var) = var;
  }
  return outside(*var);
}

/// A variable that the function at hand captures or takes as it is. What holds functions is not yet
/// what differentiated code wants: a reference gets its other cell, and a known value is made again
/// from its definition.
Atom Translation::outside(const Var& var) {
  auto found = primal_.find(&var);
  Atom itself = found == primal_.end() ? &var : found->second;
  const Type* type = typing.of(var);
  if (!holdsFunctions(type))
    return itself;
  if (type->kind == TypeKind::Operator)
    return itself;
  outside_[&var] = itself;
  varied[&var] = true;
  if (type->kind == TypeKind::Reference && !holdsFunctions(type->parts[0])) {
    Atom pair = itself;
    if (const Type* content = type->parts[0]; holdsFloats(content)) {
      Atom value = root->let("content", make.refRead(itself));
      pair = root->tuple({itself, root->bind(make.refNew(types.zero(*root, value, content)))});
    }
    return known(var) = pair;
  }
  if (auto definition = definitions_.find(&var);
      definition != definitions_.end() && found == primal_.end() && isMadeAgain(var)) {
    writeAtRoot(*definition->second);
    if (Atom made = known(var))
      return made;
  }
  failOf(make.range, var);
  return known(var) = itself;
}

Atom Translation::named(const Pattern& pattern, Atom variable) {
  return pattern.var ? mapped(*pattern.var)
                     : wildcards_.try_emplace(&pattern, variable).first->second;
}

/// The value that a pattern took apart; `_` gets a variable.
Atom Translation::takenApart(const Pattern& pattern, const Type* type, BlockBuilder& out) {
  if (pattern.kind == PatternKind::Var)
    return mapped(*pattern.var);
  if (pattern.kind == PatternKind::Wildcard) {
    Atom& var = wildcards_[&pattern];
    if (!var)
      var = make.var(VarOrigin::Pattern, "rest");
    return var;
  }
  bool isTuple = pattern.kind == PatternKind::Tuple;
  std::vector<const Type*> held(type->parts.begin(), type->parts.end());
  if (!isTuple)
    held = types.fields(*pattern.constructor, type);
  std::vector<Atom> parts;
  for (size_t i = 0; i < held.size(); ++i)
    parts.push_back(takenApart(*pattern.parts[i], held[i], out));
  return isTuple ? out.tuple(parts) : out.call(&types.dual(*pattern.constructor, type), parts);
}

/// The pattern over constructors and variables of the new code.
const Pattern* Translation::dualPattern(const Pattern& pattern, const Type* type) {
  if (pattern.kind == PatternKind::Var)
    return make.varPattern(mapped(*pattern.var)->as<Var>());
  if (pattern.kind == PatternKind::Wildcard) {
    auto named = wildcards_.find(&pattern);
    return named == wildcards_.end() ? make.anyPattern()
                                     : make.varPattern(named->second->as<Var>());
  }
  bool isTuple = pattern.kind == PatternKind::Tuple;
  std::vector<const Type*> held(type->parts.begin(), type->parts.end());
  if (!isTuple)
    held = types.fields(*pattern.constructor, type);
  std::vector<const Pattern*> parts;
  for (size_t i = 0; i < held.size(); ++i)
    parts.push_back(dualPattern(*pattern.parts[i], held[i]));
  return isTuple ? make.tuplePattern(parts)
                 : make.constructorPattern(types.dual(*pattern.constructor, type), parts);
}

} // namespace transform
