// Code and values. Recursion follows the code that is driven, which `mostSteps` and `deepest`
// bound.
#include "transform/deforest/driving.h"

#include <algorithm>

namespace transform {

using namespace lang;

namespace {

/// What the work on one chain may be: bindings looked at, and how many of them inside of others.
constexpr size_t mostSteps = 3'000, deepest = 150;

/// Larger tuples are made: their parts could be the same ones many times.
constexpr size_t largestTuple = 40;

} // namespace

void Driving::countStep() {
  if (++steps_ > mostSteps)
    throw GaveUp();
}

Driving::Deeper::Deeper(size_t& depth) : depth_(depth) {
  if (depth_ == deepest)
    throw GaveUp();
  ++depth_;
}

Driving::Driving(ChainFacts& facts, Builder& scratch) : facts_(facts), make_(scratch) {
  for (const Global* global : facts.module.globals)
    names_.emplace(global->name);
}

const Type* Driving::typeAt(const Type* type, const CodePlace& place) const {
  const Type* here = (*place.types)(type);
  if (!here)
    throw GaveUp();
  return here;
}

const Term* Driving::atom(Atom atom, const Type* type) {
  return facts_.keep({TermKind::Atom, type, atom});
}

/// A term as an atom.
const Term* Driving::held(const Term* term, BlockBuilder& out) {
  if (term->kind == TermKind::Atom)
    return term;
  bool isTold =
      term->kind == TermKind::Call && facts_.typing.generics(*term->callee->function).empty();
  Term value{TermKind::Atom, term->type, made(term, out)};
  value.isUntold = !isTold;
  return facts_.keep(std::move(value));
}

/// A field of an atom.
const Term* Driving::field(const Term& tuple, uint32_t index, const Type* type, BlockBuilder& out) {
  Term part{TermKind::Atom, type, out.project(tuple.atom, index)};
  part.isUntold = tuple.isUntold;
  return facts_.keep(std::move(part));
}

/// A term that says its type: constructors and generic globals are of many.
const Term* Driving::typed(const Term* term, const Type* type) {
  if (term->type)
    return term;
  Term said = *term;
  said.type = type;
  return facts_.keep(std::move(said));
}

std::vector<const Type*> Driving::fieldTypes(const Constructor& constructor, const Type& type) {
  const auto generics = constructor.definition->generics;
  Instance fields(facts_.module.types);
  for (size_t i = 0; i < generics.size() && i < type.parts.size(); ++i)
    fields.set(generics[i], type.parts[i]);
  std::vector<const Type*> types;
  for (const Type* field : constructor.fields) {
    types.push_back(fields(field));
    if (!types.back())
      throw GaveUp();
  }
  return types;
}

const Term* Driving::lookUp(const Expr& atom, const CodePlace& place) {
  for (const Scope* scope = place.scope; scope; scope = scope->outer)
    if (scope->var == &atom)
      return scope->term;
  return facts_.outside(atom);
}

// Code.

Atom Driving::block(const Block& block, CodePlace place, BlockBuilder& out, const Next& next,
                    const Term* entry) {
  Deeper deeper(depth_);
  // What stands before the match of a call is done again when the match becomes a call.
  bool isCheap = true;
  for (const Binding& binding : block.bindings) {
    countStep();
    make_.range = binding.value->range;
    const size_t before = out.bindings().size();
    bool isLast = &binding == &block.bindings.back() && block.result.value == binding.var;
    const Term* term = step(binding, place, out, isLast && isCheap ? entry : nullptr);
    place.scope = bound(place.scope, *binding.var, term, out);
    bool isScalar = !term->type || term->type->shape.empty();
    auto isSmall = [&](const Binding& written) {
      const auto* call = written.value->as<Call>();
      return call ? isScalar && call->callee.value->kind == ExprKind::Operator
                  : written.value->kind == ExprKind::Project;
    };
    isCheap &= std::ranges::all_of(std::span(out.bindings()).subspan(before), isSmall);
  }
  return next(lookUp(*block.result.value, place), out);
}

/// What a binding binds.
const Term* Driving::step(const Binding& binding, const CodePlace& place, BlockBuilder& out,
                          const Term* entry) {
  const Expr& value = *binding.value;
  if (value.isAtom())
    return lookUp(value, place);
  const Type* type = typeAt(facts_.typing.of(*binding.var), place);
  auto suspended = [&](TermKind kind) {
    Term term{kind, type};
    term.binding = &binding;
    term.place = place;
    term.entry = entry;
    return facts_.keep(std::move(term));
  };
  switch (value.kind) {
  case ExprKind::Tuple: {
    Term tuple{TermKind::Tuple, type};
    for (const Operand& field : static_cast<const TupleExpr&>(value).fields)
      tuple.parts.push_back(typed(lookUp(*field.value, place), type->parts[tuple.parts.size()]));
    const Term* kept = facts_.keep(std::move(tuple));
    return type->size > largestTuple ? held(kept, out) : kept;
  }
  case ExprKind::Project: {
    const auto& project = static_cast<const Project&>(value);
    const Term* tuple = lookUp(*project.tuple.value, place);
    if (tuple->kind == TermKind::Tuple)
      return tuple->parts[project.index];
    return field(*held(tuple, out), project.index, type, out);
  }
  case ExprKind::Call: {
    const auto& call = static_cast<const Call&>(value);
    if (call.callee.value->kind == ExprKind::Operator)
      return operatorCall(call, type, place, out);
    if (const Term* known = callOf(binding, place))
      return known;
    std::vector<Atom> arguments;
    for (const Operand& argument : call.arguments)
      arguments.push_back(made(lookUp(*argument.value, place), out));
    return atom(out.call(made(lookUp(*call.callee.value, place), out), arguments), type);
  }
  case ExprKind::Function:
    if (facts_.known.isRecursive({static_cast<const Function*>(&value), nullptr, &binding}))
      throw GaveUp();
    return suspended(TermKind::Closure);
  case ExprKind::If:
  case ExprKind::Match:
  case ExprKind::Block:
    return suspended(TermKind::Suspended);
  default:
    throw GaveUp();
  }
}

const Term* Driving::callOf(const Binding& binding, const CodePlace& place) {
  const auto& call = static_cast<const Call&>(*binding.value);
  const Term* callee = lookUp(*call.callee.value, place);
  Term term{TermKind::Call, typeAt(facts_.typing.of(*binding.var), place)};
  for (const Operand& argument : call.arguments)
    term.parts.push_back(lookUp(*argument.value, place));
  if (callee->kind == TermKind::Closure) {
    term.kind = TermKind::Suspended;
    term.binding = callee->binding;
    term.place = callee->place;
    return facts_.keep(std::move(term));
  }
  if (callee->kind != TermKind::Atom)
    return nullptr;
  if (const auto* constructor = callee->atom->as<Constructor>()) {
    term.kind = TermKind::Build;
    term.constructor = constructor;
    std::vector<const Type*> fields = fieldTypes(*constructor, *term.type);
    for (size_t i = 0; i < term.parts.size(); ++i)
      term.parts[i] = typed(term.parts[i], fields[i]);
    return facts_.keep(std::move(term));
  }
  const auto* global = callee->atom->as<Global>();
  if (!global || !global->function || global->function->parameters.size() != term.parts.size())
    return nullptr;
  const Instance* types = facts_.instanceOf(*global, term.parts, term.type);
  if (!types)
    throw GaveUp();
  term.callee = global;
  term.place = {nullptr, types};
  for (size_t i = 0; i < term.parts.size(); ++i)
    term.parts[i] = typed(term.parts[i],
                          typeAt(facts_.typing.of(*global->function->parameters[i]), term.place));
  return facts_.keep(std::move(term));
}

const Term* Driving::operatorCall(const Call& call, const Type* type, const CodePlace& place,
                                  BlockBuilder& out) {
  Call* copy = make_.arena.make<Call>(call);
  std::vector<Atom> arguments;
  for (const Operand& argument : call.arguments)
    arguments.push_back(made(lookUp(*argument.value, place), out));
  copy->arguments = make_.operands(arguments);
  return atom(out.bind(copy), type);
}

/// A variable for a term in what follows. What is used more than once is made here.
const Scope* Driving::bound(const Scope* outer, const Var& var, const Term* term,
                            BlockBuilder& out) {
  return &scopes_.emplace_back(Scope{outer, &var, spread(term, facts_.uses(var), out)});
}

const Term* Driving::spread(const Term* term, size_t uses, BlockBuilder& out) {
  if (uses > 1)
    term = opened(term, out);
  bool isThere = term->atom || term->kind == TermKind::Closure;
  if (uses <= 1 || isThere)
    return term;
  if (term->kind != TermKind::Tuple && term->kind != TermKind::Build)
    return held(term, out);
  Term whole = *term;
  for (const Term*& part : whole.parts)
    part = spread(part, uses, out);
  if (whole.kind == TermKind::Build && !whole.parts.empty())
    whole.atom = made(&whole, out);
  return facts_.keep(std::move(whole));
}

/// The value of suspended code, with what comes next at each of its ends.
Atom Driving::run(const Term& term, BlockBuilder& out, const Next& next) {
  Deeper deeper(depth_);
  const Expr& value = *term.binding->value;
  const CodePlace& place = term.place;
  if (const auto* literal = value.as<Function>()) {
    CodePlace inside = place;
    for (size_t i = 0; i < literal->parameters.size(); ++i)
      inside.scope = bound(inside.scope, *literal->parameters[i], term.parts[i], out);
    return block(*literal->body, inside, out, next, nullptr);
  }
  if (const auto* inner = value.as<BlockExpr>())
    return block(*inner->block, place, out, next, term.entry);
  if (const auto* branch = value.as<If>()) {
    Atom condition = made(lookUp(*branch->condition.value, place), out);
    BlockBuilder left(make_), right(make_);
    Atom first = block(*branch->thenBlock, place, left, next, term.entry);
    Atom second = block(*branch->elseBlock, place, right, next, term.entry);
    return out.bind(make_.branch(condition, left.finish(first), right.finish(second)));
  }
  const auto& match = static_cast<const Match&>(value);
  Choice choice{{}, {lookUp(*match.scrutinee.value, place)}, place, term.entry};
  for (const Arm& arm : match.arms)
    choice.rows.push_back({{arm.pattern}, &arm});
  return choose(std::move(choice), out, next);
}

/// What suspended code without branches gives, which runs here.
const Term* Driving::opened(const Term* term, BlockBuilder& out) {
  auto isStraight = [](const Expr& value) {
    return value.kind == ExprKind::Function || value.kind == ExprKind::Block;
  };
  while (term->kind == TermKind::Suspended && isStraight(*term->binding->value)) {
    const Term* end = nullptr;
    run(*term, out, [&](const Term* value, BlockBuilder&) {
      end = value;
      return Atom();
    });
    term = typed(end, term->type);
  }
  return term;
}

Atom Driving::force(const Term* term, BlockBuilder& out, const Next& next) {
  if (term->kind == TermKind::Suspended)
    return run(*term, out, next);
  if (term->kind == TermKind::Call)
    return unfold(*term, out, next);
  return next(term, out);
}

/// The body of a global's function in the place of a call.
Atom Driving::unfold(const Term& old, BlockBuilder& out, const Next& next) {
  const Function& function = *old.callee->function;
  Term call = old;
  CodePlace inside{nullptr, call.place.types};
  for (size_t i = 0; i < call.parts.size(); ++i) {
    call.parts[i] = opened(call.parts[i], out);
    if (call.parts[i]->kind == TermKind::Suspended)
      call.parts[i] = held(call.parts[i], out);
    inside.scope = bound(inside.scope, *function.parameters[i], call.parts[i], out);
    call.parts[i] = inside.scope->term;
  }
  return block(*function.body, inside, out, next, facts_.keep(std::move(call)));
}

// Values.

/// A variable that holds a value.
Atom Driving::made(const Term* term, BlockBuilder& out) {
  auto parts = [&] {
    std::vector<Atom> atoms;
    for (const Term* part : term->parts)
      atoms.push_back(made(part, out));
    return atoms;
  };
  switch (term->kind) {
  case TermKind::Atom:
    return term->atom;
  case TermKind::Build: {
    std::vector<Atom> fields = parts();
    return term->atom ? term->atom : out.call(term->constructor, fields);
  }
  case TermKind::Tuple:
    return out.tuple(parts());
  case TermKind::Call:
    return madeCall(*term, out);
  case TermKind::Closure:
    return madeClosure(*term, out);
  case TermKind::Suspended:
    return run(*term, out, [&](const Term* value, BlockBuilder& end) { return made(value, end); });
  }
  throw GaveUp();
}

Atom Driving::madeClosure(const Term& closure, BlockBuilder& out) {
  const Function& literal = closure.literal();
  std::vector<const Var*> parameters;
  CodePlace inside = closure.place;
  for (const Var* old : literal.parameters) {
    const Type* type = typeAt(facts_.typing.of(*old), closure.place);
    parameters.push_back(make_.var(VarOrigin::Parameter, old->name, type));
    inside.scope = &scopes_.emplace_back(Scope{inside.scope, old, atom(parameters.back(), type)});
  }
  BlockBuilder body(make_);
  Atom result = block(
      *literal.body, inside, body,
      [&](const Term* value, BlockBuilder& end) { return made(value, end); }, nullptr);
  return out.bind(make_.function(parameters, body.finish(result),
                                 typeAt(facts_.typing.result(literal), closure.place)));
}

} // namespace transform
