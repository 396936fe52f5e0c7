// The average pool of quantised integers.
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/pool/pool_call.h"
#include "stdlib/ops/qnn/quantized.h"

namespace stdlib {

namespace {

using namespace lang;

constexpr OperandRow operands[] = {
    {"data", "the quantised tensor that the window slides over"},
    {"input_scale", "the float32 scale of `data`, a scalar"},
    {"input_zero_point", "the int32 zero point of `data`, a scalar"},
    {"output_scale", "the float32 scale of the result, a scalar"},
    {"output_zero_point", "the int32 zero point of the result, a scalar"},
};

RelationResult relate(const RelationCall& call) {
  if (auto problem = requireElements(call, 0, "data", {runtime::Int8, runtime::UInt8}))
    return *problem;
  RelationResult result = relatePool(call, 2, 0);
  if (result.outcome != RelationResult::Outcome::Solved)
    return result;
  for (size_t scale : {1, 3})
    if (!demandScaleAndZeroPoint(call, result, scale, operands[scale].name,
                                 operands[scale + 1].name, nullptr))
      return result;
  return result;
}

void compute(ComputeCall& call) {
  TensorHandle data = call.input(0);
  Scalar from = call.input(2)({}), to = call.input(4)({});
  Requantizer requantize(call, Requantization(), scaleRatio(call, call.input(1), call.input(3)));
  TensorHandle moved = call.define(
      data.shape(), [&](const Position& at) { return requantize(data(at), from, to, {}); });
  Pool pool = slidingPool(call, 2, PoolKind::Average, data.shape());
  TensorHandle averages = pooled(call, pool, moved);
  call.result([&](const Position& at) {
    return saturated(averages(convertPosition(pool.result, pool.data, at)), call.outputDType());
  });
}

constexpr auto attributes = slidingPoolAttributes<8>(2);

constexpr Example examples[] = {
    {"qnn.avg_pool2d(cast([[[[2, 5]]]], dtype=\"uint8\"), 0.5f, 1, 0.5f, 1, pool_size=[1, 2])",
     "cast([[[[3]]]], dtype=\"uint8\")"},
    {"qnn.avg_pool2d(cast([[[[2, 5]]]], dtype=\"uint8\"), 0.5f, 1, 0.25f, 0, pool_size=[1, 2])",
     "cast([[[[5]]]], dtype=\"uint8\")"},
};

constexpr OperatorRow rows[] = {
    {
        .name = "qnn.avg_pool2d",
        .doc = "The average of each window of a quantised picture.",
        .details = "The data is requantised to the scale and zero point of the result, as by "
                   "qnn.requantize with its defaults but without saturating; the averages of that "
                   "truncate toward zero, as nn.avg_pool2d's of int32 do, and saturate. What "
                   "`count_include_pad` counts is 0, and not the zero point.",
        .operands = operands,
        .attributes = attributes,
        .attributesKey = "relay.attrs.AvgPool2DAttrs",
        .relation = relate,
        .compute = compute,
        .gradient = integerValued,
        .examples = examples,
    },
};

} // namespace

OperatorFamily qnnPoolFamily() {
  return rows;
}

} // namespace stdlib
