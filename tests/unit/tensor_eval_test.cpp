// Evaluation of tensor functions: the loops engine against the reference, and both against values
// known in closed form.
#include "codegen/strips/compile/sized.h"
#include "tests/unit/tensor_functions.h"

using namespace tests;

namespace {

/// Numbers that are worth trying with a type.
std::vector<double> samples(DType dtype) {
  if (dtype.isBool())
    return {0, 1};
  if (dtype.isFloat())
    return {0.0,  -0.0,  1,   -1,  0.5,   -0.5, 1.5,      2.5,       -2.5, 3,
            7.25, -7.75, 0.1, 100, -90.5, 1e-4, INFINITY, -INFINITY, NAN,  30000};
  double top = std::ldexp(1.0, dtype.bits - (dtype.isSigned() ? 1 : 0));
  double high = dtype.bits == 64 ? top - 2048 : top - 1;
  std::vector<double> values{0, 1, 2, 3, 7, 31, 63, 100, high, std::floor(high / 3)};
  if (dtype.isSigned())
    for (double value : {-1.0, -2.0, -3.0, -8.0, -100.0, -top})
      values.push_back(value);
  return values;
}

/// All pairs of samples as two tensors; the second without zeros when `nonZero`.
std::pair<Tensor, Tensor> samplePairs(DType dtype, bool nonZero, double most = INFINITY) {
  std::vector<double> left, right;
  for (double a : samples(dtype))
    for (double b : samples(dtype))
      if ((!nonZero || b != 0) && (dtype.isFloat() || std::fabs(b) <= most)) {
        left.push_back(a);
        right.push_back(b);
      }
  Shape shape{int64_t(left.size())};
  return {tensorOf(dtype, shape, left), tensorOf(dtype, shape, right)};
}

double toleranceOf(DType dtype) {
  return dtype.bits == 64                           ? 1e-14
         : dtype.bits == 32                         ? 1e-6
         : dtype.code == runtime::DTypeCode::BFloat ? 0.008
                                                    : 0.001;
}

DType resultOf(ScalarFunction function, DType dtype) {
  using enum ScalarFunction;
  bool tests =
      (function >= Equal && function <= GreaterEqual) || (function >= IsNan && function <= IsInf);
  return tests ? runtime::Bool : dtype;
}

} // namespace

TEST_CASE("scalar functions of two operands, all types") {
  using enum ScalarFunction;
  for (DType dtype : allDTypes)
    for (auto function = Add; function <= GreaterEqual;
         function = ScalarFunction(int(function) + 1)) {
      bool bits = function >= LeftShift && function <= BitXor;
      if (function == LogicalNot || (bits && dtype.isFloat()))
        continue;
      INFO(runtime::dtypeName(dtype) << " " << tensor::scalarFunctionName(function));
      bool divides = function >= Divide && function <= TruncMod;
      auto [a, b] =
          samplePairs(dtype, divides && !dtype.isFloat(), function == Power ? 200 : INFINITY);
      bool exact = !dtype.isFloat() || (function != Power && function != FloorMod);
      checkEngines(
          {a, b}, resultOf(function, dtype), a.shape(),
          [&](ComputeCall& call) {
            call.result([&](const Position& at) {
              return apply(function, {call.input(0)(at), call.input(1)(at)});
            });
          },
          exact ? 0 : toleranceOf(dtype));
    }
}

TEST_CASE("scalar functions of one operand, all types") {
  using enum ScalarFunction;
  for (DType dtype : allDTypes)
    for (auto function = LogicalNot; function <= IsInf;
         function = ScalarFunction(int(function) + 1)) {
      if (tensor::scalarFunctionArity(function) != 1 || (function == BitNot && dtype.isFloat()))
        continue;
      INFO(runtime::dtypeName(dtype) << " " << tensor::scalarFunctionName(function));
      std::vector<double> values = samples(dtype);
      Tensor a = tensorOf(dtype, {int64_t(values.size())}, values);
      bool exact = !dtype.isFloat() || function <= RoundEven || function >= IsNan;
      checkEngines(
          {a}, resultOf(function, dtype), a.shape(),
          [&](ComputeCall& call) {
            call.result([&](const Position& at) { return apply(function, {call.input(0)(at)}); });
          },
          exact ? 0 : 4 * toleranceOf(dtype));
    }
}

TEST_CASE("casts between all types") {
  for (DType from : allDTypes)
    for (DType to : allDTypes) {
      INFO(runtime::dtypeName(from) << " to " << runtime::dtypeName(to));
      std::vector<double> values = samples(from);
      Tensor a = tensorOf(from, {int64_t(values.size())}, values);
      checkEngines({a}, to, a.shape(), [&](ComputeCall& call) {
        call.result([&](const Position& at) { return cast(call.input(0)(at), to); });
      });
    }
}

TEST_CASE("fixed point multiplication and reinterpretation") {
  std::vector<double> a, b, c;
  for (double x : {0.0, 1.0, -1.0, 12345.0, -98765.0, 2147483647.0, -2147483648.0})
    for (double y : {1073741824.0, 2147483647.0, -2147483648.0, 3.0})
      for (double z : {-70.0, -33.0, -8.0, 0.0, 1.0, 7.0, 31.0, 40.0}) {
        a.push_back(x);
        b.push_back(y);
        c.push_back(z);
      }
  Shape shape{int64_t(a.size())};
  checkEngines({tensorOf(runtime::Int32, shape, a), tensorOf(runtime::Int32, shape, b),
                tensorOf(runtime::Int32, shape, c)},
               runtime::Int32, shape, [&](ComputeCall& call) {
                 call.result([&](const Position& at) {
                   return apply(ScalarFunction::FixedPointMultiply,
                                {call.input(0)(at), call.input(1)(at), call.input(2)(at)});
                 });
               });
  Tensor ones = tensorOf(runtime::Float32, {2}, {1, -2});
  auto define = [](ComputeCall& call) {
    call.result([&](const Position& at) {
      Scalar a0 = call.input(0)(at);
      return Scalar(a0.arena(), a0.arena()->make<tensor::ScalarApply>(
                                    ScalarNode{tensor::ScalarKind::Apply, runtime::Int32},
                                    ScalarFunction::Reinterpret,
                                    a0.arena()->copy(std::vector<const ScalarNode*>{a0.node()})));
    });
  };
  Plan plan = planOf({ones}, runtime::Int32, {2}, define);
  std::vector<double> bits{double(0x3F800000), double(int32_t(0xC0000000))};
  CHECK(numbersOf(runWell(plan, {ones})[0]) == bits);
  RunValues reals = madeBy(interp::referenceEngine(50), build({ones}, runtime::Int32, {2}, define));
  CHECK(numbersOf(runWell(reals, {ones})[0]) == bits);
}

TEST_CASE("broadcasting") {
  std::mt19937 random(1);
  struct Case {
    Shape a, b, out;
  };
  for (const Case& row : {Case{{4, 5}, {5}, {4, 5}}, Case{{4, 1}, {1, 5}, {4, 5}},
                          Case{{}, {3, 2}, {3, 2}}, Case{{2, 3, 700}, {3, 1}, {2, 3, 700}},
                          Case{{}, {}, {}}, Case{{0, 3}, {3}, {0, 3}}, Case{{1, 1}, {1}, {1, 1}}}) {
    Tensor a = randomTensor(random, runtime::Float32, row.a, -9, 9);
    Tensor b = randomTensor(random, runtime::Float32, row.b, -9, 9);
    checkEngines({a, b}, runtime::Float32, row.out, [](ComputeCall& call) {
      call.result([&](const Position& at) {
        auto x = call.input(0), y = call.input(1);
        return x(broadcastTo(at, call.outputShape(), x.shape())) *
               y(broadcastTo(at, call.outputShape(), y.shape()));
      });
    });
  }
}

TEST_CASE("reductions over several axes and empty extents") {
  std::mt19937 random(2);
  for (DType dtype : allDTypes)
    for (int combiner = 0; combiner <= int(Combiner::Any); ++combiner)
      for (const Shape& shape :
           {Shape{3, 4, 5}, Shape{2, 700, 3}, Shape{5, 2, 600}, Shape{2, 0, 3}, Shape{1, 1, 1}}) {
        INFO(runtime::dtypeName(dtype) << " combiner " << combiner);
        Tensor a =
            randomTensor(random, dtype, shape, dtype.isBool() || !dtype.isSigned() ? 0 : -1, 1);
        for (size_t kept : {0, 1, 2})
          checkEngines({a}, dtype, {shape[kept]}, [&](ComputeCall& call) {
            auto x = call.input(0);
            call.result([&](const Position& at) {
              return call.reduce(Combiner(combiner), x.without(kept),
                                 [&](const Position& k) { return x(insertAt(k, kept, at[0])); });
            });
          });
        checkEngines({a}, dtype, {}, [&](ComputeCall& call) {
          auto x = call.input(0);
          call.result([&](const Position&) {
            return call.reduce(Combiner(combiner), x.shape(),
                               [&](const Position& k) { return x(k); });
          });
        });
      }
}

TEST_CASE("positions of extreme values, ties and NaN") {
  std::mt19937 random(3);
  for (DType dtype : {runtime::Int8, runtime::UInt64, runtime::Float16, runtime::Float32})
    for (int combiner = int(Combiner::ArgMaximum); combiner <= int(Combiner::ArgMinimumLast);
         ++combiner)
      for (bool nan : {false, true}) {
        Tensor a = randomTensor(random, dtype, {3, 4, 530}, 0, 2);
        if (nan && dtype == runtime::Float32)
          for (size_t i : {17u, 900u, 2500u, 2600u})
            a.elements<float>()[i] = NAN;
        for (size_t kept : {0, 1, 2})
          for (DType indexType : {runtime::Int32, runtime::Int64})
            checkEngines({a}, indexType, {a.shape()[kept]}, [&](ComputeCall& call) {
              auto x = call.input(0);
              call.result([&](const Position& at) {
                return call.reduce(
                    Combiner(combiner), x.without(kept),
                    [&](const Position& k) { return x(insertAt(k, kept, at[0])); }, indexType);
              });
            });
      }
}

namespace {

struct Conv {
  Shape data, weight;
  int64_t stride, dilation, padding, groups;
};

void checkConv(std::mt19937& random, const Conv& conv, DType dtype, DType sumType) {
  int low = dtype.isSigned() || dtype.isFloat() ? -3 : 0;
  Tensor x = randomTensor(random, dtype, conv.data, low, 3);
  Tensor w = randomTensor(random, dtype, conv.weight, low, 3);
  auto extent = [&](size_t i) {
    int64_t reach = conv.dilation * (conv.weight[i] - 1) + 1;
    return (conv.data[i] + 2 * conv.padding - reach) / conv.stride + 1;
  };
  Shape out{conv.data[0], conv.weight[0], extent(2), extent(3)};
  checkEngines({x, w}, sumType, out, [&](ComputeCall& call) {
    auto data = call.input(0), weight = call.input(1);
    call.result([&](const Position& at) {
      return call.sumOver(
          {weight.extent(1), weight.extent(2), weight.extent(3)}, [&](const Position& k) {
            Scalar group = floorDivide(at[1], conv.weight[0] / conv.groups);
            auto place = [&](Scalar o, Scalar i) {
              return o * double(conv.stride) + i * double(conv.dilation) -
                     call.integer(conv.padding);
            };
            Scalar value = data.orElse(
                {at[0], group * weight.extent(1) + k[0], place(at[2], k[1]), place(at[3], k[2])},
                call.number(dtype, 0));
            return cast(value, sumType) * cast(weight({at[1], k[0], k[1], k[2]}), sumType);
          });
    });
  });
}

} // namespace

TEST_CASE("convolutions with padding, stride, dilation and groups") {
  std::mt19937 random(4);
  for (const Conv& conv :
       {Conv{{1, 3, 9, 11}, {8, 3, 3, 3}, 1, 1, 1, 1}, Conv{{2, 4, 8, 8}, {6, 4, 3, 3}, 2, 1, 1, 1},
        Conv{{1, 4, 12, 9}, {5, 4, 3, 2}, 1, 3, 2, 1}, Conv{{1, 6, 7, 7}, {6, 1, 3, 3}, 1, 1, 1, 6},
        Conv{{1, 8, 7, 7}, {16, 2, 3, 3}, 2, 1, 1, 4},
        Conv{{1, 16, 5, 5}, {12, 16, 1, 1}, 1, 1, 0, 1},
        Conv{{1, 3, 2, 530}, {4, 3, 1, 3}, 1, 1, 1, 1},
        Conv{{2, 4, 17, 19}, {4, 1, 3, 3}, 1, 1, 1, 4},
        Conv{{1, 4, 33, 35}, {4, 1, 3, 3}, 2, 1, 1, 4}}) {
    checkConv(random, conv, runtime::Float32, runtime::Float32);
    checkConv(random, conv, runtime::Float16, runtime::Float16);
    checkConv(random, conv, runtime::Int8, runtime::Int32);
    checkConv(random, conv, runtime::UInt8, runtime::UInt8);
    checkConv(random, conv, runtime::Int64, runtime::Int64);
  }
}

TEST_CASE("matrix products in all layouts, with more after the sum") {
  std::mt19937 random(5);
  struct Case {
    int64_t batch, rows, columns, depth;
  };
  for (const Case& row :
       {Case{3, 5, 7, 4}, Case{1, 64, 48, 33}, Case{2, 13, 530, 20}, Case{1, 520, 9, 30},
        Case{1, 1, 40, 700}, Case{4, 40, 1, 6}, Case{1, 6, 5, 4500}, Case{2, 3, 600, 40},
        Case{3, 50, 2, 45}, Case{1, 7, 3, 600}})
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true})
        for (DType dtype : {runtime::Float32, runtime::Float64, runtime::Int32}) {
          auto shapeOf = [&](int64_t i, int64_t j, bool swapped) {
            return swapped ? Shape{row.batch, j, i} : Shape{row.batch, i, j};
          };
          Tensor a = randomTensor(random, dtype, shapeOf(row.rows, row.depth, transposeA), -3, 3);
          Tensor b =
              randomTensor(random, dtype, shapeOf(row.depth, row.columns, transposeB), -3, 3);
          if (row.rows * row.columns * row.depth > 100000 && (transposeA || transposeB))
            continue;
          checkEngines({a, b}, dtype, {row.batch, row.rows, row.columns}, [&](ComputeCall& call) {
            auto x = call.input(0), y = call.input(1);
            auto read = [](TensorHandle& t, Scalar n, Scalar i, Scalar j, bool swapped) {
              return swapped ? t({n, j, i}) : t({n, i, j});
            };
            call.result([&](const Position& at) {
              Scalar sum = call.sumOver({call.integer(row.depth)}, [&](const Position& k) {
                return read(x, at[0], at[1], k[0], transposeA) *
                       read(y, at[0], k[0], at[2], transposeB);
              });
              return maximum(sum, number(sum, 0)) + cast(at[2], dtype);
            });
          });
        }
}

TEST_CASE("products whose rows are of two axes, with more after the sum") {
  std::mt19937 random(6);
  Tensor a = randomTensor(random, runtime::Float64, {2, 4, 7, 16}, -3, 3);
  Tensor b = randomTensor(random, runtime::Float64, {2, 16, 5}, -3, 3);
  checkEngines({a, b}, runtime::Float32, {2, 4, 7, 5}, [&](ComputeCall& call) {
    auto x = call.input(0), y = call.input(1);
    call.result([&](const Position& at) {
      Scalar sum = call.sumOver({x.extent(3)}, [&](const Position& k) {
        return x({at[0], at[1], at[2], k[0]}) * y({at[0], k[0], at[3]});
      });
      return cast(sum, runtime::Float32);
    });
  });
}

TEST_CASE("gather with data as positions, and its fault") {
  Tensor data = tensorOf(runtime::Float32, {3, 2}, {1, 2, 3, 4, 5, 6});
  auto define = [](ComputeCall& call) {
    auto x = call.input(0), i = call.input(1);
    call.result([&](const Position& at) { return x({cast(i({at[0]}), runtime::Int64), at[1]}); });
  };
  Tensor good = tensorOf(runtime::Int32, {4}, {2, 0, 2, 1});
  checkEngines({data, good}, runtime::Float32, {4, 2}, define);
  Plan plan = planOf({data, good}, runtime::Float32, {4, 2}, define);
  CHECK(faultOf(plan, {data, tensorOf(runtime::Int32, {4}, {2, 0, 3, 1})}) ==
        "index 3 is outside axis 0 of extent 3");
  CHECK(faultOf(plan, {data, tensorOf(runtime::Int32, {4}, {2, -1, 0, 1})}) ==
        "index -1 is outside axis 0 of extent 3");
  Tensor wide = tensorOf(runtime::Float32, {5}, {1, 2, 3, 4, 5});
  Plan shifted = planOf({wide}, runtime::Float32, {5}, [](ComputeCall& call) {
    call.result([&](const Position& at) { return call.input(0)({at[0] + call.integer(2)}); });
  });
  CHECK(faultOf(shifted, {wide}) == "index 5 is outside axis 0 of extent 5");
}

TEST_CASE("only the chosen side of a selection counts") {
  Tensor a = tensorOf(runtime::Int32, {4}, {6, 7, 8, 9}),
         b = tensorOf(runtime::Int32, {4}, {2, 0, 4, 0});
  checkEngines({a, b}, runtime::Int32, {4}, [](ComputeCall& call) {
    call.result([&](const Position& at) {
      Scalar x = call.input(0)(at), y = call.input(1)(at);
      return select(y == 0.0, number(x, -1), x / y);
    });
  });
  auto unguarded = [](ComputeCall& call) {
    call.result([&](const Position& at) { return call.input(0)(at) / call.input(1)(at); });
  };
  CHECK(faultOf(planOf({a, b}, runtime::Int32, {4}, unguarded), {a, b}) ==
        "integer division by zero");
  // The quotient also decides: it counts wherever the outer condition holds.
  auto decides = [](ComputeCall& call) {
    call.result([&](const Position& at) {
      Scalar x = call.input(0)(at), y = call.input(1)(at), quotient = x / y;
      return select(quotient > 1.0, quotient, x);
    });
  };
  CHECK(faultOf(planOf({a, b}, runtime::Int32, {4}, decides), {a, b}) ==
        "integer division by zero");
  Tensor x = tensorOf(runtime::Float32, {3}, {1, 2, 3}),
         y = tensorOf(runtime::Float32, {2}, {4, 5});
  checkEngines({x, y}, runtime::Float32, {5}, [](ComputeCall& call) {
    call.result([&](const Position& at) {
      return select(at[0] < 3.0, call.input(0)({at[0]}), call.input(1)({at[0] - call.integer(3)}));
    });
  });
  checkEngines({x, y}, runtime::Float32, {5}, [](ComputeCall& call) {
    call.result([&](const Position& at) {
      return call.input(0).orElse({at[0]}, call.input(1)({at[0] - call.integer(3)}));
    });
  });
}

TEST_CASE("a selection guards what does not depend on its loop") {
  Tensor a = tensorOf(runtime::Int32, {2}, {5, 0}), c = tensorOf(runtime::Bool, {3}, {0, 0, 0});
  auto define = [](ComputeCall& call) {
    call.result([&](const Position& at) {
      return call.sumOver({call.integer(3)}, [&](const Position& k) {
        Scalar x = call.input(0)({at[0]});
        return select(call.input(1)({k[0]}), number(x, 100) / x, x);
      });
    });
  };
  Plan plan = planOf({a, c}, runtime::Int32, {2}, define);
  CHECK(numbersOf(runWell(plan, {a, c})[0]) == std::vector<double>{15, 0});
  c.elements<uint8_t>()[2] = 1;
  CHECK(faultOf(plan, {a, c}) == "integer division by zero");
}

TEST_CASE("scans") {
  std::mt19937 random(6);
  for (DType dtype : {runtime::Int8, runtime::Float32, runtime::Float16, runtime::UInt64})
    for (Combiner combiner : {Combiner::Sum, Combiner::Product})
      for (bool exclusive : {false, true})
        for (size_t axis : {0, 1, 2})
          checkEngines({randomTensor(random, dtype, {3, 4, 5}, 1, 2)}, dtype, {3, 4, 5},
                       [&](ComputeCall& call) {
                         call.result(call.scan(call.input(0), combiner, axis, exclusive));
                       });
}

TEST_CASE("stages, reshapes and results that are inputs") {
  std::mt19937 random(7);
  Tensor a = randomTensor(random, runtime::Float32, {4, 6}, -5, 5);
  Plan plan = planOf({a}, runtime::Float32, {4, 6}, [](ComputeCall& call) {
    auto x = call.input(0);
    auto doubled = call.define(x.shape(), [&](const Position& at) { return x(at) * 2.0; });
    auto flat = call.reshape(doubled, {call.integer(24)});
    call.result(flat);
    call.result(x);
    call.result(flat);
  });
  std::vector<Value> outputs = runWell(plan, {a});
  REQUIRE(outputs.size() == 3);
  CHECK(outputs[0].tensor().shape() == Shape{24});
  CHECK(outputs[1].tensor().bytes() == std::as_const(a).bytes());
  CHECK(outputs[2].tensor().bytes() == outputs[0].tensor().bytes());
  std::vector<double> expected = numbersOf(runtime::tensorValue(a));
  for (double& value : expected)
    value *= 2;
  CHECK(numbersOf(outputs[0]) == expected);
}

TEST_CASE("16-bit floats round after every function") {
  Tensor a = tensorOf(runtime::Float16, {1}, {2048}), b = tensorOf(runtime::Float16, {1}, {1});
  Plan plan = planOf({a, b}, runtime::Float16, {1}, [](ComputeCall& call) {
    call.result([&](const Position& at) {
      Scalar x = call.input(0)(at), y = call.input(1)(at);
      return (x + y + y) - x;
    });
  });
  CHECK(numbersOf(runWell(plan, {a, b})[0]) == std::vector<double>{0});
  Tensor many = tensorOf(runtime::Float16, {4096}, std::vector<double>(4096, 1));
  Plan sum = planOf({many}, runtime::Float16, {}, [](ComputeCall& call) {
    call.result([&](const Position&) {
      return call.sumOver({call.integer(4096)},
                          [&](const Position& k) { return call.input(0)(k); });
    });
  });
  CHECK(numbersOf(runWell(sum, {many})[0]) == std::vector<double>{4096});
}

TEST_CASE("long sums of float32 keep their digits") {
  Tensor a = tensorOf(runtime::Float32, {1000000}, std::vector<double>(1000000, double(0.1f)));
  Plan plan = planOf({a}, runtime::Float32, {}, [](ComputeCall& call) {
    call.result([&](const Position&) {
      return call.sumOver({call.integer(1000000)},
                          [&](const Position& k) { return call.input(0)(k); });
    });
  });
  CHECK(numbersOf(runWell(plan, {a})[0])[0] == double(float(0.1f * 1e6)));
}

TEST_CASE("reals of 50 digits") {
  tensor::TensorEngine reals = interp::referenceEngine(50);
  Tensor two = tensorOf(runtime::Float32, {1}, {2});
  RunValues power =
      madeBy(reals, build({two}, runtime::Float32, {1}, [](ComputeCall& call) {
               call.result([&](const Position& at) { return exp(call.input(0)(at)); });
             }));
  Value result = runWell(power, {two})[0];
  REQUIRE(result.exact());
  CHECK(result.tensor().dtype() == runtime::Float32);
  CHECK(interp::realText(result, 0).substr(0, 50) ==
        "7.389056098930650227230427460575007813180315570551");
  CHECK(result.tensor().elements<float>()[0] == 7.389056f);
  Tensor threes = tensorOf(runtime::Float16, {700}, std::vector<double>(700, 3));
  RunValues thirds = madeBy(reals, build({threes}, runtime::Float16, {}, [](ComputeCall& call) {
                              call.result([&](const Position&) {
                                return call.sumOver({call.integer(700)}, [&](const Position& k) {
                                  return 1.0 / call.input(0)(k);
                                });
                              });
                            }));
  CHECK(interp::realText(runWell(thirds, {threes})[0], 0).substr(0, 48) ==
        "233.33333333333333333333333333333333333333333333");
}

TEST_CASE("reals pass through reshapes and scans, and into further functions") {
  tensor::TensorEngine reals = interp::referenceEngine(30);
  Tensor ones = tensorOf(runtime::Float32, {2, 2}, {1, 1, 1, 1});
  RunValues thirds = madeBy(
      reals, build({ones}, runtime::Float32, {4}, [](ComputeCall& call) {
        auto third = call.define(call.input(0).shape(),
                                 [&](const Position& at) { return call.input(0)(at) / 3.0; });
        call.result(call.scan(call.reshape(third, {call.integer(4)}), Combiner::Sum, 0, false));
      }));
  RunValues last = madeBy(
      reals, build({tensorOf(runtime::Float32, {4}, {0, 0, 0, 0})}, runtime::Float32, {},
                   [](ComputeCall& call) {
                     call.result([&](const Position&) { return call.input(0)({call.integer(3)}); });
                   }));
  std::vector<Value> sums, outputs;
  REQUIRE(!thirds(valuesOf({ones}), sums));
  REQUIRE(!last(sums, outputs));
  CHECK(interp::realText(outputs[0], 0).substr(0, 28) == "1.33333333333333333333333333");
}

TEST_CASE("reals agree with double where double is exact") {
  using enum ScalarFunction;
  for (auto function = Add; function <= IsInf; function = ScalarFunction(int(function) + 1)) {
    size_t arity = tensor::scalarFunctionArity(function);
    if ((function >= LeftShift && function <= BitXor) || function == BitNot || arity == 3)
      continue;
    INFO(tensor::scalarFunctionName(function));
    auto [a, b] = samplePairs(runtime::Float64, false);
    auto define = [&](ComputeCall& call) {
      call.result([&](const Position& at) {
        Scalar x = call.input(0)(at), y = call.input(1)(at);
        return arity == 1 ? apply(function, {x}) : apply(function, {x, y});
      });
    };
    auto run = [&](unsigned digits) {
      DType dtype = resultOf(function, runtime::Float64);
      return numbersOf(
          runWell(madeBy(interp::referenceEngine(digits), build({a, b}, dtype, a.shape(), define)),
                  {a, b})[0]);
    };
    std::vector<double> own = run(0), reals = run(40), left = numbersOf(runtime::tensorValue(a)),
                        right = numbersOf(runtime::tensorValue(b));
    for (size_t i = 0; i < own.size(); ++i) {
      bool inexact = right[i] == 0.1 || right[i] == 1e-4;
      if (inexact && function >= FloorDivide && function <= TruncMod)
        continue;
      INFO(left[i] << " and " << right[i]);
      CHECK((sameReal(own[i], reals[i], 1e-13) || std::isinf(own[i])));
    }
  }
}

TEST_CASE("inputs that do not fit and memory that is not there") {
  Tensor a = tensorOf(runtime::Float32, {2}, {1, 2});
  Plan plan = planOf({a}, runtime::Float32, {2}, [](ComputeCall& call) {
    call.result([&](const Position& at) { return call.input(0)(at); });
  });
  CHECK(faultOf(plan, {tensorOf(runtime::Float32, {3}, {1, 2, 3})}) ==
        "input 0 is a tensor of shape (3) and type float32, expected shape (2) and type float32");
  CHECK(faultOf(plan, {}) == "expected 1 inputs, got 0");
  Shape huge{int64_t(1) << 30, int64_t(1) << 30};
  Plan large = planOf({a}, runtime::Float32, huge, [](ComputeCall& call) {
    call.result([&](const Position&) { return call.input(0)({call.integer(0)}); });
  });
  CHECK(faultOf(large, {a}) == "out of memory: 4611686018427387904 bytes for a tensor of shape "
                               "(1073741824, 1073741824) and type float32");
}

TEST_CASE("the text of a tensor function") {
  Tensor a = tensorOf(runtime::Float32, {2, 3}, {1, 2, 3, 4, 5, 6});
  TensorFunction function = build({a}, runtime::Float32, {2}, [](ComputeCall& call) {
    auto x = call.input(0);
    auto scanned = call.scan(x, Combiner::Sum, 1, true);
    call.result([&](const Position& at) {
      return call.sumOver({x.extent(1)}, [&](const Position& k) {
        Scalar e =
            exp(scanned.orElse({at[0], k[0] + call.integer(1)}, call.number(runtime::Float32, 0)));
        return e * e;
      });
    });
  });
  std::string text = "t0(2, 3): float32 = input\n"
                     "t1(2, 3): float32 = exclusive scan sum t0 axis 1\n"
                     "let %0 = exp(t1[i0, i1 + 1 else float32(0)])\n"
                     "t2[i0 < 2]: float32 = sum[i1 < 3](%0 * %0)\n"
                     "result t2\n";
  CHECK(tensor::tensorFunctionText(function) == text);
}

TEST_CASE("sums of products are contractions, whose strips run as the factors lie") {
  struct Case {
    Shape rows;
    bool transposed, runsAlongSum;
  };
  for (const Case& row :
       {Case{{7, 64}, false, false}, Case{{7, 64}, true, true}, Case{{8, 64}, true, true}}) {
    Tensor x = tensorOf(runtime::Float32, row.rows, std::vector<double>(row.rows[0] * 64, 1));
    Shape shape = row.transposed ? Shape{48, 64} : Shape{64, 48};
    Tensor w = tensorOf(runtime::Float32, shape, std::vector<double>(48 * 64, 1));
    TensorFunction function =
        build({x, w}, runtime::Float32, {row.rows[0], 48}, [&](ComputeCall& call) {
          auto left = call.input(0), right = call.input(1);
          call.result([&](const Position& at) {
            return call.sumOver({left.extent(1)}, [&](const Position& k) {
              return left({at[0], k[0]}) *
                     (row.transposed ? right({at[1], k[0]}) : right({k[0], at[1]}));
            });
          });
        });
    std::vector<int64_t> extents{row.rows[0], 64, shape[0], shape[1], row.rows[0], 48};
    auto made = strips::programFor(function, extents, loops::Numbers::Reordered);
    REQUIRE(made);
    REQUIRE(made->program.contractions.size() == 1);
    CHECK(made->program.contractions[0].columns.runsAlongSum == row.runsAlongSum);
  }
}
