// Packing bits and reading them.
#include "stdlib/ops/conv/bits.h"

#include <fmt/format.h>

namespace stdlib {

using namespace lang;
using runtime::Checked;
using runtime::DType;
using runtime::Problem;

namespace {

/// Numbers have at most so many bits, as many as the masks that TVM packs with.
constexpr int64_t mostBits = 8;

/// The number of words along an extent; a problem when they are not whole.
Checked<const Dim*> wordsOf(TypeContext& types, const Dim* extent, DType word) {
  if (extent->isConstant() && extent->value % widthOf(word) != 0)
    return Problem{fmt::format("{} values cannot be packed into words of {} bits", extent->value,
                               widthOf(word))};
  return types.floorDivide(extent, widthOf(word));
}

/// Bit `plane` of a number, as one of `dtype`.
Scalar bitOf(Scalar value, Scalar plane, DType dtype) {
  Scalar moved = apply(ScalarFunction::RightShift, {value, cast(plane, value.dtype())});
  return cast(apply(ScalarFunction::BitAnd, {moved, number(value, 1)}), dtype);
}

} // namespace

Checked<int64_t> readBits(const Attributes& attributes, std::string_view name) {
  int64_t bits = attributes.integer(name);
  if (bits < 1 || bits > mostBits)
    return Problem{fmt::format("`{}` must be from 1 to {}, but it is {}", name, mostBits, bits)};
  return bits;
}

Checked<DType> readWord(const Attributes& attributes, std::string_view name) {
  auto word = attributes.dtype(name);
  if (!word || word->isFloat() || word->isSigned() || !word->isInteger())
    return Problem{fmt::format("`{}` must be uint8, uint16, uint32 or uint64", name)};
  return *word;
}

int64_t widthOf(DType word) {
  return int64_t(word.bytes()) * 8;
}

Checked<std::vector<const Dim*>> packedShape(TypeContext& types, const Packing& packing,
                                             Dims shape) {
  std::vector<const Dim*> packed(shape.begin(), shape.end());
  auto words = wordsOf(types, shape[packing.axis], packing.word);
  if (!words)
    return words.failure();
  packed[packing.axis] = *words;
  packed.insert(packed.begin() + ptrdiff_t(packing.plane), types.constant(packing.bits));
  return packed;
}

TensorHandle packed(ComputeCall& call, const Packing& packing, const TensorHandle& data) {
  int64_t width = widthOf(packing.word);
  Extents shape = data.shape();
  shape[packing.axis] = floorDivide(shape[packing.axis], width);
  shape.insert(shape.begin() + ptrdiff_t(packing.plane), call.integer(packing.bits));
  return call.define(shape, [&](const Position& at) {
    Position place = eraseAt(at, packing.plane);
    return call.sumOver({call.integer(width)}, [&](const Position& k) {
      Position from = replaceAt(place, packing.axis, place[packing.axis] * double(width) + k[0]);
      Scalar bit = bitOf(data(from), at[packing.plane], packing.word);
      Scalar distance = cast(double(width - 1) - k[0], packing.word);
      return apply(ScalarFunction::LeftShift, {bit, distance});
    });
  });
}

TensorHandle lowestBits(ComputeCall& call, const TensorHandle& tensor, int64_t bits, DType dtype) {
  return call.define(tensor.shape(), [&](const Position& at) {
    // In int64, since the mask of eight bits is no int8.
    Scalar value = cast(tensor(at), runtime::Int64);
    Scalar mask = call.integer((int64_t(1) << bits) - 1);
    return cast(apply(ScalarFunction::BitAnd, {value, mask}), dtype);
  });
}

TensorHandle unpacked(ComputeCall& call, const Packing& packing, const TensorHandle& words,
                      DType dtype) {
  int64_t width = widthOf(words.dtype());
  Extents shape = words.shape();
  Scalar planes = shape[packing.plane];
  shape.erase(shape.begin() + ptrdiff_t(packing.plane));
  shape[packing.axis] = shape[packing.axis] * double(width);
  return call.define(shape, [&](const Position& at) {
    Scalar index = at[packing.axis];
    Position word = replaceAt(at, packing.axis, floorDivide(index, width));
    Scalar place = double(width - 1) - floorMod(index, width);
    return call.sumOver({planes}, [&](const Position& plane) {
      Scalar bit = bitOf(words(insertAt(word, packing.plane, plane[0])), place, dtype);
      return apply(ScalarFunction::LeftShift, {bit, cast(plane[0], dtype)});
    });
  });
}

} // namespace stdlib
