// Generic functions as values: which type they have at a use, and what stands there for them. A
// global becomes one of its copies; a local function, which has none, a literal that calls it.
#include "lang/ir/fields.h"
#include "lang/op/op.h"
#include "transform/passes/specialise_copies.h"

#include <algorithm>

namespace transform {

using namespace lang;

namespace {

/// Whether a type is known and that of a function without type parameters of its own.
bool isMonomorphic(const Type* type) {
  return type && type->kind == TypeKind::Function && type->generics.empty();
}

} // namespace

const Expr* Copies::instanceOf(const Expr& atom, const Type* wanted, const Code& code) {
  const auto* global = atom.as<Global>();
  if (!global || !global->function || !hasTypeParameters(*global->function, typing_) ||
      !isMonomorphic(wanted))
    return &atom;
  Request request{.global = global, .instance = Instance(into_.types)};
  request.arguments.assign(wanted->parts.begin(), wanted->parts.end());
  // Some derivatives take tangents behind the arguments.
  request.arguments.resize(global->function->parameters.size());
  request.result = wanted->result;
  request.known.resize(request.arguments.size());
  std::optional<Instance> instance = typeInstance(request);
  if (!instance)
    return &atom;
  request.instance = *instance;
  Copy* copy = specialiseTypes(request) ? find(request, code) : nullptr;
  return copy ? copy->made : &atom;
}

/// What the callee of a call takes there.
std::vector<const Type*> Copies::takenTypes(const Binding& binding, const Call& call,
                                            const Code& code) {
  const Expr& callee = *call.callee.value;
  const Type* type = code.instance(typing_.of(*binding.var));
  Instance instance(into_.types);
  std::vector<const Type*> taken;
  if (const auto* op = callee.as<OperatorRef>()) {
    // A derivative takes what the function takes.
    if (op->row->derivative != Derivative::None && type && type->kind == TypeKind::Function)
      taken.push_back(into_.types.function(type->parts, into_.types.unknown(0)));
  } else if (const auto* constructor = callee.as<Constructor>()) {
    if (type && type->kind == TypeKind::Data)
      taken = fieldTypes(into_.types, *constructor, *type);
  } else if (const auto* global = callee.as<Global>(); global && global->function) {
    const Function& function = *global->function;
    instance.open(typing_.generics(function), true);
    for (size_t i = 0; i < function.parameters.size() && i < call.arguments.size(); ++i) {
      taken.push_back(typing_.of(*function.parameters[i]));
      instance.match(taken.back(), typeOf(*call.arguments[i].value, code));
    }
    instance.match(typing_.result(function), type);
  } else if (const Type* known = code.instance(typing_.of(callee)); isMonomorphic(known)) {
    taken.assign(known->parts.begin(), known->parts.end());
  }
  for (const Type*& each : taken)
    each = instance(each);
  taken.resize(call.arguments.size());
  return taken;
}

/// For each operand what type it has at this use, where that is easy to tell.
std::vector<const Type*> Copies::wantedTypes(const Binding& binding, const Code& code) {
  const Type* type = code.instance(typing_.of(*binding.var));
  const Expr& value = *binding.value;
  std::vector<const Type*> wanted;
  if (value.kind == ExprKind::Tuple && type) {
    wanted.assign(type->parts.begin(), type->parts.end());
  } else if (value.kind == ExprKind::RefNew && type && type->kind == TypeKind::Reference) {
    wanted.push_back(type->parts[0]);
  } else if (const auto* write = value.as<RefWrite>()) {
    const Type* reference = code.instance(typing_.of(*write->reference.value));
    bool isKnown = reference && reference->kind == TypeKind::Reference;
    wanted = {nullptr, isKnown ? reference->parts[0] : nullptr};
  } else if (const auto* call = value.as<Call>()) {
    wanted = takenTypes(binding, *call, code);
    wanted.insert(wanted.begin(), nullptr);
  }
  return wanted;
}

/// A local function with type parameters as one of a type: a literal that calls it. Null for what
/// is no such function.
const Function* Copies::literalOf(const Expr& atom, const Type* wanted, const Code& code) {
  const auto* callee = locals_ == LocalFunctions::OneType ? atom.as<Var>() : nullptr;
  const Type* type = callee && !isOfCopy(*callee) ? code.instance(typing_.of(*callee)) : nullptr;
  if (!type || type->kind != TypeKind::Function || std::ranges::none_of(type->generics, isOfType) ||
      !isMonomorphic(wanted) || !facts_.isShown(wanted))
    return nullptr;
  TypeNames names;
  names.add(wanted);
  if (!names.parameters.empty())
    return nullptr;
  Call* call = arena_.make<Call>(Expr{ExprKind::Call, atom.range});
  Function* literal = arena_.make<Function>(Expr{ExprKind::Function, atom.range});
  std::vector<const Var*> parameters;
  std::vector<Operand> arguments;
  for (const Type* part : wanted->parts) {
    parameters.push_back(var(callee, part));
    arguments.push_back({parameters.back(), atom.range});
  }
  call->callee = {&atom, atom.range};
  call->arguments = arena_.copy(arguments);
  literal->parameters = arena_.copy(parameters);
  Binding result{var(callee, wanted->result), call, atom.range};
  literal->body =
      arena_.make<Block>(arena_.copy(std::vector{result}), Operand{result.var, atom.range});
  return literal;
}

/// What stands for an operand of a wanted type; a literal is bound before.
const Expr* Copies::instanceAt(const Expr& atom, const Type* wanted, const Code& code,
                               std::vector<Binding>& before) {
  const Function* literal = literalOf(atom, wanted, code);
  if (!literal)
    return instanceOf(atom, wanted, code);
  before.push_back({var(atom.as<Var>(), nullptr), literal, atom.range});
  return before.back().var;
}

const Expr* Copies::withInstances(const Binding& binding, const Code& code,
                                  std::vector<Binding>& before) {
  const Expr& value = *binding.value;
  if (value.isAtom()) {
    const Type* wanted = code.instance(typing_.of(*binding.var));
    const Function* literal = literalOf(value, wanted, code);
    return literal ? literal : instanceOf(value, wanted, code);
  }
  std::vector<const Type*> wanted = wantedTypes(binding, code);
  std::vector<Operand> operands;
  bool isChanged = false;
  forEachOperand(value, [&](const Operand& operand) {
    operands.push_back(operand);
    if (operands.size() > wanted.size())
      return;
    operands.back().value = instanceAt(*operand.value, wanted[operands.size() - 1], code, before);
    isChanged |= operands.back().value != operand.value;
  });
  return isChanged ? over(value, operands) : &value;
}

/// A value of a kind that `wantedTypes` knows with other operands.
const Expr* Copies::over(const Expr& value, std::span<const Operand> operands) {
  return match(
      value, [&](const Expr&) -> const Expr* { return &value; },
      [&](const Call& call) -> const Expr* {
        Call* made = arena_.make<Call>(call);
        made->arguments = arena_.copy(operands.subspan(1));
        return made;
      },
      [&](const TupleExpr& tuple) -> const Expr* {
        TupleExpr* made = arena_.make<TupleExpr>(tuple);
        made->fields = arena_.copy(operands);
        return made;
      },
      [&](const RefNew& reference) -> const Expr* {
        RefNew* made = arena_.make<RefNew>(reference);
        made->content = operands[0];
        return made;
      },
      [&](const RefWrite& write) -> const Expr* {
        RefWrite* made = arena_.make<RefWrite>(write);
        made->value = operands[1];
        return made;
      });
}

} // namespace transform
