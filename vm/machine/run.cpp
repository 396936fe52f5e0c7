// One function for each kind of site. The verifier has looked at the sites; what lies in registers
// is looked at here, since a program that nobody checked can put anything there.
#include "vm/machine/run.h"

#include "vm/machine/comparable.h"
#include "vm/machine/native.h"

#include <algorithm>
#include <fmt/format.h>

namespace vm {

using checks::KnownSizes;
using runtime::Fault;
using runtime::FaultKind;
using runtime::SourceRange;
using runtime::Value;

namespace {

Fault wrongObject() {
  return {FaultKind::Type, "this is no value of its type: an unchecked call made it"};
}

} // namespace

Run::Run(const Program& program, const RunOptions& options, Language language)
    : program_(program), options_(options), language_(std::move(language)), watch_(options.limits),
      machine_(program, host()) {}

std::variant<Slot, RunFault> Run::call(size_t entry, std::span<const Slot> arguments) {
  Slot result;
  fault_.reset();
  refusedCall_ = nullptr;
  isLate_ = false;
  watch_ = runtime::Stopwatch(options_.limits);
  Trap trap = machine_.run(program_.entries[entry], arguments, result);
  if (trap != Trap::None)
    return faultOf(trap);
  return result;
}

Host Run::host() {
  Host host;
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
  host.kernelFailed = [this](uint32_t number, const Fault& fault) {
    const HostSite& site = program_.sites[number];
    bool isLate = fault.kind == FaultKind::Time;
    fail(isLate ? timeFault(options_.limits) : fault, site.range, site.op);
  };
  host.makeKernel = options_.makeKernel;
  host.observer = options_.observer;
  host.runner = options_.runner;
  host.callsOfOneGo = options_.callsOfOneGo;
  host.mostNanoseconds = options_.limits.seconds * 1e9;
  host.maximumDepth = options_.limits.depth;
  host.maximumSteps = options_.limits.steps;
  return host;
}

bool Run::passes(std::optional<RunFault> fault) {
  if (fault)
    fault_ = std::move(fault);
  return !fault_;
}

bool Run::fail(Fault fault, SourceRange range, uint32_t op) {
  fault_ = RunFault{std::move(fault), range};
  fault_->op = operatorName(op);
  return false;
}

std::string Run::operatorName(uint32_t number) const {
  return number == checks::none ? "" : program_.operators[number];
}

bool Run::doCall(uint32_t number, std::span<const Slot> operands, Slot& result) {
  const HostSite& site = program_.sites[number];
  const checks::Tables& tables = program_.checks;
  KnownSizes sizes;
  switch (site.kind) {
  case SiteKind::Language:
    return apply(number, operands, result);
  case SiteKind::Show:
    if (options_.show)
      options_.show(toValue(program_, site.operands[0], operands[0]), shownBy(site));
    return true;
  case SiteKind::Arguments:
    return checkArguments(site, operands, result);
  case SiteKind::OuterSizes:
    return outerSizes(site, operands, result);
  case SiteKind::Value: {
    const checks::ValueCheck& check = tables.values[site.check];
    return readSizes(operands, 1, sizes) &&
           passes(checks::checkValue(
               check, tables, comparable(program_, check.type, site.operands[0], operands[0]),
               sizes, site.range));
  }
  case SiteKind::Result: {
    const checks::FunctionCheck& check = tables.functions[site.check];
    return readSizes(operands, 1, sizes) &&
           passes(checks::checkResult(
               check, tables.sizes,
               comparable(program_, *check.result, site.operands[0], operands[0]), sizes,
               site.range));
  }
  case SiteKind::Fields:
    return checkFields(site, operands);
  case SiteKind::Unmatched:
    return failUnmatched(site, operands[0]);
  case SiteKind::Deliver:
    return deliver(site, operands);
  case SiteKind::Unbox:
    return unbox(site, operands, result);
  }
  return false;
}

bool Run::apply(uint32_t number, std::span<const Slot> operands, Slot& result) {
  const HostSite& site = program_.sites[number];
  std::optional<Fault> fault;
  if (site.native != checks::none)
    fault = callNative(program_, site, operands, machine_.heap(), result);
  if (fault || site.native == checks::none)
    fault = language_(number, operands, machine_, result, std::move(fault));
  if (fault)
    return fail(*std::move(fault), site.range, site.op);
  return !isInterrupted(site.range);
}

bool Run::isInterrupted(SourceRange range) {
  ++calls_;
  if (options_.progress)
    options_.progress(calls_);
  bool isInterrupted = options_.isInterrupted && options_.isInterrupted();
  if (isInterrupted)
    fail({FaultKind::Interrupted, fmt::format("interrupted after {} calls", calls_)}, range);
  else if (watch_.isOver())
    fail(timeFault(options_.limits), range);
  return fault_.has_value();
}

/// What a site of kind Show says of its value.
runtime::Shown Run::shownBy(const HostSite& site) const {
  runtime::Shown shown{site.range};
  if (site.op != checks::none)
    shown.label = program_.operators[site.op];
  if (site.check != checks::none)
    shown.every = site.check;
  return shown;
}

/// The sizes in an operand, if there is that one.
bool Run::readSizes(std::span<const Slot> operands, size_t i, KnownSizes& sizes) {
  if (i >= operands.size())
    return true;
  auto found = sizesIn(*operands[i].object);
  if (!found)
    return fail(wrongObject(), {});
  sizes = *std::move(found);
  return true;
}

/// The call whose arguments are compared now, if it was noted.
const Caller* Run::notedCall(uint32_t callee) {
  auto noted = machine_.takeNote();
  uint32_t number = noted ? originOf(*noted).caller : checks::none;
  if (number == checks::none || program_.callers[number].callee != callee)
    return nullptr;
  return &program_.callers[number];
}

bool Run::checkArguments(const HostSite& site, std::span<const Slot> operands, Slot& result) {
  const checks::FunctionCheck& check = program_.checks.functions[site.check];
  KnownSizes sizes;
  if (site.hasOuterSizes && !readSizes(operands, operands.size() - 1, sizes))
    return false;
  std::vector<Value> values(operands.size());
  for (const checks::Parameter& each : check.parameters)
    values[each.position] =
        comparable(program_, each.type, site.operands[each.position], operands[each.position]);
  const Caller* caller = notedCall(site.check);
  if (auto fault = checks::checkArguments(check, program_.checks.sizes, values, sizes)) {
    refusedCall_ = caller;
    return passes(caller ? seenFrom(caller->from, *std::move(fault)) : std::move(fault->fault));
  }
  result.object = machine_.heap().box(sizesValue(check.keepsSizes ? sizes : KnownSizes()));
  return true;
}

bool Run::outerSizes(const HostSite& site, std::span<const Slot> operands, Slot& result) {
  KnownSizes known, sizes;
  if (!readSizes(operands, 0, known))
    return false;
  for (uint32_t name : program_.checks.functions[site.check].outer)
    if (const KnownSizes::Known* found = known.find(name))
      sizes.add(name, found->size, checks::fromOutside);
  result.object = machine_.heap().box(sizesValue(sizes));
  return true;
}

bool Run::checkFields(const HostSite& site, std::span<const Slot> operands) {
  const checks::FieldsCheck& check = program_.checks.fields[site.check];
  std::vector<Value> values;
  for (size_t i = 0; i < check.fields.size(); ++i)
    values.push_back(comparable(program_, check.fields[i], site.operands[i], operands[i]));
  auto fault = checks::checkFields(check, program_.checks.sizes, values);
  return !fault || passes(seenFrom(program_.callers[site.caller].from, *std::move(fault)));
}

bool Run::failUnmatched(const HostSite& site, Slot value) {
  if (site.op != checks::none)
    return fail({FaultKind::Unmatched, program_.operators[site.op]}, site.range);
  std::string_view name;
  if (!site.operands[0].isScalar()) {
    const Layout& layout = program_.layouts[value.object->layout];
    if (layout.kind == LayoutKind::Data)
      name = layout.symbol.name;
  }
  return fail({FaultKind::Unmatched, runtime::unmatchedText(name)}, site.range);
}

bool Run::deliver(const HostSite& site, std::span<const Slot> operands) {
  Value values[2];
  for (size_t i = 0; i < 2; ++i)
    values[i] = toValue(program_, site.operands[i], operands[i]);
  if (values[1].kind() != runtime::ValueKind::Tuple)
    return fail(wrongObject(), site.range);
  auto fault = runtime::writeResults(values[0], values[1]);
  return !fault || fail(*std::move(fault), site.range);
}

bool Run::unbox(const HostSite& site, std::span<const Slot> operands, Slot& result) {
  if (operands[0].object->layout != boxedLayout ||
      boxed(*operands[0].object).kind() != runtime::ValueKind::Tensor)
    return fail(wrongObject(), site.range);
  result.word = boxed(*operands[0].object).tensor().bytes()[0] != std::byte(0);
  return true;
}

const Origin& Run::originOf(uint32_t at) const {
  static constexpr Origin nowhere;
  auto behind = std::ranges::upper_bound(program_.places, at, {}, &Place::start);
  return behind == program_.places.begin() ? nowhere : program_.origins[(behind - 1)->origin];
}

RunFault Run::faultOf(Trap trap) {
  const Machine::OpenCalls calls = machine_.openCalls();
  const std::vector<uint32_t> open = calls.places();
  const Origin& origin = originOf(open.at(0));
  RunFault fault = fault_ ? *std::move(fault_) : RunFault{trapFault(trap), origin.range};
  if (trap == Trap::DivisionByZero)
    fault.op = operatorName(origin.op);
  // A call whose arguments do not fit is not open yet; the fault stands at it.
  size_t first = 1;
  if (refusedCall_ && open.size() > 1) {
    const Origin& from = originOf(open[1]);
    if (from.caller != checks::none && &program_.callers[from.caller] == refusedCall_)
      first = 2;
  }
  for (size_t i = first; i < open.size(); ++i)
    fault.calls.push_back(originOf(open[i]).range);
  fault.openCalls = calls.count() - first;
  if (fault.kind == FaultKind::Memory)
    fault.notes.push_back(runtime::heldText());
  return fault;
}

Fault Run::trapFault(Trap trap) const {
  switch (trap) {
  case Trap::DivisionByZero:
    return {FaultKind::Data, "integer division by zero"};
  case Trap::Depth:
    return depthFault(options_.limits);
  case Trap::Steps:
    return stepsFault(options_.limits);
  case Trap::Interrupted:
    if (isLate_)
      return timeFault(options_.limits);
    return {FaultKind::Interrupted, fmt::format("interrupted after {} calls", calls_)};
  case Trap::Memory:
    return {FaultKind::Memory, "out of memory"};
  default:
    return wrongObject();
  }
}

} // namespace vm
