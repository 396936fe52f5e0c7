// One expression for all sizes: the tensor expression of every row is built once with open extents,
// named or `?`, then bound to the sizes of several calls, and must give what the expression gives
// that is built at those numbers. So must the expression as a kernel, whose plans are given the
// numbers of one call after the other: bit by bit what a plan made for them gives, and near to what
// the reference says.
//
// BATON_EXTENTS_CASES is the number of calls to compare (a share of it for each row); `-s` shows
// the numbers of every row, `--rng-seed NUMBER` takes other calls.
#include "codegen/strips/compile/sized.h"
#include "codegen/strips/kernel.h"
#include "lang/calls/kernel_nest.h"
#include "lower/loops/read.h"
#include "lower/loops/verify.h"
#include "lower/tensor/bind.h"
#include "stdlib/ops.h"
#include "tests/harness/agreement.h"
#include "tests/harness/draw.h"
#include "tests/harness/operand_data.h"
#include "tests/harness/run_operator.h"
#include "tests/harness/run_strips.h"
#include "tests/harness/samples.h"
#include "tests/harness/types.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fmt/format.h>
#include <map>

using namespace lang;
using runtime::Shape;
using runtime::Tensor;
using Outcome = RelationResult::Outcome;
using OperandTypes = std::vector<const Type*>;

namespace {

/// The extents of a call, dimension by dimension, in the order of harness::changeDims.
using DimList = std::vector<const Dim*>;

DimList dimsOf(TypeContext& types, const OperandTypes& operands) {
  DimList dims;
  for (const Type* operand : operands)
    harness::changeDims(types, operand, [&](const Dim* dim) {
      dims.push_back(dim);
      return dim;
    });
  return dims;
}

OperandTypes withDims(TypeContext& types, const OperandTypes& operands, const DimList& dims) {
  OperandTypes result;
  size_t next = 0;
  for (const Type* operand : operands)
    result.push_back(harness::changeDims(types, operand, [&](const Dim*) { return dims[next++]; }));
  return result;
}

/// Names, forms and `?` in place of the numbers of a call; the form of each dimension may be opened
/// in several ways.
DimList openDims(TypeContext& types, const DimList& numbers, harness::Random& random) {
  int64_t style = random.integer(0, 3);
  int kept = int(random.integer(0, 2)) * 25;
  std::map<int64_t, const Dim*> shared;
  DimList open;
  for (const Dim* dim : numbers) {
    const Dim* any = types.any();
    const Dim*& form = shared[dim->value];
    if (!form) {
      const Dim* name = types.symbol(fmt::format("n{}", shared.size()));
      bool isSum = style == 3 && dim->value > 0 && random.chance(50);
      form = isSum ? types.add(name, types.constant(1)) : name;
    }
    bool isAny = style == 0 || (style == 1 && random.chance(40));
    open.push_back(random.chance(kept) ? dim : isAny ? any : form);
  }
  return open;
}

/// Numbers that fit the open dimensions: those of the call, changed here and there. What was equal
/// mostly stays equal, and extents of 1 and 0 are frequent.
DimList otherNumbers(TypeContext& types, const DimList& open, const DimList& numbers,
                     harness::Random& random) {
  std::map<int64_t, int64_t> changed;
  std::map<const Dim*, const Dim*> named;
  bool changesAll = random.chance(50);
  auto drawn = [&](int64_t value) {
    if (!changesAll && random.chance(60))
      return value;
    return random.chance(30) ? random.integer(0, 1)
                             : std::max<int64_t>(0, value + random.integer(-2, 3));
  };
  DimList result;
  for (size_t i = 0; i < open.size(); ++i) {
    if (open[i]->isConstant()) {
      result.push_back(open[i]);
      continue;
    }
    auto [place, isNew] = changed.try_emplace(numbers[i]->value, 0);
    if (isNew)
      place->second = drawn(numbers[i]->value);
    int64_t value = place->second;
    if (open[i]->isAny()) {
      if (random.chance(12))
        value = random.chance(70) ? 1 : random.integer(0, 4);
    } else {
      // A sum of a name and 1 is at least 1.
      if (open[i]->kind == DimKind::Linear)
        value = std::max<int64_t>(value, 1);
      auto [same, isFirst] = named.try_emplace(open[i], types.constant(value));
      value = same->second->value;
    }
    result.push_back(types.constant(value));
  }
  return result;
}

/// Whether the numbers fulfil what the relation asks of the names; forms are names, or names and 1.
bool fulfils(TypeContext& types, std::span<const DimBound> bounds, const DimList& open,
             const DimList& numbers) {
  std::map<const Dim*, const Dim*> sizes;
  for (size_t i = 0; i < open.size(); ++i)
    if (open[i]->kind == DimKind::Symbol)
      sizes[open[i]] = numbers[i];
    else if (open[i]->kind == DimKind::Linear)
      sizes[open[i]->terms[0].variable] = types.constant(numbers[i]->value - open[i]->value);
  return std::ranges::all_of(bounds, [&](const DimBound& bound) {
    const Dim* dim = types.substitute(bound.dim, [&](const Dim* name) { return sizes.at(name); });
    return dim->value >= bound.least && dim->value % bound.divisor == 0;
  });
}

/// Data of the operands; where a vector of integers may be a shape, that is the extents of the
/// first operand now and then.
std::vector<Tensor> randomLeaves(const OperandTypes& operands, harness::Random& random) {
  constexpr std::array kinds{harness::Data::Positions, harness::Data::Signed,
                             harness::Data::Sorted};
  std::vector<Tensor> leaves = harness::operandLeaves(operands, random.pick(kinds), random);
  for (Tensor& leaf : leaves) {
    bool mayBeShape = leaf.rank() == 1 && leaf.dtype().isInteger() && random.chance(40);
    const Shape& first = leaves[0].shape();
    if (!mayBeShape || &leaf == &leaves[0] || size_t(leaf.size()) > first.size())
      continue;
    bool isOnes = random.chance(30);
    for (int64_t i = 0; i < leaf.size(); ++i) {
      int64_t extent = isOnes ? 1 : first[first.size() - size_t(leaf.size() - i)];
      std::memcpy(leaf.bytes() + size_t(i) * leaf.dtype().bytes(), &extent, leaf.dtype().bytes());
    }
  }
  return leaves;
}

bool isSame(const Tensor& left, const Tensor& right) {
  if (left.dtype() != right.dtype() || left.shape() != right.shape())
    return false;
  return std::memcmp(left.bytes(), right.bytes(), left.byteSize()) == 0;
}

struct Tally {
  size_t drawn = 0, refused = 0, unknownForm = 0, compared = 0, faults = 0;
  size_t plans = 0, renewals = 0, nests = 0;
};

/// Runs for operands; what went wrong.
std::string runOn(runtime::KernelCode& code, std::span<const Tensor> operands,
                  std::vector<Tensor>& results) {
  if (code.problem())
    return code.problem()->problem.plain();
  std::vector<const std::byte*> from;
  std::vector<std::byte*> to;
  for (const Tensor& operand : operands)
    from.push_back(operand.bytes());
  for (const runtime::CodeResult& result : code.results()) {
    results.push_back(Tensor::unwritten(result.type, result.shape));
    to.push_back(results.back().bytes());
  }
  if (auto fault = code.run(from, to))
    return fault->problem.plain();
  for (size_t i = 0; i < to.size(); ++i)
    if (auto [isInput, index] = code.results()[i].source; !code.results()[i].isWritten(i))
      std::memcpy(to[i], isInput ? from[index] : to[index], results[i].byteSize());
  return "";
}

/// A call at numbers with data that the relation accepts.
struct Concrete {
  OperandTypes operands;
  std::vector<Tensor> leaves;
  const Type* output = nullptr;
};

class RowChecker {
public:
  RowChecker(TypeContext& types, const OperatorRow& row, uint64_t seed)
      : types_(types), row_(row), random_(seed) {}

  /// Opens the call once and compares it at some sizes.
  void check(const harness::OperatorSample& sample) {
    DimList numbers = dimsOf(types_, sample.operands);
    DimList open = openDims(types_, numbers, random_);
    ++tally.drawn;
    OperandTypes operands = withDims(types_, sample.operands, open);
    RelationCall call{types_, operands, sample.attributes};
    RelationResult answer = applyRelation(row_, call);
    if (answer.outcome != Outcome::Solved) {
      ++tally.refused;
      return;
    }
    auto function = tensorFunctionOf(row_, operands, answer.output, sample.attributes);
    if (!function) {
      ++tally.unknownForm;
      if (function.failure().text.empty())
        problems.push_back("a form that is not known, without a word");
      return;
    }
    const TensorFunction all = *std::move(function);
    auto nest = nestOf(operands, answer.output, all);
    strips::ProgramKernel kernel(all, {}, strips::programMaker(loops::Numbers::Reordered));
    std::vector<Concrete> calls;
    for (int i = 0; i < 16 && calls.size() < 6; ++i) {
      DimList sizes = i == 0 ? numbers : otherNumbers(types_, open, numbers, random_);
      if (!fulfils(types_, answer.bounds, open, sizes))
        continue;
      auto concrete = concreteCall(sample, withDims(types_, sample.operands, sizes));
      if (!concrete || !fitsOutput(answer.output, concrete->output))
        continue;
      if (calls.size() < 3)
        compare(all, sample, *concrete, operands);
      comparePlans(kernel, all, sample, *concrete, operands);
      if (nest)
        compareNest(*nest, all, sample, *concrete, operands);
      calls.push_back(*std::move(concrete));
    }
    // Back again, by plans that were given other numbers in between.
    for (size_t i = calls.size(); i-- > 0;)
      comparePlans(kernel, all, sample, calls[i], operands);
    tally.plans += kernel.programsMade();
    tally.renewals += 2 * calls.size() - kernel.programsMade();
  }

  Tally tally;
  std::vector<std::string> problems;

private:
  std::optional<Concrete> concreteCall(const harness::OperatorSample& sample,
                                       OperandTypes operands) {
    std::vector<const Type*> leafTypes, results;
    for (const Type* operand : operands)
      if (!harness::appendLeafTypes(operand, leafTypes))
        return std::nullopt;
    Concrete concrete{std::move(operands), {}, nullptr};
    int attempts = row_.shapeNeeds == ShapeNeeds::Shapes ? 1 : 12;
    for (int i = 0; i < attempts && !concrete.output; ++i) {
      concrete.leaves = randomLeaves(concrete.operands, random_);
      concrete.output = outputOf(sample, concrete);
    }
    bool isSmall = concrete.output && harness::appendLeafTypes(concrete.output, results);
    return isSmall ? std::optional(std::move(concrete)) : std::nullopt;
  }

  /// What the relation says of the numbers and values; null when it does not accept them.
  const Type* outputOf(const harness::OperatorSample& sample, const Concrete& concrete) {
    std::vector<const Tensor*> values(concrete.operands.size());
    size_t leaf = 0;
    for (size_t i = 0; i < concrete.operands.size(); ++i) {
      bool isTuple = concrete.operands[i]->isTuple();
      if (!isTuple && row_.shapeNeeds != ShapeNeeds::Shapes)
        values[i] = &concrete.leaves[leaf];
      leaf += isTuple ? concrete.operands[i]->parts.size() : 1;
    }
    RelationCall call{types_, concrete.operands, sample.attributes, values};
    RelationResult result = applyRelation(row_, call);
    if (result.outcome != Outcome::Solved)
      return nullptr;
    for (const auto& [index, type] : result.operands)
      if (type != concrete.operands[index])
        return nullptr;
    return result.output;
  }

  /// Whether the result has the rank that the open call promised.
  static bool fitsOutput(const Type* open, const Type* concrete) {
    if (open->kind != concrete->kind || open->shape.size() != concrete->shape.size() ||
        open->parts.size() != concrete->parts.size() || open->dtype != concrete->dtype)
      return false;
    for (size_t i = 0; i < open->parts.size(); ++i)
      if (!fitsOutput(open->parts[i], concrete->parts[i]))
        return false;
    return true;
  }

  struct Shapes {
    std::vector<Shape> inputs, results;
  };

  static Shapes shapesOf(const Concrete& concrete) {
    Shapes shapes;
    for (const Tensor& leaf : concrete.leaves)
      shapes.inputs.push_back(leaf.shape());
    std::vector<const Type*> outputs;
    harness::appendLeafTypes(concrete.output, outputs);
    for (const Type* type : outputs)
      shapes.results.push_back(lang::shapeOf(type));
    return shapes;
  }

  static bool areSame(const std::vector<Tensor>& left, const std::vector<Tensor>& right) {
    return std::ranges::equal(left, right, isSame);
  }

  void compare(const TensorFunction& all, const harness::OperatorSample& sample,
               const Concrete& concrete, const OperandTypes& open) {
    auto numbers = tensorFunctionOf(row_, concrete.operands, concrete.output, sample.attributes);
    Shapes shapes = shapesOf(concrete);
    TensorFunction bound = tensor::bound(all, shapes.inputs, shapes.results);
    std::string text = tensor::tensorFunctionText(bound);
    std::vector<Tensor> expected, given;
    std::string wanted = run(*std::move(numbers), concrete, expected);
    std::string said = run(std::move(bound), concrete, given);
    ++tally.compared;
    tally.faults += !wanted.empty();
    if (wanted != said || !areSame(expected, given))
      report(sample, concrete, open, fmt::format("`{}` in place of `{}`\n{}", said, wanted, text));
  }

  /// The kernel, which may have a plan for these sizes, against one that makes its own, and against
  /// the reference.
  void comparePlans(strips::ProgramKernel& kernel, const TensorFunction& all,
                    const harness::OperatorSample& sample, const Concrete& concrete,
                    const OperandTypes& open) {
    Shapes shapes = shapesOf(concrete);
    strips::ProgramKernel own(all, {}, strips::programMaker(loops::Numbers::Reordered));
    std::vector<Tensor> expected, given;
    std::vector<int64_t> extents;
    for (const auto& list : {shapes.inputs, shapes.results})
      for (const runtime::Shape& shape : list)
        extents.insert(extents.end(), shape.begin(), shape.end());
    std::string wanted = runOn(own.codeFor(extents), concrete.leaves, expected);
    std::string said = runOn(kernel.codeFor(extents), concrete.leaves, given);
    bool isShaped =
        !wanted.empty() || std::ranges::equal(given, shapes.results, {}, &Tensor::shape);
    if (wanted != said || !isShaped || (wanted.empty() && !areSame(expected, given)))
      return report(sample, concrete, open, fmt::format("by plan `{}` not `{}`", said, wanted));
    std::vector<runtime::Value> inputs, results;
    for (const Tensor& leaf : concrete.leaves)
      inputs.push_back(runtime::tensorValue(leaf));
    for (const Tensor& result : expected)
      results.push_back(runtime::tensorValue(result));
    runtime::Fault fault{runtime::FaultKind::Data, wanted};
    std::string text = harness::disagreement(tensor::bound(all, shapes.inputs, shapes.results),
                                             inputs, results, wanted.empty() ? nullptr : &fault);
    if (!text.empty())
      report(sample, concrete, open, text);
  }

  /// The nest for all sizes, which verifies and reads back.
  std::optional<loops::Nest> nestOf(const OperandTypes& operands, const Type* output,
                                    const TensorFunction& function) {
    std::vector<const Type*> tensors, outputs;
    for (const Type* operand : operands)
      appendTensors(operand, tensors);
    appendTensors(output, outputs);
    std::vector<NamedTensor> inputs, results;
    for (const Type* type : tensors)
      inputs.push_back({fmt::format("x{}", inputs.size()), type});
    for (const Type* type : outputs)
      results.push_back({fmt::format("y{}", results.size()), type});
    auto nest = kernelNest(row_.name.data(), function, inputs, results);
    if (!nest && nest.failure().text == "a sum that may fail is needed for some elements alone")
      return std::nullopt;
    if (!nest) {
      problems.push_back(fmt::format("{}: no nest: {}\n{}", row_.name, nest.failure().text,
                                     tensor::tensorFunctionText(function)));
      return std::nullopt;
    }
    std::string text = loops::textOf(*nest);
    auto again = loops::nestOf(text);
    std::string problem = loops::problemOf(*nest);
    if (problem.empty() && !again)
      problem = again.failure().text;
    else if (problem.empty() && loops::textOf(*again) != text)
      problem = "it reads back as " + loops::textOf(*again);
    ++tally.nests;
    if (problem.empty())
      return *std::move(again);
    problems.push_back(fmt::format("{}: {}\n{}", row_.name, problem, text));
    return std::nullopt;
  }

  void compareNest(const loops::Nest& nest, const TensorFunction& all,
                   const harness::OperatorSample& sample, const Concrete& concrete,
                   const OperandTypes& open) {
    Shapes shapes = shapesOf(concrete);
    std::vector<Shape> tensors = shapes.inputs;
    tensors.insert(tensors.end(), shapes.results.begin(), shapes.results.end());
    std::vector<int64_t> sizes = harness::sizesOf(nest, tensors);
    std::vector<runtime::Value> inputs;
    for (const Tensor& leaf : concrete.leaves)
      inputs.push_back(runtime::tensorValue(leaf));
    harness::NestRun run = harness::runNest(nest, sizes, inputs);
    std::string text =
        harness::disagreement(tensor::bound(all, shapes.inputs, shapes.results), inputs,
                              run.results, run.fault ? &*run.fault : nullptr);
    if (!text.empty())
      report(sample, concrete, open, "by its nest " + text + "\n" + loops::textOf(nest));
    run = harness::runStrips(nest, sizes, inputs);
    text = harness::disagreement(tensor::bound(all, shapes.inputs, shapes.results), inputs,
                                 run.results, run.fault ? &*run.fault : nullptr);
    if (!text.empty())
      report(sample, concrete, open, "by strips " + text + "\n" + loops::textOf(nest));
  }

  void report(const harness::OperatorSample& sample, const Concrete& concrete,
              const OperandTypes& open, const std::string& what) {
    std::string problem = std::string(row_.name);
    for (size_t i = 0; i < open.size(); ++i)
      problem += fmt::format(" {} as {}", typeText(open[i]), typeText(concrete.operands[i]));
    for (const AttributeValue& value : sample.attributes.values)
      problem += " " + harness::attributeText(value);
    problems.push_back(fmt::format("{}: {}", problem, what));
  }

  /// Runs; what went wrong.
  static std::string run(TensorFunction function, const Concrete& concrete,
                         std::vector<Tensor>& results) {
    std::vector<runtime::Value> inputs, outputs;
    for (const Tensor& leaf : concrete.leaves)
      inputs.push_back(runtime::tensorValue(leaf));
    if (auto fault =
            tensor::OwnedKernel(std::move(function), strips::makeKernel).run(inputs, outputs))
      return fault->problem.plain();
    for (const runtime::Value& output : outputs)
      results.push_back(output.tensor());
    return "";
  }

  TypeContext& types_;
  const OperatorRow& row_;
  harness::Random random_;
};

size_t casesWanted() {
  const char* text = std::getenv("BATON_EXTENTS_CASES");
  return text ? size_t(std::strtoull(text, nullptr, 10)) : 6000;
}

} // namespace

TEST_CASE("expressions over open extents are those over numbers") {
  constexpr size_t fewest = 5;
  const auto& rows = stdlib::operatorTable().all();
  size_t share = casesWanted() / rows.size() + 1, total = 0, wrong = 0, renewals = 0, plans = 0,
         nests = 0;
  std::vector<std::unique_ptr<RowChecker>> checkers;
  TypeContext types;
  for (const OperatorRow* row : rows)
    checkers.push_back(
        std::make_unique<RowChecker>(types, *row, harness::mixSeed(Catch::rngSeed(), row->name)));
  bool isMissing = true;
  for (uint64_t round = 0; isMissing && round < 8 + share / 20; ++round) {
    harness::Reader reader(types);
    harness::SamplePool pool;
    harness::fillSamples(pool, reader, harness::mixSeed(Catch::rngSeed(), 1000 + round),
                         {.perRow = 16});
    isMissing = false;
    for (size_t i = 0; i < rows.size(); ++i)
      for (const harness::OperatorSample* sample : pool.byRow[i])
        if (rows[i]->compute && checkers[i]->tally.compared < share) {
          checkers[i]->check(*sample);
          isMissing |= checkers[i]->tally.compared < share;
        }
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowChecker& checker = *checkers[i];
    const Tally& tally = checker.tally;
    total += tally.compared;
    wrong += !checker.problems.empty();
    renewals += tally.renewals;
    plans += tally.plans;
    nests += tally.nests;
    if (!rows[i]->compute)
      continue;
    INFO(rows[i]->name << ": " << tally.drawn << " opened, " << tally.refused << " refused, "
                       << tally.unknownForm << " without a form; " << tally.compared
                       << " compared, " << tally.faults << " of them faults; " << tally.plans
                       << " plans, " << tally.renewals << " times used again");
    if (!checker.problems.empty()) {
      UNSCOPED_INFO(checker.problems.size() << " wrong, as " << checker.problems.front());
    }
    CHECK(checker.problems.empty());
    CHECK(tally.compared >= fewest);
  }
  CHECK(nests > total / 6);
  INFO(total << " calls compared, " << wrong << " rows wrong; " << plans << " plans, " << renewals
             << " times used again");
  CHECK(wrong == 0);
  CHECK(renewals > 2 * plans);
}
