// Shapes of calls against the relations that they come from, for every row of the table, at sizes
// of samples and at others: where they answer, the relation says the same.
#include "lang/ir/builder.h"
#include "lang/op/shapes_of.h"
#include "stdlib/ops.h"
#include "tests/harness/random.h"
#include "tests/harness/samples.h"
#include "tests/harness/types.h"
#include "tests/unit/allocations.h"

#include <catch2/catch.hpp>
#include <map>

using namespace lang;

namespace {

/// The extents of the tensors inside of types, in order.
std::vector<int64_t> extentsOf(Types roots) {
  std::vector<int64_t> extents;
  std::vector<const Type*> stack(roots.rbegin(), roots.rend());
  while (!stack.empty()) {
    const Type* type = stack.back();
    stack.pop_back();
    for (const Dim* dim : type->shape)
      extents.push_back(dim->isConstant() ? dim->value : -1);
    stack.insert(stack.end(), type->parts.rbegin(), type->parts.rend());
  }
  return extents;
}

/// Puts `?`, or names, in place of numbers; equal numbers get one name.
std::vector<const Type*> opened(TypeContext& types, const harness::OperatorSample& sample,
                                harness::Random& random) {
  int64_t style = random.integer(0, 2);
  std::vector<const Type*> result;
  for (const Type* operand : sample.operands)
    result.push_back(harness::changeDims(types, operand, [&](const Dim* dim) -> const Dim* {
      if (style == 2 && random.chance(50))
        return dim;
      return style == 0 ? types.any() : types.symbol("n" + std::to_string(dim->value));
    }));
  return result;
}

/// The operands with every size replaced by another one, equal sizes by equal ones.
std::vector<const Type*> resized(TypeContext& types, const harness::OperatorSample& sample,
                                 harness::Random& random) {
  std::map<int64_t, int64_t> sizes;
  std::vector<const Type*> result;
  for (const Type* operand : sample.operands)
    result.push_back(harness::changeDims(types, operand, [&](const Dim* dim) {
      int64_t other = random.chance(60) ? dim->value : random.integer(0, 9);
      return types.constant(sizes.emplace(dim->value, other).first->second);
    }));
  return result;
}

/// What became of the calls of one row.
struct Tally {
  size_t answered = 0, left = 0, asked = 0;
};

/// Asks shapes and the relation about numbers; empty when they agree or the shapes have no answer.
std::string difference(TypeContext& types, const harness::OperatorSample& sample,
                       const checks::Shapes& shapes, const std::vector<const Type*>& numbers,
                       Tally& tally) {
  std::vector<int64_t> extents = extentsOf(numbers);
  RelationResult answer = applyRelation(*sample.row, {types, numbers, sample.attributes});
  bool isSolved = answer.outcome == RelationResult::Outcome::Solved;
  for (const auto& [index, type] : answer.operands)
    isSolved = isSolved && type == numbers[index];
  std::vector<int64_t> expected;
  if (isSolved)
    expected = extentsOf({&answer.output, 1});
  std::vector<int64_t> results(extentsOf({&sample.output, 1}).size(), -2);
  if (!findResults(shapes, extents, results)) {
    tally.left += isSolved && takes(shapes, extents);
    return "";
  }
  ++tally.answered;
  if (isSolved && results == expected)
    return "";
  std::string text = std::string(sample.row->name) + ":";
  for (const Type* type : numbers)
    text += " " + typeText(type);
  return text + (isSolved ? " gives " + typeText(answer.output) : " fails: " + answer.problem.plain());
}

bool isClosed(const harness::OperatorSample& sample) {
  return std::ranges::none_of(sample.operands, harness::hasOpenDims);
}

} // namespace

TEST_CASE("shapes of calls say what relations say") {
  TypeContext types;
  harness::Reader reader(types);
  harness::SamplePool pool;
  uint64_t seed = harness::mixSeed(31, Catch::rngSeed());
  harness::fillSamples(pool, reader, seed, {.perRow = 24});
  harness::Random random(seed);
  for (size_t row = 0; row < pool.byRow.size(); ++row) {
    Tally tally;
    std::vector<std::string> problems;
    for (const harness::OperatorSample* sample : pool.byRow[row]) {
      if (!isClosed(*sample))
        continue;
      std::vector<const Type*> checked = opened(types, *sample, random);
      auto shapes = shapesOf(*sample->row, checked, sample->attributes);
      // Some take no calls of such types, as where kernels must have known extents.
      tally.asked += applyRelation(*sample->row, {types, checked, sample->attributes}).outcome ==
                     RelationResult::Outcome::Solved;
      if (!shapes)
        continue;
      for (int round = 0; round < 8; ++round) {
        auto numbers = round == 0 ? sample->operands : resized(types, *sample, random);
        if (std::string problem = difference(types, *sample, *shapes, numbers, tally);
            !problem.empty())
          problems.push_back(problem);
      }
    }
    const OperatorRow& tested = *stdlib::operatorTable().all()[row];
    INFO(tested.name << ": " << tally.answered << " answered, " << tally.left << " left");
    CAPTURE(problems);
    CHECK(problems.empty());
    // What takes functions or storage is not drawn.
    bool needsOnlyShapes =
        tested.shapeNeeds == ShapeNeeds::Shapes && (tested.compute || tested.native);
    CHECK((!needsOnlyShapes || ((tally.answered > 0 || tally.asked == 0) && tally.left == 0)));
  }
}

TEST_CASE("finding the shapes of results allocates nothing") {
  TypeContext types;
  harness::Reader reader(types);
  harness::SamplePool pool;
  harness::fillSamples(pool, reader, 7, {.perRow = 2});
  size_t asked = 0;
  for (const harness::OperatorSample& sample : pool.all) {
    if (!isClosed(sample))
      continue;
    harness::Random random(++asked);
    std::vector<const Type*> checked = opened(types, sample, random);
    auto shapes = shapesOf(*sample.row, checked, sample.attributes);
    if (!shapes)
      continue;
    std::vector<int64_t> extents = extentsOf(sample.operands);
    std::vector<int64_t> results(extentsOf({&sample.output, 1}).size());
    size_t before = tests::allocations();
    findResults(*shapes, extents, results);
    CHECK(tests::allocations() == before);
  }
  CHECK(asked > stdlib::operatorTable().all().size());
}

TEST_CASE("which dimension broadcasts need not be known beforehand") {
  TypeContext types;
  const OperatorRow* add = stdlib::operatorTable().findInfix("+");
  std::vector<const Type*> open(2, types.tensor({types.any(), types.any()}, runtime::Float32));
  auto shapes = shapesOf(*add, open, {});
  REQUIRE(shapes);
  struct Row {
    std::vector<int64_t> operands, result;
  };
  for (const Row& row : std::vector<Row>{{{5, 7, 5, 7}, {5, 7}},
                                         {{5, 7, 5, 1}, {5, 7}},
                                         {{5, 7, 1, 7}, {5, 7}},
                                         {{5, 7, 1, 1}, {5, 7}},
                                         {{5, 1, 5, 7}, {5, 7}},
                                         {{5, 1, 1, 7}, {5, 7}},
                                         {{1, 7, 5, 7}, {5, 7}},
                                         {{1, 7, 5, 1}, {5, 7}},
                                         {{1, 1, 5, 7}, {5, 7}},
                                         {{0, 7, 1, 7}, {0, 7}},
                                         {{5, 7, 4, 7}, {}},
                                         {{5, 7, 5, 8}, {}}}) {
    std::vector<int64_t> result(2);
    bool isAnswered = findResults(*shapes, row.operands, result);
    CAPTURE(row.operands);
    CHECK(isAnswered == !row.result.empty());
    CHECK((!isAnswered || result == row.result));
  }
}

namespace {

/// A call whose operands have these shapes; `open` extents may be anything.
struct OpenCall {
  std::string_view op;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<Setting> settings = {};
  bool takesTuple = false;
  /// Where they are not float32.
  std::vector<runtime::DType> dtypes = {};
};
constexpr int64_t open = -1;

std::vector<const Type*> operandsOf(TypeContext& types, const OpenCall& call,
                                    const std::function<const Dim*(int64_t)>& dimOf) {
  std::vector<const Type*> tensors;
  for (const std::vector<int64_t>& shape : call.shapes) {
    std::vector<const Dim*> dims;
    for (int64_t extent : shape)
      dims.push_back(dimOf(extent));
    size_t i = tensors.size();
    tensors.push_back(
        types.tensor(Dims(dims), i < call.dtypes.size() ? call.dtypes[i] : runtime::Float32));
  }
  return call.takesTuple ? std::vector{types.tuple(tensors)} : tensors;
}

/// Calls of rows that leave something to sizes.
std::vector<OpenCall> callsThatLeave() {
  const std::vector<int64_t> two{2, 2}, one{1, 1};
  using runtime::Float32, runtime::Int32, runtime::Int8;
  const std::vector<runtime::DType> dequantized{Int8, Float32, Int32},
      simulated{Float32, Int32, Float32, Int32}, packed{Int8, Int8, Int32, Int32, Float32, Float32};
  return {{"add", {{3}, {open}}},
          {"add", {{open, open}, {open, open}}},
          {"divide", {{open, 3}, {open}}},
          {"where", {{open}, {open}, {open, 1, open}}},
          {"where", {{1}, {open}, {3}}},
          {"broadcast_to", {{open, open}}, {{"shape", std::vector<int64_t>{2, 3}}}},
          {"broadcast_to_like", {{open, open}, {open, open}}},
          {"collapse_sum_like", {{open, open}, {open, open}}},
          {"nn.batch_matmul", {{open, 2, open}, {4, open, 3}}, {{"transpose_b", true}}},
          {"matmul", {{open, 2, open}, {4, open, 3}}},
          {"matmul", {{open, 1, 2, 3}, {open, open, open}}},
          {"matmul", {{open}, {4, open}}},
          {"nn.dense", {{open, open}, {4, 3}}},
          {"nn.dense", {{open, 3}, {4, open}}},
          {"nn.bias_add", {{open, 3}, {open}}},
          {"reshape", {{open, open}}, {{"newshape", std::vector<int64_t>{2, 6}}}},
          {"reshape", {{open, open, open}}, {{"newshape", std::vector<int64_t>{0, -1, 2}}}},
          {"reshape_like", {{open, open}, {open, open}}},
          {"squeeze", {{open, open}}, {{"axis", std::vector<int64_t>{0}}}},
          {"stack", {{open, 3}, {4, open}}, {}, true},
          {"concatenate", {{open, open}, {4, open}}, {{"axis", 1}}, true},
          {"split", {{open, open}}, {{"indices_or_sections", 2}, {"axis", 1}}},
          {"split", {{open, open}}, {{"indices_or_sections", std::vector<int64_t>{1, 3}}}},
          {"split", {{open, open}}, {{"indices_or_sections", std::vector<int64_t>{}}}},
          {"nn.upsampling", {{1, open, open, open}}, {{"scale_h", 1.5}, {"scale_w", 0.3}}},
          {"nn.contrib_dense_pack", {{open, open}, {open, 2, open}}, {{"units", 6}}},
          {"qnn.dequantize",
           {{open, 3}, {open}, {open}},
           {{"axis", 0}, {"out_dtype", "float32"}},
           false,
           dequantized},
          {"qnn.dequantize",
           {{open, open}, {}, {open}},
           {{"out_dtype", "float32"}},
           false,
           dequantized},
          {"qnn.simulated_quantize", {{open, open}, {}, {open}, {open}}, {}, false, simulated},
          {"qnn.contrib_dense_pack",
           {{1, 4}, {open, 2, open, 2}, {}, {open}, {}, {open}},
           {{"units", AttributeValue{}}, {"out_dtype", "int32"}},
           false,
           packed},
          {"einsum", {{open, open}, {open, open}}, {{"equation", "ij,jk->ik"}}, true},
          {"matrix_set_diag", {{open, open}, {open}}},
          {"strided_slice",
           {{open, open}},
           {{"begin", std::vector<int64_t>{1, -3}},
            {"end", std::vector<int64_t>{4, INT32_MAX}},
            {"strides", std::vector<int64_t>{2, 1}}}},
          {"nn.dilate", {{open, open}}, {{"strides", std::vector<int64_t>{2, 3}}}},
          {"nn.conv2d", {{1, 2, open, open}, {2, 2, open, 3}}, {{"padding", one}}},
          {"nn.conv2d_transpose", {{1, 2, open, open}, {2, 2, open, 3}}, {{"padding", one}}},
          {"nn.max_pool2d",
           {{1, 1, open, open}},
           {{"pool_size", two}, {"strides", two}, {"padding", one}, {"ceil_mode", true}}}};
}

/// The next choice of one of the sizes for each place; false after the last.
bool advance(std::vector<size_t>& chosen, size_t sizes) {
  for (size_t& each : chosen) {
    if (++each < sizes)
      return true;
    each = 0;
  }
  return false;
}

} // namespace

TEST_CASE("what names leave to sizes is found at every size") {
  const std::vector<int64_t> sizes{0, 1, 2, 3, 4, 6};
  for (const OpenCall& call : callsThatLeave()) {
    TypeContext types;
    Module module(types);
    Builder make(module, stdlib::operatorTable());
    const OperatorRow& row = make.row(call.op);
    std::vector<Atom> variables(row.operands.size(), make.var(VarOrigin::Parameter, "x"));
    const Attributes& attributes = *make.call(row, variables, call.settings)->attributes;
    size_t places = 0;
    auto checked = operandsOf(types, call, [&](int64_t extent) {
      places += extent == open;
      return extent == open ? types.any() : types.constant(extent);
    });
    RelationResult known = applyRelation(row, {types, checked, attributes});
    size_t rank = extentsOf({&known.output, 1}).size();
    auto shapes = shapesOf(row, checked, attributes);
    REQUIRE(shapes);
    size_t solved = 0;
    std::vector<size_t> chosen(places);
    do {
      size_t next = 0;
      auto numbers = operandsOf(types, call, [&](int64_t extent) {
        return types.constant(extent == open ? sizes[chosen[next++]] : extent);
      });
      RelationResult answer = applyRelation(row, {types, numbers, attributes});
      bool isSolved = answer.outcome == RelationResult::Outcome::Solved;
      for (const auto& [index, type] : answer.operands)
        isSolved = isSolved && type == numbers[index];
      std::vector<int64_t> extents = extentsOf(numbers), results(rank);
      bool isAnswered = findResults(*shapes, extents, results);
      CAPTURE(call.op, extents);
      REQUIRE(isAnswered == isSolved);
      if (isSolved)
        REQUIRE(results == extentsOf({&answer.output, 1}));
      solved += isSolved;
    } while (advance(chosen, sizes.size()));
    CAPTURE(call.op);
    CHECK(solved > 0);
  }
}

TEST_CASE("slices are found at every extent") {
  const OperatorRow& slice = *stdlib::operatorTable().find("strided_slice");
  TypeContext types;
  Module module(types);
  Builder make(module, stdlib::operatorTable());
  size_t compared = 0;
  for (int64_t stride : {1, 2, -1, -3})
    for (int64_t begin : {0, 2, 11, -1, -4, -30})
      for (int64_t end : {0, 3, 12, 300, INT32_MAX, -1, -6, -40}) {
        const std::vector<int64_t> begins{begin}, ends{end}, strides{stride};
        const Call* call =
            make.call(slice, {make.var(VarOrigin::Parameter, "x")},
                      std::vector<Setting>{{"begin", begins}, {"end", ends}, {"strides", strides}});
        const Attributes& attributes = *call->attributes;
        const Type* open = types.tensor({types.symbol("n")}, runtime::Float32);
        auto shapes = shapesOf(slice, {&open, 1}, attributes);
        REQUIRE(shapes);
        for (int64_t extent = 0; extent < 330; extent += extent < 50 ? 1 : 49) {
          const Type* closed = types.tensor({types.constant(extent)}, runtime::Float32);
          RelationResult answer = applyRelation(slice, {types, {&closed, 1}, attributes});
          bool isSolved = answer.outcome == RelationResult::Outcome::Solved;
          int64_t result = -1;
          bool isAnswered = findResults(*shapes, {&extent, 1}, {&result, 1});
          CAPTURE(begin, end, stride, extent);
          CHECK(isAnswered == isSolved);
          CHECK((!isAnswered || result == answer.output->shape[0]->value));
          ++compared;
        }
      }
  CHECK(compared > 10'000);
}
