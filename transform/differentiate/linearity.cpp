// Degrees of values, functions and cells, until nothing changes.
#include "transform/differentiate/linearity.h"

#include "lang/ir/differentiable.h"
#include "lang/ir/walk.h"
#include "lang/op/leaves.h"
#include "lang/op/op.h"
#include "transform/differentiate/degrees.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

struct Activation;

/// A function, and the activation of the function that it was made in.
using Closure = std::pair<const Function*, Activation*>;

/// What is known of a value: of each field of a tuple, and of anything else as a whole.
struct Form {
  Degree degree = Degree::Zero;
  std::vector<Form> fields = {};
  /// What functions it may be or hold, and what cells.
  std::set<Closure> functions = {};
  std::set<const Var*> cells = {};
  bool isUnknown = false;

  bool operator==(const Form&) const = default;
  bool operator<(const Form& other) const {
    auto rest = [](const Form& form) {
      return std::tie(form.degree, form.functions, form.cells, form.isUnknown);
    };
    return fields == other.fields
               ? rest(*this) < rest(other)
               : std::ranges::lexicographical_compare(fields, other.fields, std::less<Form>());
  }
};

void join(Form& into, const Form& more) {
  into.degree = joined(into.degree, more.degree);
  into.fields.resize(std::max(into.fields.size(), more.fields.size()));
  for (size_t i = 0; i < more.fields.size(); ++i)
    join(into.fields[i], more.fields[i]);
  into.functions.insert(more.functions.begin(), more.functions.end());
  into.cells.insert(more.cells.begin(), more.cells.end());
  into.isUnknown |= more.isUnknown;
}

/// A function with arguments of some form.
struct Activation {
  const Function* function;
  Activation* outer;
  std::vector<Form> arguments;
  std::unordered_map<const Var*, Form> values = {};
  Form result = {};
};

/// More ways to call functions than programs have that are not made to have many.
constexpr size_t mostActivations = 2000;

class Linearity {
public:
  Linearity(Builder& make, const Typing& typing, Diagnostics& findings)
      : make_(make), typing_(typing), findings_(findings) {
    walk(
        make.module, [&](const Binding& binding) { definitions_[binding.var] = &binding; },
        [](const Operand&) {});
  }

  void check(const Function& function, const std::vector<size_t>& linear) {
    std::vector<Form> arguments;
    for (const Var* parameter : function.parameters)
      arguments.push_back(uniform(typing_.of(*parameter), {Degree::Constant}));
    for (size_t i : linear)
      arguments[i] = uniform(typing_.of(*function.parameters[i]), {Degree::Linear});
    Activation& root = activation({&function, nullptr}, arguments);
    for (isChanged_ = true; isChanged_ && isGood();) {
      isChanged_ = false;
      for (size_t i = 0; i < activations_.size() && isGood(); ++i)
        run(activations_[i]);
    }
    if (isGood() && !isLinear(root.result, typing_.result(function)))
      report(function.range, "what it gives holds floats that are no linear function of them");
  }

private:
  bool isGood() const { return !findings_.hasErrors(); }

  void report(SourceRange range, const std::string& what) {
    if (isGood())
      findings_.report(Message::NotLinear, range, what);
  }

  static bool isLinear(const Form& form, const Type* type) {
    for (size_t i = 0; type->isTuple() && i < form.fields.size(); ++i)
      if (!isLinear(form.fields[i], type->parts[i]))
        return false;
    return type->isTuple() || !holdsFloats(type) || form.degree == Degree::Zero ||
           form.degree == Degree::Linear;
  }

  /// A value of a type all of whose floats are as `leaf`.
  Form uniform(const Type* type, const Form& leaf) {
    Form form = leaf;
    if (type->isTuple()) {
      form = {};
      for (const Type* part : type->parts)
        form.fields.push_back(uniform(part, leaf));
    } else if (!holdsFloats(type) && !holdsFunctions(type)) {
      form.degree = Degree::Constant;
    }
    return form;
  }

  /// All of a value as one.
  Form whole(const Form& form, const Type* type) {
    if (!type->isTuple())
      return holdsFloats(type) || holdsFunctions(type) ? form : Form{};
    Form sum;
    for (size_t i = 0; i < form.fields.size(); ++i)
      join(sum, whole(form.fields[i], type->parts[i]));
    return sum;
  }

  Activation& activation(Closure closure, const std::vector<Form>& arguments) {
    auto [known, isNew] = known_.try_emplace({closure, arguments}, nullptr);
    if (isNew) {
      if (activations_.size() > mostActivations)
        report(closure.first->range, "it is called in too many ways to tell");
      activations_.push_back({closure.first, closure.second, arguments});
      known->second = &activations_.back();
      for (size_t i = 0; i < arguments.size(); ++i)
        known->second->values[closure.first->parameters[i]] = arguments[i];
      isChanged_ = true;
    }
    return *known->second;
  }

  void run(Activation& activation) {
    current_ = &activation;
    update(activation.result, block(*activation.function->body));
  }

  void update(Form& form, const Form& more) {
    Form old = form;
    join(form, more);
    isChanged_ |= form != old;
  }

  Form block(const Block& block) {
    for (const Binding& binding : block.bindings) {
      Form form = value(binding);
      update(current_->values[binding.var], form);
      if (!isGood())
        return {};
    }
    return of(*block.result.value);
  }

  Form of(const Expr& atom) {
    if (const auto* global = atom.as<Global>())
      return global->function ? Form{.functions = {{global->function, nullptr}}}
                              : Form{.isUnknown = true};
    if (const auto* constant = atom.as<Constant>())
      return {isZero(*constant) ? Degree::Zero : Degree::Constant};
    const auto* var = atom.as<Var>();
    if (!var)
      return {.isUnknown = true};
    for (Activation* each = current_; each; each = each->outer)
      if (auto found = each->values.find(var); found != each->values.end())
        return found->second;
    return outside(*var);
  }

  static bool isZero(const Constant& constant) {
    runtime::Tensor tensor = constantTensor(constant);
    return std::ranges::all_of(std::span(tensor.bytes(), tensor.byteSize()),
                               [](std::byte byte) { return byte == std::byte(0); });
  }

  /// What the function that is asked about captures.
  Form outside(const Var& var) {
    auto definition = definitions_.find(&var);
    if (definition == definitions_.end() || !holdsFunctions(typing_.of(var)))
      return uniform(typing_.of(var),
                     {.degree = Degree::Constant, .isUnknown = holdsFunctions(typing_.of(var))});
    Form form = value(*definition->second);
    update(current_->values[&var], form);
    return form;
  }

  Form value(const Binding& binding) {
    const Expr& value = *binding.value;
    Form form;
    match(
        value, [&](const Expr& atom) { form = of(atom); },
        [&](const TupleExpr& tuple) {
          for (const Operand& field : tuple.fields)
            form.fields.push_back(of(*field.value));
        },
        [&](const Project& project) {
          Form tuple = of(*project.tuple.value);
          if (project.index < tuple.fields.size())
            form = tuple.fields[project.index];
        },
        [&](const Call& each) { form = call(binding, each); },
        [&](const If& branch) {
          form = block(*branch.thenBlock);
          join(form, block(*branch.elseBlock));
        },
        [&](const Match& choice) { form = matched(choice); },
        [&](const Function& function) {
          form.functions = {{&function, current_}};
        },
        [&](const RefNew& made) {
          form.cells = {binding.var};
          update(cells_[binding.var], of(*made.content.value));
        },
        [&](const RefRead& read) { form = content(*read.reference.value, nullptr); },
        [&](const RefWrite& write) {
          content(*write.reference.value, write.value.value);
          form = uniform(typing_.of(*binding.var), {});
        },
        [&](const BlockExpr& inner) { form = block(*inner.block); });
    return form;
  }

  /// What is in the cells that an atom may be, once `written` may be too.
  Form content(const Expr& reference, const Expr* written) {
    Form cell = of(reference), sum;
    if (cell.isUnknown)
      report(reference.range, "it touches a reference that is not known here");
    for (const Var* each : cell.cells) {
      if (written)
        update(cells_[each], of(*written));
      join(sum, cells_[each]);
    }
    return sum;
  }

  Form matched(const Match& choice) {
    const Type* type = typing_.of(*choice.scrutinee.value);
    Form scrutinee = of(*choice.scrutinee.value), sum;
    for (const Arm& arm : choice.arms) {
      bindPattern(*arm.pattern, type, scrutinee);
      join(sum, block(*arm.body));
    }
    return sum;
  }

  void bindPattern(const Pattern& pattern, const Type* type, const Form& form) {
    if (pattern.kind == PatternKind::Tuple) {
      for (size_t i = 0; i < pattern.parts.size() && i < form.fields.size(); ++i)
        bindPattern(*pattern.parts[i], type->parts[i], form.fields[i]);
    } else if (pattern.kind == PatternKind::Constructor) {
      forEachPatternVar(pattern, [&](const Var& var) {
        update(current_->values[&var], uniform(typing_.of(var), form));
      });
    } else if (pattern.var) {
      update(current_->values[pattern.var], form);
    }
  }

  Form call(const Binding& binding, const Call& call) {
    const Expr& callee = *call.callee.value;
    if (const auto* op = callee.as<OperatorRef>())
      return operatorCall(binding, call, *op->row);
    if (callee.kind == ExprKind::Constructor) {
      Form sum;
      for (const Operand& argument : call.arguments)
        join(sum, whole(of(*argument.value), typing_.of(*argument.value)));
      return sum;
    }
    Form function = of(callee), result;
    if (function.isUnknown)
      report(binding.value->range, "it calls a function that is not known here");
    std::vector<Form> arguments;
    for (const Operand& argument : call.arguments)
      arguments.push_back(of(*argument.value));
    for (const Closure& each : function.functions)
      if (each.first->parameters.size() == arguments.size())
        join(result, activation(each, arguments).result);
    return result;
  }

  Form operatorCall(const Binding& binding, const Call& call, const OperatorRow& row) {
    const Type* type = typing_.of(*binding.var);
    if (row.action == Action::Pass || row.action == Action::Show)
      return of(*call.arguments[0].value);
    std::vector<const Type*> operandTypes;
    std::vector<Atom> operands;
    std::vector<Degree> degrees;
    for (const Operand& argument : call.arguments) {
      operands.push_back(argument.value);
      operandTypes.push_back(typing_.of(*argument.value));
      Form form = of(*argument.value);
      for (size_t i = 0; operandTypes.back()->isTuple() && i < form.fields.size(); ++i)
        degrees.push_back(form.fields[i].degree);
      if (!operandTypes.back()->isTuple())
        degrees.push_back(form.degree);
    }
    bool isOfTensors = row.action == Action::Compute || row.action == Action::Allocate;
    if (!isOfTensors ||
        std::ranges::all_of(degrees, [](Degree each) { return each == Degree::Constant; }))
      return uniform(type, {Degree::Constant});
    std::vector<Degree> found =
        degreesOf(make_, row, {operandTypes, type, *call.attributes, operands, degrees});
    for (Degree each : found)
      if (each == Degree::Other || each == Degree::Affine)
        report(binding.value->range, each == Degree::Other
                                         ? fmt::format("`{}` is not", row.name)
                                         : fmt::format("`{}` with a constant is not", row.name));
    if (!type->isTuple())
      return {found.empty() ? Degree::Constant : found[0]};
    Form form;
    for (Degree each : found)
      form.fields.push_back({each});
    return form;
  }

  Builder& make_;
  const Typing& typing_;
  Diagnostics& findings_;
  std::unordered_map<const Var*, const Binding*> definitions_;
  std::deque<Activation> activations_;
  std::map<std::pair<Closure, std::vector<Form>>, Activation*> known_;
  std::unordered_map<const Var*, Form> cells_;
  Activation* current_ = nullptr;
  bool isChanged_ = false;
};

} // namespace

void checkLinear(Builder& make, const Typing& typing, Diagnostics& findings, const Expr& function,
                 const std::vector<size_t>& parameters) {
  const auto* global = function.as<Global>();
  const auto* literal = global ? global->function : function.as<Function>();
  Linearity(make, typing, findings).check(*literal, parameters);
}

} // namespace transform
