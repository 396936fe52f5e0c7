// What the type rules say of one binding at a time, asked without inference: the types are there,
// and the rule must hold of them. Types agree when they are equal but for `?`, which stands for any
// size, for forms of names that nobody can compare, for polymorphic functions, whose uses are
// instances, and for what nobody ever determined inside of a type, as in `Nil`.
#include "lang/ir/verify.h"
#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "lang/source/findings.h"

#include <set>

namespace lang {

namespace {

bool isPolymorphic(const Type* type) {
  return type->kind == TypeKind::Function && !type->generics.empty();
}

/// Recursion follows types, whose nesting the checker bounds; shared parts are compared once.
class Agreement {
public:
  bool operator()(const Type* left, const Type* right) {
    if (left == right || !seen_.insert({left, right}).second)
      return true;
    if (!left || !right)
      return false;
    if (isPolymorphic(left) || isPolymorphic(right) || left->isUnknown() || right->isUnknown())
      return true;
    if (left->kind != right->kind || left->dtype != right->dtype ||
        left->shape.size() != right->shape.size() || left->parts.size() != right->parts.size() ||
        left->definition != right->definition || left->parameter != right->parameter ||
        left->op != right->op)
      return false;
    for (size_t i = 0; i < left->shape.size(); ++i)
      if (matchDims(left->shape[i], right->shape[i]) == DimMatch::Different)
        return false;
    for (size_t i = 0; i < left->parts.size(); ++i)
      if (!(*this)(left->parts[i], right->parts[i]))
        return false;
    return (*this)(left->result, right->result);
  }

private:
  std::set<std::pair<const Type*, const Type*>> seen_;
};

bool agree(const Type* left, const Type* right) {
  return Agreement()(left, right);
}

bool isSettled(const Type* type) {
  return type && !type->isUnknown() && !type->isError();
}

class TypeVerifier {
public:
  TypeVerifier(const Module& module, const Typing& typing) : module_(module), typing_(typing) {}

  std::vector<std::string> run() {
    for (const Global* global : module_.globals) {
      if (!global->function)
        continue;
      found_.where = global->name;
      checkFunction(*global->function);
      walk(
          *global->function->body, [&](const Binding& binding) { check(binding); },
          [](const Operand&) {});
    }
    return std::move(found_.sentences);
  }

private:
  /// The type of an operand; null where each use has one of its own.
  const Type* of(const Operand& operand) const { return typing_.of(*operand.value); }

  void expect(const Type* wanted, const Type* given, std::string_view what) {
    if (wanted && given && !agree(wanted, given))
      found_.add("{} must be `{}` and is `{}`", what, typeText(wanted), typeText(given));
  }

  void checkVar(const Var& var) {
    if (!isSettled(typing_.of(var)))
      found_.add("variable number {} has no type", var.number);
  }

  void checkFunction(const Function& function) {
    for (const Var* parameter : function.parameters)
      checkVar(*parameter);
    if (!isSettled(typing_.result(function)))
      return found_.add("function number {} has no type", function.number);
    expect(typing_.result(function), of(function.body->result), "the result of a function");
  }

  void check(const Binding& binding) {
    checkVar(*binding.var);
    const Type* type = typing_.of(*binding.var);
    if (!isSettled(type))
      return;
    match(
        *binding.value, [&](const Expr& atom) { expect(type, typing_.of(atom), "an atom"); },
        [&](const TupleExpr& tuple) { checkTuple(tuple, type); },
        [&](const Project& project) {
          const Type* tuple = of(project.tuple);
          if (tuple && tuple->isTuple() && project.index < tuple->parts.size())
            expect(tuple->parts[project.index], type, "a field");
          else
            found_.add("a field of what is no such tuple");
        },
        [&](const Call& call) { checkCall(call, type); },
        [&](const If& branch) {
          expect(module_.types.scalar(runtime::Bool), of(branch.condition), "a condition");
          expect(type, of(branch.thenBlock->result), "a branch");
          expect(type, of(branch.elseBlock->result), "a branch");
        },
        [&](const Match& match) {
          for (const Arm& arm : match.arms) {
            forEachPatternVar(*arm.pattern, [&](const Var& var) { checkVar(var); });
            expect(type, of(arm.body->result), "an arm");
          }
        },
        [&](const Function& function) {
          checkFunction(function);
          expect(type, functionType(module_.types, function, typing_), "a function");
        },
        [&](const RefNew& ref) {
          if (const Type* content = of(ref.content))
            expect(type, module_.types.reference(content), "a reference");
        },
        [&](const RefRead& read) { checkContent(of(read.reference), type); },
        [&](const RefWrite& write) {
          checkContent(of(write.reference), of(write.value));
          expect(module_.types.tuple({}), type, "what a write gives");
        },
        [&](const BlockExpr& block) { expect(type, of(block.block->result), "a block"); });
  }

  void checkContent(const Type* reference, const Type* content) {
    if (reference && reference->kind == TypeKind::Reference)
      expect(reference->parts[0], content, "the content of a reference");
    else
      found_.add("the reference is none");
  }

  void checkTuple(const TupleExpr& tuple, const Type* type) {
    if (!type->isTuple() || type->parts.size() != tuple.fields.size())
      return found_.add("a tuple is `{}`", typeText(type));
    for (size_t i = 0; i < tuple.fields.size(); ++i)
      expect(type->parts[i], of(tuple.fields[i]), "a field");
  }

  /// A global, and a constructor, has another instance at each use, so only local functions are
  /// looked at.
  void checkCall(const Call& call, const Type* type) {
    if (const auto* op = call.callee.value->as<OperatorRef>())
      return call.attributes ? checkRelation(call, *op->row, type) : void();
    const Type* callee = of(call.callee);
    if (!callee || callee->kind != TypeKind::Function || isPolymorphic(callee))
      return;
    if (callee->parts.size() != call.arguments.size())
      return found_.add("a call has {} arguments for `{}`", call.arguments.size(),
                        typeText(callee));
    for (size_t i = 0; i < call.arguments.size(); ++i)
      expect(callee->parts[i], of(call.arguments[i]), "an argument");
    expect(callee->result, type, "the value of a call");
  }

  void checkRelation(const Call& call, const OperatorRow& row, const Type* type) {
    std::vector<const Type*> operands;
    std::vector<runtime::Tensor> constants;
    std::vector<const runtime::Tensor*> values(call.arguments.size());
    constants.reserve(values.size());
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      operands.push_back(of(call.arguments[i]));
      // A global or an operator as an operand has a type of its own at each use.
      if (!operands.back() && call.arguments[i].value->kind != ExprKind::Var)
        return;
      // So has a polymorphic function whose derivative is taken.
      if (row.derivative != Derivative::None && operands.back() &&
          !operands.back()->generics.empty())
        return;
      if (!isSettled(operands.back()))
        return found_.add("operand {} of `{}` has no type", i, row.name);
      const auto* constant = call.arguments[i].value->as<Constant>();
      if (constant && row.shapeNeeds == ShapeNeeds::Constants)
        values[i] = &constants.emplace_back(constantTensor(*constant));
    }
    RelationResult result = applyRelation(row, {module_.types, operands, *call.attributes, values});
    if (result.outcome != RelationResult::Outcome::Solved)
      return found_.add("`{}` is ill-typed: {}", row.name, result.problem.plain());
    expect(result.output, type, fmt::format("the result of `{}`", row.name));
    for (const auto& [operand, wanted] : result.operands)
      expect(wanted, operands[operand], fmt::format("operand {} of `{}`", operand, row.name));
  }

  const Module& module_;
  const Typing& typing_;
  Findings found_;
};

} // namespace

std::vector<std::string> verifyTypes(const Module& module, const Typing& typing) {
  return TypeVerifier(module, typing).run();
}

} // namespace lang
