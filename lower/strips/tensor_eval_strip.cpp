// The loops around the kernels.
#include "lower/strips/tensor_eval_strip.h"

#include <algorithm>

namespace lower {

namespace {

constexpr size_t alignment = 64;

size_t bytesOf(const Nest& nest, const Register& reg) {
  size_t count = (reg.lane == none ? 1 : nest.stripLength) * reg.perLane;
  return (count * elementBytes(reg.element) + alignment - 1) / alignment * alignment;
}

/// What lies in front of the registers' own memory: an index and a count per axis, two places per
/// register.
size_t tableBytes(const Nest& nest) {
  size_t axis = sizeof(int64_t) + sizeof(size_t), reg = 2 * sizeof(std::byte*);
  size_t bytes = nest.graph.extents.size() * axis + nest.registers.size() * reg;
  return (bytes + alignment - 1) / alignment * alignment;
}

size_t runnerBytes(const Nest& nest) {
  size_t total = tableBytes(nest);
  for (const Register& reg : nest.registers)
    total += bytesOf(nest, reg);
  return total;
}

} // namespace

StripRunner::StripRunner(const Nest& nest, const std::byte* const* tensors)
    : nest_(nest), tensors_(tensors), memory_(runnerBytes(nest)) {
  size_t axes = nest.graph.extents.size(), registers = nest.registers.size();
  index_ = reinterpret_cast<int64_t*>(memory_.bytes());
  count_ = reinterpret_cast<size_t*>(index_ + axes);
  registers_ = reinterpret_cast<std::byte**>(count_ + axes);
  own_ = registers_ + registers;
  std::fill_n(index_, axes, 0);
  std::fill_n(count_, axes, 1);
  std::byte* next = memory_.bytes() + tableBytes(nest);
  for (size_t i = 0; i < registers; ++i) {
    registers_[i] = own_[i] = next;
    next += bytesOf(nest, nest.registers[i]);
  }
  setConstants();
}

void StripRunner::setConstants() {
  for (const ConstantRegister& constant : nest_.constants) {
    const GraphValue& value = nest_.graph.values[constant.value];
    int64_t integer =
        value.kind == GraphValueKind::Affine ? value.affine.constant.number : value.integer;
    bool real = isFloat(value.element);
    const std::byte* from = real ? reinterpret_cast<const std::byte*>(&value.real)
                                 : reinterpret_cast<const std::byte*>(&integer);
    std::byte* to = registers_[constant.number];
    castKernel(real ? Element::Float64 : Element::Int64, value.element)(to, &from, 1);
    if (nest_.registers[constant.number].lane != none) {
      const std::byte* first = to;
      splatKernel(value.element)(to, &first, nest_.stripLength);
    }
  }
}

bool StripRunner::runMap(int64_t first, int64_t last, std::byte* out) {
  out_ = out;
  const List<uint32_t>& chain = nest_.chain;
  if (!runBlock(chain[0]))
    return false;
  if (chain.size() == 1)
    return true;
  auto beginOf = [&](size_t depth) { return depth == 1 ? first : 0; };
  auto endOf = [&](size_t depth) {
    return depth == 1 ? last : nest_.graph.extents[nest_.blocks[chain[depth]].axis].number;
  };
  auto enter = [&](size_t depth) {
    const Block& block = nest_.blocks[chain[depth]];
    if (block.strips)
      count_[block.axis] =
          size_t(std::min<int64_t>(int64_t(nest_.stripLength), endOf(depth) - index_[block.axis]));
    return runBlock(chain[depth]);
  };
  size_t depth = 1;
  index_[nest_.blocks[chain[1]].axis] = first;
  while (depth > 0) {
    const Block& block = nest_.blocks[chain[depth]];
    int64_t& position = index_[block.axis];
    if (position >= endOf(depth)) {
      if (--depth > 0)
        ++index_[nest_.blocks[chain[depth]].axis];
      continue;
    }
    if (!enter(depth))
      return false;
    if (depth + 1 < chain.size()) {
      ++depth;
      index_[nest_.blocks[chain[depth]].axis] = beginOf(depth);
    } else {
      position += block.strips ? int64_t(nest_.stripLength) : 1;
    }
  }
  return true;
}

bool StripRunner::holdsNowhere(uint32_t mask) const {
  std::byte any{0};
  size_t count = countOf(nest_.registers[mask].lane);
  for (size_t j = 0; j < count; ++j)
    any |= registers_[mask][j];
  return any == std::byte(0);
}

bool StripRunner::runBlock(uint32_t block) {
  for (const Step& step : nest_.blocks[block].steps) {
    if (step.mask != none && holdsNowhere(step.mask)) {
      if (step.kind == StepKind::Load && !step.copies)
        registers_[step.out] = own_[step.out];
      continue;
    }
    if (!runStep(step))
      return false;
  }
  return true;
}

bool StripRunner::runStep(const Step& step) {
  switch (step.kind) {
  case StepKind::Apply:
    runApply(step);
    return true;
  case StepKind::Load:
    runLoad(step);
    return true;
  case StepKind::Affine:
    runAffine(step);
    return true;
  case StepKind::Outside:
    runOutside(step);
    return true;
  case StepKind::Splat: {
    const std::byte* in = registers_[step.operands[0]];
    step.kernel(registers_[step.out], &in, nest_.stripLength);
    return true;
  }
  case StepKind::Start:
  case StepKind::Accumulate:
    runReduction(step);
    return true;
  case StepKind::Loop:
    return runLoop(nest_.blocks[step.block]);
  case StepKind::Check:
    return runCheck(step);
  case StepKind::Place: {
    int64_t offset = valueOf(nest_.graph.store);
    registers_[step.out] =
        out_ + offset * int64_t(elementBytes(nest_.graph.values[step.out].element));
    return true;
  }
  case StepKind::Store:
    runStore(step);
    return true;
  }
  return true;
}

bool StripRunner::runLoop(const Block& block) {
  uint32_t number = uint32_t(&block - nest_.blocks.data());
  int64_t extent = nest_.graph.extents[block.axis].number;
  int64_t step = block.strips ? int64_t(nest_.stripLength) : 1;
  int64_t& position = index_[block.axis];
  for (position = 0; position < extent; position += step) {
    if (block.strips)
      count_[block.axis] = size_t(std::min(step, extent - position));
    if (!runBlock(number))
      return false;
  }
  return true;
}

void StripRunner::runAffine(const Step& step) {
  int64_t value = valueOf(nest_.graph.values[step.value].affine);
  auto* out = reinterpret_cast<int64_t*>(registers_[step.out]);
  size_t count = countOf(step.lane);
  for (size_t j = 0; j < count; ++j)
    out[j] = value + int64_t(j) * step.laneStride.number;
}

void StripRunner::runApply(const Step& step) {
  const std::byte* in[3] = {};
  for (size_t i = 0; i < 3 && step.operands[i] != none; ++i)
    in[i] = registers_[step.operands[i]];
  step.kernel(registers_[step.out], in, countOf(step.lane));
}

void StripRunner::runReduction(const Step& step) {
  const ReducePlan& plan = nest_.reduces[step.value];
  std::byte* accumulators = registers_[plan.accumulators];
  size_t count = countOf(step.lane);
  if (step.kind == StepKind::Start) {
    auto* start = reinterpret_cast<const std::byte*>(&plan.kernels.start);
    splatKernel(plan.kernels.accumulator)(accumulators, &start, count * plan.kernels.perLane);
    return;
  }
  const std::byte* in = registers_[step.operands[0]];
  int64_t position = valueOf(nest_.graph.values[step.value].affine);
  int64_t positionStep = step.laneStride.number;
  if (plan.kernels.countsDown) {
    position = INT64_MAX - position;
    positionStep = -positionStep;
  }
  if (plan.lane == none)
    plan.kernels.addLanes(accumulators, in, count, position);
  else
    plan.kernels.addAll(accumulators, in, count, position, positionStep);
}

void StripRunner::runStore(const Step& step) {
  Element element = nest_.graph.values[step.out].element;
  int64_t offset = valueOf(nest_.graph.store);
  scatterKernel(element)(out_ + offset * int64_t(elementBytes(element)), step.laneStride.number,
                         registers_[step.operands[0]], countOf(step.lane));
}

} // namespace lower
