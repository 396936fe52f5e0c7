// The machine: what bindings mean, and one loop over the stack.
//
// A cursor stands behind the binding that it waits for. A call or branch whose value is the value
// of its block replaces the block's cursor instead of standing above it, so tail calls take no
// space. A function whose declared result is still to be checked stays, unless what it calls is
// checked for the same.
#include "interp/interpret.h"

#include "interp/budget.h"
#include "interp/comparisons.h"
#include "interp/stack.h"
#include "lang/calls/non_finite.h"
#include "lang/ir/shown.h"
#include "lang/op/op.h"

#include <fmt/format.h>
#include <stdexcept>

namespace interp {

using lang::Binding;
using lang::Block;
using lang::Operand;
using runtime::FaultKind;

namespace {

class Machine {
public:
  Machine(const lang::Module& module, const lang::Typing& typing,
          const lang::OperatorTable& operators, const Options& options)
      : options_(options), observer_(options.observer ? *options.observer : noObserver_),
        stack_(module, observer_.keepsValues), compared_(module, typing),
        sites_(typing, operators, options.engine, options.rounding), budget_(options) {}

  std::variant<Value, Fault> run(const lang::Function& entry, std::vector<Value> arguments) {
    try {
      const checks::KnownSizes sizes = compared_.sizesOf(entry, arguments);
      enter(entry, {}, std::move(arguments), nullptr);
      while (!stack_.isEmpty() && fault_.problem.empty())
        step();
      if (fault_.problem.empty())
        passes(compared_.whole(entry, result_, sizes));
    } catch (const std::bad_alloc&) {
      failForMemory(entry.range);
    }
    if (fault_.problem.empty())
      return std::move(result_);
    if (observer_.failed)
      observer_.failed(stack_.state(), fault_);
    return fault_;
  }

private:
  // Faults.

  void fail(FaultKind kind, std::string problem, lang::SourceRange range) {
    fail(Fault{{kind, std::move(problem)}, range});
  }

  void fail(Fault fault) {
    fault_ = std::move(fault);
    tell(stack_.openCalls());
    if (fault_.kind == FaultKind::Memory)
      fault_.notes.push_back(runtime::heldText());
  }

  void tell(const Stack::OpenCalls& open) {
    fault_.calls = open.places();
    fault_.openCalls = open.count();
  }

  /// False after a fault.
  bool passes(std::optional<Fault> fault) {
    if (fault)
      fail(std::move(*fault));
    return !fault;
  }

  bool passes(std::optional<runtime::Fault> fault, lang::SourceRange range) {
    if (fault)
      fail(Fault{std::move(*fault), range});
    return !fault;
  }

  /// Memory ran out for the machine itself: what it holds is released first, since a fault needs
  /// some too.
  void failForMemory(lang::SourceRange place) {
    if (!stack_.isEmpty() && stack_.cursor().next > 0)
      place = stack_.waiting().value->range;
    Stack::OpenCalls open = stack_.openCalls();
    runtime::Holdings held = runtime::held();
    stack_.clear();
    fault_ = Fault{{FaultKind::Memory, "out of memory"}, place};
    tell(open);
    fault_.notes.push_back(runtime::heldText(held));
  }

  /// A call that the checker could not check, on a value of a type parameter, may give a value of
  /// another type than was declared. So what a value must be is looked at once more; false after a
  /// fault.
  bool demand(bool fits, std::string_view what, lang::SourceRange range) {
    if (!fits)
      fail(FaultKind::Type,
           fmt::format("this is no {}, though its type says so: an unchecked call made it", what),
           range);
    return fits;
  }

  // Values.

  Value& slot(const lang::Var& var) { return stack_.slot(var); }

  Value read(const Operand& operand) { return readAtom(*operand.value); }

  Value readAtom(const lang::Expr& atom) {
    switch (atom.kind) {
    case lang::ExprKind::Var:
      return slot(static_cast<const lang::Var&>(atom));
    case lang::ExprKind::Constant:
      return readConstant(static_cast<const lang::Constant&>(atom));
    case lang::ExprKind::Global:
      return closureValue(*static_cast<const lang::Global&>(atom).function, {});
    case lang::ExprKind::Operator:
      return operatorValue(*static_cast<const lang::OperatorRef&>(atom).row);
    default:
      return makerValue(static_cast<const lang::Constructor&>(atom));
    }
  }

  Value readConstant(const lang::Constant& constant) {
    Value& known = constants_[&constant];
    if (!known.isSet())
      known = runtime::tensorValue(lang::constantTensor(constant));
    return known;
  }

  std::vector<Value> readAll(std::span<const Operand> operands) {
    std::vector<Value> values;
    values.reserve(operands.size());
    for (const Operand& operand : operands)
      values.push_back(read(operand));
    return values;
  }

  bool checkVar(const lang::Var& var, lang::SourceRange place) {
    return passes(compared_.variable(stack_.activation(), var, slot(var), place));
  }

  // Control.

  void step() {
    Cursor& cursor = stack_.cursor();
    if (cursor.next > 0) {
      const Binding& done = stack_.waiting();
      if (!checkVar(*done.var, done.place.isValid() ? done.place : done.value->range))
        return;
      if (observer_.bound)
        observer_.bound(stack_.state(), done, slot(*done.var));
    }
    if (cursor.next == cursor.block->bindings.size()) {
      leave(read(cursor.block->result));
      return;
    }
    if (cursor.next > 0)
      stack_.emptyDead();
    const Binding& binding = cursor.block->bindings[cursor.next++];
    if (observer_.before && !observer_.before(stack_.state(), binding))
      return fail(FaultKind::Interrupted, fmt::format("ended after {} calls", budget_.calls()),
                  binding.value->range);
    evaluate(binding);
  }

  /// The innermost block is done: its value goes to the binding that waits for it.
  void leave(Value value) {
    if (stack_.cursor().endsCall) {
      Activation& activation = stack_.activation();
      if (!passes(compared_.result(activation, value, stack_.cursor().block->result.range)))
        return;
      if (observer_.left)
        observer_.left(stack_.state(), value);
      std::optional<Value> into = std::move(activation.destinations);
      lang::SourceRange call = activation.call;
      stack_.closeCall();
      if (into && !deliver(value, *into, call))
        return;
    }
    stack_.closeBlock();
    if (stack_.isEmpty())
      result_ = std::move(value);
    else
      slot(*stack_.waiting().var) = std::move(value);
  }

  /// Writes the value of a call into the tensors of a tuple; then the value is `()`.
  bool deliver(Value& value, const Value& destinations, lang::SourceRange call) {
    if (!passes(runtime::writeResults(value, destinations), call))
      return false;
    value = runtime::tupleValue({});
    return true;
  }

  /// Whether the binding that the innermost block waits for may give its value to the block around.
  bool isTail() const {
    return stack_.waitsForResult() && !compared_.isCompared(*stack_.waiting().var);
  }

  /// Starts a block of the current activation.
  void enterBlock(const Block& block) {
    bool endsCall = false;
    if (isTail()) {
      endsCall = stack_.cursor().endsCall;
      stack_.closeBlock();
    }
    stack_.open(block, endsCall);
  }

  /// `call` is null for the first call.
  void enter(const lang::Function& function, const Value& closure, std::vector<Value> arguments,
             const lang::Call* call) {
    lang::SourceRange range = call ? call->range : function.range;
    if (!passes(budget_.countStep(), range) || !passes(budget_.countCall(), range))
      return;
    const checks::FunctionCheck* check = compared_.of(function);
    if (check && !passes(compared_.arguments(*check, closure, arguments, call)))
      return;
    bool endsOthers = false;
    while (!stack_.isEmpty() && stack_.cursor().endsCall && isTail() &&
           compared_.isResultImplied(stack_.activation(), check) &&
           !stack_.activation().destinations) {
      stack_.closeBlock();
      stack_.closeCall();
      endsOthers = true;
    }
    Activation activation{&function, std::move(arguments), call ? call->range : lang::SourceRange(),
                          budget_.steps()};
    if (check && check->keepsSizes)
      activation.sizes = std::make_unique<checks::KnownSizes>(compared_.given());
    stack_.enter(std::move(activation), closure);
    if (observer_.entered)
      observer_.entered(stack_.state(), endsOthers);
  }

  // Expressions.

  void evaluate(const Binding& binding) {
    lang::match(
        *binding.value, [&](const lang::Expr& atom) { slot(*binding.var) = readAtom(atom); },
        [&](const lang::TupleExpr& tuple) {
          slot(*binding.var) = runtime::tupleValue(readAll(tuple.fields));
        },
        [&](const lang::Project& project) { evaluateProject(binding, project); },
        [&](const lang::Call& call) { evaluateCall(binding, call); },
        [&](const lang::If& branch) { evaluateIf(branch); },
        [&](const lang::Match& match) { evaluateMatch(match); },
        [&](const lang::Function& function) {
          slot(*binding.var) = makeClosure(function, *binding.var);
        },
        [&](const lang::RefNew& ref) {
          slot(*binding.var) = runtime::referenceValue(read(ref.content));
        },
        [&](const lang::RefRead& ref) {
          Value cell = read(ref.reference);
          if (demand(cell.kind() == ValueKind::Reference, "reference", ref.range))
            slot(*binding.var) = Value(cell.content());
        },
        [&](const lang::RefWrite& ref) {
          Value cell = read(ref.reference);
          if (demand(cell.kind() == ValueKind::Reference, "reference", ref.range))
            cell.setContent(read(ref.value));
          slot(*binding.var) = runtime::tupleValue({});
        },
        [&](const lang::BlockExpr& block) { enterBlock(*block.block); });
  }

  void evaluateProject(const Binding& binding, const lang::Project& project) {
    Value tuple = read(project.tuple);
    bool fits = tuple.kind() == ValueKind::Tuple && project.index < tuple.fields().size();
    if (demand(fits, "tuple with this field", project.range))
      slot(*binding.var) = tuple.fields()[project.index];
  }

  void evaluateIf(const lang::If& branch) {
    Value condition = read(branch.condition);
    bool fits = condition.kind() == ValueKind::Tensor && condition.tensor().rank() == 0;
    if (!demand(fits, "scalar", branch.condition.range))
      return;
    bool holds = condition.tensor().bytes()[0] != std::byte(0);
    enterBlock(holds ? *branch.thenBlock : *branch.elseBlock);
  }

  /// A closure over the variables that the function uses. Sizes that it takes from here come last.
  Value makeClosure(const lang::Function& function, const lang::Var& self) {
    std::vector<Value> captured = stack_.captured(function, self);
    if (const checks::FunctionCheck* check = compared_.of(function); check && !check->outer.empty())
      captured.push_back(compared_.outerSizes(*check, stack_.activation()));
    return closureValue(function, std::move(captured));
  }

  void evaluateCall(const Binding& binding, const lang::Call& call) {
    std::vector<Value> arguments = readAll(call.arguments);
    if (const auto* op = call.callee.value->as<lang::OperatorRef>()) {
      stack_.emptyDead();
      applyOperator(binding, call, *op->row, std::move(arguments));
      return;
    }
    if (const auto* constructor = call.callee.value->as<lang::Constructor>()) {
      construct(binding, call, *constructor, std::move(arguments));
      return;
    }
    Value callee = read(call.callee);
    stack_.emptyDead();
    callValue(binding, call, callee, std::move(arguments));
  }

  void callValue(const Binding& binding, const lang::Call& call, const Value& callee,
                 std::vector<Value> arguments) {
    switch (callee.kind()) {
    case ValueKind::Operator:
      applyOperator(binding, call, lang::operatorOf(callee), std::move(arguments));
      break;
    case ValueKind::Maker:
      if (passes(budget_.countStep(), call.range))
        construct(binding, call, lang::constructorOf(callee), std::move(arguments));
      break;
    default:
      if (!demand(callee.kind() == ValueKind::Closure &&
                      lang::functionOf(callee).parameters.size() == arguments.size(),
                  "function of these arguments", call.callee.range))
        break;
      if (stack_.depth() >= options_.limits.depth)
        fail({runtime::depthFault(options_.limits), call.range});
      else
        enter(lang::functionOf(callee), callee, std::move(arguments), &call);
    }
  }

  void construct(const Binding& binding, const lang::Call& call,
                 const lang::Constructor& constructor, std::vector<Value> fields) {
    if (!passes(compared_.fields(constructor, call, fields)))
      return;
    slot(*binding.var) = constructorValue(constructor, std::move(fields));
  }

  void applyOperator(const Binding& binding, const lang::Call& call, const lang::OperatorRow& row,
                     std::vector<Value> arguments) {
    switch (row.action) {
    case lang::Action::Compute:
    case lang::Action::Allocate:
      if (observer_.applied || options_.trapsNonFinite)
        compute(binding, call, row, arguments, arguments);
      else
        compute(binding, call, row, {}, std::move(arguments));
      break;
    case lang::Action::Show: {
      runtime::Shown shown = lang::shownBy(call, row);
      if (shown.ends)
        return fail(FaultKind::Unmatched, std::string(shown.label), call.range);
      if (options_.show)
        options_.show(arguments[0], shown);
    }
      [[fallthrough]];
    case lang::Action::Pass:
      slot(*binding.var) = options_.passed ? options_.passed(row, arguments[0]) : arguments[0];
      break;
    case lang::Action::Nothing:
      slot(*binding.var) = runtime::tupleValue({});
      break;
    case lang::Action::Call:
    case lang::Action::CallInto:
      return applyToFields(binding, call, row, arguments);
    case lang::Action::Expand:
      throw std::logic_error("a derivative was not expanded before the run");
    }
    if (observer_.applied && fault_.problem.empty())
      observer_.applied(stack_.state(), call, row, arguments, slot(*binding.var));
  }

  /// Calls a function with the fields of a tuple.
  void applyToFields(const Binding& binding, const lang::Call& call, const lang::OperatorRow& row,
                     std::span<const Value> arguments) {
    const Value &callee = arguments[0], &tuple = arguments[1];
    bool writes = row.action == lang::Action::CallInto;
    bool fits =
        tuple.kind() == ValueKind::Tuple && (!writes || arguments[2].kind() == ValueKind::Tuple);
    if (!demand(fits, "tuple of arguments", call.range))
      return;
    callValue(binding, call, callee, {tuple.fields().begin(), tuple.fields().end()});
    if (!writes || !fault_.problem.empty())
      return;
    if (callee.kind() == ValueKind::Closure)
      stack_.activation().destinations = arguments[2];
    else
      deliver(slot(*binding.var), arguments[2], call.range);
  }

  /// `seen` are the arguments where somebody looks at them afterwards.
  void compute(const Binding& binding, const lang::Call& call, const lang::OperatorRow& row,
               std::span<const Value> seen, std::vector<Value> arguments) {
    auto result = sites_.apply(binding, row, std::move(arguments));
    if (auto* fault = std::get_if<runtime::Fault>(&result)) {
      Fault located{std::move(*fault), call.range};
      located.op = row.name;
      fail(std::move(located));
      return;
    }
    Value& value = slot(*binding.var) = std::move(std::get<Value>(result));
    if (options_.trapsNonFinite)
      trap(value, row, seen, call.range);
    if (row.action == lang::Action::Allocate)
      value.makeWritable();
    passes(budget_.countCall(), call.range);
  }

  /// Ends the run where numbers that are none arise, and not where they are handed on.
  void trap(const Value& value, const lang::OperatorRow& row, std::span<const Value> arguments,
            lang::SourceRange range) {
    auto found = lang::nonFiniteFault(row.name, arguments, value);
    if (!found)
      return;
    Fault fault{*std::move(found), range};
    fault.op = row.name;
    fail(std::move(fault));
  }

  void evaluateMatch(const lang::Match& match) {
    Value scrutinee = read(match.scrutinee);
    for (const lang::Arm& arm : match.arms)
      if (fits(*arm.pattern, scrutinee)) {
        if (bindPattern(*arm.pattern, scrutinee))
          enterBlock(*arm.body);
        return;
      }
    bool isData = scrutinee.kind() == ValueKind::Constructor;
    std::string_view name = isData ? scrutinee.symbol().name : std::string_view();
    fail(FaultKind::Unmatched, runtime::unmatchedText(name), match.range);
  }

  /// Whether an arm is taken, whatever its names declare. Recursion follows the pattern, whose
  /// nesting the reader bounds.
  static bool fits(const lang::Pattern& pattern, const Value& value) {
    if (pattern.kind == lang::PatternKind::Wildcard || pattern.kind == lang::PatternKind::Var)
      return true;
    bool ofConstructor = pattern.kind == lang::PatternKind::Constructor;
    if (value.kind() != (ofConstructor ? ValueKind::Constructor : ValueKind::Tuple))
      return false;
    if (ofConstructor ? &lang::constructorOf(value) != pattern.constructor
                      : value.fields().size() != pattern.parts.size())
      return false;
    for (size_t i = 0; i < pattern.parts.size(); ++i)
      if (!fits(*pattern.parts[i], value.fields()[i]))
        return false;
    return true;
  }

  /// Binds the names of a pattern that fits; false where one declares another type, which is a
  /// fault.
  bool bindPattern(const lang::Pattern& pattern, const Value& value) {
    if (pattern.kind == lang::PatternKind::Var) {
      slot(*pattern.var) = value;
      return checkVar(*pattern.var, {});
    }
    for (size_t i = 0; i < pattern.parts.size(); ++i)
      if (!bindPattern(*pattern.parts[i], value.fields()[i]))
        return false;
    return true;
  }

  const Options& options_;
  const Observer noObserver_;
  const Observer& observer_;
  Stack stack_;
  Comparisons compared_;
  lang::CallSites sites_;
  std::unordered_map<const lang::Constant*, Value> constants_;
  Budget budget_;
  Value result_;
  Fault fault_;
};

} // namespace

std::variant<Value, Fault> interpret(const lang::Module& module, const lang::Typing& typing,
                                     const lang::OperatorTable& operators,
                                     const lang::Global& entry, std::vector<Value> arguments,
                                     const Options& options) {
  return Machine(module, typing, operators, options).run(*entry.function, std::move(arguments));
}

} // namespace interp
