// Arguments are compared with the ports before they become objects, so the machine gets what the
// entry says.
#include "vm/executable/call.h"

#include "runtime/list.h"
#include "runtime/memory.h"
#include "runtime/shape_text.h"
#include "vm/executable/arguments.h"

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
  std::vector<Value> fields(declared.parts.size());
  for (size_t i = 0; i < fields.size(); ++i)
    fields[i] = comparedOf(declared.parts[i], value.fields()[i]);
  return declared.kind == Kind::Tuple ? runtime::tupleValue(std::move(fields)) : Value();
}

void setPorts(const Entry& entry, checks::FunctionCheck& check) {
  check.name = "@" + entry.name;
  for (uint32_t i = 0; i < entry.parameters.size(); ++i) {
    const Port& port = entry.parameters[i];
    check.parameters.push_back({i, port.declared, port.isDeclared, "%" + port.name, port.range});
  }
}

/// Appends the shapes of the tensors in a value, in order. Recursion follows the operand's type.
void addShapes(const Value& value, std::string& text) {
  if (value.kind() == runtime::ValueKind::Tuple)
    for (const Value& field : value.fields())
      addShapes(field, text);
  if (value.kind() == runtime::ValueKind::Tensor)
    text += (text.empty() ? "" : ", ") + runtime::shapeText(value.tensor().shape());
}

} // namespace

std::string languageText(const Executable& executable) {
  for (const vm::HostSite& site : executable.program.sites)
    if (site.kind == vm::SiteKind::Language && site.kernel == vm::HostSite::noKernel &&
        site.native == checks::none)
      return fmt::format("the shapes of `{}` at {} cannot be told beforehand; run "
                         "the executable with `baton run`, or load it with `libbaton`",
                         executable.program.operators[site.op], placeText(executable, site.range));
  return "";
}

Fault unfitFault(const vm::Program& program, uint32_t number, std::span<const Slot> operands) {
  const vm::HostSite& site = program.sites[number];
  std::string shapes;
  for (size_t i = 0; i < operands.size(); ++i)
    addShapes(vm::toValue(program, site.operands[i], operands[i]), shapes);
  return {FaultKind::Sizes,
          fmt::format("`{}` has no kernel for the shapes {}", program.operators[site.op], shapes)};
}

vm::Language withoutLanguage(const Executable& executable) {
  return [&](uint32_t number, std::span<const Slot> operands, vm::Machine&, Slot&,
             std::optional<Fault> found) {
    return found ? *std::move(found) : unfitFault(executable.program, number, operands);
  };
}

Caller::Caller(const Executable& executable, const vm::RunOptions& options,
               const vm::Language& language)
    : executable_(executable), options_(options), language_(language),
      ports_(executable.entries.size()) {
  for (size_t i = 0; i < ports_.size(); ++i)
    setPorts(executable.entries[i], ports_[i]);
}

vm::Run& Caller::run() {
  if (!run_)
    run_ = std::make_unique<vm::Run>(executable_.program, options_, language_);
  return *run_;
}

std::optional<RunFault> Caller::problemOf(size_t entry, Arguments arguments) const {
  const checks::FunctionCheck& ports = ports_[entry];
  if (arguments.size() != ports.parameters.size())
    return RunFault{
        {FaultKind::Type, runtime::words("`{}` takes {} arguments, and {} are given",
                                         runtime::globalName(executable_.entries[entry].name),
                                         ports.parameters.size(), arguments.size())},
        {}};
  std::vector<Value> compared(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Port& port = executable_.entries[entry].parameters[i];
    if (auto misfit = misfitOf(executable_, port.form, *arguments[i])) {
      misfit->problem = runtime::words(
          "argument `{}` of `{}` is `{}`; {}", runtime::localName(port.name),
          runtime::globalName(executable_.entries[entry].name), port.type, misfit->problem);
      return RunFault{*std::move(misfit), port.range};
    }
    compared[i] = comparedOf(port.declared, *arguments[i]);
  }
  checks::KnownSizes sizes;
  if (auto fault = checks::checkArguments(ports, executable_.program.checks.sizes, compared, sizes))
    return std::move(fault->fault);
  return std::nullopt;
}

std::variant<Value, RunFault> Caller::call(size_t entry, Arguments arguments) {
  const vm::Program& program = executable_.program;
  const vm::Function& function = program.functions[program.entries[entry]];
  runtime::MemoryLimit limit(options_.limits.memory);
  try {
    runtime::List<Slot> slots;
    vm::Heap& heap = run().machine().heap();
    SlotMaker maker(executable_, heap);
    for (size_t i = 0; i < arguments.size(); ++i)
      slots.push_back(maker.of(executable_.entries[entry].parameters[i].form, *arguments[i]));
    auto result = run().call(entry, slots);
    if (auto* fault = std::get_if<RunFault>(&result)) {
      run_ = nullptr;
      return std::move(*fault);
    }
    for (size_t i = 0; i < slots.size(); ++i)
      if (function.parameters[i].hold == vm::Hold::Borrowed)
        heap.release(slots[i].object);
    Slot slot = std::get<Slot>(result);
    Value value = vm::toValue(program, function.result, slot, true);
    if (!function.result.isScalar())
      heap.release(slot.object);
    return value;
  } catch (const std::bad_alloc&) {
    run_ = nullptr;
    RunFault fault{{FaultKind::Memory, "out of memory"}, executable_.entries[entry].result.range};
    fault.notes.push_back(runtime::heldText());
    return fault;
  }
}

} // namespace executable
