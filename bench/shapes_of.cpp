// What it costs to learn the shape of a result: asking the relation about numbers, against the
// shapes of the call site. Rows of a Markdown table, nanoseconds of processor time.
//
// usage: shapes_of_bench
// Calls are the samples of the test harness, one for each row of the operator table.
#include "lang/op/shapes_of.h"
#include "bench/processor_time.h"
#include "stdlib/ops.h"
#include "tests/harness/samples.h"

#include <algorithm>
#include <fmt/format.h>

namespace {

using namespace lang;

double processorTime() {
  return bench::processorSeconds() * 1e9;
}

/// Nanoseconds of one call of `work`: the median of nine rounds.
template <typename Work>
double timeOf(Work&& work) {
  constexpr int rounds = 9, calls = 2000;
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    double start = processorTime();
    for (int i = 0; i < calls; ++i)
      work();
    times.push_back((processorTime() - start) / calls);
  }
  std::ranges::nth_element(times, times.begin() + rounds / 2);
  return times[rounds / 2];
}

void addExtents(const Type* type, std::vector<int64_t>& extents) {
  for (const Dim* dim : type->shape)
    extents.push_back(dim->value);
  for (const Type* part : type->parts)
    addExtents(part, extents);
}

struct Figures {
  std::string_view name;
  double relation, sizes;
};

std::optional<Figures> measure(TypeContext& types, const harness::OperatorSample& sample) {
  std::vector<const Type*> open;
  std::vector<int64_t> extents;
  for (const Type* operand : sample.operands) {
    if (harness::hasOpenDims(operand))
      return std::nullopt;
    addExtents(operand, extents);
    open.push_back(harness::changeDims(types, operand, [&](const Dim*) { return types.any(); }));
  }
  std::vector<int64_t> results;
  addExtents(sample.output, results);
  auto shapes = shapesOf(*sample.row, open, sample.attributes);
  if (!shapes || !findResults(*shapes, extents, results))
    return std::nullopt;
  return Figures{sample.row->name, timeOf([&] {
                   applyRelation(*sample.row, {types, sample.operands, sample.attributes});
                 }),
                 timeOf([&] { findResults(*shapes, extents, results); })};
}

} // namespace

int main() {
  TypeContext types;
  harness::Reader reader(types);
  harness::SamplePool pool;
  harness::fillSamples(pool, reader, 1, {.perRow = 8});
  std::vector<Figures> all;
  for (const auto& samples : pool.byRow)
    for (const harness::OperatorSample* sample : samples)
      if (auto figures = measure(types, *sample)) {
        all.push_back(*figures);
        break;
      }
  std::ranges::sort(all, {}, &Figures::sizes);
  fmt::print("| row | relation ns | sizes ns | ratio |\n|---|--:|--:|--:|\n");
  for (size_t i : {size_t(0), all.size() / 2, all.size() * 9 / 10, all.size() - 1})
    fmt::print("| {} | {:.0f} | {:.1f} | {:.0f} |\n", all[i].name, all[i].relation, all[i].sizes,
               all[i].relation / all[i].sizes);
}
