// Arguments are compared with the ports before they become objects, so the machine gets what the
// entry says.
#include "executable/call.h"

#include "runtime/memory.h"

#include <fmt/format.h>

namespace executable {

using runtime::Fault;
using runtime::FaultKind;
using runtime::RunFault;
using runtime::Value;
using vm::Slot;

namespace {

/// Whether a value has the form of a port; what is neither tensor nor tuple cannot be handed in.
bool hasForm(const checks::Declared& declared, const Value& value) {
  using Kind = checks::Declared::Kind;
  if (declared.kind != Kind::Tuple)
    return declared.kind == Kind::Tensor && value.kind() == runtime::ValueKind::Tensor;
  if (value.kind() != runtime::ValueKind::Tuple || value.fields().size() != declared.parts.size())
    return false;
  for (size_t i = 0; i < declared.parts.size(); ++i)
    if (!hasForm(declared.parts[i], value.fields()[i]))
      return false;
  return true;
}

checks::FunctionCheck portsOf(const Executable& executable) {
  checks::FunctionCheck check{.name = "@" + executable.entry};
  for (uint32_t i = 0; i < executable.parameters.size(); ++i) {
    const Port& port = executable.parameters[i];
    check.parameters.push_back({i, port.declared, port.isDeclared, "%" + port.name, port.range});
  }
  return check;
}

} // namespace

std::string languageText(const Executable& executable) {
  for (const vm::HostSite& site : executable.program.sites)
    if (site.kind == vm::SiteKind::Language && site.kernel == vm::HostSite::noKernel)
      return fmt::format("the shapes of `{}` at {} depend on values, or it has no kernel; run the "
                         "executable with `baton run`",
                         executable.program.operators[site.op], placeText(executable, site.range));
  return "";
}

Caller::Caller(const Executable& executable, const vm::RunOptions& options)
    : executable_(executable), options_(options), ports_(portsOf(executable)) {}

vm::Run& Caller::run() {
  if (!run_)
    run_ = std::make_unique<vm::Run>(
        executable_.program, options_, [this](uint32_t number, std::span<const Slot>, Slot&) {
          const vm::HostSite& site = executable_.program.sites[number];
          return Fault{FaultKind::Sizes, fmt::format("`{}` is not defined for the sizes at hand",
                                                     executable_.program.operators[site.op])};
        });
  return *run_;
}

std::optional<RunFault> Caller::problemOf(std::span<const Value> arguments) const {
  if (arguments.size() != ports_.parameters.size())
    return RunFault{
        {FaultKind::Type, fmt::format("`{}` takes {} arguments, and {} are given", ports_.name,
                                      ports_.parameters.size(), arguments.size())},
        {}};
  for (size_t i = 0; i < arguments.size(); ++i)
    if (const Port& port = executable_.parameters[i]; !hasForm(port.declared, arguments[i]))
      return RunFault{{FaultKind::Type,
                       fmt::format("argument `%{}` of `{}` is `{}`, and another kind of value is "
                                   "given",
                                   port.name, ports_.name, port.type)},
                      port.range};
  checks::KnownSizes sizes;
  if (auto fault =
          checks::checkArguments(ports_, executable_.program.checks.sizes, arguments, sizes))
    return std::move(fault->fault);
  return std::nullopt;
}

Slot Caller::slotOf(const Slotted& place, const Value& value) {
  Slot slot;
  vm::Heap& heap = run().machine().heap();
  if (place.rep.isScalar()) {
    std::memcpy(&slot, value.tensor().bytes(), place.rep.dtype.bytes());
  } else if (place.layout == vm::none) {
    slot.object = heap.box(value);
  } else {
    vm::Object* tuple = heap.make(place.layout);
    if (!tuple)
      throw std::bad_alloc();
    for (size_t i = 0; i < place.parts.size(); ++i)
      tuple->fields()[i] = slotOf(place.parts[i], value.fields()[i]);
    slot.object = tuple;
  }
  return slot;
}

std::variant<Value, RunFault> Caller::call(std::span<const Value> arguments) {
  const vm::Program& program = executable_.program;
  const vm::Function& entry = program.functions[program.entry];
  runtime::MemoryLimit limit(options_.limits.memory);
  try {
    std::vector<Slot> slots;
    for (size_t i = 0; i < arguments.size(); ++i)
      slots.push_back(slotOf(executable_.parameters[i].place, arguments[i]));
    auto result = run().call(slots);
    if (auto* fault = std::get_if<RunFault>(&result)) {
      run_ = nullptr;
      return std::move(*fault);
    }
    vm::Heap& heap = run().machine().heap();
    for (size_t i = 0; i < slots.size(); ++i)
      if (entry.parameters[i].hold == vm::Hold::Borrowed)
        heap.release(slots[i].object);
    Slot slot = std::get<Slot>(result);
    Value value = vm::toValue(program, entry.result, slot);
    if (!entry.result.isScalar())
      heap.release(slot.object);
    return value;
  } catch (const std::bad_alloc&) {
    run_ = nullptr;
    RunFault fault{{FaultKind::Memory, "out of memory"}, executable_.result.range};
    fault.notes.push_back(runtime::heldText());
    return fault;
  }
}

} // namespace executable
