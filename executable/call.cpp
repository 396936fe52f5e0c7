// Arguments are compared with the ports before they become objects, so the machine gets what the
// entry says.
#include "executable/call.h"

#include "executable/arguments.h"
#include "runtime/memory.h"

#include <fmt/format.h>

namespace executable {

using runtime::Fault;
using runtime::FaultKind;
using runtime::RunFault;
using runtime::Value;
using vm::Slot;

namespace {

/// The tensors of a value that fits a declared type, as values of their own. Recursion follows the
/// type.
Value comparedOf(const checks::Declared& declared, const Value& value) {
  using Kind = checks::Declared::Kind;
  if (declared.kind == Kind::Tensor)
    return runtime::tensorValue(runtime::Tensor(value.tensor()));
  std::vector<Value> fields;
  for (size_t i = 0; i < declared.parts.size(); ++i)
    fields.push_back(comparedOf(declared.parts[i], value.fields()[i]));
  return declared.kind == Kind::Tuple ? runtime::tupleValue(std::move(fields)) : Value();
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

std::optional<RunFault> Caller::problemOf(Arguments arguments) const {
  if (arguments.size() != ports_.parameters.size())
    return RunFault{
        {FaultKind::Type, fmt::format("`{}` takes {} arguments, and {} are given", ports_.name,
                                      ports_.parameters.size(), arguments.size())},
        {}};
  std::vector<Value> compared;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Port& port = executable_.parameters[i];
    if (auto misfit = misfitOf(executable_, port.form, *arguments[i])) {
      misfit->problem = fmt::format("argument `%{}` of `{}` is `{}`; {}", port.name, ports_.name,
                                    port.type, misfit->problem);
      return RunFault{*std::move(misfit), port.range};
    }
    compared.push_back(comparedOf(port.declared, *arguments[i]));
  }
  checks::KnownSizes sizes;
  if (auto fault =
          checks::checkArguments(ports_, executable_.program.checks.sizes, compared, sizes))
    return std::move(fault->fault);
  return std::nullopt;
}

std::variant<Value, RunFault> Caller::call(Arguments arguments) {
  const vm::Program& program = executable_.program;
  const vm::Function& entry = program.functions[program.entry];
  runtime::MemoryLimit limit(options_.limits.memory);
  try {
    std::vector<Slot> slots;
    vm::Heap& heap = run().machine().heap();
    for (size_t i = 0; i < arguments.size(); ++i)
      slots.push_back(slotOf(executable_, executable_.parameters[i].form, *arguments[i], heap));
    auto result = run().call(slots);
    if (auto* fault = std::get_if<RunFault>(&result)) {
      run_ = nullptr;
      return std::move(*fault);
    }
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
