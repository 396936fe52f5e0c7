// The code is gone through once, with each loop at its start: what is inside counts as often as the
// loops around it run.
#include "codegen/strips/cost.h"

#include "codegen/strips/arithmetic.h"
#include "codegen/strips/run_contract.h"

#include <cmath>

namespace strips {

namespace {

/// Nanoseconds: of a number, of an instruction, of a byte that one reads or makes, of one product.
constexpr double numberCost = 1, instructionCost = 6, byteCost = 0.04, productCost = 0.05;
/// Of a product where one factor has few rows and strips of the other are read for each, as in a
/// convolution of each channel by itself: between what short and long strips take.
constexpr double readProductCost = 0.5;
/// Functions that are no single instruction of a processor take so many times longer.
constexpr double dearTimes = 12;

bool isDear(const KernelName& name) {
  using enum runtime::ScalarFunction;
  if (name.kind != KernelKind::Apply)
    return false;
  bool isWhole = name.from != Element::Float32 && name.from != Element::Float64;
  switch (name.function) {
  case Add:
  case Subtract:
  case Multiply:
  case Maximum:
  case Minimum:
  case Negative:
  case Select:
    return false;
  default:
    return !runtime::scalarFunctionGivesBool(name.function) &&
           (!isWhole || runtime::scalarFunctionDivides(name.function));
  }
}

class CostWalk {
public:
  CostWalk(const Program& program, const Prepared& prepared)
      : program_(program), numbers_(prepared.numbers) {}

  double run(uint32_t pc) {
    for (; program_.code[pc].code != Code::Stop; ++pc)
      add(program_.code[pc]);
    return total_;
  }

private:
  void add(const Instruction& at) {
    if (makesNumber(at)) {
      makeNumber(at, numbers_.data());
      total_ += times_ * numberCost;
      return;
    }
    switch (at.code) {
    case Code::Loop:
      around_.push_back(times_);
      times_ *= enter(at);
      break;
    case Code::Next:
      times_ = around_.back();
      around_.pop_back();
      break;
    case Code::Contract:
      total_ += times_ * contraction(program_.contractions[at.a]);
      break;
    case Code::Unless:
    case Code::Allocate:
      break;
    default:
      total_ += times_ * strip(at);
    }
  }

  /// How often a loop runs.
  double enter(const Instruction& loop) {
    auto end = double(std::max<int64_t>(numbers_[loop.a], 0));
    numbers_[loop.out] = 0;
    if (loop.c == none)
      return end;
    double lanes = std::min(end, double(program_.stripLength));
    numbers_[loop.c] = int64_t(lanes);
    return std::ceil(end / std::max(lanes, 1.0));
  }

  double strip(const Instruction& at) const {
    if (at.code == Code::Row)
      return numberCost;
    double bytes = double(numbers_[at.count]) * double(lower::elementBytes(at.element));
    bool dear = at.code == Code::Apply && isDear(program_.kernels[at.kernel]);
    return instructionCost + bytes * byteCost * (dear ? dearTimes : 1);
  }

  double extent(uint32_t first, uint32_t count) const {
    double product = 1;
    for (uint32_t i = 0; i < count; ++i)
      product *= double(std::max<int64_t>(numbers_[program_.axes[first + i].end], 0));
    return product;
  }

  double extent(const Side& side) const { return extent(side.firstAxis, side.axisCount); }

  double contraction(const Contraction& contraction) const {
    const double rows = extent(contraction.rows), columns = extent(contraction.columns);
    const Side& many = rows < columns ? contraction.columns : contraction.rows;
    const bool isRead = std::min(rows, columns) < double(fewRows) && !many.runsAlongSum;
    return (isRead ? readProductCost : productCost) * rows * columns *
           extent(contraction.firstBatch, contraction.batchCount) *
           extent(contraction.firstSummed, contraction.summedCount);
  }

  const Program& program_;
  List<int64_t> numbers_;
  double total_ = 0, times_ = 1;
  List<double> around_;
};

} // namespace

double costOf(const Program& program, const Prepared& prepared) {
  return CostWalk(program, prepared).run(prepared.start);
}

} // namespace strips
