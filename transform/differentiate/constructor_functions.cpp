// A constructor with fields that is a value becomes a function that calls it.
//
//   let %some = Some;                  =>   @map(fn (%x) { Some(%x) }, %xs)
//   @map(%some, %xs)
//
// A constructor is of many types and a literal of one, so each use gets its own, also where a name
// stands for the constructor. Where a use keeps the constructor as it is, such as `@id(Some)`, only
// a literal with type parameters will do.
#include "transform/differentiate/constructor_functions.h"

#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "transform/analysis/old_code.h"

#include <unordered_set>

namespace transform {

using namespace lang;

namespace {

class ConstructorExpander : public Rewriter {
public:
  ConstructorExpander(const Module& from, Builder& into, const Typing& typing, ConstructorForm form)
      : Rewriter(from, into), typing_(typing), form_(form), old_(from), oldVars_(from.varCount) {}

private:
  static bool isFunction(const Expr& atom) {
    const auto* constructor = atom.as<Constructor>();
    return constructor && !constructor->fields.empty();
  }

  bool isGeneric(const Expr& atom) const {
    const auto* global = atom.as<Global>();
    return global && global->function && !typing_.generics(*global->function).empty();
  }

  /// What a block gives is bound first if it is a constructor.
  std::span<const Binding> bindingsOf(const Block& block) override {
    const Expr& result = *block.result.value;
    if (!isFunction(result) && !names_.contains(&result))
      return block.bindings;
    std::vector<Binding> bindings(block.bindings.begin(), block.bindings.end());
    const Var* var = old_.variable({}, VarOrigin::Temporary, block.result.range);
    bindings.push_back({var, &result, block.result.range});
    results_[&block] = var;
    return old_.arena.copy(bindings);
  }

  Atom resultOf(const Block& block) override {
    auto found = results_.find(&block);
    return found == results_.end() ? Rewriter::resultOf(block) : atom(*found->second);
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    bool isResult = old.var->number >= oldVars_;
    if (isFunction(*value) && !isResult && !old.var->annotation) {
      names_.insert(old.var);
      return value;
    }
    if (isGeneric(*old.value) && !old.var->annotation)
      return value;
    return Rewriter::bind(old, expanded(value, out), out);
  }

  /// The value with literals in place of constructors.
  const Expr* expanded(const Expr* value, BlockBuilder& out) {
    if (isFunction(*value))
      return literal(*value->as<Constructor>());
    bool isUsed = false;
    forEachOperand(*value, [&](const Operand& operand) { isUsed |= isFunction(*operand.value); });
    if (!isUsed)
      return value;
    auto over = [&](const Operand& operand) { return atomFor(*operand.value, out); };
    auto all = [&](std::span<const Operand> operands) {
      std::vector<Atom> atoms;
      for (const Operand& operand : operands)
        atoms.push_back(over(operand));
      return make.operands(atoms);
    };
    return match(
        *value, [&](const Expr&) { return value; },
        [&](const TupleExpr& tuple) -> const Expr* {
          auto* copy = make.arena.make<TupleExpr>(tuple);
          copy->fields = all(tuple.fields);
          return copy;
        },
        [&](const Call& call) -> const Expr* {
          auto* copy = make.arena.make<Call>(call);
          copy->arguments = all(call.arguments);
          return copy;
        },
        [&](const RefNew& ref) -> const Expr* { return make.refNew(over(ref.content)); },
        [&](const RefWrite& ref) -> const Expr* {
          return make.refWrite(over(ref.reference), over(ref.value));
        });
  }

  Atom atomFor(const Expr& atom, BlockBuilder& out) {
    return isFunction(atom) ? out.bind(literal(*atom.as<Constructor>())) : &atom;
  }

  const Function* literal(const Constructor& constructor) {
    Declared declared;
    if (form_ == ConstructorForm::Generic)
      declared = declaredBy(constructor);
    std::vector<const Var*> parameters;
    for (size_t i = 0; i < constructor.fields.size(); ++i)
      parameters.push_back(make.var(VarOrigin::Parameter, "x",
                                    declared.generics.empty() ? nullptr : declared.fields[i]));
    BlockBuilder body(make);
    std::vector<Atom> arguments(parameters.begin(), parameters.end());
    return make.function(parameters, body.finish(body.call(&constructor, arguments)),
                         declared.result, declared.generics);
  }

  /// What a literal for a constructor says of its types. The result may have type parameters that
  /// no field tells.
  struct Declared {
    std::vector<const TypeParameter*> generics = {};
    std::vector<const Type*> fields = {};
    const Type* result = nullptr;
  };

  Declared declaredBy(const Constructor& constructor) {
    Declared declared;
    std::unordered_map<const TypeParameter*, const TypeParameter*> own;
    std::vector<const Type*> arguments;
    for (const TypeParameter* old : constructor.definition->generics) {
      declared.generics.push_back(own[old] = make.arena.make<TypeParameter>(old->name, old->kind));
      arguments.push_back(make.types.variable(own[old]));
    }
    TypeMap types(make.types, {.parameter = [&](auto* old) { return own.at(old); },
                               .definition = [](auto* old) { return old; },
                               .origin = [](const void* old) { return old; }});
    for (const Type* field : constructor.fields)
      declared.fields.push_back(types(field));
    if (!arguments.empty())
      declared.result = make.types.data(constructor.definition, arguments);
    return declared;
  }

  const Typing& typing_;
  ConstructorForm form_;
  OldCode old_;
  uint32_t oldVars_;
  /// Variables of the old code that are names for constructors, and those that stand for results.
  std::unordered_set<const Expr*> names_;
  std::unordered_map<const Block*, const Var*> results_;
};

} // namespace

std::unique_ptr<Module> withConstructorFunctions(const Module& module, const Typing& typing,
                                                 const OperatorTable& operators,
                                                 ConstructorForm form) {
  return rewritten<ConstructorExpander>(module, operators, typing, form);
}

} // namespace transform
