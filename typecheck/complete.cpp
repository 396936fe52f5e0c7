// A rewriter that knows the types of the old module; what has no mark is copied as it is.
#include "typecheck/complete.h"

#include "lang/ir/open_marks.h"
#include "lang/ir/open_number.h"
#include "lang/ir/rewrite.h"
#include "runtime/short_names.h"
#include "typecheck/fixed_calls.h"
#include "typecheck/masked_reads.h"
#include "typecheck/size_code.h"
#include "typecheck/type_parameters.h"

#include <algorithm>

namespace typecheck {

using namespace lang;
using runtime::DType;

namespace {

class Completer : public Rewriter {
public:
  Completer(const Module& from, Builder& into, Checking& checking, const FixedCalls& fixed,
            Diagnostics& diagnostics)
      : Rewriter(from, into), checking_(checking), fixed_(fixed), diagnostics_(diagnostics) {
    for (const Global* global : from.globals)
      definitions_.insert(global->function);
  }

private:
  Fate enter(const Binding& binding) override {
    const auto* call = binding.value->as<Call>();
    const auto* change = call ? call->callee.value->as<Constructor>() : nullptr;
    isChange_ = change && !change->definition;
    if (fixed_.isUnused(*binding.var))
      return Fate::Drop;
    return isNeedlessLet(binding) ? Fate::Splice : Fate::Copy;
  }

  /// Whether a value is a let that was there for a type to be declared which need not be.
  bool isNeedlessLet(const Binding& binding) {
    const auto* block = binding.value->as<BlockExpr>();
    if (!block || std::ranges::count_if(block->block->bindings, &Binding::isLet) != 1)
      return false;
    const Binding& let = block->block->bindings.back();
    const auto* call = let.value->as<Call>();
    const Type* type = checking_.typing.of(*let.var);
    return call && type && isSizedMark(*call) && (fixed_.isFixed(*call) || !saysMore(*call, *type));
  }

  /// An instance of a use in a definition that was left open after it has no types.
  bool keeps(const Global& global) override {
    bool isLost =
        checking_.open.isOwn(*global.function) && !checking_.typing.result(*global.function);
    return !isLost && !checking_.open.isOpen(global) && !checking_.records->isDefault(global);
  }

  Atom atom(const Expr& old) override {
    // Only calls that are replaced mention what is left out.
    if (const auto* var = old.as<Var>(); var && fixed_.isUnused(*var))
      return make.scalar(runtime::Int32, 0);
    const auto* constant = old.as<Constant>();
    return constant && constant->open != OpenNumber::None ? number(*constant) : Rewriter::atom(old);
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    if (const Global* instance = checking_.open.usedBy(&old))
      return Rewriter::bind(old, atom(*instance), out);
    if (const Function* called = checking_.functions.ofOperators->usedBy(&old))
      return Rewriter::bind(old, ofOperator(*called), out);
    if (old.value->as<Function>())
      around_.pop_back();
    // What a block gave that was opened needs no other name.
    if (old.value->as<BlockExpr>() && value->as<Var>() && !old.isLet())
      return value;
    if (const auto* before = old.value->as<Project>(); before && !before->field.empty())
      value = field(*before, *value->as<Project>());
    else if (const auto* call = old.value->as<Call>())
      return bindCall(old, *call, *value->as<Call>(), out);
    return Rewriter::bind(old, value, out);
  }

  Atom bindCall(const Binding& old, const Call& call, const Call& copied, BlockBuilder& out) {
    if (const auto* callee = call.callee.value->as<Constructor>(); callee && !callee->definition)
      return Rewriter::bind(old, changed(call, copied), out);
    if (const auto* callee = call.callee.value->as<Constant>(); callee && callee->size)
      return bindSize(old, call, *callee, out);
    if (const RecordCalls::Meant* meant = checking_.records->meantBy(call))
      return Rewriter::bind(old, ofRecord(*meant, copied, out), out);
    const auto* op = call.callee.value->as<OperatorRef>();
    if (op && (isComputedMark(call) || !attributeMarksOf(call).empty()))
      return bindComputed(old, call, copied, out);
    if (isNumberMark(call))
      return Rewriter::bind(old, withElement(copied, checking_.typing.of(*old.var)->dtype), out);
    if (isCountMark(call))
      return Rewriter::bind(old, unmarked(copied), out);
    if (isBracketsMark(call))
      return Rewriter::bind(old, read(call, copied, out), out);
    if (isQuotientMark(call))
      return Rewriter::bind(old, quotient(copied, *checking_.typing.of(*old.var)), out);
    return Rewriter::bind(old, &copied, out);
  }

  /// The call that one of a record stands for.
  const Call* ofRecord(const RecordCalls::Meant& meant, const Call& copied, BlockBuilder& out) {
    for (const Block* value : meant.defaults)
      if (value)
        for (const Binding& binding : block(*value)->bindings)
          out.append(binding);
    std::vector<Operand> operands;
    for (const Operand& argument : meant.call->arguments)
      operands.push_back({operandAtom(argument), argument.range});
    Call* made = make.arena.make<Call>(copied);
    made->callee.value = operandAtom(meant.call->callee);
    made->arguments = make.arena.copy(operands);
    made->named = {};
    return made;
  }

  // Sizes.

  /// The parameters that are in scope, outermost first, are those that sizes are read off.
  std::span<const Var* const> parametersOf(const Function& old) override {
    if (definitions_.contains(&old))
      around_.clear();
    around_.push_back(&old);
    return old.parameters;
  }

  Atom bindSize(const Binding& old, const Call& call, const Constant& named, BlockBuilder& out) {
    Atom number = size(call, named, out);
    return old.isLet() ? Rewriter::bind(old, number, out) : number;
  }

  Atom size(const Call& call, const Constant& named, BlockBuilder& out) {
    const Dim* dim = checking_.unifier.dims().resolve(checking_.sizes->of(call));
    DType dtype = checking_.unifier.resolve(named.type)->dtype;
    std::vector<const SizePlaces*> places;
    for (const Function* function : around_)
      places.push_back(
          &places_.try_emplace(function, *function, checking_.typing, make.types).first->second);
    SizeCode code(make, out, std::move(places), [this](const Expr& old) { return atom(old); });
    Atom number = code.write(dim, dtype);
    if (!number)
      diagnostics_.report(Message::UnknownSize, call.range, dimText(named.size))
          .note("a size is read off a parameter whose type names it by itself, as `x: f32[n]`");
    return number ? number : make.scalar(dtype, 0);
  }

  /// A call whose shape is computed: one by numbers where that gives the same, else its type is
  /// declared, as nobody behind the checker finds it out.
  Atom bindComputed(const Binding& old, const Call& call, const Call& copied, BlockBuilder& out) {
    const Type* type = checking_.typing.of(*old.var);
    const Call* plain = unmarked(copied);
    if (isNumberMark(call))
      plain = withElement(*plain, type->dtype);
    const Call* fixed = fixed_.replacing(call, *plain, make);
    if (fixed && isNumberMark(call))
      fixed = withElement(*fixed, type->dtype);
    bool isKnown = !fixed && !saysMore(call, *type);
    if (isSizedMark(call) && (fixed || isKnown))
      return out.bind(fixed ? fixed : plain);
    if (fixed)
      return Rewriter::bind(old, fixed, out);
    return Rewriter::bind(
        old, !isKnown && needsReshape(*type) ? reshaped(plain, *type, out) : plain, out);
  }

  /// Whether a declaration would not do: as in Relay it gives way to `?` where it has no names.
  static bool needsReshape(const Type& type) {
    return type.isTensor() && !type.hasSymbol &&
           std::ranges::any_of(type.shape, [](const Dim* dim) { return dim->isConstant(); });
  }

  /// A tensor in the shape that it has; a fault where it has another one.
  const Expr* reshaped(const Call* value, const Type& type, BlockBuilder& out) {
    std::vector<int64_t> numbers;
    for (const Dim* dim : type.shape)
      numbers.push_back(dim->isConstant() ? dim->value : 0);
    return make.call(make.operators.withRole(Role::Reshape), {out.bind(value)},
                     {{"newshape", numbers}});
  }

  const Call* unmarked(const Call& copied) {
    Call* plain = make.arena.make<Call>(copied);
    plain->named = {};
    return plain;
  }

  const Expr* read(const Call& call, const Call& copied, BlockBuilder& out) {
    const Type* positions = fixed_.typeOf(*call.arguments[1].value);
    if (!positions || !isMask(positions))
      return unmarked(copied);
    return maskedRead(make, out, copied.arguments[0].value, copied.arguments[1].value,
                      positions->shape.size(), copied.attributes->integer("axis"));
  }

  /// The quotient of integers goes with their remainder.
  const Call* quotient(const Call& copied, const Type& type) {
    if (!type.isTensor() || type.dtype.isFloat())
      return unmarked(copied);
    return make.call(make.operators.withRole(Role::FloorDivide),
                     {copied.arguments[0].value, copied.arguments[1].value});
  }

  const Call* withElement(const Call& copied, DType dtype) {
    Call* made = make.arena.make<Call>(copied);
    made->named = {};
    made->attributes = lang::withElement(make.arena, *copied.attributes, dtype);
    return made;
  }

  void openBlock(const Block&, BlockBuilder& out) override { blocks_.push_back(&out); }
  void closeBlock(const Block&) override { blocks_.pop_back(); }

  Atom operandAtom(const Operand& old) override {
    if (const Function* called = checking_.functions.ofOperators->usedBy(&old)) {
      const Function* function = ofOperator(*called);
      return isChange_ ? blocks_.back()->let("given", function) : blocks_.back()->bind(function);
    }
    const Global* instance = checking_.open.usedBy(&old);
    return instance ? atom(*instance) : atom(*old.value);
  }

  /// The function that stands for an operator.
  const Function* ofOperator(const Function& called) {
    const Function* copy = function(called);
    around_.pop_back();
    return copy;
  }

  /// A parameter that was an open number is declared, as code may not tell any more what it is; and
  /// so is what was computed in a shape of sizes, and what a match without arms is to give.
  const Type* declared(const Var& old) override {
    bool isFound = checking_.open.numberParameter(old) || isOfOwn(old) ||
                   (!old.annotation && (isComputed(old) || isNeverGiven(old)));
    const Type* type = isFound ? asDeclared(checking_.typing.of(old)) : old.annotation;
    return isFound && mentionsFound(*type) ? old.annotation : type;
  }

  /// In the instance of one use, sizes have the names of the use, and types may have its type
  /// parameters. Nobody behind the checker finds out what its parameters are.
  bool isOfOwn(const Var& old) const {
    const Function& definition = *around_.front();
    if (!checking_.open.isOwn(definition))
      return false;
    bool isNamed = old.annotation && old.annotation->hasSymbol;
    return isNamed || std::ranges::count(definition.parameters, &old) > 0;
  }

  const Type* declaredResult(const Function& old) override {
    bool isNamed = old.resultAnnotation && old.resultAnnotation->hasSymbol;
    bool isOwn = checking_.open.isOwn(*around_.front()) && (isNamed || around_.size() == 1);
    return isOwn ? asDeclared(checking_.typing.result(old)) : old.resultAnnotation;
  }

  /// The instance of one use has type parameters of its own for those of the use.
  std::span<const TypeParameter* const> declaredGenerics(const Function& old) override {
    if (!checking_.open.isOwn(old))
      return old.generics;
    ofUse_ = {};
    std::vector<const TypeParameter*> generics(old.generics.begin(), old.generics.end());
    auto add = [&](const Type* type) {
      for (const TypeParameter* parameter : freeParameters(type)) {
        if (std::ranges::count(old.generics, parameter) > 0 ||
            std::ranges::count(ofUse_.parameters, parameter) > 0)
          continue;
        generics.push_back(make.types.parameter(parameter->name, &old));
        ofUse_.parameters.push_back(parameter);
        ofUse_.types.push_back(make.types.variable(generics.back()));
      }
    };
    for (const Var* parameter : old.parameters)
      add(checking_.typing.of(*parameter));
    add(checking_.typing.result(old));
    return make.arena.copy(generics);
  }

  /// A type that was found in the definition that is being copied, as its copy declares it.
  const Type* asDeclared(const Type* type) {
    bool isOwn = type && checking_.open.isOwn(*around_.front());
    return isOwn ? checking_.unifier.substitute(type, ofUse_.parameters, ofUse_.types) : type;
  }

  /// Whether a type has a type parameter that the definition does not declare.
  bool mentionsFound(const Type& type) const {
    const Function& definition = *around_.front();
    auto found = checking_.typing.generics(definition).subspan(definition.generics.size());
    std::vector<const Type*> open{&type};
    while (!found.empty() && !open.empty()) {
      const Type* part = open.back();
      open.pop_back();
      if (part->kind == TypeKind::Variable && std::ranges::count(found, part->parameter) > 0)
        return true;
      open.insert(open.end(), part->parts.begin(), part->parts.end());
      if (part->result)
        open.push_back(part->result);
    }
    return false;
  }

  bool isNeverGiven(const Var& old) const {
    const Expr* value = checking_.vars.values[old.number];
    const auto* match = value && old.origin == VarOrigin::Let ? value->as<Match>() : nullptr;
    return match && match->arms.empty();
  }

  bool isComputed(const Var& old) const {
    const Expr* value = checking_.vars.values[old.number];
    const auto* call = value && old.origin == VarOrigin::Let ? value->as<Call>() : nullptr;
    const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
    return op && isComputedMark(*call) && saysMore(*call, *checking_.typing.of(old));
  }

  /// Whether the type of a call has sizes that nobody behind the checker finds out.
  bool saysMore(const Call& call, const Type& type) const {
    std::vector<const Type*> operands;
    for (const Operand& argument : call.arguments)
      operands.push_back(fixed_.typeOf(*argument.value));
    const OperatorRow& row = *call.callee.value->as<OperatorRef>()->row;
    RelationResult result = applyRelation(row, {make.types, operands, *call.attributes});
    auto isAny = [](const Dim* dim) { return dim->isAny(); };
    bool isOpen = type.isTensor() && std::ranges::all_of(type.shape, isAny);
    return !isOpen && (result.outcome != RelationResult::Outcome::Solved || result.output != &type);
  }

  /// The constructor of the copy of what a record is made by.
  const Constructor& constructorOf(const Operand& record) {
    const Type& type = *checking_.typing.of(*record.value);
    return static_cast<const Constructor&>(*atom(*type.definition->constructors[0]));
  }

  static size_t placeOf(const Constructor& constructor, std::string_view field) {
    return size_t(std::ranges::find(constructor.fieldNames, field) -
                  constructor.fieldNames.begin());
  }

  /// `match record { Constructor(_, x, _) => x }`.
  const Expr* field(const Project& before, const Project& copied) {
    const Constructor& constructor = constructorOf(before.tuple);
    std::vector<const Pattern*> parts(constructor.fieldNames.size(), make.anyPattern());
    const Var* var = make.var(VarOrigin::Pattern, "x");
    parts[placeOf(constructor, before.field)] = make.varPattern(var);
    const Pattern* whole = make.constructorPattern(constructor, parts);
    return make.match(copied.tuple.value, {make.arm(whole, make.block(var))});
  }

  /// `match record { Constructor(x, _) => Constructor(x, value) }`.
  const Expr* changed(const Call& before, const Call& copied) {
    const Constructor& constructor = constructorOf(before.arguments[0]);
    const auto& names = before.callee.value->as<Constructor>()->fieldNames;
    std::vector<const Pattern*> parts;
    std::vector<Atom> fields(constructor.fieldNames.size());
    for (size_t i = 0; i < names.size(); ++i)
      fields[placeOf(constructor, names[i])] = copied.arguments[i + 1].value;
    for (Atom& each : fields) {
      const Var* var = each ? nullptr : make.var(VarOrigin::Pattern, "x");
      parts.push_back(var ? make.varPattern(var) : make.anyPattern());
      each = each ? each : var;
    }
    BlockBuilder body(make);
    const Var* made = body.bind(make.call(&constructor, fields));
    return make.match(copied.arguments[0].value,
                      {make.arm(make.constructorPattern(constructor, parts), body.finish(made))});
  }

  // Numbers.

  Atom number(const Constant& old) {
    // What is called for a size is replaced with the call.
    if (old.size)
      return make.scalar(runtime::Int32, 0);
    DType dtype = checking_.unifier.resolve(old.type)->dtype;
    make.range = old.range;
    if (!old.tensor)
      return make.bits(dtype, bitsOf(old, dtype, old.bits));
    runtime::Tensor made(dtype, old.tensor->shape());
    const auto* bits = reinterpret_cast<const uint64_t*>(old.tensor->bytes());
    for (int64_t i = 0; i < made.size(); ++i) {
      uint64_t element = bitsOf(old, dtype, bits[i]);
      std::memcpy(made.bytes() + size_t(i) * dtype.bytes(), &element, dtype.bytes());
    }
    return make.tensor(std::move(made));
  }

  uint64_t bitsOf(const Constant& old, DType dtype, uint64_t bits) {
    OpenElement element{old.open, bits};
    auto found = bitsIn(element, dtype);
    if (!found)
      diagnostics_
          .report(Message::NumberOutOfRange, old.range, element.text(),
                  runtime::shortDTypeName(dtype))
          .note("a number takes the element type that its use asks for");
    return found.value_or(0);
  }

  Checking& checking_;
  const FixedCalls& fixed_;
  Diagnostics& diagnostics_;
  std::unordered_set<const Function*> definitions_;
  /// The functions around what is being copied, from the definition inwards.
  std::vector<const Function*> around_;
  std::unordered_map<const Function*, SizePlaces> places_;
  /// Whether fields of a record are changed, in an arm, where values without a place would go.
  bool isChange_ = false;
  /// Of the instance of one use: the type parameters of the use, and what they are in its copy.
  struct OfUse {
    std::vector<const TypeParameter*> parameters = {};
    std::vector<const Type*> types = {};
  };
  OfUse ofUse_;
  /// The blocks around what is being copied.
  std::vector<BlockBuilder*> blocks_;
};

} // namespace

std::unique_ptr<Module> complete(Module& module, Checking& checking, Diagnostics& diagnostics) {
  checking.open.orderInstances();
  auto copy = std::make_unique<Module>(module.types);
  Builder make(*copy, checking.operators);
  Builder scratch(module, checking.operators);
  FixedCalls fixed(scratch, checking);
  Completer(module, make, checking, fixed, diagnostics).module();
  return copy;
}

} // namespace typecheck
