// Core IR by hand, for tests that must not depend on the reader: a module with a handful of
// operators, and blocks that are written binding by binding.
#pragma once

#include "lang/ir/module.h"
#include "lang/ir/typing.h"
#include "lang/op/op.h"

#include <initializer_list>

namespace testing_ir {

using namespace lang;

inline OperatorRow operatorRow(std::string_view name,
                               std::span<const AttributeRow> attributes = {}) {
  OperatorRow row{};
  row.name = name;
  row.attributes = attributes;
  return row;
}

inline constexpr AttributeRow softmaxRows[] = {{"axis", AttributeKind::Int, "-1", ""}};
inline constexpr AttributeRow convRows[] = {
    {"strides", AttributeKind::IntList, "[1, 1]", ""},
    {"channels", AttributeKind::Int, "None", "", true},
    {"epsilon", AttributeKind::Float, "1e-05", ""},
    {"ceil_mode", AttributeKind::Bool, "False", ""},
    {"layout", AttributeKind::String, "\"NCHW\"", ""},
    {"sections", AttributeKind::IntOrIntList, "", ""},
};
inline constexpr AttributeRow scanRows[] = {{"axis", AttributeKind::Int, "None", "", true}};

inline std::span<const OperatorRow> testRows() {
  static const std::vector<OperatorRow> rows = [] {
    std::vector<OperatorRow> made;
    for (std::string_view name : {"add", "subtract", "multiply", "less", "equal", "negative"})
      made.push_back(operatorRow(name));
    made.push_back(operatorRow("nn.softmax", softmaxRows));
    made.push_back(operatorRow("conv", convRows));
    made.push_back(operatorRow("cumsum", scanRows));
    made.back().unregisteredAttributes = true;
    made.back().attributesKey = "relay.attrs.ScanopAttrs";
    return made;
  }();
  return rows;
}

inline const OperatorTable& testOperators() {
  static const OperatorFamily family = testRows();
  static const OperatorTable table(std::span(&family, 1));
  return table;
}

using Atom = const Expr*;

/// The bindings of one block in the making.
struct Bindings {
  std::vector<Binding> list;
};

/// Makes nodes of one module.
struct IrBuilder {
  TypeContext types;
  Module module{types};
  /// What a test says of types, as if the module were checked.
  Typing typing;
  Arena& arena = module.arena;

  const Var* var(std::string_view name, VarOrigin origin, const Type* annotation = nullptr) {
    Var* made = arena.make<Var>(Expr{ExprKind::Var, {}}, name, origin, module.varCount++);
    made->annotation = annotation;
    return made;
  }
  const Var* parameter(std::string_view name, const Type* annotation = nullptr) {
    return var(name, VarOrigin::Parameter, annotation);
  }
  const Constant* constant(runtime::DType dtype, uint64_t bits) {
    return arena.make<Constant>(Expr{ExprKind::Constant, {}}, types.scalar(dtype), bits);
  }
  const Constant* integer(int32_t value) { return constant(runtime::Int32, uint32_t(value)); }
  const Constant* tensor(runtime::DType dtype, runtime::Shape shape) {
    const runtime::Tensor* value = &module.tensors.emplace_back(dtype, shape);
    return arena.make<Constant>(Expr{ExprKind::Constant, {}}, types.tensorOf(shape, dtype),
                                uint64_t(0), value);
  }
  Atom op(std::string_view name) {
    return arena.make<OperatorRef>(Expr{ExprKind::Operator, {}}, testOperators().find(name));
  }
  Operand operand(Atom atom) { return {atom, {}}; }
  std::span<const Operand> operands(std::initializer_list<Atom> atoms) {
    std::vector<Operand> list;
    for (Atom atom : atoms)
      list.push_back({atom, {}});
    return arena.copy(list);
  }

  Expr* call(Atom callee, std::initializer_list<Atom> arguments) {
    return arena.make<Call>(Expr{ExprKind::Call, {}}, operand(callee), operands(arguments));
  }
  Expr* call(std::string_view name, std::initializer_list<Atom> arguments) {
    return call(op(name), arguments);
  }
  /// A call with attribute values, which the caller keeps in the arena.
  Expr* call(std::string_view name, std::initializer_list<Atom> arguments,
             std::initializer_list<AttributeValue> values) {
    const OperatorRow* row = testOperators().find(name);
    auto* attributes = arena.make<Attributes>(row->attributes, arena.copy(values));
    return arena.make<Call>(Expr{ExprKind::Call, {}}, operand(op(name)), operands(arguments),
                            attributes);
  }
  Expr* tuple(std::initializer_list<Atom> fields) {
    return arena.make<TupleExpr>(Expr{ExprKind::Tuple, {}}, operands(fields));
  }
  Expr* project(Atom value, uint32_t index) {
    return arena.make<Project>(Expr{ExprKind::Project, {}}, operand(value), index);
  }
  Expr* branch(Atom condition, const Block* then, const Block* otherwise) {
    return arena.make<If>(Expr{ExprKind::If, {}}, operand(condition), then, otherwise);
  }
  Expr* match(Atom scrutinee, std::initializer_list<Arm> arms) {
    return arena.make<Match>(Expr{ExprKind::Match, {}}, operand(scrutinee), false,
                             arena.copy(arms));
  }
  Expr* blockExpr(const Block* block) {
    return arena.make<BlockExpr>(Expr{ExprKind::Block, {}}, block);
  }
  Function* function(std::initializer_list<const Var*> parameters, const Block* body,
                     std::initializer_list<NamedAttribute> attributes = {}) {
    return arena.make<Function>(Expr{ExprKind::Function, {}}, module.functionCount++,
                                std::span<const TypeParameter* const>{}, arena.copy(parameters),
                                nullptr, body, arena.copy(attributes));
  }

  /// Binds a value to a temporary of a block.
  Atom temporary(Bindings& block, const Expr* value, const Type* type = nullptr) {
    const Var* made = var({}, VarOrigin::Temporary);
    if (type)
      typing.setType(*made, type);
    block.list.push_back({made, value});
    return made;
  }
  Atom let(Bindings& block, std::string_view name, const Expr* value,
           const Type* annotation = nullptr) {
    const Var* made = var(name, VarOrigin::Let, annotation);
    block.list.push_back({made, value});
    return made;
  }
  const Block* block(const Bindings& bindings, Atom result) {
    return arena.make<Block>(arena.copy(bindings.list), operand(result));
  }
  const Block* block(Atom result) { return block({}, result); }

  const Global* define(std::string_view name, const Function* function) {
    auto* global = arena.make<Global>(Expr{ExprKind::Global, {}}, name,
                                      uint32_t(module.globals.size()), function);
    module.globals.push_back(global);
    return global;
  }
  /// Makes the module an expression text with this body.
  void setExpression(const Bindings& bindings, Atom result,
                     std::initializer_list<const Var*> free = {}) {
    module.form = ModuleForm::Expression;
    define("main", function(free, block(bindings, result)));
  }
};

} // namespace testing_ir
