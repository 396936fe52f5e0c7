// Tensors are taken out of the operands, and put back where the function refuses them.
#include "vm/machine/native.h"

#include "runtime/natives/table.h"
#include "vm/machine/site_input.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace vm {

using runtime::Fault;
using runtime::FaultKind;
using runtime::NativeFaultCode;
using runtime::Tensor;

namespace {

class NativeRun {
public:
  NativeRun(const Program& program, const HostSite& site)
      : program_(program), site_(site), called_(program.natives[site.native]) {
    // So that nothing can fail once an operand is written over.
    constexpr size_t mostResults = 8;
    inputs_.reserve(called_.inputs.size());
    taken_.reserve(called_.inputs.size());
    results_.reserve(mostResults);
  }

  std::optional<Fault> run(std::span<const Slot> operands) {
    try {
      bool isGood = std::ranges::all_of(
          called_.inputs, [&](const SiteInput& input) { return take(operands, input); });
      if (!isGood) {
        giveBack();
        return Fault{FaultKind::Type, "this is no value of its type: an unchecked call made it"};
      }
      auto fault = called_.function->run({inputs_, results_}, called_.parameters);
      if (!fault)
        return std::nullopt;
      giveBack();
      return Fault{fault.code == NativeFaultCode::Shapes ? FaultKind::Sizes : FaultKind::Data,
                   runtime::nativeFaultText(fault)};
    } catch (const std::bad_alloc&) {
      giveBack();
      return Fault{FaultKind::Memory, "out of memory"};
    }
  }

  Slot finish(Heap& heap) {
    if (called_.resultLayout == none)
      return slotOf(site_.result, 0, heap);
    const Layout& layout = program_.layouts[called_.resultLayout];
    std::vector<Slot> fields;
    for (size_t i = 0; i < layout.fields.size(); ++i)
      fields.push_back(slotOf(layout.fields[i], i, heap));
    Slot tuple;
    tuple.object = heap.make(called_.resultLayout);
    std::ranges::copy(fields, tuple.object->fields());
    return tuple;
  }

private:
  /// False when the operand has another tensor there than the site is made for.
  bool take(std::span<const Slot> operands, const SiteInput& input) {
    const Slot* slot = inputAt(&operands[input.operand], input);
    if (!slot)
      return false;
    if (input.isScalar) {
      inputs_.push_back(Tensor::unwritten(input.dtype, runtime::Shape()));
      std::memcpy(inputs_.back().bytes(), slot, input.dtype.bytes());
      taken_.push_back(nullptr);
      return true;
    }
    Object* object = slot->object;
    // One that another operand took already has nothing left.
    if (object->layout != boxedLayout || !boxed(*object).isSet() ||
        boxed(*object).kind() != runtime::ValueKind::Tensor)
      return false;
    const Tensor& tensor = boxed(*object).tensor();
    if (tensor.dtype() != input.dtype || tensor.rank() != input.rank)
      return false;
    bool isGiven = input.path.empty() && object->references == 1 &&
                   std::ranges::binary_search(site_.given, input.operand);
    taken_.push_back(isGiven ? object : nullptr);
    inputs_.push_back(isGiven ? std::move(boxed(*object)).takeTensor() : tensor);
    return true;
  }

  void giveBack() {
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (taken_[i])
        boxed(*taken_[i]) = runtime::tensorValue(std::move(inputs_[i]));
  }

  Slot slotOf(Rep rep, size_t i, Heap& heap) {
    Slot slot;
    if (rep.isScalar()) {
      slot.word = 0;
      std::memcpy(&slot, results_[i].bytes(), rep.dtype.bytes());
    } else {
      slot.object = heap.box(runtime::tensorValue(std::move(results_[i])));
    }
    return slot;
  }

  const Program& program_;
  const HostSite& site_;
  const NativeSite& called_;
  std::vector<Tensor> inputs_, results_;
  /// Of each input the object that it was taken out of, or null.
  std::vector<Object*> taken_;
};

bool isResult(Rep rep, const runtime::NativeType& type) {
  return rep.isScalar() ? type.rank == 0 && rep.dtype == type.dtype : rep.hold == Hold::Owned;
}

} // namespace

std::optional<std::string> findNatives(Program& program) {
  for (NativeSite& site : program.natives) {
    site.function = natives::find(site.name);
    if (!site.function)
      return fmt::format("it calls `{}`, which is no native function", site.name);
  }
  return std::nullopt;
}

const char* nativeProblem(const Program& program, const HostSite& site) {
  const NativeSite& called = program.natives[site.native];
  std::vector<runtime::NativeType> types;
  for (const SiteInput& input : called.inputs) {
    if (input.isScalar && input.rank != 0)
      return "a native function is for other tensors";
    types.push_back({input.dtype, input.rank});
  }
  auto results = called.function->results(types, called.parameters);
  if (!results)
    return "a native function takes other operands or parameters";
  std::span<const Rep> reps(&site.result, 1);
  if (called.resultLayout != none) {
    if (called.resultLayout >= program.layouts.size() || site.result.isScalar() ||
        program.layouts[called.resultLayout].kind != LayoutKind::Tuple)
      return "a native function gives another result";
    reps = program.layouts[called.resultLayout].fields;
  }
  bool fits = site.hasResult && std::ranges::equal(reps, *results, isResult);
  return fits ? nullptr : "a native function gives another result";
}

std::optional<Fault> callNative(const Program& program, const HostSite& site,
                                std::span<const Slot> operands, Heap& heap, Slot& result) {
  NativeRun run(program, site);
  if (auto fault = run.run(operands))
    return fault;
  result = run.finish(heap);
  return std::nullopt;
}

} // namespace vm
