// All that a statement needs is computed first, for all lanes, in a way that can do no harm; then
// what is a fault where it counts; then it stores.
#include "codegen/llvm/statement.h"

#include "lower/loops/names.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>

namespace codegen {

namespace {

using loops::Operation;
using loops::OperationKind;
using loops::Place;
using loops::Statement;
using loops::Store;

bool looksForMaximum(loops::Combiner combiner) {
  return combiner == loops::Combiner::ArgMaximum || combiner == loops::Combiner::ArgMaximumLast;
}

class StatementWriter {
public:
  StatementWriter(const Surroundings& around, const Statement& statement)
      : around_(around), text_(around.text), elements_(around), statement_(statement),
        values_(statement.operations.size()), outside_(statement.operations.size()) {}

  void write() {
    compute();
    check();
    if (statement_.combiner && loops::findsPlace(*statement_.combiner))
      joinPlace();
    else
      store();
  }

  IrValue valueOnly() {
    compute();
    const Store& store = statement_.stores[0];
    return writeStored(text_, *values_[store.value], around_.nest.buffers[store.buffer].dtype);
  }

private:
  void compute() {
    std::vector<bool> isNeeded(statement_.operations.size(), false);
    for (const Store& store : statement_.stores)
      isNeeded[store.value] = true;
    for (size_t i = isNeeded.size(); i-- > 0;)
      if (isNeeded[i])
        loops::forEachValue(statement_.operations[i],
                            [&](uint32_t operand) { isNeeded[operand] = true; });
    for (uint32_t i = 0; i < isNeeded.size(); ++i)
      if (isNeeded[i])
        values_[i] = computed(i);
  }

  DType dtypeOf(uint32_t operation) const { return statement_.operations[operation].dtype; }

  IrValue computed(uint32_t at) {
    const Operation& operation = statement_.operations[at];
    switch (operation.kind) {
    case OperationKind::Number:
      return numberOf(operation.dtype, operation.real, operation.integer);
    case OperationKind::Position:
      return elements_.position(operation.position);
    case OperationKind::Load:
      return load(at);
    case OperationKind::Cast:
      return writeCast(text_, *values_[operation.operands[0]], dtypeOf(operation.operands[0]),
                       operation.dtype);
    case OperationKind::Apply:
      return apply(operation);
    }
    throw std::logic_error("no operation");
  }

  IrValue apply(const Operation& operation) {
    DType first = dtypeOf(operation.operands[0]);
    if (operation.function == ScalarFunction::Reinterpret)
      return writeReinterpret(text_, *values_[operation.operands[0]], first, operation.dtype);
    std::vector<IrValue> operands;
    for (uint32_t operand : operation.operands)
      operands.push_back(*values_[operand]);
    if (operation.function == ScalarFunction::Divide && operands[1].type.lanes == 1 &&
        text_.isOfAvx512(operands[0].type) && isSummed(operation.operands[1]))
      return writeQuotient(text_, operands[0], operands[1]);
    return writeFunction(text_, operation.function, first, operation.dtype,
                         text_.together(std::move(operands)));
  }

  /// Whether a value is made of what a nest computed before, as sums are: it is as exact as these.
  bool isSummed(uint32_t value) const {
    std::vector<uint32_t> open{value};
    while (!open.empty()) {
      const Operation& operation = statement_.operations[open.back()];
      open.pop_back();
      if (operation.kind == OperationKind::Load &&
          around_.nest.buffers[operation.buffer].space == loops::Space::Scratch)
        return true;
      open.insert(open.end(), operation.operands.begin(), operation.operands.end());
    }
    return false;
  }

  /// Whether all places of a load are inside, where that is not known.
  std::optional<IrValue> insideOf(const Operation& load) {
    const loops::Buffer& buffer = around_.nest.buffers[load.buffer];
    std::optional<IrValue> all;
    for (size_t i = 0; i < load.places.size(); ++i) {
      const Place& place = load.places[i];
      if (!place.isChecked && load.operands.empty())
        continue;
      if (place.value == loops::none && around_.facts.isInside(place.form, buffer.extents[i]))
        continue;
      IrValue at =
          place.value == loops::none ? elements_.position(place.form) : *values_[place.value];
      IrValue extent = around_.positions.value(buffer.extents[i], around_.facts);
      IrValue isInside = text_.compare("icmp ult", at, text_.splat(extent, at.type.lanes));
      all = all ? text_.both("and", *all, isInside) : isInside;
    }
    return all;
  }

  IrValue load(uint32_t at) {
    const Operation& operation = statement_.operations[at];
    std::optional<IrValue> inside = insideOf(operation);
    IrValue value = elements_.read(
        operation.buffer, elements_.addressOf(operation.buffer, operation.places, values_), inside);
    if (!inside)
      return value;
    outside_[at] = text_.binary("xor", *inside, FunctionText::bit(true, inside->type.lanes));
    if (operation.operands.empty())
      return value;
    std::vector<IrValue> all = text_.together({*inside, value, *values_[operation.operands[0]]});
    return text_.select(all[0], all[1], all[2]);
  }

  // Faults.

  /// When an operation is a fault: a division by zero, or a place outside that nothing stands in
  /// for.
  std::optional<IrValue> badnessOf(uint32_t at) {
    const Operation& operation = statement_.operations[at];
    if (!values_[at])
      return std::nullopt;
    if (operation.kind == OperationKind::Load)
      return operation.operands.empty() ? outside_[at] : std::nullopt;
    if (operation.kind != OperationKind::Apply ||
        !runtime::scalarFunctionDivides(operation.function) ||
        dtypeOf(operation.operands[0]).isFloat())
      return std::nullopt;
    const Operation& divisor = statement_.operations[operation.operands[1]];
    if (divisor.kind == OperationKind::Number && divisor.integer != 0)
      return std::nullopt;
    const IrValue& value = *values_[operation.operands[1]];
    return text_.compare("icmp eq", value, FunctionText::whole(value.type, 0));
  }

  struct Need {
    bool isThere = false, isAlways = false;
    std::optional<IrValue> when = {};
  };

  void need(Need& need, const Need& by, const std::optional<IrValue>& also) {
    if (need.isAlways)
      return;
    bool isFirst = !need.isThere;
    need.isThere = true;
    if (by.isAlways && !also) {
      need.isAlways = true;
      return;
    }
    IrValue when = by.isAlways ? *also : also ? text_.both("and", *by.when, *also) : *by.when;
    need.when = isFirst ? when : text_.both("or", *need.when, when);
  }

  /// What each operation is needed for, from the stores backwards.
  std::vector<Need> needs() {
    std::vector<Need> needs(statement_.operations.size());
    for (const Store& store : statement_.stores)
      needs[store.value] = {true, true};
    for (size_t i = needs.size(); i-- > 0;) {
      if (!needs[i].isThere)
        continue;
      const Operation& operation = statement_.operations[i];
      if (operation.kind == OperationKind::Apply && operation.function == ScalarFunction::Select) {
        IrValue chosen =
            writeTruth(text_, *values_[operation.operands[0]], dtypeOf(operation.operands[0]));
        need(needs[operation.operands[0]], needs[i], std::nullopt);
        need(needs[operation.operands[1]], needs[i], chosen);
        need(needs[operation.operands[2]], needs[i],
             text_.binary("xor", chosen, FunctionText::bit(true, chosen.type.lanes)));
        continue;
      }
      bool hasElse = operation.kind == OperationKind::Load && !operation.operands.empty();
      loops::forEachValue(operation, [&](uint32_t operand) {
        if (!hasElse || operand != operation.operands[0])
          need(needs[operand], needs[i], std::nullopt);
      });
      if (hasElse && outside_[i])
        need(needs[operation.operands[0]], needs[i], outside_[i]);
    }
    return needs;
  }

  void check() {
    std::vector<std::pair<uint32_t, IrValue>> bad;
    for (uint32_t i = 0; i < values_.size(); ++i)
      if (auto when = badnessOf(i))
        bad.push_back({i, *when});
    if (bad.empty())
      return;
    std::vector<Need> all = needs();
    std::optional<IrValue> any;
    for (auto& [at, when] : bad) {
      if (!all[at].isThere)
        continue;
      IrValue counts = all[at].isAlways ? when : text_.both("and", when, *all[at].when);
      any = any ? text_.both("or", *any, counts) : counts;
    }
    if (!any)
      return;
    if (any->type.lanes > 1)
      any = elements_.alsoActive(any);
    std::string next = text_.newLabel();
    text_.branch(text_.any(*any), around_.faultLabel, next);
    text_.open(next);
  }

  // Stores.

  Address addressOf(const Store& store) {
    std::vector<Place> places;
    for (Form form : store.position)
      places.push_back({form});
    return elements_.addressOf(store.buffer, places, values_);
  }

  void store() {
    const Store& store = statement_.stores[0];
    Address to = addressOf(store);
    IrValue value = *values_[store.value];
    if (statement_.combiner && to.stride == 0 && value.type.lanes > 1)
      value = reduced(value);
    if (statement_.combiner)
      value = joined(store, to, value);
    elements_.write(store.buffer, to, value);
  }

  IrValue joined(const Store& store, const Address& to, const IrValue& value) {
    DType dtype = around_.nest.buffers[store.buffer].dtype;
    IrValue before = elements_.read(store.buffer, to, std::nullopt);
    bool isWhole = value.type.lanes == values_[store.value]->type.lanes;
    if (*statement_.combiner == loops::Combiner::Sum && dtype.isFloat() && dtype.bits >= 32 &&
        isWhole)
      if (auto fused = fusedSum(store, before))
        return *fused;
    return combined(dtype, before, value);
  }

  IrValue combined(DType dtype, const IrValue& a, const IrValue& b) {
    constexpr std::array functions{ScalarFunction::Add,        ScalarFunction::Multiply,
                                   ScalarFunction::Maximum,    ScalarFunction::Minimum,
                                   ScalarFunction::LogicalAnd, ScalarFunction::LogicalOr};
    return writeFunction(text_, functions[size_t(*statement_.combiner)], dtype, dtype,
                         text_.together({a, b}));
  }

  /// The lanes joined to one value, by halves.
  IrValue reduced(IrValue value) {
    DType dtype = around_.nest.buffers[statement_.stores[0].buffer].dtype;
    if (around_.lanes->mask)
      value =
          text_.select(*around_.lanes->mask, value, text_.splat(identity(dtype), value.type.lanes));
    while (value.type.lanes > 1)
      value = combined(dtype, text_.half(value, false), text_.half(value, true));
    return value;
  }

  /// What changes nothing that it is joined to.
  IrValue identity(DType dtype) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    bool isSigned = dtype.isSigned();
    int64_t least = isSigned ? INT64_MIN >> (64 - dtype.bits) : 0;
    switch (*statement_.combiner) {
    case loops::Combiner::Product:
      return numberOf(dtype, 1, 1);
    case loops::Combiner::Maximum:
      return numberOf(dtype, -infinity, least);
    case loops::Combiner::Minimum:
      return numberOf(dtype, infinity, ~least);
    case loops::Combiner::All:
      return numberOf(dtype, 1, 1);
    default:
      return numberOf(dtype, -0.0, 0);
    }
  }

  /// A product that is added, rounded once.
  std::optional<IrValue> fusedSum(const Store& store, const IrValue& before) {
    const Operation& product = statement_.operations[store.value];
    if (around_.nest.numbers != loops::Numbers::Reordered || product.kind != OperationKind::Apply ||
        product.function != ScalarFunction::Multiply)
      return std::nullopt;
    return text_.intrinsic("llvm.fmuladd", text_.together({*values_[product.operands[0]],
                                                           *values_[product.operands[1]], before}));
  }

  void joinPlace() {
    const Store &place = statement_.stores[0], &extreme = statement_.stores[1];
    DType dtype = around_.nest.buffers[extreme.buffer].dtype;
    Address toPlace = addressOf(place), toExtreme = addressOf(extreme);
    std::vector<IrValue> all =
        text_.together({*values_[place.value], *values_[extreme.value],
                        elements_.read(place.buffer, toPlace, std::nullopt),
                        elements_.read(extreme.buffer, toExtreme, std::nullopt)});
    IrValue isBetter =
        text_.binary("or", beats(dtype, all[1], all[3]),
                     text_.binary("and", equals(dtype, all[1], all[3]), isFurther(all[0], all[2])));
    elements_.write(place.buffer, toPlace, text_.select(isBetter, all[0], all[2]));
    elements_.write(extreme.buffer, toExtreme, text_.select(isBetter, all[1], all[3]));
  }

  /// NaN beats all but NaN.
  IrValue beats(DType dtype, const IrValue& a, const IrValue& b) {
    ScalarFunction comparison =
        looksForMaximum(*statement_.combiner) ? ScalarFunction::Greater : ScalarFunction::Less;
    std::array operands{a, b};
    IrValue isBeyond = writeFunction(text_, comparison, dtype, runtime::Bool, operands);
    if (!dtype.isFloat())
      return isBeyond;
    IrValue isFirst =
        text_.binary("and", text_.compare("fcmp uno", a, a), text_.compare("fcmp ord", b, b));
    return text_.binary("or", isFirst, isBeyond);
  }

  IrValue equals(DType dtype, const IrValue& a, const IrValue& b) {
    std::array operands{a, b};
    IrValue isSame = writeFunction(text_, ScalarFunction::Equal, dtype, runtime::Bool, operands);
    if (!dtype.isFloat())
      return isSame;
    IrValue areNone =
        text_.binary("and", text_.compare("fcmp uno", a, a), text_.compare("fcmp uno", b, b));
    return text_.binary("or", areNone, isSame);
  }

  IrValue isFurther(const IrValue& place, const IrValue& before) {
    bool isLast = *statement_.combiner == loops::Combiner::ArgMaximumLast ||
                  *statement_.combiner == loops::Combiner::ArgMinimumLast;
    return text_.compare(isLast ? "icmp sgt" : "icmp slt", place, before);
  }

  const Surroundings& around_;
  FunctionText& text_;
  Elements elements_;
  const Statement& statement_;
  std::vector<std::optional<IrValue>> values_;
  /// Of loads, when they are outside.
  std::vector<std::optional<IrValue>> outside_;
};

} // namespace

void writeStatement(const Surroundings& around, const Statement& statement) {
  StatementWriter(around, statement).write();
}

IrValue storedValue(const Surroundings& around, const Statement& statement) {
  return StatementWriter(around, statement).valueOnly();
}

} // namespace codegen
