// Numbers are drawn as doubles and written as the element type; the ends of integer types are
// written as bits, since double cannot hold them.
#include "tests/harness/operand_data.h"

#include "runtime/half.h"
#include "tests/harness/run_operator.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace harness {

using runtime::Tensor;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double specialReals[] = {0.0,  -0.0, 1.0,   1.0,      -1.0,      0.5, 1.5,
                                   -2.5, 1e30, 1e-30, infinity, -infinity, NAN};

template <typename T>
void write(Tensor& tensor, std::span<const double> values) {
  std::span<T> elements = tensor.elements<T>();
  for (size_t i = 0; i < values.size(); ++i)
    elements[i] = T(float(values[i]));
}

void writeReals(Tensor& tensor, std::span<const double> values) {
  if (tensor.dtype() == runtime::Float64)
    std::ranges::copy(values, tensor.elements<double>().begin());
  else if (tensor.dtype() == runtime::Float32)
    write<float>(tensor, values);
  else if (tensor.dtype() == runtime::Float16)
    write<runtime::Half>(tensor, values);
  else
    write<runtime::BHalf>(tensor, values);
}

void writeWholes(Tensor& tensor, std::span<const double> values) {
  size_t width = tensor.dtype().bytes();
  for (size_t i = 0; i < values.size(); ++i) {
    auto bits = int64_t(values[i]);
    std::memcpy(tensor.bytes() + i * width, &bits, width);
  }
}

/// 0, 1, -1, the least and the largest number.
void writeSpecialWholes(Tensor& tensor, Random& random) {
  unsigned bits = tensor.dtype().bits;
  uint64_t ones = ~uint64_t(0) >> (64 - bits), top = uint64_t(1) << (bits - 1);
  const uint64_t patterns[] = {0, 1, ones, ones & ~top, top};
  size_t width = tensor.dtype().bytes(), kinds = tensor.dtype().isBool() ? 2 : 5;
  for (size_t i = 0; i < size_t(tensor.size()); ++i)
    std::memcpy(tensor.bytes() + i * width, &patterns[random.index(kinds)], width);
}

double draw(runtime::DType dtype, Data data, Random& random, int64_t most) {
  if (dtype.isBool())
    return double(random.integer(0, 1));
  int64_t scale = dtype.isFloat() ? 8 : 1;
  bool isSigned = data == Data::Signed && (dtype.isFloat() || dtype.isSigned());
  return double(random.integer(isSigned ? -most * scale : 0, most * scale)) / double(scale);
}

} // namespace

void fillTensor(Tensor& tensor, Data data, Random& random, int64_t most) {
  runtime::DType dtype = tensor.dtype();
  if (data == Data::Zeros || !dtype.isComputable())
    return;
  if (data == Data::Special && !dtype.isFloat())
    return writeSpecialWholes(tensor, random);
  std::vector<double> values(size_t(tensor.size()));
  for (double& value : values)
    value = data == Data::Special ? specialReals[random.index(std::size(specialReals))]
                                  : draw(dtype, data, random, most);
  size_t row = tensor.rank() == 0 ? 1 : size_t(tensor.shape().back());
  for (size_t i = 0; data == Data::Sorted && i < values.size(); i += row)
    std::sort(values.begin() + ptrdiff_t(i), values.begin() + ptrdiff_t(i + row));
  writeNumbers(tensor, values);
}

void writeNumbers(Tensor& tensor, std::span<const double> values) {
  tensor.dtype().isFloat() ? writeReals(tensor, values) : writeWholes(tensor, values);
}

std::vector<Tensor> operandLeaves(lang::Types operands, Data data, Random& random) {
  std::vector<const lang::Type*> types;
  for (const lang::Type* operand : operands)
    appendLeafTypes(operand, types);
  std::vector<Tensor> leaves;
  int64_t least = 4;
  for (const lang::Type* type : types) {
    leaves.emplace_back(type->dtype, lang::shapeOf(type));
    for (int64_t extent : leaves.back().shape())
      least = std::min(least, std::max<int64_t>(extent, 1));
  }
  // Positions in the smallest dimension fit every other one.
  int64_t most = random.chance(50) ? least - 1 : 3;
  for (Tensor& leaf : leaves)
    fillTensor(leaf, data, random, leaf.dtype().isFloat() ? 3 : most);
  return leaves;
}

} // namespace harness
