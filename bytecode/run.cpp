// The host of the machine: applies operators, compares values with types, and tells why a run
// ended.
#include "bytecode/run.h"

#include "bytecode/convert.h"
#include "lang/run_value.h"
#include "runtime/memory.h"
#include "vm/verify.h"

#include <fmt/format.h>

namespace bytecode {

using namespace lang;
using runtime::Fault;
using runtime::FaultKind;
using runtime::Value;
using vm::Slot;

namespace {

/// The sizes of named dimensions, as a value that the machine can hold.
Value sizesValue(DimSizes sizes) {
  return runtime::tensorValue(runtime::Tensor(), std::make_shared<DimSizes>(std::move(sizes)));
}

class Run {
public:
  Run(Compiled& compiled, const Typing& typing, const OperatorTable& operators,
      const Options& options)
      : compiled_(compiled), options_(options), watch_(options.limits),
        sites_(typing, operators, options.engine), machine_(compiled.program, host()),
        reader_(compiled.layouts, machine_) {}

  std::variant<Value, RunFault> call(const Global& entry, const Typing& typing,
                                     const std::vector<Value>& arguments) {
    std::vector<Slot> slots;
    for (size_t i = 0; i < arguments.size(); ++i)
      slots.push_back(reader_.read(arguments[i], typing.of(*entry.function->parameters[i])));
    machine_.takeUpLayouts();
    Slot result;
    vm::Trap trap = machine_.run(compiled_.entry, slots, result);
    if (trap != vm::Trap::None)
      return faultOf(trap);
    const Rep rep = compiled_.program.functions[compiled_.entry].result;
    Value value = toValue(compiled_.program, rep, result);
    if (!rep.isScalar())
      machine_.heap().release(result.object);
    if (const Type* type = typing.result(*entry.function))
      if (auto fault = checkWhole(*entry.function, *type, value, entrySizes_))
        return *std::move(fault);
    return value;
  }

  vm::Host host() {
    vm::Host host;
    host.call = [this](uint32_t site, std::span<const Slot> operands, Slot& result) {
      return doCall(site, operands, result);
    };
    host.isInterrupted = [this](uint64_t calls) {
      calls_ += calls;
      if (options_.progress)
        options_.progress(calls_);
      isLate_ = watch_.isOver();
      return isLate_ || (options_.isInterrupted && options_.isInterrupted());
    };
    host.kernelFailed = [this](uint32_t site, const Fault& fault) {
      const Site& called = compiled_.sites[site];
      fault_ = RunFault{fault, called.range};
      fault_->row = called.row;
    };
    host.maximumDepth = options_.limits.depth;
    host.maximumSteps = options_.limits.steps;
    return host;
  }

  Value valueOf(uint32_t site, std::span<const Slot> operands, size_t i) const {
    return toValue(compiled_.program, compiled_.program.sites[site].operands[i], operands[i]);
  }

  bool passes(std::optional<RunFault> fault) {
    if (fault)
      fault_ = std::move(fault);
    return !fault_;
  }

  bool fail(FaultKind kind, std::string problem, SourceRange range) {
    fault_ = RunFault{{kind, std::move(problem)}, range};
    return false;
  }

  bool doCall(uint32_t number, std::span<const Slot> operands, Slot& result) {
    const Site& site = compiled_.sites[number];
    std::vector<Value> values;
    if (site.kind != SiteKind::Unmatched)
      for (size_t i = 0; i < operands.size(); ++i)
        values.push_back(valueOf(number, operands, i));
    switch (site.kind) {
    case SiteKind::Operator:
      return apply(site, values, result);
    case SiteKind::Show:
      if (options_.show)
        options_.show(values[0], site.range);
      return true;
    case SiteKind::CheckArguments:
      return checkCall(site, values, result);
    case SiteKind::OuterSizes:
      result.object = machine_.heap().box(outerSizes(*site.checks, values));
      return true;
    case SiteKind::CheckVar:
      return passes(checkVar(*site.function, *site.var, *site.type, site.range, values[0],
                             sizesIn(values, 1)));
    case SiteKind::CheckResult:
      return passes(checkResult(*site.checks, values[0], sizesIn(values, 1), site.range));
    case SiteKind::CheckFields:
      return passes(checkFields(*site.call->callee.value->as<Constructor>(), values, *site.call));
    case SiteKind::Unmatched:
      return fail(FaultKind::Unmatched, unmatchedText(number, operands[0]), site.range);
    case SiteKind::Deliver:
      return deliver(site, values);
    case SiteKind::Unbox:
      result.word = values[0].tensor().bytes()[0] != std::byte(0);
      return true;
    }
    return false;
  }

  bool apply(const Site& site, std::span<const Value> values, Slot& result) {
    auto given = sites_.apply(*site.binding, *site.row, values);
    if (auto* fault = std::get_if<Fault>(&given)) {
      fault_ = RunFault{std::move(*fault), site.range};
      fault_->row = site.row;
      return false;
    }
    Value& value = std::get<Value>(given);
    if (site.row->action == Action::Allocate)
      value.makeWritable();
    result = reader_.read(value, site.type);
    return !isInterrupted(site.range);
  }

  bool isInterrupted(SourceRange range) {
    ++calls_;
    if (options_.progress)
      options_.progress(calls_);
    bool isInterrupted = options_.isInterrupted && options_.isInterrupted();
    if (isInterrupted)
      fail(FaultKind::Interrupted, fmt::format("interrupted after {} calls", calls_), range);
    else if (watch_.isOver())
      fault_ = RunFault{timeFault(options_.limits), range};
    return fault_.has_value();
  }

  DimSizes& sizesIn(std::span<const Value> values, size_t i) {
    if (i < values.size())
      return *static_cast<DimSizes*>(const_cast<void*>(values[i].exact().get()));
    noSizes_.clear();
    return noSizes_;
  }

  /// The call whose arguments are compared now, if it was noted.
  const Call* notedCall(const Function& function) {
    auto noted = machine_.takeNote();
    const Call* call = noted ? originOf(*noted).call : nullptr;
    const auto* global = call ? call->callee.value->as<Global>() : nullptr;
    return global && global->function == &function ? call : nullptr;
  }

  bool checkCall(const Site& site, std::vector<Value> values, Slot& result) {
    DimSizes sizes;
    if (site.hasOuterSizes) {
      sizes = sizesIn(values, values.size() - 1);
      values.pop_back();
    }
    checkedCall_ = notedCall(*site.checks->function);
    if (!passes(checkArguments(*site.checks, values, checkedCall_, sizes)))
      return false;
    checkedCall_ = nullptr;
    if (machine_.depth() == 1)
      entrySizes_ = sizes;
    if (!site.checks->keepsSizes)
      sizes = {};
    result.object = machine_.heap().box(sizesValue(std::move(sizes)));
    return true;
  }

  Value outerSizes(const FunctionChecks& checks, std::span<const Value> values) {
    DimSizes sizes;
    for (const Dim* dim : checks.outer)
      if (const DimSizes::Known* known = sizesIn(values, 0).find(dim))
        sizes.add(dim, known->size, fromOutside);
    return sizesValue(std::move(sizes));
  }

  std::string unmatchedText(uint32_t site, Slot slot) const {
    std::string_view name;
    if (!compiled_.program.sites[site].operands[0].isScalar()) {
      const vm::Layout& layout = compiled_.program.layouts[slot.object->layout];
      if (layout.kind == vm::LayoutKind::Data)
        name = layout.symbol.name;
    }
    return lang::unmatchedText(name);
  }

  bool deliver(const Site& site, std::span<const Value> values) {
    auto fault = writeResults(values[0], values[1]);
    return !fault || fail(fault->kind, fault->problem, site.range);
  }

  const Origin& originOf(uint32_t at) const {
    auto behind = std::ranges::upper_bound(compiled_.program.places, at, {}, &vm::Place::start);
    return compiled_.origins[(behind - 1)->place];
  }

  RunFault faultOf(vm::Trap trap) {
    constexpr size_t mostCalls = 9;
    std::vector<uint32_t> open = machine_.openCalls(mostCalls);
    const Origin& origin = originOf(open.at(0));
    RunFault fault = fault_ ? *fault_ : RunFault{trapFault(trap), origin.range};
    if (trap == vm::Trap::DivisionByZero)
      fault.row = origin.row;
    // A call whose arguments do not fit is not open yet; the fault stands at it.
    for (size_t i = 1; i < open.size(); ++i)
      if (const Origin& from = originOf(open[i]); i > 1 || !from.call || from.call != checkedCall_)
        fault.calls.push_back(from.range);
    if (fault.kind == FaultKind::Memory)
      fault.notes.push_back(heldText());
    return fault;
  }

  Fault trapFault(vm::Trap trap) const {
    switch (trap) {
    case vm::Trap::DivisionByZero:
      return {FaultKind::Data, "integer division by zero"};
    case vm::Trap::Depth:
      return depthFault(options_.limits);
    case vm::Trap::Steps:
      return stepsFault(options_.limits);
    case vm::Trap::Interrupted:
      if (isLate_)
        return timeFault(options_.limits);
      return {FaultKind::Interrupted, fmt::format("interrupted after {} calls", calls_)};
    case vm::Trap::Memory:
      return {FaultKind::Memory, "out of memory"};
    default:
      return {FaultKind::Type, "this is no value of its type: an unchecked call made it"};
    }
  }

  Compiled& compiled_;
  const Options& options_;
  Stopwatch watch_;
  CallSites sites_;
  vm::Machine machine_;
  ValueReader reader_;
  std::optional<RunFault> fault_;
  /// The call whose arguments do not fit.
  const Call* checkedCall_ = nullptr;
  DimSizes entrySizes_, noSizes_;
  uint64_t calls_ = 0;
  /// Whether the clock ended the run.
  bool isLate_ = false;
};

} // namespace

std::variant<Value, RunFault> run(const Module& module, const Typing& typing,
                                  const OperatorTable& operators, const Global& entry,
                                  std::vector<Value> arguments, const Options& options) {
  std::unique_ptr<Compiled> compiled = compile(module, typing, operators, entry);
  if (auto problem = vm::verify(compiled->program))
    throw std::logic_error("the compiler made code that cannot run: " + *problem);
  runtime::MemoryLimit limit(options.limits.memory);
  try {
    return Run(*compiled, typing, operators, options).call(entry, typing, arguments);
  } catch (const std::bad_alloc&) {
    RunFault fault{{FaultKind::Memory, "out of memory"}, entry.function->range};
    fault.notes.push_back(heldText());
    return fault;
  }
}

} // namespace bytecode
