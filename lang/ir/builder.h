// Making core IR: nodes of one module, and blocks written binding by binding.
//
// A `Builder` makes atoms and values; a `BlockBuilder` binds values and answers with the variable,
// which is what later values mention. Every node and every use gets the builder's current range, so
// what a pass adds points at the place it was made for. Wrong use (an unknown operator, an
// attribute that is no attribute of the row) is a fault of Baton and throws std::logic_error.
//
//   Builder make(module, operators);
//   const Var* x = make.var(VarOrigin::Parameter, "x", type);
//   BlockBuilder body(make);
//   Atom pair = body.tuple({x, body.call(row, {x, x}, {{"axis", 0}})});
//   const Function* f = make.function({x}, body.finish(body.project(pair, 1)));
#pragma once

#include "lang/ir/module.h"
#include "lang/op/attributes.h"
#include "lang/op/declared.h"

#include <concepts>
#include <initializer_list>

namespace lang {

/// What may be an operand: a variable, constant, global, operator or constructor.
using Atom = const Expr*;

/// Elements in order, from a braced list, a vector or a span; a parameter type only.
template <typename T>
struct ListOf : std::span<const T> {
  ListOf() = default;
  ListOf(std::initializer_list<T> list) : std::span<const T>(list.begin(), list.size()) {}
  ListOf(std::span<const T> list) : std::span<const T>(list) {}
  ListOf(const std::vector<T>& list) : std::span<const T>(list) {}
};

using Atoms = ListOf<Atom>;

/// One attribute of a call by name, from a C++ value or from an attribute of another call.
struct Setting {
  std::string_view name;
  AttributeValue value;
  /// The items of a list of integers, which `value` then is.
  std::vector<AttributeValue> items = {};
  /// The text that `value` is, where it was given by value.
  std::optional<std::string> text = {};

  Setting(std::string_view attribute, const AttributeValue& given)
      : name(attribute), value(given) {}
  Setting(std::string_view attribute, bool given) : Setting(attribute, boolAttribute(given)) {}
  Setting(std::string_view attribute, double given) : Setting(attribute, floatAttribute(given)) {}
  Setting(std::string_view attribute, std::string_view given)
      : Setting(attribute, stringAttribute(given)) {}
  Setting(std::string_view attribute, const char* given)
      : Setting(attribute, std::string_view(given)) {}
  template <std::integral Integer>
  Setting(std::string_view attribute, Integer given)
      : Setting(attribute, intAttribute(int64_t(given), std::in_range<int32_t>(given) ? 32 : 64)) {}
  template <std::integral Integer>
  Setting(std::string_view attribute, const std::vector<Integer>& given)
      : Setting(attribute, listAttribute({})) {
    for (Integer item : given)
      items.push_back(Setting("", item).value);
  }
  Setting(std::string_view attribute, const std::string& given)
      : name(attribute), value(stringAttribute({})), text(given) {}
  Setting(std::string_view attribute, runtime::DType given)
      : Setting(attribute, runtime::dtypeName(given)) {}

  /// The value, with what it refers to in `arena`.
  AttributeValue kept(Arena& arena) const;
};

using Settings = ListOf<Setting>;

/// The bits of a number in an element type, rounded once.
uint64_t scalarBits(runtime::DType dtype, double value);

/// Makes nodes of one module. Values that it makes are unbound: see BlockBuilder.
class Builder {
public:
  Builder(Module& of, const OperatorTable& table)
      : module(of), operators(table), types(of.types), arena(of.arena) {}

  Module& module;
  const OperatorTable& operators;
  TypeContext& types;
  Arena& arena;
  /// The place that is given to every node and use made from here on.
  SourceRange range;

  // Atoms.

  /// A new variable. One binder binds it: a parameter list, a binding, or a pattern.
  Var* var(VarOrigin origin, std::string_view name = {}, const Type* annotation = nullptr);
  /// A scalar from its little-endian bits.
  const Constant* bits(runtime::DType dtype, uint64_t value);
  /// A scalar of an integer, floating or truth type, rounded once.
  const Constant* scalar(runtime::DType dtype, double value);
  /// A scalar of an integer type.
  const Constant* integer(runtime::DType dtype, int64_t value);
  /// A tensor, which the module keeps.
  const Constant* tensor(runtime::Tensor value);
  Atom op(const OperatorRow& row);
  Atom op(std::string_view name) { return op(row(name)); }
  /// A global of the module. `define` gives it its function, so that functions can call each other.
  Global* declare(std::string_view name);
  const Global* define(Global* global, const Function* function);
  const Global* define(std::string_view name, const Function* function) {
    return define(declare(name), function);
  }
  /// The operator of that name, which must exist.
  const OperatorRow& row(std::string_view name) const;

  // Values of bindings.

  const TupleExpr* tuple(Atoms fields);
  const Project* project(Atom tuple, uint32_t index);
  /// A call of anything but an operator.
  const Call* call(Atom callee, Atoms arguments);
  /// A call of an operator: the attributes named, and defaults for the others. What is given is
  /// copied, so it need not outlive the call.
  const Call* call(const OperatorRow& row, Atoms arguments, Settings settings = {});
  const Call* call(std::string_view op, Atoms arguments, Settings settings = {}) {
    return call(row(op), arguments, settings);
  }
  const If* branch(Atom condition, const Block* thenBlock, const Block* elseBlock);
  const Match* match(Atom scrutinee, ListOf<Arm> arms, bool isPartial = false);
  const RefNew* refNew(Atom content);
  const RefRead* refRead(Atom reference);
  const RefWrite* refWrite(Atom reference, Atom value);
  const BlockExpr* blockExpr(const Block* block);
  Function* function(ListOf<const Var*> parameters, const Block* body,
                     const Type* resultAnnotation = nullptr,
                     ListOf<const TypeParameter*> generics = {},
                     ListOf<NamedAttribute> attributes = {});

  // Blocks, patterns, operands, attributes.

  const Block* block(ListOf<Binding> bindings, Atom result);
  const Block* block(Atom result) { return block({}, result); }
  Arm arm(const Pattern* pattern, const Block* body) { return {pattern, body, range}; }
  const Pattern* anyPattern();
  const Pattern* varPattern(const Var* var);
  const Pattern* constructorPattern(const Constructor& constructor, ListOf<const Pattern*> parts);
  const Pattern* tuplePattern(ListOf<const Pattern*> parts);
  Operand operand(Atom atom) const { return {atom, range}; }
  std::span<const Operand> operands(Atoms atoms);
  /// A list of integers as an attribute.
  AttributeValue integers(ListOf<int64_t> values);

  /// Lets the module have as many unknowns as a declared type, which may be one that checking found
  /// and has open parts.
  void coverUnknowns(const Type* declared);

private:
  template <typename Node, typename... Args>
  Node* node(Args&&... args) {
    return arena.make<Node>(Expr{Node::kindOf, range}, std::forward<Args>(args)...);
  }
  const Pattern* pattern(Pattern pattern) { return arena.make<Pattern>(pattern); }
  const Attributes* attributes(const OperatorRow& row, Settings settings);
};

/// One block in the making: `bind` and the calls below append a temporary, `let` a named variable.
class BlockBuilder {
public:
  explicit BlockBuilder(Builder& builder) : make(builder) {}

  Builder& make;

  /// Binds a value to a temporary: evaluated when first needed in this block, or never.
  const Var* bind(const Expr* value);
  /// Binds a value to a name: evaluated here, in order. Without a name it is `value; ...`.
  const Var* let(std::string_view name, const Expr* value, const Type* annotation = nullptr);
  /// Binds a variable that was made before, as a local function that calls itself needs.
  void bind(const Var* var, const Expr* value) { append({var, value, make.range}); }
  void append(const Binding& binding) { bindings_.push_back(binding); }

  const Var* call(Atom callee, Atoms arguments) { return bind(make.call(callee, arguments)); }
  const Var* call(const OperatorRow& row, Atoms arguments, Settings settings = {}) {
    return bind(make.call(row, arguments, settings));
  }
  const Var* call(std::string_view op, Atoms arguments, Settings settings = {}) {
    return bind(make.call(op, arguments, settings));
  }
  const Var* tuple(Atoms fields) { return bind(make.tuple(fields)); }
  const Var* project(Atom tuple, uint32_t index) { return bind(make.project(tuple, index)); }

  /// The block so far with a result.
  const Block* finish(Atom result) { return make.block(bindings_, result); }
  const std::vector<Binding>& bindings() const { return bindings_; }

private:
  std::vector<Binding> bindings_;
};

} // namespace lang
