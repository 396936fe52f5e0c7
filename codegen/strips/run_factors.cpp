#include "codegen/strips/run_contract.h"

#include <algorithm>

namespace strips {

Evaluator::Evaluator(const Thread& around, const Contraction& contraction)
    : contraction_(contraction), thread_(around, 0, 0) {
  for (const Side* side : {&contraction.rows, &contraction.columns})
    thread_.takeRegisters(side->begin, side->end);
}

int64_t Evaluator::countOf(Axes axes) const {
  int64_t count = 1;
  for (const Axis& axis : axes)
    count *= std::max<int64_t>(thread_.number(axis.end), 0);
  return count;
}

Extents Evaluator::extents() const {
  return {countOf(batches()), countOf(axesOf(contraction_.rows)),
          countOf(axesOf(contraction_.columns)), countOf(summed())};
}

void Evaluator::set(Axes axes, int64_t position) {
  for (size_t i = axes.size(); i-- > 0;) {
    int64_t end = thread_.number(axes[i].end);
    thread_.setNumber(axes[i].variable, i == 0 ? position : position % end);
    position /= end;
  }
}

void Evaluator::nextSummed() {
  Axes axes = summed();
  for (size_t i = axes.size(); i-- > 0;) {
    int64_t next = thread_.number(axes[i].variable) + 1;
    bool isBehind = i > 0 && next >= thread_.number(axes[i].end);
    thread_.setNumber(axes[i].variable, isBehind ? 0 : next);
    if (!isBehind)
      return;
  }
}

size_t Evaluator::setStrip(Axes axes, uint32_t count, int64_t position, size_t most) {
  set(axes, position);
  const Axis& last = axes.back();
  int64_t left = thread_.number(last.end) - thread_.number(last.variable);
  size_t lanes = std::min({size_t(left), most, size_t(thread_.program().stripLength)});
  thread_.setNumber(count, int64_t(lanes));
  return lanes;
}

size_t Evaluator::setStrip(const Side& side, int64_t position, size_t most) {
  return setStrip(axesOf(side), side.count, position, most);
}

size_t Evaluator::setSummedStrip(const Side& side, int64_t position, size_t most) {
  return setStrip(summed(), side.count, position, most);
}

const std::byte* Evaluator::strip(const Side& side) {
  size_t size = lower::elementBytes(contraction_.panel);
  size_t bytes = size_t(thread_.number(side.count)) * size;
  return thread_.registerAt(side.root, thread_.run(side.begin, side.end) ? bytes : SIZE_MAX, size);
}

int64_t Evaluator::offsetOf(Axes axes, int64_t position) const {
  int64_t offset = 0;
  for (size_t i = axes.size(); i-- > 0;) {
    int64_t end = thread_.number(axes[i].end);
    offset += (i == 0 ? position : position % end) * thread_.number(axes[i].stride);
    position /= end;
  }
  return offset;
}

void Evaluator::offsetsOf(const Side& side, int64_t first, size_t count,
                          Pooled<int64_t>& offsets) const {
  offsets.resize(count);
  for (size_t j = 0; j < count; ++j)
    offsets[j] = offsetOf(side, first + int64_t(j));
}

} // namespace strips
