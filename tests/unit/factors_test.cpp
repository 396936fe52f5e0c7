// What is read off tensor functions about factors holds for the operators that they are of: calls
// of every row are run again with scaled operands.
#include "interp/reference.h"
#include "lang/op/leaves.h"
#include "lower/tensor/affine.h"
#include "lower/tensor/factor_paths.h"
#include "runtime/element.h"
#include "stdlib/ops.h"
#include "tests/harness/operand_data.h"
#include "tests/harness/run_operator.h"
#include "tests/harness/samples.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <fmt/format.h>
#include <set>

using namespace lang;
using runtime::Tensor;

namespace {

std::vector<double> numbersOf(const Tensor& tensor) {
  std::vector<double> numbers;
  for (size_t i = 0; i < size_t(tensor.size()); ++i)
    numbers.push_back(
        runtime::readFloat(tensor.dtype(), tensor.bytes() + i * tensor.dtype().bytes()));
  return numbers;
}

/// How many elements lie behind each step in a dimension.
size_t strideOf(const runtime::Shape& shape, size_t dim) {
  size_t stride = 1;
  for (size_t i = dim + 1; i < shape.size(); ++i)
    stride *= size_t(shape[i]);
  return stride;
}

/// A call of numbers with all that it needs to be run again.
struct Sample {
  const harness::OperatorSample& call;
  tensor::TensorFunction function;
  std::vector<Tensor> leaves;

  /// The results, and nothing where there is a fault.
  std::vector<Tensor> run(const tensor::TensorFunction& ran, std::vector<Tensor> inputs) const {
    std::vector<runtime::Value> from, to;
    for (Tensor& input : inputs)
      from.push_back(runtime::tensorValue(std::move(input)));
    std::vector<Tensor> results;
    if (!tensor::OwnedKernel(ran, interp::referenceEngine().makeKernel).run(from, to))
      for (const runtime::Value& value : to)
        results.push_back(value.tensor());
    return results;
  }

  std::string text() const {
    return fmt::format("{}\n{}", call.row->name, tensor::tensorFunctionText(function));
  }
};

/// Calls `visit` with samples of every row, until each had some.
template <typename Visit>
void forEachSample(Visit&& visit) {
  TypeContext types;
  harness::Reader reader(types);
  harness::SamplePool pool;
  harness::fillSamples(pool, reader, Catch::rngSeed(), {.perRow = 48});
  harness::Random random(Catch::rngSeed());
  for (const harness::OperatorSample& call : pool.all) {
    std::vector<const Type*> leafTypes;
    bool isKnown = call.row->compute && !call.hasSymbols && !call.isDynamic &&
                   call.row->shapeNeeds == ShapeNeeds::Shapes;
    for (const Type* operand : call.operands)
      isKnown = isKnown && harness::appendLeafTypes(operand, leafTypes);
    if (!isKnown)
      continue;
    auto function =
        harness::operatorFunction(*call.row, {types, call.operands, call.attributes}, call.output);
    if (function)
      visit(Sample{call, std::move(*function),
                   harness::operandLeaves(call.operands, harness::Data::Signed, random)},
            random);
  }
}

/// The elements of a tensor times factors that stand along dimensions, whose last one is `last`.
Tensor scaled(const Tensor& tensor, size_t last, std::span<const double> factors) {
  Tensor made(tensor.dtype(), tensor.shape());
  std::vector<double> numbers = numbersOf(tensor);
  size_t stride = strideOf(tensor.shape(), last);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] *= factors[i / stride % factors.size()];
  harness::writeNumbers(made, numbers);
  return made;
}

bool areEqual(const Tensor& left, const Tensor& right) {
  return std::ranges::equal(numbersOf(left), numbersOf(right), [](double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
  });
}

} // namespace

TEST_CASE("factors of weights are factors of results") {
  std::set<std::string_view> rows;
  forEachSample([&](const Sample& sample, harness::Random& random) {
    for (uint32_t input = 0; input < sample.leaves.size(); ++input)
      for (const auto& path : tensor::factorPaths(sample.function, input, 0)) {
        std::vector<Tensor> before = sample.run(sample.function, sample.leaves);
        if (before.empty())
          continue;
        rows.insert(sample.call.row->name);
        // Powers of two, with which nothing is rounded otherwise.
        std::vector<double> factors;
        for (int64_t i = 0; i < before[0].shape()[path.resultDim]; ++i)
          factors.push_back(std::ldexp(random.chance(50) ? 1 : -1, int(random.integer(-1, 2))));
        std::vector<Tensor> inputs = sample.leaves;
        inputs[input] = scaled(inputs[input], path.firstDim + path.dimCount - 1, factors);
        std::vector<Tensor> after = sample.run(sample.function, inputs);
        INFO(sample.text() << "input " << input << ", dimension " << path.firstDim);
        REQUIRE(after.size() == before.size());
        REQUIRE(areEqual(after[0], scaled(before[0], path.resultDim, factors)));
      }
  });
  for (std::string_view name :
       {"nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.conv1d_transpose", "nn.conv2d_transpose",
        "nn.conv3d_transpose", "nn.dense", "nn.matmul", "nn.batch_matmul", "matmul"})
    CHECK(rows.contains(name));
}

TEST_CASE("factors of one operand may be those of another") {
  std::set<std::string_view> rows;
  forEachSample([&](const Sample& sample, harness::Random& random) {
    for (uint32_t from = 0; from < sample.leaves.size(); ++from)
      for (uint32_t to = 0; to < sample.leaves.size(); ++to)
        for (const auto& trade : tensor::factorTrades(sample.function, from, to, 0)) {
          std::vector<double> factors;
          for (int64_t i = 0; i < sample.leaves[to].shape()[trade.toDim]; ++i)
            factors.push_back(std::ldexp(random.chance(50) ? 1 : -1, int(random.integer(-1, 2))));
          std::vector<Tensor> left = sample.leaves, right = sample.leaves;
          left[from] = scaled(left[from], trade.fromDim, factors);
          right[to] = scaled(right[to], trade.toDim, factors);
          std::vector<Tensor> wanted = sample.run(sample.function, left),
                              given = sample.run(sample.function, right);
          if (wanted.empty())
            continue;
          rows.insert(sample.call.row->name);
          INFO(sample.text() << from << " to " << to << ", dimension " << trade.toDim);
          REQUIRE(given.size() == wanted.size());
          REQUIRE(areEqual(given[0], wanted[0]));
        }
  });
  for (std::string_view name : {"nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.conv2d_transpose",
                                "nn.dense", "nn.matmul", "nn.batch_matmul", "matmul"})
    CHECK(rows.contains(name));
}

TEST_CASE("affine results are factors times the input plus summands") {
  std::set<std::string_view> rows;
  forEachSample([&](const Sample& sample, harness::Random&) {
    for (uint32_t input = 0; input < sample.leaves.size(); ++input)
      for (size_t dim = 0; dim < sample.leaves[input].rank(); ++dim) {
        const Tensor& operand = sample.leaves[input];
        auto parts = tensor::affineParts(sample.function, input, 0, dim);
        std::vector<Tensor> inputs = sample.leaves;
        inputs[input] = Tensor(operand.dtype(), runtime::Shape(operand.rank(), 0));
        std::vector<Tensor> whole, factors, summands;
        if (parts) {
          whole = sample.run(sample.function, sample.leaves);
          factors = sample.run(parts->factors, inputs);
          summands = sample.run(parts->summands, inputs);
        }
        if (whole.empty())
          continue;
        rows.insert(sample.call.row->name);
        INFO(sample.text() << "input " << input << ", dimension " << dim);
        REQUIRE(factors.size() == 1);
        REQUIRE(summands.size() == 1);
        REQUIRE(whole[0].shape() == operand.shape());
        const std::vector<double> wanted = numbersOf(whole[0]), from = numbersOf(operand),
                                  times = numbersOf(factors[0]), plus = numbersOf(summands[0]);
        const double epsilon = operand.dtype().bits == 16 ? 0.02 : 1e-5;
        size_t stride = strideOf(operand.shape(), dim);
        for (size_t i = 0; i < wanted.size(); ++i) {
          size_t at = i / stride % times.size();
          double product = times[at] * from[i], sum = product + plus[at];
          if (std::isfinite(wanted[i]) && std::isfinite(sum))
            REQUIRE(std::abs(wanted[i] - sum) <=
                    epsilon * (1 + std::abs(product) + std::abs(plus[at])));
        }
      }
  });
  for (std::string_view name :
       {"add", "subtract", "multiply", "divide", "negative", "nn.bias_add", "nn.batch_norm"})
    CHECK(rows.contains(name));
}
