// The machine: cursors over blocks, activations of functions, one loop.
//
// A cursor stands behind the binding that it waits for. A call or branch whose value is the value
// of its block replaces the block's cursor instead of standing above it, so tail calls take no
// space. A function whose declared result is still to be checked stays, unless what it calls is
// checked for the same.
#include "interp/interpret.h"

#include "lang/calls/non_finite.h"
#include "lang/ir/shown.h"
#include "lang/op/op.h"

#include "lang/calls/run_checks.h"
#include "runtime/memory.h"
#include "runtime/open_calls.h"

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
      : typing_(typing), frames_(module), boundaries_(module, typing),
        checks_(module, boundaries_, tables_), liveness_(lang::findLiveness(module)),
        sites_(typing, operators, options.engine, options.rounding), options_(options),
        observer_(options.observer ? *options.observer : noObserver_),
        limit_(options.limits.memory), watch_(options.limits) {}

  std::variant<Value, Fault> run(const lang::Function& entry, std::vector<Value> arguments) {
    try {
      const checks::KnownSizes sizes = lang::sizesOf(entry, arguments, checks_);
      enter(entry, {}, std::move(arguments), nullptr);
      while (!cursors_.empty() && fault_.problem.empty())
        step();
      if (fault_.problem.empty())
        passes(checkWhole(entry, lang::resultOf(entry, typing_), result_, checks_, sizes));
    } catch (const std::bad_alloc&) {
      failForMemory(entry.range);
    }
    if (fault_.problem.empty())
      return std::move(result_);
    if (observer_.failed)
      observer_.failed(state(), fault_);
    return fault_;
  }

private:
  State state() const { return {frames_, activations_, cursors_}; }

  // Variables.

  Value& slot(const lang::Var& var) {
    Activation& activation = activations_.back();
    return activation.slots[frames_.slot(*activation.function, var)];
  }

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

  // Control.

  void fail(FaultKind kind, std::string problem, lang::SourceRange range) {
    fail(Fault{{kind, std::move(problem)}, range});
  }

  void fail(Fault fault) {
    fault_ = std::move(fault);
    tell(openCalls());
    if (fault_.kind == FaultKind::Memory)
      fault_.notes.push_back(runtime::heldText());
  }

  using OpenCalls = runtime::OpenCalls<lang::SourceRange, 8>;

  OpenCalls openCalls() const {
    OpenCalls open;
    for (size_t i = activations_.size(); i-- > 0;)
      if (activations_[i].call.isValid())
        open.add(activations_[i].call);
    return open;
  }

  void tell(const OpenCalls& open) {
    fault_.calls = open.places();
    fault_.openCalls = open.count();
  }

  /// Memory ran out for the machine itself: what it holds is released first, since a fault needs
  /// some too.
  void failForMemory(lang::SourceRange place) {
    if (!cursors_.empty() && cursors_.back().next > 0)
      place = waiting().value->range;
    OpenCalls open = openCalls();
    runtime::Holdings held = runtime::held();
    cursors_.clear();
    activations_.clear();
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

  void step() {
    Cursor& cursor = cursors_.back();
    if (cursor.next > 0) {
      const Binding& done = waiting();
      if (!checkLet(done))
        return;
      if (observer_.bound)
        observer_.bound(state(), done, slot(*done.var));
    }
    if (cursor.next == cursor.block->bindings.size()) {
      leave(read(cursor.block->result));
      return;
    }
    if (cursor.next > 0)
      emptyDead();
    const Binding& binding = cursor.block->bindings[cursor.next++];
    if (observer_.before && !observer_.before(state(), binding))
      return fail(FaultKind::Interrupted, fmt::format("ended after {} calls", calls_),
                  binding.value->range);
    evaluate(binding);
  }

  /// Empties variables that nothing behind the binding at hand uses.
  void emptyDead() {
    const Cursor& cursor = cursors_.back();
    if (!observer_.keepsValues)
      for (const lang::Var* var : cursor.deaths->after(cursor.next - 1))
        slot(*var) = Value();
  }

  void open(const Block& block, bool endsCall) {
    auto found = liveness_.find(&block);
    cursors_.push_back({&block, 0, endsCall, found == liveness_.end() ? nullptr : &found->second});
  }

  /// The innermost block is done: its value goes to the binding that waits for it.
  void leave(Value value) {
    if (cursors_.back().endsCall) {
      if (!checkReturn(value))
        return;
      if (observer_.left)
        observer_.left(state(), value);
      std::optional<Value> into = std::move(activations_.back().destinations);
      lang::SourceRange call = activations_.back().call;
      activations_.pop_back();
      if (into && !deliver(value, *into, call))
        return;
    }
    cursors_.pop_back();
    if (cursors_.empty())
      result_ = std::move(value);
    else
      slot(*waiting().var) = std::move(value);
  }

  /// Writes the value of a call into the tensors of a tuple; then the value is `()`.
  bool deliver(Value& value, const Value& destinations, lang::SourceRange call) {
    if (auto fault = runtime::writeResults(value, destinations)) {
      fail(fault->kind, std::move(fault->problem), call);
      return false;
    }
    value = runtime::tupleValue({});
    return true;
  }

  const Binding& waiting() const {
    const Cursor& cursor = cursors_.back();
    return cursor.block->bindings[cursor.next - 1];
  }

  /// Whether the value of the binding that the cursor stands behind is the value of its block.
  bool isTail(const Cursor& cursor) const {
    return cursor.next == cursor.block->bindings.size() &&
           cursor.block->result.value == cursor.block->bindings[cursor.next - 1].var &&
           !boundaries_.typeOf(*cursor.block->bindings[cursor.next - 1].var);
  }

  /// Starts a block of the current activation.
  void enterBlock(const Block& block) {
    bool endsCall = false;
    if (isTail(cursors_.back())) {
      endsCall = cursors_.back().endsCall;
      cursors_.pop_back();
    }
    open(block, endsCall);
  }

  /// False when the run is to end here.
  bool countCall(lang::SourceRange range) {
    ++calls_;
    if (options_.progress)
      options_.progress(calls_);
    bool isInterrupted = options_.isInterrupted && options_.isInterrupted();
    if (isInterrupted)
      fail(FaultKind::Interrupted, fmt::format("interrupted after {} calls", calls_), range);
    else if (watch_.isOver())
      fail({runtime::timeFault(options_.limits), range});
    return fault_.problem.empty();
  }

  /// False when the program may make no more steps.
  bool countStep(lang::SourceRange range) {
    if (steps_ == options_.limits.steps)
      fail({runtime::stepsFault(options_.limits), range});
    ++steps_;
    return fault_.problem.empty();
  }

  /// `call` is null for the first call.

  void enter(const lang::Function& function, const Value& closure, std::vector<Value> arguments,
             const lang::Call* call) {
    lang::SourceRange range = call ? call->range : function.range;
    if (!countStep(range) || !countCall(range))
      return;
    const checks::FunctionCheck* checks = checksOf(function);
    if (checks && !checkCall(*checks, closure, arguments, call))
      return;
    bool endsOthers = false;
    while (!cursors_.empty() && cursors_.back().endsCall && isTail(cursors_.back()) &&
           isReturnChecked(checks) && !activations_.back().destinations) {
      cursors_.pop_back();
      activations_.pop_back();
      endsOthers = true;
    }
    const lang::FrameLayout& layout = frames_.layout(function);
    Activation activation{&function, std::move(arguments), call ? call->range : lang::SourceRange(),
                          steps_};
    activation.slots.resize(layout.size());
    for (size_t i = 0; i < layout.captures.size(); ++i) {
      const Value& captured = closure.fields()[i];
      activation.slots[layout.own.size() + i] = captured.isSet() ? captured : closure;
    }
    if (checks && checks->keepsSizes)
      activation.sizes = std::make_unique<checks::KnownSizes>(sizes_);
    activations_.push_back(std::move(activation));
    open(*function.body, true);
    if (observer_.entered)
      observer_.entered(state(), endsOthers);
  }

  // Boundaries.

  bool passes(std::optional<Fault> fault) {
    if (fault)
      fail(std::move(*fault));
    return !fault;
  }

  /// Null for most functions.
  const checks::FunctionCheck* checksOf(const lang::Function& function) {
    uint32_t number = checks_.function(function);
    return number == checks::none ? nullptr : &tables_.functions[number];
  }

  const checks::SizeTable& sizeTable() const { return tables_.sizes; }

  /// Compares the arguments of a call. What is known of sizes is in `sizes_` from here on.
  bool checkCall(const checks::FunctionCheck& checks, const Value& closure,
                 std::span<const Value> arguments, const lang::Call* call) {
    sizes_.clear();
    if (!checks.outer.empty()) {
      const runtime::Tensor& outer = closure.fields().back().tensor();
      for (size_t i = 0; i < checks.outer.size(); ++i)
        if (int64_t size = outer.elements<int64_t>()[i]; size != unknownSize)
          sizes_.add(checks.outer[i], size, checks::fromOutside);
    }
    auto fault = checkArguments(checks, sizeTable(), arguments, sizes_);
    if (fault)
      fail(call ? seenFrom(lang::calledFrom(*call), std::move(*fault)) : std::move(fault->fault));
    return !fault;
  }

  bool checkLet(const Binding& binding) {
    return checkVar(*binding.var, binding.place.isValid() ? binding.place : binding.value->range);
  }

  bool checkVar(const lang::Var& var, lang::SourceRange place) {
    uint32_t number = checks_.value(*activations_.back().function, var);
    return number == checks::none || passes(checks::checkValue(tables_.values[number], tables_,
                                                               slot(var), knownSizes(), place));
  }

  /// Compares what the innermost block returns with the declared result.
  bool checkReturn(const Value& value) {
    const checks::FunctionCheck* checks = checksOf(*activations_.back().function);
    return !checks || !checks->result ||
           passes(checkResult(*checks, sizeTable(), value, knownSizes(),
                              cursors_.back().block->result.range));
  }

  /// Whether the result of the innermost call needs no check of its own when it is that of a
  /// function with `next`, whose arguments were just compared.
  bool isReturnChecked(const checks::FunctionCheck* next) {
    const checks::FunctionCheck* checks = checksOf(*activations_.back().function);
    if (!checks || !checks->result)
      return true;
    return next && next->result &&
           implies(*next->result, sizes_, *checks->result, knownSizes(), sizeTable());
  }

  /// The sizes that the innermost call keeps.
  checks::KnownSizes& knownSizes() {
    if (activations_.back().sizes)
      return *activations_.back().sizes;
    noSizes_.clear();
    return noSizes_;
  }

  /// The sizes that a closure takes with it.
  Value outerSizes(const checks::FunctionCheck& checks) {
    runtime::Tensor outer({runtime::DTypeCode::Int, 64}, {int64_t(checks.outer.size())});
    for (size_t i = 0; i < checks.outer.size(); ++i) {
      const checks::KnownSizes::Known* known = knownSizes().find(checks.outer[i]);
      outer.elements<int64_t>()[i] = known ? known->size : unknownSize;
    }
    return runtime::tensorValue(std::move(outer));
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

  /// A closure over the variables that the function uses. The function's own variable has no value
  /// yet; its empty place means "the closure itself" when the closure is called, so that recursion
  /// makes no cycle. Sizes that the function takes from here come last.
  Value makeClosure(const lang::Function& function, const lang::Var& self) {
    std::vector<Value> captured;
    for (const lang::Var* var : frames_.layout(function).captures)
      captured.push_back(var == &self ? Value() : slot(*var));
    if (const checks::FunctionCheck* checks = checksOf(function); checks && !checks->outer.empty())
      captured.push_back(outerSizes(*checks));
    return closureValue(function, std::move(captured));
  }

  void evaluateCall(const Binding& binding, const lang::Call& call) {
    std::vector<Value> arguments = readAll(call.arguments);
    if (const auto* op = call.callee.value->as<lang::OperatorRef>()) {
      emptyDead();
      applyOperator(binding, call, *op->row, std::move(arguments));
      return;
    }
    if (const auto* constructor = call.callee.value->as<lang::Constructor>()) {
      construct(binding, call, *constructor, std::move(arguments));
      return;
    }
    Value callee = read(call.callee);
    emptyDead();
    callValue(binding, call, callee, std::move(arguments));
  }

  void callValue(const Binding& binding, const lang::Call& call, const Value& callee,
                 std::vector<Value> arguments) {
    switch (callee.kind()) {
    case ValueKind::Operator:
      applyOperator(binding, call, lang::operatorOf(callee), std::move(arguments));
      break;
    case ValueKind::Maker:
      if (countStep(call.range))
        construct(binding, call, lang::constructorOf(callee), std::move(arguments));
      break;
    default:
      if (!demand(callee.kind() == ValueKind::Closure &&
                      lang::functionOf(callee).parameters.size() == arguments.size(),
                  "function of these arguments", call.callee.range))
        break;
      if (activations_.size() >= options_.limits.depth)
        fail({runtime::depthFault(options_.limits), call.range});
      else
        enter(lang::functionOf(callee), callee, std::move(arguments), &call);
    }
  }

  void construct(const Binding& binding, const lang::Call& call,
                 const lang::Constructor& constructor, std::vector<Value> fields) {
    uint32_t number = checks_.fields(constructor);
    if (number != checks::none)
      if (auto fault = checkFields(tables_.fields[number], sizeTable(), fields))
        return fail(seenFrom(lang::calledFrom(call), std::move(*fault)));
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
    case lang::Action::Show:
      if (options_.show)
        options_.show(arguments[0], lang::shownBy(call));
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
      observer_.applied(state(), call, row, arguments, slot(*binding.var));
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
      activations_.back().destinations = arguments[2];
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
    countCall(call.range);
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
    for (const lang::Arm& arm : match.arms) {
      bool fits = bindPattern(*arm.pattern, scrutinee);
      if (!fault_.problem.empty())
        return;
      if (fits) {
        enterBlock(*arm.body);
        return;
      }
    }
    bool isData = scrutinee.kind() == ValueKind::Constructor;
    std::string_view name = isData ? scrutinee.symbol().name : std::string_view();
    fail(FaultKind::Unmatched, runtime::unmatchedText(name), match.range);
  }

  /// Recursion follows the pattern, whose nesting the reader bounds.
  bool bindPattern(const lang::Pattern& pattern, const Value& value) {
    if (pattern.kind == lang::PatternKind::Wildcard)
      return true;
    if (pattern.kind == lang::PatternKind::Var) {
      slot(*pattern.var) = value;
      return checkVar(*pattern.var, {});
    }
    bool ofConstructor = pattern.kind == lang::PatternKind::Constructor;
    if (value.kind() != (ofConstructor ? ValueKind::Constructor : ValueKind::Tuple))
      return false;
    if (ofConstructor ? &lang::constructorOf(value) != pattern.constructor
                      : value.fields().size() != pattern.parts.size())
      return false;
    for (size_t i = 0; i < pattern.parts.size(); ++i)
      if (!bindPattern(*pattern.parts[i], value.fields()[i]))
        return false;
    return true;
  }

  static constexpr int64_t unknownSize = -1;

  const lang::Typing& typing_;
  lang::Frames frames_;
  lang::Boundaries boundaries_;
  checks::Tables tables_;
  lang::RunChecks checks_;
  lang::Liveness liveness_;
  lang::CallSites sites_;
  const Options& options_;
  const Observer noObserver_;
  const Observer& observer_;
  std::vector<Activation> activations_;
  std::vector<Cursor> cursors_;
  std::unordered_map<const lang::Constant*, Value> constants_;
  /// The sizes of the call that is being entered, and those of calls that keep none.
  checks::KnownSizes sizes_, noSizes_;
  Value result_;
  Fault fault_;
  /// Calls of functions and operators, and of functions alone.
  uint64_t calls_ = 0, steps_ = 0;
  runtime::MemoryLimit limit_;
  runtime::Stopwatch watch_;
};

} // namespace

std::variant<Value, Fault> interpret(const lang::Module& module, const lang::Typing& typing,
                                     const lang::OperatorTable& operators,
                                     const lang::Global& entry, std::vector<Value> arguments,
                                     const Options& options) {
  return Machine(module, typing, operators, options).run(*entry.function, std::move(arguments));
}

} // namespace interp
