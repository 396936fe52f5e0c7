// Take the tensors out of the operands; if their extents are new, work out those of the results and
// ask for their code; then run it.
#include "vm/machine/kernel.h"

#include "vm/machine/site_input.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace vm {

using runtime::Tensor;

namespace {

/// Whether nobody but the object's owner refers to the elements of its tensor.
bool isIdle(Object* object) {
  const runtime::Value& value = boxed(*object);
  return object->references == 1 && !value.isShared() &&
         runtime::TensorObject::canLieInBuffer(value.tensor());
}

/// Whether the elements are in memory that nobody else refers to and that belongs to the tensor.
bool isOnlyOwner(Object* object) {
  if (!isIdle(object))
    return false;
  const Tensor& tensor = boxed(*object).tensor();
  auto* room = static_cast<const std::byte*>(runtime::TensorObject::roomIn(tensor));
  return tensor.bytes() == room + runtime::Buffer::roomBytes && !boxed(*object).exact();
}

bool isSame(runtime::DType a, runtime::DType b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

} // namespace

KernelCall::KernelCall(const KernelSite& site, std::span<const uint16_t> given, Heap& heap,
                       tensor::MakeKernel makeKernel, double mostNanoseconds)
    : site_(site), given_(given), heap_(heap),
      kernel_(makeKernel ? makeKernel(site.function, site.programs) : nullptr),
      mostNanoseconds_(mostNanoseconds), inputs_(site.inputs.size()), from_(site.inputs.size()),
      to_(site.results.size()), made_(site.results.size()), kept_(site.results.size()) {
  for (size_t i = 0; i < site.inputs.size(); ++i)
    if (site.inputs[i].isScalar)
      inputs_[i].shape = runtime::shared({});
    else if (site.inputs[i].path.empty())
      inputs_[i].isGiven = std::ranges::binary_search(given, site.inputs[i].operand);
}

void KernelCall::forget() {
  for (Kept& kept : kept_)
    for (Object*& object : kept.objects)
      if (object)
        heap_.release(std::exchange(object, nullptr));
}

/// Looks at the inputs; false when they are not of the types of the site. The shapes are mostly the
/// very objects of the call before.
bool KernelCall::gather(const Slot* registers, const uint16_t* operands) {
  size_t i = 0;
  for (const SiteInput& input : site_.inputs) {
    const Slot* slot = registers + operands[input.operand];
    if (!input.path.empty() && !(slot = inputAt(slot, input)))
      return false;
    if (input.isScalar) {
      from_[i++] = reinterpret_cast<const std::byte*>(slot);
      continue;
    }
    if (slot->object->layout != boxedLayout)
      return false;
    const runtime::Value& value = boxed(*slot->object);
    if (value.kind() != runtime::ValueKind::Tensor)
      return false;
    const Tensor& tensor = value.tensor();
    if (!isSame(tensor.dtype(), input.dtype) ||
        (&tensor.shape() != inputs_[i].shape.get() && !takeShape(i, tensor.sharedShape())))
      return false;
    inputs_[i].tensor = &tensor;
    inputs_[i].given = inputs_[i].isGiven ? slot->object : nullptr;
    from_[i++] = tensor.bytes();
  }
  return true;
}

/// Notes the shape of an input, for which other code is needed unless the extents are those of
/// the call before; false when it is of another rank.
bool KernelCall::takeShape(size_t i, const runtime::SharedShape& shape) {
  if (shape->size() != site_.inputs[i].rank)
    return false;
  runtime::SharedShape& before = inputs_[i].shape;
  if (!before || *shape != *before)
    code_ = nullptr;
  before = shape;
  return true;
}

/// Puts the extents of the results behind those of the inputs, if the site is made for these.
bool KernelCall::addResultExtents() {
  size_t inputs = extents_.size();
  extents_.resize(inputs + site_.shapes.results.size());
  std::span<int64_t> all(extents_);
  return checks::findResults(site_.shapes, all.first(inputs), all.subspan(inputs));
}

KernelCall::Outcome KernelCall::refuse(runtime::Fault fault) {
  fault_ = std::move(fault);
  code_ = nullptr;
  return Outcome::Fault;
}

/// Finds what computes these sizes, if the site is made for them. A site that somebody made up may
/// have an expression for other shapes than it is given.
KernelCall::Outcome KernelCall::choose() {
  extents_.clear();
  for (const Input& input : inputs_)
    extents_.append(*input.shape);
  if (!kernel_ || !addResultExtents())
    return Outcome::Unfit;
  code_ = &kernel_->codeFor(extents_);
  forget();
  if (code_->problem())
    return refuse(*code_->problem());
  // Costs are estimates, so what is only somewhat dear is tried.
  constexpr double doubt = 20;
  if (code_->cost() > doubt * mostNanoseconds_)
    return refuse({runtime::FaultKind::Time, "a call takes longer than the run may"});
  takesLong_ = code_->cost() > 1e5;
  sharesResults_ = false;
  for (size_t i = 0; i < site_.results.size(); ++i)
    sharesResults_ |= !code_->results()[i].isWritten(i);
  return Outcome::Done;
}

/// The tensor of a result, which has the elements of another one if it can.
Tensor KernelCall::outputFor(size_t i) const {
  const runtime::CodeResult& result = code_->results()[i];
  const auto [isInput, index] = result.source;
  if (isInput && inputs_[index].tensor)
    return inputs_[index].tensor->reshaped(result.shape);
  if (!isInput && index != i && !site_.results[index].isScalar)
    return boxed(*made_[index].object).tensor().reshaped(result.shape);
  return Tensor::unwritten(result.type, result.shape, result.size);
}

/// False when there is no memory for one.
bool KernelCall::makeOutputs() {
  size_t i = 0;
  std::ranges::fill(made_, Slot());
  try {
    for (; i < site_.results.size(); ++i)
      makeOutput(i);
    return true;
  } catch (const std::bad_alloc&) {
    fault_ = runtime::memoryFault(code_->results()[i].type, *code_->results()[i].shape);
    giveUpOutputs();
    return false;
  }
}

void KernelCall::makeOutput(size_t i) {
  if (site_.results[i].isScalar) {
    to_[i] = reinterpret_cast<std::byte*>(&made_[i]);
    return;
  }
  Object*& object = made_[i].object;
  object = replaceable(i);
  if (!object)
    object = idle(i);
  if (!object) {
    object = heap_.box(runtime::tensorValue(outputFor(i)));
    keep(i);
  }
  to_[i] = const_cast<std::byte*>(boxed(*object).tensor().bytes());
}

/// A kept result that nobody refers to any more, which is owned from here on, or null.
Object* KernelCall::idle(size_t i) {
  for (Object* object : kept_[i].objects)
    if (object && isIdle(object)) {
      Heap::retain(object);
      return object;
    }
  return nullptr;
}

/// A given operand in whose memory the result may be computed, as nobody else refers to it; null
/// when there is none.
Object* KernelCall::replaceable(size_t i) const {
  auto isMade = [&](const Object* object) {
    return std::any_of(made_.begin(), made_.begin() + ptrdiff_t(i),
                       [&](Slot made) { return made.object == object; });
  };
  for (uint32_t input : code_->results()[i].replaceable)
    if (Object* object = inputs_[input].given; object && isOnlyOwner(object) &&
                                               std::ranges::count(from_, from_[input]) == 1 &&
                                               !isMade(object))
      return object;
  return nullptr;
}

/// Gives up what the call was given and what is no result now.
void KernelCall::releaseGiven(const Slot* registers, const uint16_t* operands) {
  for (uint16_t operand : given_) {
    Object* object = registers[operands[operand]].object;
    bool isResult = false;
    for (size_t i = 0; i < made_.size(); ++i)
      isResult |= !site_.results[i].isScalar && made_[i].object == object;
    if (!isResult)
      heap_.release(object);
  }
}

/// Keeps a result that is small and has elements of its own.
void KernelCall::keep(size_t i) {
  constexpr size_t most = 8192;
  Object* object = made_[i].object;
  if (!code_->results()[i].isWritten(i) || boxed(*object).tensor().byteSize() > most)
    return;
  Kept& kept = kept_[i];
  Object* before = std::exchange(kept.objects[kept.next], object);
  kept.next = (kept.next + 1) % kept.objects.size();
  Heap::retain(object);
  if (before)
    heap_.release(before);
}

/// Copies what results have from others whose memory they could not share.
void KernelCall::copyResults() {
  for (size_t i = 0; i < site_.results.size(); ++i) {
    const runtime::CodeResult& result = code_->results()[i];
    const auto [isInput, index] = result.source;
    const std::byte* from = isInput ? from_[index] : to_[index];
    if (from != to_[i])
      std::memcpy(to_[i], from, size_t(result.size) * result.type.bytes());
  }
}

Slot KernelCall::finish() {
  if (site_.resultLayout == none)
    return made_[0];
  Slot tuple;
  try {
    tuple.object = heap_.make(site_.resultLayout);
  } catch (const std::bad_alloc&) {
    giveUpOutputs();
    throw;
  }
  std::ranges::copy(made_, tuple.object->fields());
  return tuple;
}

void KernelCall::giveUpOutputs() {
  for (size_t i = 0; i < made_.size(); ++i)
    if (!site_.results[i].isScalar && made_[i].object)
      heap_.release(std::exchange(made_[i].object, nullptr));
}

KernelCall::Outcome KernelCall::run(const Slot* registers, const uint16_t* operands, Slot& result) {
  if (!gather(registers, operands))
    return Outcome::Unfit;
  if (!code_)
    if (Outcome outcome = choose(); outcome != Outcome::Done)
      return outcome;
  if (!makeOutputs())
    return Outcome::Fault;
  if (auto fault = code_->run(from_, to_)) {
    fault_ = *std::move(fault);
    giveUpOutputs();
    return Outcome::Fault;
  }
  if (sharesResults_)
    copyResults();
  releaseGiven(registers, operands);
  result = finish();
  return Outcome::Done;
}

} // namespace vm
