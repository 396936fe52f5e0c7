// Take the tensors out of the operands; if their extents are new, work out those of the results and
// look for a plan; then run it.
#include "vm/kernel.h"

#include <cstring>

namespace vm {

using runtime::Shape;
using runtime::Tensor;

KernelCall::KernelCall(const KernelSite& site)
    : site_(site), kernel_(site.function), from_(site.inputs.size()), tensors_(site.inputs.size()),
      to_(site.results.size()), scalars_(site.results.size()) {
  size_t extents = 0;
  for (const KernelInput& input : site.inputs)
    extents += input.rank;
  extents_.assign(extents, -1);
}

/// Looks at the inputs; false when they are not of the types of the site.
bool KernelCall::gather(std::span<const Slot> operands) {
  bool isSame = runner_ != nullptr;
  int64_t* extent = extents_.data();
  for (size_t i = 0; i < site_.inputs.size(); ++i) {
    const KernelInput& input = site_.inputs[i];
    const Slot* slot = &operands[input.operand];
    for (KernelStep step : input.path) {
      if (slot->object->layout != step.layout)
        return false;
      slot = &slot->object->fields()[step.field];
    }
    if (input.isScalar) {
      from_[i] = reinterpret_cast<const std::byte*>(slot);
      continue;
    }
    if (slot->object->layout != boxedLayout)
      return false;
    const runtime::Value& value = boxed(*slot->object);
    if (value.kind() != runtime::ValueKind::Tensor)
      return false;
    const Tensor& tensor = value.tensor();
    if (tensor.dtype() != input.dtype || tensor.rank() != input.rank)
      return false;
    for (int64_t each : tensor.shape()) {
      isSame &= *extent == each;
      *extent++ = each;
    }
    tensors_[i] = &tensor;
    from_[i] = tensor.bytes();
  }
  if (!isSame)
    runner_ = nullptr;
  return true;
}

/// The extents of the results in one row, if the site is made for such inputs.
std::optional<std::vector<int64_t>> KernelCall::resultExtents() const {
  if (!tensor::holds(site_.known, extents_))
    return std::nullopt;
  std::vector<int64_t> found = site_.resultExtents;
  if (site_.shapes && !site_.shapes->apply(extents_, found))
    return std::nullopt;
  std::vector<int64_t> all = extents_;
  all.insert(all.end(), found.begin(), found.end());
  return tensor::holds(site_.known, all) ? std::optional(std::move(found)) : std::nullopt;
}

/// Finds what computes these sizes; false when the site is not made for them.
bool KernelCall::choose() {
  auto found = resultExtents();
  if (!found)
    return false;
  auto shapesOf = [](const auto& tensors, const std::vector<int64_t>& extents) {
    std::vector<Shape> shapes;
    auto next = extents.begin();
    for (const auto& tensor : tensors) {
      shapes.emplace_back(next, next + tensor.rank);
      next += tensor.rank;
    }
    return shapes;
  };
  runner_ = kernel_.runnerFor(shapesOf(site_.inputs, extents_), shapesOf(site_.results, *found));
  return true;
}

/// The tensor of a result, which has the elements of another one if it can.
Tensor KernelCall::outputFor(size_t i) const {
  lower::ResultSource source = runner_->sources()[i];
  const runtime::SharedShape& shape = runner_->resultShape(i);
  if (source.isInput && tensors_[source.index])
    return tensors_[source.index]->reshaped(shape);
  if (!source.isInput && source.index != i && !site_.results[source.index].isScalar)
    return made_[source.index]->reshaped(shape);
  return Tensor::unwritten(runner_->resultType(i), shape, runner_->resultSize(i));
}

/// False when there is no memory for one.
bool KernelCall::makeOutputs() {
  made_.clear();
  for (size_t i = 0; i < site_.results.size(); ++i)
    try {
      makeOutput(i);
    } catch (const std::bad_alloc&) {
      fault_ = runtime::memoryFault(runner_->resultType(i), *runner_->resultShape(i));
      return false;
    }
  return true;
}

void KernelCall::makeOutput(size_t i) {
  if (site_.results[i].isScalar) {
    made_.emplace_back();
    to_[i] = reinterpret_cast<std::byte*>(&scalars_[i]);
  } else {
    to_[i] = made_.emplace_back(outputFor(i))->bytes();
  }
}

/// Copies what results have from others whose memory they could not share.
void KernelCall::copyResults() {
  for (size_t i = 0; i < site_.results.size(); ++i) {
    lower::ResultSource source = runner_->sources()[i];
    const std::byte* from = source.isInput ? from_[source.index] : to_[source.index];
    if (from != to_[i])
      std::memcpy(to_[i], from, made_[i] ? made_[i]->byteSize() : runner_->resultType(i).bytes());
  }
}

Slot KernelCall::slotOf(size_t i, Heap& heap) {
  Slot slot = scalars_[i];
  if (!site_.results[i].isScalar)
    slot.object = heap.box(runtime::tensorValue(*std::move(made_[i])));
  return slot;
}

Slot KernelCall::finish(Heap& heap) {
  if (site_.resultLayout == none)
    return slotOf(0, heap);
  Slot tuple;
  tuple.object = heap.make(site_.resultLayout);
  if (!tuple.object)
    throw std::bad_alloc();
  for (size_t i = 0; i < site_.results.size(); ++i)
    tuple.object->fields()[i] = slotOf(i, heap);
  return tuple;
}

KernelCall::Outcome KernelCall::run(std::span<const Slot> operands, Heap& heap, Slot& result) {
  if (!gather(operands) || (!runner_ && !choose()))
    return Outcome::Unfit;
  if (!makeOutputs())
    return Outcome::Fault;
  if (auto fault = runner_->run(from_, to_)) {
    fault_ = *std::move(fault);
    return Outcome::Fault;
  }
  copyResults();
  result = finish(heap);
  return Outcome::Done;
}

} // namespace vm
