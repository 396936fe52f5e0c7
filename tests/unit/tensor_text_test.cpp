// Texts of tensor functions: those of all operators read back as the same function, over numbers
// and over open extents, and damaged ones are refused with a place or verify.
#include "lang/op/compute.h"
#include "lower/tensor/read.h"
#include "lower/tensor/verify.h"
#include "stdlib/ops.h"
#include "tests/harness/draw.h"
#include "tests/harness/samples.h"
#include "tests/harness/types.h"
#include "vm/executable/expression_table.h"

#include <catch2/catch.hpp>
#include <cctype>
#include <map>
#include <set>

using namespace lang;

namespace {

/// Nodes as one list, with what is one node and what are two told apart for all that is no leaf.
std::string listOf(const TensorFunction& function) {
  std::string list;
  executable::FunctionTable table = executable::tableOf(function);
  for (const tensor::SizeParameter& size : table.sizes)
    list += fmt::format("{} {} {}\n", size.isOfResult, size.tensor, size.dim);
  std::vector<std::string> names;
  size_t made = 0;
  auto use = [&](uint32_t node) { return node == executable::noNode ? "none" : names[node]; };
  auto axes = [&](const std::vector<executable::AxisEntry>& entries) {
    std::string text;
    for (const auto& axis : entries)
      text += fmt::format(" i{}:{}", axis.number, use(axis.extent));
    return text;
  };
  for (const executable::NodeEntry& node : table.nodes) {
    std::string text =
        fmt::format("{} {} {:a} {} {} {} {}", int(node.kind), runtime::dtypeName(node.dtype),
                    node.real, node.integer, node.number, int(node.function), int(node.combiner));
    text += axes(node.axes);
    for (uint32_t operand : node.operands)
      text += " " + use(operand);
    text += " " + use(node.outside);
    if (node.kind <= tensor::ScalarKind::Size) {
      names.push_back("(" + text + ")");
      continue;
    }
    names.push_back(fmt::format("#{}", made++));
    list += text + "\n";
  }
  for (const executable::TensorEntry& each : table.tensors) {
    list += runtime::dtypeName(each.dtype);
    for (uint32_t extent : each.shape)
      list += " " + use(extent);
    list += "\n";
  }
  for (const executable::StageEntry& stage : table.stages)
    list += fmt::format("{}{} {} {} {} {} {}\n", int(stage.kind), axes(stage.axes), use(stage.body),
                        stage.source, int(stage.combiner), stage.axis, stage.exclusive);
  for (uint32_t result : table.results)
    list += fmt::format(" {}", result);
  return list;
}

/// What is wrong with the way there and back, or nothing.
std::string changeOf(const TensorFunction& function) {
  std::string text = tensor::tensorFunctionText(function);
  auto again = tensor::tensorFunctionOf(text);
  if (!again)
    return again.failure().text + "\n" + text;
  if (std::string other = tensor::tensorFunctionText(*again); other != text)
    return other + "in place of\n" + text;
  std::string was = listOf(function), is = listOf(*again);
  return was == is ? "" : is + "in place of\n" + was + text;
}

/// The function of a call with these operands, where there is one.
std::optional<TensorFunction> functionOf(TypeContext& types, const harness::OperatorSample& sample,
                                         const std::vector<const Type*>& operands) {
  RelationResult answer = applyRelation(*sample.row, {types, operands, sample.attributes});
  if (answer.outcome != RelationResult::Outcome::Solved)
    return std::nullopt;
  auto function = tensorFunctionOf(*sample.row, operands, answer.output, sample.attributes);
  return function ? std::optional(*std::move(function)) : std::nullopt;
}

/// Names or `?` in place of some extents.
std::vector<const Type*> opened(TypeContext& types, const harness::OperatorSample& sample,
                                harness::Random& random) {
  bool isNamed = random.chance(50);
  std::map<const Dim*, const Dim*> names;
  std::vector<const Type*> operands;
  for (const Type* operand : sample.operands)
    operands.push_back(harness::changeDims(types, operand, [&](const Dim* dim) {
      if (random.chance(30))
        return dim;
      const Dim*& name = names[dim];
      if (!name)
        name = types.symbol(fmt::format("n{}", names.size()));
      return isNamed ? name : types.any();
    }));
  return operands;
}

void forEachFunction(
    uint64_t seed, size_t perRow,
    const std::function<void(const OperatorRow&, const TensorFunction&, harness::Random&)>& check) {
  TypeContext types;
  harness::Reader reader(types);
  harness::SamplePool pool;
  harness::fillSamples(pool, reader, seed, {.perRow = perRow});
  for (size_t i = 0; i < pool.byRow.size(); ++i) {
    harness::Random random(harness::mixSeed(seed, i));
    for (const harness::OperatorSample* sample : pool.byRow[i])
      if (sample->row->compute)
        for (const auto& operands : {sample->operands, opened(types, *sample, random)})
          if (auto function = functionOf(types, *sample, operands)) {
            INFO(sample->row->name);
            check(*sample->row, *function, random);
          }
  }
}

std::string damaged(std::string text, harness::Random& random) {
  constexpr std::string_view letters = "()[]:,+-*/%<>=. \nabint09";
  size_t at = random.index(text.size());
  switch (random.integer(0, 2)) {
  case 0:
    return text.erase(at, size_t(random.integer(1, 9)));
  case 1:
    return text.insert(at, 1, letters[random.index(letters.size())]);
  default:
    return text.insert(at, text.substr(random.index(text.size()), size_t(random.integer(1, 30))));
  }
}

} // namespace

TEST_CASE("tensor functions read back from their texts") {
  std::set<std::string_view> seen;
  forEachFunction(harness::mixSeed(Catch::rngSeed(), 1), 8,
                  [&](const OperatorRow& row, const TensorFunction& function, harness::Random&) {
                    CHECK(changeOf(function) == "");
                    seen.insert(row.name);
                  });
  for (const OperatorRow* row : stdlib::operatorTable().all()) {
    INFO(row->name);
    CHECK((!row->compute || seen.contains(row->name)));
  }
}

TEST_CASE("damaged texts of tensor functions are refused with a place, or verify") {
  size_t refused = 0, accepted = 0;
  forEachFunction(harness::mixSeed(Catch::rngSeed(), 2), 2,
                  [&](const OperatorRow&, const TensorFunction& function, harness::Random& random) {
                    std::string text = tensor::tensorFunctionText(function);
                    for (int i = 0; i < 20; ++i) {
                      auto again = tensor::tensorFunctionOf(damaged(text, random));
                      if (again) {
                        ++accepted;
                        CHECK(tensor::problemOf(*again) == nullptr);
                        continue;
                      }
                      ++refused;
                      INFO(again.failure().text);
                      CHECK(std::isdigit(static_cast<unsigned char>(again.failure().text[0])));
                    }
                  });
  CHECK(refused > 1000);
  CHECK(accepted > 100);
}

TEST_CASE("what is wrong with the text of a tensor function has a place") {
  auto problem = [](std::string_view text) {
    auto function = tensor::tensorFunctionOf(text);
    return function ? "" : function.failure().text;
  };
  CHECK(problem("t0(2): float32 = input\nt1[i0 < 2]: float32 = t0[i0]\nresult t1\n") == "");
  CHECK(problem("") == "1:1: a tensor function ends with a line of its results");
  CHECK(problem("t0(2): float32 = input\n") ==
        "2:1: a tensor function ends with a line of its results");
  CHECK(problem("t0(m): float32 = input\nresult t0\n") ==
        "1:4: there is no function and nothing to read here that is called `m`");
  CHECK(problem("size n0: dimension 1 of input 0\nt0(n0): float32 = input\nresult t0\n") ==
        "1:1: a size is of no dimension");
  CHECK(problem("size n0: dimension 0 of input 1\nt0(2): float32 = input\nresult t0\n") ==
        "1:1: a size is of no input");
  CHECK(problem("t0(2): float32 = input\nsize n0: dimension 0 of result 1\nresult t0\n") ==
        "2:1: a size is of no result");
  CHECK(problem("size n1: dimension 0 of input 0\nt0(n1): float32 = input\nresult t0\n") ==
        "1:6: expected `n0`, but found `n1`");
  CHECK(problem("t0(n0): float32 = input\nresult t0\n") ==
        "1:4: there is no function and nothing to read here that is called `n0`");
  CHECK(problem("t0(2): float32 = input\nt1[i0 < 2]: float32 = t0[i1]\nresult t1\n") ==
        "2:1: an index is used outside its loop");
  CHECK(problem("t0(2): float32 = input\nt1[i0 < 2]: float32 = t1[i0]\nresult t1\n") ==
        "2:23: there is no tensor `t1` in front of this");
  CHECK(problem("t0(2): float32 = input\nt1[i0 < 2, i0 < 3]: float32 = t0[i0]\nresult t1\n") ==
        "2:12: there is a loop of `i0` already");
  CHECK(problem("t0(2): float32 = input\nresult t1\n") ==
        "2:8: there is no tensor `t1` in front of this");
  CHECK(problem("t0(2): float32 = input\nlet %0 = exp(1, 2)\nresult t0\n") ==
        "2:10: `exp` takes 1 operands, but here it has 2");
  std::string deep(100, '(');
  CHECK(problem("t0(" + deep + "): float32 = input\nresult t0\n") ==
        "1:69: this is nested too deep to read; give parts of it a name with `let`");
}
