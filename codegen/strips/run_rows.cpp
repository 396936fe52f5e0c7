// Contractions with few rows: nothing is packed, so a matrix is read once, where it lies.
#include "codegen/strips/run_contract.h"

#include "runtime/parts.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace strips {

namespace {

class RowProduct {
public:
  RowProduct(Evaluator& evaluator, const Side& few, const Side& many, int64_t fewCount,
             int64_t depth)
      : evaluator_(evaluator), few_(few), many_(many), fewCount_(size_t(fewCount)),
        depth_(size_t(depth)), values_(fewCount_ * depth_) {}

  /// Computes the positions first .. last - 1 of the many.
  void run(int64_t batch, int64_t first, int64_t last) {
    evaluator_.setBatch(batch);
    if (batch != batch_)
      evaluateFew(batch);
    while (first < last) {
      size_t count = 1;
      if (many_.runsAlongSum) {
        evaluator_.setPosition(many_, first);
        addAlongSum();
      } else {
        count = evaluator_.setStrip(many_, first, size_t(last - first));
        addAlongMany(count);
      }
      store(first, count);
      first += int64_t(count);
    }
  }

private:
  void evaluateFew(int64_t batch) {
    batch_ = batch;
    if (few_.runsAlongSum) {
      for (size_t row = 0; row < fewCount_; ++row) {
        evaluator_.setPosition(few_, int64_t(row));
        for (size_t k = 0, run = 0; k < depth_; k += run) {
          run = evaluator_.setSummedStrip(few_, int64_t(k), depth_ - k);
          std::memcpy(values_.data() + row * depth_ + k, evaluator_.strip(few_),
                      run * sizeof(float));
        }
      }
      return;
    }
    for (size_t row = 0, run = 0; row < fewCount_; row += run) {
      run = evaluator_.setStrip(few_, int64_t(row), fewCount_ - row);
      evaluator_.setSummed(0);
      for (size_t k = 0; k < depth_; ++k, evaluator_.nextSummed()) {
        auto* strip = reinterpret_cast<const float*>(evaluator_.strip(few_));
        for (size_t j = 0; j < run; ++j)
          values_[(row + j) * depth_ + k] = strip[j];
      }
    }
  }

  void addAlongSum() {
    totals_.assign(fewCount_, 0);
    for (size_t k = 0, run = 0; k < depth_; k += run) {
      run = evaluator_.setSummedStrip(many_, int64_t(k), depth_ - k);
      auto* strip = reinterpret_cast<const float*>(evaluator_.strip(many_));
      for (size_t row = 0; row < fewCount_; ++row)
        totals_[row] += loops_.sumOfProducts(strip, values_.data() + row * depth_ + k, run);
    }
  }

  void addAlongMany(size_t count) {
    totals_.assign(fewCount_ * count, 0);
    sums_.assign(fewCount_ * count, 0);
    evaluator_.setSummed(0);
    for (size_t k = 0; k < depth_; ++k, evaluator_.nextSummed()) {
      auto* strip = reinterpret_cast<const float*>(evaluator_.strip(many_));
      for (size_t row = 0; row < fewCount_; ++row)
        loops_.addStrip(sums_.data() + row * count, strip, values_[row * depth_ + k], count);
      if ((k + 1) % lower::blockDepth == 0 || k + 1 == depth_)
        for (size_t j = 0; j < fewCount_ * count; ++j)
          totals_[j] += std::exchange(sums_[j], 0.0f);
    }
  }

  /// Rounds the totals, once, and puts them into the result.
  void store(int64_t first, size_t count) {
    evaluator_.offsetsOf(many_, first, count, offsets_);
    Element element = evaluator_.contraction().element;
    auto size = int64_t(lower::elementBytes(element));
    lower::ApplyKernel round = lower::castKernel(Element::Float64, element);
    rounded_.resize(count * size_t(size));
    for (size_t row = 0; row < fewCount_; ++row) {
      int64_t base = evaluator_.offsetOfBatch(batch_) + evaluator_.offsetOf(few_, int64_t(row));
      auto* totals = reinterpret_cast<const std::byte*>(totals_.data() + row * count);
      round(rounded_.data(), &totals, count);
      lower::placeKernel(element)(evaluator_.result() + base * size, offsets_.data(),
                                  rounded_.data(), count);
    }
  }

  Evaluator& evaluator_;
  const Side &few_, &many_;
  size_t fewCount_, depth_;
  /// The few at all summed positions.
  Pooled<float> values_;
  Pooled<double> totals_;
  Pooled<float> sums_;
  Pooled<int64_t> offsets_;
  Pooled<std::byte> rounded_;
  lower::RowLoops loops_ = lower::rowLoops();
  int64_t batch_ = -1;
};

} // namespace

void runFewRows(Thread& thread, const Contraction& contraction, const Extents& extents,
                unsigned threads) {
  bool areRowsFew = extents.rows <= extents.columns;
  const Side& few = areRowsFew ? contraction.rows : contraction.columns;
  const Side& many = areRowsFew ? contraction.columns : contraction.rows;
  int64_t fewCount = std::min(extents.rows, extents.columns);
  int64_t manyCount = std::max(extents.rows, extents.columns);
  constexpr int64_t grain = 64;
  int64_t pieces = (manyCount + grain - 1) / grain;
  runtime::runParts(extents.batches * pieces, 1, threads, [&](int64_t begin, int64_t end) {
    Evaluator evaluator(thread, contraction);
    RowProduct product(evaluator, few, many, fewCount, extents.summed);
    while (begin < end) {
      // All that is of one batch.
      int64_t batch = begin / pieces, last = std::min(end, (batch + 1) * pieces);
      product.run(batch, begin % pieces * grain,
                  std::min(manyCount, (last - batch * pieces) * grain));
      begin = last;
    }
    return std::optional<runtime::Fault>();
  });
}

} // namespace strips
