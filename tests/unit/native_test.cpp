// Machine code of the nests of all operators gives what the reference gives, and touches no memory
// that is not its own: every buffer lies at a page that may not be touched.
//
// Without LLVM there is no native code, and nothing to test.
#include "codegen/native/kernel.h"
#include "codegen/native/native_code.h"
#include "lower/loops/choose.h"
#include "lower/loops/rewrite.h"
#include "tests/harness/guarded_memory.h"
#include "tests/harness/processors.h"
#include "tests/harness/random_schedule.h"
#include "tests/harness/run_nest.h"
#include "tests/unit/operator_nests.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <map>

using codegen::Processor;
using harness::GuardedMemory;
using harness::Random;
using loops::Nest;

namespace {

/// Runs the parts of a nest on this thread, with its scratch between guards; false where something
/// is a fault.
bool runParts(const codegen::CompiledNest& compiled, std::vector<std::byte*> pointers,
              bool endsAtGuard) {
  const auto values = codegen::valuesOf(compiled.code.steps, {});
  auto countOf = [&](uint32_t step) { return std::max<int64_t>(0, values[step].value()); };
  std::vector<GuardedMemory> scratch;
  for (const codegen::CodeScratch& each : compiled.code.scratch) {
    scratch.emplace_back(size_t(countOf(each.elements)) * each.elementBytes, endsAtGuard);
    pointers.push_back(scratch.back().bytes());
  }
  for (size_t i = 0; i < compiled.parts.size(); ++i) {
    uint32_t iterations = compiled.code.parts[i].iterations;
    int64_t count = iterations == codegen::CodePart::once ? 1 : countOf(iterations);
    if (compiled.parts[i](pointers.data(), nullptr, 0, count) != 0)
      return false;
  }
  return true;
}

/// What native code gives; nothing where it says that something is a fault.
std::optional<std::vector<runtime::Value>> runGuarded(const codegen::CompiledNest& compiled,
                                                      const Nest& nest, const NestCase& made,
                                                      bool endsAtGuard) {
  std::vector<GuardedMemory> memory;
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
  for (const runtime::Value& input : made.inputs) {
    const runtime::Tensor& tensor = input.tensor();
    memory.emplace_back(tensor.byteSize(), endsAtGuard);
    std::memcpy(memory.back().bytes(), tensor.bytes(), tensor.byteSize());
    inputs.push_back(memory.back().bytes());
  }
  std::vector<runtime::Tensor> results;
  for (const loops::Buffer& buffer : nest.buffers) {
    if (buffer.space != loops::Space::Output)
      continue;
    runtime::Shape shape;
    for (loops::Form extent : buffer.extents)
      shape.push_back(*nest.table.constantOf(extent));
    results.emplace_back(buffer.dtype, shape);
    memory.emplace_back(results.back().byteSize(), endsAtGuard);
    outputs.push_back(memory.back().bytes());
  }
  std::vector<std::byte*> pointers;
  for (const std::byte* input : inputs)
    pointers.push_back(const_cast<std::byte*>(input));
  pointers.insert(pointers.end(), outputs.begin(), outputs.end());
  const bool isGood = runParts(compiled, pointers, endsAtGuard);
  codegen::NativeRun run(std::make_shared<codegen::CompiledNest>(compiled), {});
  CHECK(run.run(inputs, outputs, 2) == isGood);
  if (!isGood)
    return std::nullopt;
  // Once more from behind, which leaves no piece of a loop out either.
  for (size_t i = 0; i < results.size(); ++i)
    std::memset(outputs[i], 0x55, results[i].byteSize());
  CHECK(run.run(inputs, outputs, endsAtGuard ? 1 : 3, true));
  std::vector<runtime::Value> values;
  for (size_t i = 0; i < results.size(); ++i) {
    std::memcpy(results[i].bytes(), outputs[i], results[i].byteSize());
    values.push_back(runtime::tensorValue(std::move(results[i])));
  }
  return values;
}

struct Tally {
  size_t compiled = 0, faults = 0;
  std::map<std::string, size_t> refused;
};

void compare(const NestCase& made, const Nest& nest, const Processor& processor, Tally& tally) {
  INFO(loops::textOf(nest));
  auto compiled = codegen::compileNest(nest, processor);
  if (!compiled) {
    ++tally.refused[compiled.failure().message];
    return;
  }
  ++tally.compiled;
  auto results = runGuarded(**compiled, nest, made, tally.compiled % 2 == 0);
  if (results) {
    CHECK(made.disagreement(*results, nullptr) == "");
    return;
  }
  ++tally.faults;
  harness::NestRun run = harness::runNest(nest, {}, made.inputs);
  CHECK(run.fault.has_value());
}

void report(const Tally& tally) {
  INFO(tally.compiled << " compiled, " << tally.faults << " of them found faults");
  size_t refused = 0;
  for (const auto& [reason, count] : tally.refused) {
    UNSCOPED_INFO(count << " refused: " << reason);
    refused += count;
  }
  CHECK(tally.compiled > 20 * refused);
  CHECK(tally.faults > 0);
}

} // namespace

TEST_CASE("native code of chosen schedules gives what the reference gives") {
  for (const Processor& processor : harness::processorsAtHand()) {
    INFO(processor.name << " with vectors of " << processor.vectorBytes() << " bytes");
    loops::MachineModel machine = codegen::modelOf(processor);
    Tally tally;
    forEachNestCase(harness::mixSeed(Catch::rngSeed(), 5), [&](const NestCase& made, Random&) {
      compare(made, loops::scheduled(made.nest, machine).nest, processor, tally);
    });
    report(tally);
  }
}

TEST_CASE("native code of random schedules gives what the reference gives") {
  auto processor = codegen::hostProcessor();
  if (!processor)
    return;
  Tally tally;
  forEachNestCase(harness::mixSeed(Catch::rngSeed(), 6), [&](const NestCase& made, Random& random) {
    compare(made, harness::drawSchedule(made.nest, 16, random).nest, *processor, tally);
  });
  report(tally);
}

TEST_CASE("native code of schedules by other choices gives what the reference gives") {
  auto processor = codegen::hostProcessor();
  if (!processor)
    return;
  Tally tally;
  forEachNestCase(harness::mixSeed(Catch::rngSeed(), 7), [&](const NestCase& made, Random& random) {
    loops::MachineModel machine = codegen::modelOf(*processor);
    for (const loops::Knob& knob : loops::knobs())
      if (random.chance(50))
        machine.choices.*knob.choice = random.pick(knob.values);
    compare(made, loops::scheduled(made.nest, machine).nest, *processor, tally);
  });
  report(tally);
}
