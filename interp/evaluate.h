// Running flat code (flatten.h) over the positions of a tensor.
//
// R is the type of floats. Registers hold floats and whole numbers in two rows, since a node is
// always one or the other; nothing is allocated for an element.
#pragma once

#include "interp/flatten.h"
#include "lower/tensor/outside.h"
#include "runtime/element.h"
#include "runtime/scalar_meaning.h"
#include "runtime/tensor.h"

#include <limits>

namespace interp {

inline double roundedTo(DType dtype, double value) {
  return rounded(dtype, value);
}
/// Reals are not rounded to the types of the program.
template <typename R>
R roundedTo(DType, R value) {
  return value;
}

/// A tensor to read: its extents and elements, and reals in place of these where there are any.
template <typename R>
struct Source {
  const int64_t* shape = nullptr;
  const std::byte* bytes = nullptr;
  const std::vector<R>* exact = nullptr;
};

template <typename R>
class StageRun {
public:
  StageRun(const FlatStage& flat, std::span<const Source<R>> tensors)
      : flat_(flat), tensors_(tensors), reals_(flat.registers), wholes_(flat.registers),
        isDone_(flat.ownBlocks), totals_(flat.reduces.size()) {
    for (const FlatNumber& number : flat.numbers)
      if (number.node->dtype.isFloat())
        reals_[number.out] = R(number.node->real);
      else
        wholes_[number.out] = wrap(number.node->dtype, uint64_t(number.node->integer));
  }

  const std::string& problem() const { return problem_; }

  /// The shape of the result; nothing after a fault.
  std::optional<runtime::Shape> shape() {
    if (!runBlock(flat_.prologue))
      return std::nullopt;
    runtime::Shape shape;
    for (uint32_t extent : flat_.extents)
      shape.push_back(wholes_[extent]);
    return shape;
  }

  /// Calls `visit(real, whole)` with each element of a Map in row-major order; false after a fault.
  template <typename Visit>
  bool eachElement(int64_t count, Visit&& visit) {
    for (int64_t i = 0; i < count; ++i) {
      if (!runBlock(flat_.body))
        return false;
      visit(reals_[flat_.value], wholes_[flat_.value]);
      advance(flat_.loops);
    }
    return true;
  }

private:
  /// What a reduction has joined so far. `best` is the position of the extreme value.
  struct Total {
    R real = R(0);
    int64_t whole = 0, position = 0, best = 0;
  };

  static constexpr uint32_t outermost = UINT32_MAX;

  void forget(const FlatLoop& loop) {
    std::fill(isDone_.begin() + loop.firstBlock, isDone_.begin() + loop.endBlock, uint8_t(0));
  }

  /// Goes to the next position; false, at the first one, after the last.
  bool advance(std::span<const FlatLoop> loops) {
    for (size_t i = loops.size(); i-- > 0;) {
      forget(loops[i]);
      if (++wholes_[loops[i].position] < wholes_[loops[i].extent])
        return true;
      wholes_[loops[i].position] = 0;
    }
    return false;
  }

  void call(uint32_t block) {
    returns_.push_back(at_);
    at_ = flat_.blocks[block];
  }

  void leave() {
    at_ = returns_.back();
    returns_.pop_back();
  }

  /// Runs a block and those that it needs; false after a fault.
  bool runBlock(uint32_t block) {
    returns_.assign(1, outermost);
    at_ = flat_.blocks[block];
    while (at_ != outermost) {
      const Instruction& next = flat_.code[at_++];
      switch (next.action) {
      case Action::Apply:
        if (!apply(next))
          return false;
        break;
      case Action::Load:
        if (!load(next))
          return false;
        break;
      case Action::Need:
        if (!isDone_[next.detail])
          call(next.detail);
        break;
      case Action::Done:
        isDone_[next.detail] = 1;
        leave();
        break;
      case Action::Return:
        leave();
        break;
      case Action::Reduce:
        reduce(flat_.reduces[next.detail], totals_[next.detail]);
        break;
      case Action::Next:
        joinNext(flat_.reduces[next.detail], totals_[next.detail]);
        break;
      case Action::Branch:
        call(next.detail + (holds(next) ? 0 : 1));
        break;
      case Action::Choose:
        copy(next, next.operands[holds(next) ? 1 : 2]);
        break;
      case Action::Copy:
        copy(next, next.operands[0]);
        break;
      case Action::Cast:
        convert(next);
        break;
      case Action::Reinterpret:
        reinterpret(next);
        break;
      }
    }
    return true;
  }

  bool holds(const Instruction& next) const {
    uint32_t operand = next.operands[0];
    return next.from.isFloat() ? reals_[operand] != 0 : wholes_[operand] != 0;
  }

  void copy(const Instruction& next, uint32_t operand) {
    if (next.type.isFloat())
      reals_[next.out] = reals_[operand];
    else
      wholes_[next.out] = wholes_[operand];
  }

  bool apply(const Instruction& next) {
    auto [first, second, third] = next.operands;
    if (next.from.isFloat()) {
      const R &a = reals_[first], &b = reals_[second];
      R value = realFunction(next.function, next.from, a, b);
      if (next.type.isFloat())
        reals_[next.out] = roundedTo(next.type, value);
      else
        wholes_[next.out] = value != 0;
      return true;
    }
    int64_t a = wholes_[first], b = wholes_[second];
    if (b == 0 && tensor::scalarFunctionDivides(next.function)) {
      problem_ = "integer division by zero";
      return false;
    }
    wholes_[next.out] =
        wrap(next.type, wholeFunction(next.function, next.from, a, b, wholes_[third]));
    return true;
  }

  void convert(const Instruction& next) {
    uint32_t from = next.operands[0];
    if (next.type.isBool())
      wholes_[next.out] = holds(next);
    else if (next.type.isFloat() && next.from.isFloat())
      reals_[next.out] = roundedTo(next.type, reals_[from]);
    else if (next.type.isFloat())
      reals_[next.out] = floatOf<R>(next, wholes_[from]);
    else if (next.from.isFloat())
      wholes_[next.out] = wholeOf(next.type, reals_[from]);
    else
      wholes_[next.out] = wrap(next.type, uint64_t(wholes_[from]));
  }

  template <typename T>
  T floatOf(const Instruction& next, int64_t whole) const {
    if constexpr (std::is_same_v<T, double>)
      return runtime::floatOf(next.type, wideOf(next.from, whole));
    else
      return next.from.isSigned() ? T(whole) : T(uint64_t(whole));
  }

  void reinterpret(const Instruction& next) {
    std::byte bits[8] = {};
    uint32_t from = next.operands[0];
    if (next.from.isFloat())
      writeFloat(next.from, bits, rounded(next.from, double(reals_[from])));
    else
      writeWhole(next.from, bits, wholes_[from]);
    if (next.type.isFloat())
      reals_[next.out] = R(readFloat(next.type, bits));
    else
      wholes_[next.out] = readWhole(next.type, bits);
  }

  bool load(const Instruction& next) {
    const FlatLoad& load = flat_.loads[next.detail];
    const Source<R>& source = tensors_[load.tensor];
    const int64_t* shape = source.shape;
    const uint32_t* positions = load.position.data();
    int64_t flat = 0;
    for (size_t i = 0, rank = load.position.size(); i < rank; ++i) {
      int64_t position = wholes_[positions[i]];
      if (position < 0 || position >= shape[i])
        return loadOutside(load, i, position, shape[i]);
      flat = flat * shape[i] + position;
    }
    const std::byte* from = source.bytes + size_t(flat) * next.type.bytes();
    if (!next.type.isFloat())
      wholes_[next.out] = readWhole(next.type, from);
    else if (source.exact)
      reals_[next.out] = (*source.exact)[size_t(flat)];
    else
      reals_[next.out] = R(readFloat(next.type, from));
    at_ += load.outside == noBlock ? 0 : 1;
    return true;
  }

  bool loadOutside(const FlatLoad& load, size_t axis, int64_t position, int64_t extent) {
    if (load.outside == noBlock) {
      problem_ = tensor::outsideText(position, axis, extent);
      return false;
    }
    call(load.outside);
    return true;
  }

  // Reductions.

  void reduce(const FlatReduce& reduce, Total& total) {
    start(reduce, total);
    bool isEmpty = false;
    for (const FlatLoop& loop : reduce.loops) {
      isEmpty |= wholes_[loop.extent] <= 0;
      wholes_[loop.position] = 0;
      forget(loop);
    }
    if (isEmpty)
      finish(reduce, total);
    else
      call(reduce.block);
  }

  void joinNext(const FlatReduce& reduce, Total& total) {
    if (reduce.from.isFloat())
      joinFloat(reduce, total, reals_[reduce.value]);
    else
      joinWhole(reduce, total, wholes_[reduce.value]);
    ++total.position;
    if (advance(reduce.loops)) {
      at_ = flat_.blocks[reduce.block];
      return;
    }
    finish(reduce, total);
    leave();
  }

  void start(const FlatReduce& reduce, Total& total) {
    using tensor::Combiner;
    bool isOne = reduce.combiner == Combiner::Product || reduce.combiner == Combiner::All;
    total.real = R(isOne);
    total.whole = isOne;
    total.position = total.best = 0;
    DType type = reduce.from;
    uint64_t ones = ~uint64_t(0) >> (64 - type.bits);
    if (reduce.combiner == Combiner::Maximum) {
      total.real = R(-std::numeric_limits<double>::infinity());
      total.whole = type.isSigned() ? -int64_t(ones >> 1) - 1 : 0;
    } else if (reduce.combiner == Combiner::Minimum) {
      total.real = R(std::numeric_limits<double>::infinity());
      total.whole = int64_t(type.isSigned() ? ones >> 1 : ones);
    }
  }

  void joinFloat(const FlatReduce& reduce, Total& total, const R& value) {
    using tensor::Combiner;
    switch (reduce.combiner) {
    case Combiner::Sum:
      total.real += value;
      break;
    case Combiner::Product:
      total.real *= value;
      break;
    case Combiner::All:
      total.real = R(total.real != 0 && value != 0);
      break;
    case Combiner::Any:
      total.real = R(total.real != 0 || value != 0);
      break;
    case Combiner::Maximum:
      total.real = runtime::applied<tensor::ScalarFunction::Maximum>(total.real, value);
      break;
    case Combiner::Minimum:
      total.real = runtime::applied<tensor::ScalarFunction::Minimum>(total.real, value);
      break;
    default:
      joinBest(reduce, total, total.real, value);
    }
  }

  void joinWhole(const FlatReduce& reduce, Total& total, int64_t value) {
    using tensor::Combiner;
    runtime::Wide a = wideOf(reduce.from, value), b = wideOf(reduce.from, total.whole);
    switch (reduce.combiner) {
    case Combiner::Sum:
      total.whole = int64_t(uint64_t(total.whole) + uint64_t(value));
      break;
    case Combiner::Product:
      total.whole = int64_t(uint64_t(total.whole) * uint64_t(value));
      break;
    case Combiner::All:
      total.whole = total.whole != 0 && value != 0;
      break;
    case Combiner::Any:
      total.whole = total.whole != 0 || value != 0;
      break;
    case Combiner::Maximum:
      total.whole = a > b ? value : total.whole;
      break;
    case Combiner::Minimum:
      total.whole = a < b ? value : total.whole;
      break;
    default: {
      runtime::Wide best = b;
      joinBest(reduce, total, best, a);
      total.whole = int64_t(uint64_t(best));
    }
    }
  }

  /// The position of the extreme value: NaN is beyond all, and of equal ones the first or the last.
  template <typename T>
  static void joinBest(const FlatReduce& reduce, Total& total, T& best, const T& value) {
    using tensor::Combiner;
    bool isMaximum =
        reduce.combiner == Combiner::ArgMaximum || reduce.combiner == Combiner::ArgMaximumLast;
    bool isLast =
        reduce.combiner == Combiner::ArgMaximumLast || reduce.combiner == Combiner::ArgMinimumLast;
    bool isNan = value != value, wasNan = best != best;
    bool beats = isNan ? !wasNan : !wasNan && (isMaximum ? value > best : value < best);
    bool equals = isNan ? wasNan : value == best;
    if (total.position > 0 && !beats && !(equals && isLast))
      return;
    best = value;
    total.best = total.position;
  }

  void finish(const FlatReduce& reduce, const Total& total) {
    bool isPosition = reduce.combiner >= tensor::Combiner::ArgMaximum;
    if (isPosition)
      wholes_[reduce.out] = wrap(reduce.type, uint64_t(total.best));
    else if (reduce.type.isFloat())
      reals_[reduce.out] = roundedTo(reduce.type, total.real);
    else
      wholes_[reduce.out] = wrap(reduce.type, uint64_t(total.whole));
  }

  const FlatStage& flat_;
  std::span<const Source<R>> tensors_;
  std::vector<R> reals_;
  std::vector<int64_t> wholes_;
  /// Per block of its own, whether its value is there.
  std::vector<uint8_t> isDone_;
  std::vector<Total> totals_;
  std::vector<uint32_t> returns_;
  uint32_t at_ = 0;
  std::string problem_;
};

} // namespace interp
