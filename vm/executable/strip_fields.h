// What stands in a file of the strip programs of kernels. They follow from the tensor functions, so a
// text of code does not have them.
#pragma once

#include "codegen/strips/sized_program.h"
#include "vm/executable/expression_table.h"

namespace executable {

template <>
inline constexpr auto namesOf<lower::Element> = std::to_array<std::string_view>(
    {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
     "bfloat16", "float32", "float64"});
template <>
inline constexpr auto namesOf<strips::KernelKind> =
    std::to_array<std::string_view>({"apply", "cast", "addLanes", "addAll"});
template <>
inline constexpr auto namesOf<strips::Code> = std::to_array<std::string_view>(
    {"sum",      "quotient", "least",  "greatest", "count", "loop",  "next",        "unless",
     "allocate", "row",      "load",   "outside",  "position", "number",   "splat",
     "apply",    "store",    "storeAt", "scan",    "join",  "reduce",      "addProducts",
     "addScaled", "joinPlaces", "check", "contract", "stop"});

template <typename Archive>
void fields(Archive& archive, runtime::ResultSource& source) {
  archive(source.isInput, source.index);
}
template <typename Archive>
void fields(Archive& archive, strips::ProgramResult& result) {
  archive(result.type, result.rank, result.source, result.replaceable);
}
template <typename Archive>
void fields(Archive& archive, strips::Instruction& at) {
  archive(at.code, at.flags, at.element, at.kernel, at.out, at.a, at.b, at.c, at.count, at.target);
}
template <typename Archive>
void fields(Archive& archive, strips::KernelName& name) {
  archive(name.kind, name.function, name.combiner, name.from, name.to);
}
template <typename Archive>
void fields(Archive& archive, strips::Place& place) {
  archive(place.value, place.position, place.lane, place.extent, place.stride, place.dimension,
          place.isStrip);
}
template <typename Archive>
void fields(Archive& archive, strips::Access& access) {
  archive(access.buffer, access.element, access.offset, access.lane, access.fill,
          access.firstPlace, access.placeCount);
}
template <typename Archive>
void fields(Archive& archive, strips::Axis& axis) {
  archive(axis.variable, axis.end, axis.stride);
}
template <typename Archive>
void fields(Archive& archive, strips::Side& side) {
  archive(side.firstAxis, side.axisCount, side.count, side.begin, side.end, side.root,
          side.runsAlongSum);
}
template <typename Archive>
void fields(Archive& archive, strips::Contraction& contraction) {
  archive(contraction.buffer, contraction.offset, contraction.element, contraction.panel,
          contraction.firstBatch, contraction.batchCount, contraction.firstSummed,
          contraction.summedCount, contraction.rows, contraction.columns);
}
template <typename Archive>
void fields(Archive& archive, strips::BufferInfo& info) {
  archive(info.element, info.offset, info.bytes);
}
template <typename Archive>
void fields(Archive& archive, strips::RegisterInfo& info) {
  archive(info.offset, info.bytes);
}
template <typename Archive>
void fields(Archive& archive, strips::Program& program) {
  archive(program.code, program.numbers, program.sizeCount, program.buffers, program.inputs,
          program.givenBuffers, program.registers, program.memoryBytes, program.stripLength,
          program.kernels, program.accesses, program.places, program.axes, program.contractions,
          program.parallelCosts);
}
template <typename Archive>
void fields(Archive& archive, strips::SizedProgram& sized) {
  archive(sized.pattern, sized.leastSize, sized.inputRanks, sized.results, sized.program);
}

} // namespace executable
