// The life of a run: buffers, then stages in order. Tensors between stages lie in one block of
// memory, those that are not needed at the same time one upon the other.
#include "lower/strips/runner.h"

#include "lower/strips/plan_schedule.h"
#include "lower/strips/tensor_eval_contract.h"
#include "runtime/parts.h"
#include "runtime/pool.h"

#include <algorithm>

namespace lower {

namespace {

using runtime::Fault;

size_t bytesOf(const PlanTensor& tensor) {
  return size_t(tensor.count.number) * elementBytes(tensor.element);
}

size_t bytesOf(const Nest& nest) {
  size_t bytes = nest.graph.values.size() * sizeof(GraphValue);
  for (const Block& block : nest.blocks)
    bytes += sizeof(Block) + block.steps.size() * sizeof(Step);
  for (const Register& reg : nest.registers)
    bytes += nest.stripLength * elementBytes(reg.element) * reg.perLane;
  return bytes;
}

double costOf(const StagePlan& stage) {
  if (stage.kind == StagePlanKind::Contract)
    return contractionCost(stage.contraction);
  return stage.kind == StagePlanKind::Map ? stage.map.cost : 0;
}

/// A tensor in scratch memory, until the stage that reads it last.
struct Placed {
  size_t offset, bytes, lastUse;
};

/// The lowest place of so many bytes that no tensor has that is still needed; `placed` is in the
/// order of places.
size_t placeFor(size_t bytes, const List<Placed>& placed) {
  size_t offset = 0;
  for (const Placed& other : placed) {
    if (offset + bytes <= other.offset)
      break;
    offset = std::max(offset, other.offset + other.bytes);
  }
  return offset;
}

/// Whether registers start with numbers that hang on extents.
bool hasOpenConstants(const Nest& nest) {
  return std::ranges::any_of(nest.constants, [&](ConstantRegister constant) {
    return !nest.graph.values[constant.value].affine.constant.isConstant();
  });
}

runtime::Shape shapeOf(const PlanTensor& tensor) {
  runtime::Shape shape;
  for (Size extent : tensor.shape)
    shape.push_back(extent.number);
  return shape;
}

} // namespace

Runner::Runner(Program program) : program_(std::move(program)) {
  problem_ = {program_.problemKind, std::move(program_.problem)};
  if (problem())
    return;
  openSizes_ = openSizes(program_);
  buffers_.resize(program_.tensors.size());
  strips_.resize(program_.stages.size());
  results_ = std::move(program_.codeResults);
  takeNumbers();
}

void Runner::renew(const Sizes& sizes) {
  for (Size* size : openSizes_)
    size->number = sizes.valueOf(size->form);
  for (size_t i = 0; i < program_.stages.size(); ++i)
    if (StagePlan& stage = program_.stages[i]; stage.kind == StagePlanKind::Map) {
      size_t length = stage.map.stripLength;
      measure(stage.map);
      if (length != stage.map.stripLength || hasOpenConstants(stage.map))
        strips_[i].reset();
    } else if (stage.kind == StagePlanKind::Contract) {
      measure(stage.contraction.rows.nest);
      measure(stage.contraction.columns.nest);
    }
  takeNumbers();
}

/// Derives what hangs on the numbers of the program.
void Runner::takeNumbers() {
  for (size_t i = 0; i < results_.size(); ++i) {
    const PlanTensor& tensor = program_.tensors[program_.results[i]];
    results_[i].shape = runtime::shared(shapeOf(tensor));
    results_[i].size = tensor.count.number;
  }
  planScratch();
  cost_ = 0;
  for (const StagePlan& stage : program_.stages)
    cost_ += costOf(stage);
}

/// Whether stages make tensors that are no results.
bool Runner::hasScratch() const {
  return std::ranges::any_of(program_.stages, [&](const StagePlan& stage) {
    return stage.kind != StagePlanKind::Reshape &&
           std::ranges::none_of(program_.results,
                                [&](uint32_t result) { return rootOf(result) == stage.result; });
  });
}

void Runner::planScratch() {
  constexpr size_t alignment = 64;
  scratchBytes_ = 0;
  largest_ = nullptr;
  if (!hasScratch())
    return;
  List<size_t> lastUses(program_.tensors.size());
  Flags isOutput(program_.tensors.size());
  for (uint32_t tensor = 0; tensor < program_.tensors.size(); ++tensor) {
    size_t& last = lastUses[rootOf(tensor)];
    last = std::max(last, program_.tensors[tensor].lastUse);
  }
  for (uint32_t result : program_.results)
    isOutput[rootOf(result)] = true;
  offsets_.assign(program_.tensors.size(), nowhere);
  List<Placed> placed;
  for (size_t i = 0; i < program_.stages.size(); ++i) {
    uint32_t tensor = program_.stages[i].result;
    placed.eraseIf([&](const Placed& other) { return other.lastUse < i; });
    if (rootOf(tensor) != tensor || isOutput[tensor])
      continue;
    const PlanTensor& plan = program_.tensors[tensor];
    size_t bytes = (bytesOf(plan) + alignment - 1) / alignment * alignment;
    size_t offset = placeFor(bytes, placed);
    offsets_[tensor] = offset;
    scratchBytes_ = std::max(scratchBytes_, offset + bytes);
    if (!largest_ || bytesOf(*largest_) < bytesOf(plan))
      largest_ = &plan;
    // A tensor that nothing reads is still written.
    Placed own{offset, bytes, std::max(lastUses[tensor], i)};
    placed.insert(std::ranges::upper_bound(placed, offset, {}, &Placed::offset), own);
  }
}

size_t Runner::bytes() const {
  size_t bytes = sizeof *this + program_.tensors.size() * (sizeof(PlanTensor) + 32) +
                 openSizes_.size() * sizeof(Size*);
  for (const StagePlan& stage : program_.stages)
    bytes += sizeof stage + bytesOf(stage.map) + bytesOf(stage.contraction.rows.nest) +
             bytesOf(stage.contraction.columns.nest);
  return bytes;
}

std::optional<Fault> Runner::run(std::span<const std::byte* const> inputs,
                                 std::span<std::byte* const> outputs) {
  try {
    runtime::Block scratch(scratchBytes_);
    for (size_t i = 0; i < inputs.size(); ++i)
      buffers_[i] = const_cast<std::byte*>(inputs[i]);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (results_[i].isWritten(i))
        buffers_[rootOf(program_.results[i])] = outputs[i];
    if (scratchBytes_ > 0)
      placeScratch(scratch.bytes());
    for (size_t i = 0; i < program_.stages.size(); ++i)
      if (auto fault = runStage(i))
        return fault;
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return largest_ ? runtime::memoryFault(largest_->dtype, shapeOf(*largest_))
                    : Fault{runtime::FaultKind::Memory, "out of memory"};
  }
}

void Runner::placeScratch(std::byte* scratch) {
  for (size_t tensor = 0; tensor < buffers_.size(); ++tensor)
    if (offsets_[tensor] != nowhere)
      buffers_[tensor] = scratch + offsets_[tensor];
}

std::optional<Fault> Runner::runStage(size_t number) {
  const StagePlan& stage = program_.stages[number];
  std::byte* out = buffers_[stage.result];
  switch (stage.kind) {
  case StagePlanKind::Map:
    return runMap(number, stage.map, out);
  case StagePlanKind::Contract:
    runContraction(stage.contraction, buffers_.data(), out);
    return std::nullopt;
  case StagePlanKind::Scan: {
    const Scan& scan = stage.scan;
    scan.kernel(out, buffers_[stage.source],
                {scan.outer.number, scan.extent.number, scan.inner.number, scan.exclusive,
                 scan.multiplies});
    return std::nullopt;
  }
  case StagePlanKind::Reshape:
    buffers_[stage.result] = buffers_[stage.source];
    return std::nullopt;
  case StagePlanKind::Empty:
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Fault> Runner::runMap(size_t number, const Nest& nest, std::byte* out) {
  int64_t extent = 1;
  if (nest.chain.size() > 1)
    extent = nest.graph.extents[nest.blocks[nest.chain[1]].axis].number;
  auto runWith = [&](StripRunner& runner, int64_t first, int64_t last) {
    return runner.runMap(first, last, out)
               ? std::nullopt
               : std::optional(Fault{runtime::FaultKind::Data, runner.problem()});
  };
  unsigned threads = runtime::threadsFor(nest.cost);
  if (threads == 1) {
    if (!strips_[number])
      strips_[number] = std::make_unique<StripRunner>(nest, buffers_.data());
    return runWith(*strips_[number], 0, extent);
  }
  int64_t grain = nest.blocks[nest.chain.back()].axis == nest.lanes.result && nest.chain.size() == 2
                      ? int64_t(nest.stripLength)
                      : 1;
  return runtime::runParts(extent, grain, threads, [&](int64_t first, int64_t last) {
    StripRunner runner(nest, buffers_.data());
    return runWith(runner, first, last);
  });
}

} // namespace lower
