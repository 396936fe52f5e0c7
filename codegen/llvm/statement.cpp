// All that a statement needs is computed first, for all lanes, in a way that can do no harm; then
// what is a fault where it counts; then it stores.
#include "codegen/llvm/statement.h"

#include "lower/loops/names.h"
#include "lower/sizes/slope.h"

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

constexpr IrType wholeType{Element::Int64};

/// Elements of a buffer for the lanes: those from one on, one for all, some that are so far apart,
/// or any.
struct Address {
  IrValue first;
  /// Elements between lanes; none where `each` has all places.
  std::optional<int64_t> stride = 0;
  std::optional<IrValue> each = {};
  /// Whether lanes that have no iteration may be touched too.
  bool isPadded = false;
};

Address anywhere(IrValue each) {
  if (each.type.lanes == 1)
    return {each};
  return {each, std::nullopt, each};
}

bool looksForMaximum(loops::Combiner combiner) {
  return combiner == loops::Combiner::ArgMaximum || combiner == loops::Combiner::ArgMaximumLast;
}

/// Whether what lies between the elements of lanes may be loaded with them.
bool isNear(int64_t stride, IrType type, int64_t vectorBytes) {
  return stride >= 2 && stride <= 4 && bitsOf(type.element) >= 32 && vectorBytes >= 32;
}

Form extentsBehind(loops::Nest& nest, const loops::Buffer& buffer, size_t dimension) {
  Form product = nest.table.number(1);
  for (size_t i = dimension + 1; i < buffer.extents.size(); ++i)
    product = nest.table.product(product, buffer.extents[i]);
  return product;
}

class StatementWriter {
public:
  StatementWriter(const Surroundings& around, const Statement& statement)
      : around_(around), text_(around.text), statement_(statement),
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

  uint32_t lanes() const { return around_.lanes ? around_.lanes->count : 1; }
  DType dtypeOf(uint32_t operation) const { return statement_.operations[operation].dtype; }

  std::vector<IrValue> together(std::vector<IrValue> values) {
    uint32_t most = 1;
    for (const IrValue& value : values)
      most = std::max(most, value.type.lanes);
    for (IrValue& value : values)
      value = text_.splat(value, most);
    return values;
  }

  IrValue both(std::string_view instruction, const IrValue& a, const IrValue& b) {
    std::vector<IrValue> pair = together({a, b});
    return text_.binary(instruction, pair[0], pair[1]);
  }

  IrValue position(Form form) {
    return around_.lanes ? around_.positions.laneValues(form, *around_.lanes, around_.facts)
                         : around_.positions.value(form, around_.facts);
  }

  IrValue computed(uint32_t at) {
    const Operation& operation = statement_.operations[at];
    switch (operation.kind) {
    case OperationKind::Number:
      return numberOf(operation.dtype, operation.real, operation.integer);
    case OperationKind::Position:
      return position(operation.position);
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
    return writeFunction(text_, operation.function, first, operation.dtype,
                         together(std::move(operands)));
  }

  // Memory.

  Address addressOf(uint32_t buffer, std::span<const Place> places) {
    sizes::Table& table = around_.nest.table;
    const loops::Buffer& of = around_.nest.buffers[buffer];
    Form flat = table.number(0);
    std::optional<IrValue> each;
    for (size_t i = 0; i < places.size(); ++i) {
      Form behind = extentsBehind(around_.nest, of, i);
      if (places[i].value == loops::none) {
        flat = table.sum(flat, table.product(places[i].form, behind));
        continue;
      }
      IrValue scale = around_.positions.value(behind, around_.facts);
      IrValue part = both("mul nsw", *values_[places[i].value], scale);
      each = each ? both("add nsw", *each, part) : part;
    }
    flat = around_.facts.simplified(flat);
    if (each)
      return byValues(flat, *each, buffer);
    Address address = byForm(flat, buffer);
    address.isPadded = around_.buffers[buffer].isPerLane || goesThroughPadded(buffer, places);
    return address;
  }

  /// Whether lanes go through the last dimension of a padded buffer, from its first element on.
  bool goesThroughPadded(uint32_t buffer, std::span<const Place> places) {
    if (!around_.lanes || !around_.buffers[buffer].isPadded || places.empty())
      return false;
    Name variable = around_.lanes->variable;
    for (const Place& place : places.first(places.size() - 1))
      if (around_.nest.table.mentions(place.form, variable))
        return false;
    return around_.nest.table.nameOf(places.back().form) == variable;
  }

  Address byValues(Form flat, const IrValue& each, uint32_t buffer) {
    if (around_.buffers[buffer].isPerLane)
      throw Unsupported{"elements of lanes at places that are values"};
    IrValue sum = both("add nsw", each, position(flat));
    if (sum.type.lanes == 1)
      return {sum};
    return {sum, std::nullopt, sum};
  }

  Address byForm(Form flat, uint32_t buffer) {
    IrValue first = around_.positions.value(flat, around_.facts);
    if (!around_.lanes)
      return {first};
    if (around_.buffers[buffer].isPerLane)
      return {both("mul nsw", first, FunctionText::whole(wholeType, lanes())), 1};
    auto stride = sizes::slopeOf(around_.nest.table, flat, around_.lanes->variable);
    if (!stride)
      return anywhere(position(flat));
    if (auto number = around_.nest.table.constantOf(around_.positions.known(*stride)))
      return {first, number};
    return anywhere(position(flat));
  }

  IrValue pointer(uint32_t buffer, const IrValue& flat) {
    Element element = storedAs(around_.nest.buffers[buffer].dtype);
    std::string type = flat.type.lanes == 1 ? "ptr" : fmt::format("<{} x ptr>", flat.type.lanes);
    return text_.add(flat.type, fmt::format("getelementptr {}, ptr {}, {}", textOf(IrType{element}),
                                            around_.buffers[buffer].pointer, typed(flat)));
  }

  /// The places of all lanes.
  IrValue eachOf(const Address& address) {
    if (address.each)
      return *address.each;
    return text_.binary("add nsw", text_.splat(address.first, lanes()),
                        FunctionText::counted(lanes(), *address.stride));
  }

  uint64_t bytesOf(uint32_t buffer) const { return around_.nest.buffers[buffer].dtype.bytes(); }

  /// Inputs are what they are; other buffers change.
  IrValue readBy(uint32_t buffer, IrType type, const std::string& instruction) {
    bool isInput = around_.nest.buffers[buffer].space == loops::Space::Input;
    return isInput ? text_.add(type, instruction) : text_.addOnce(type, instruction);
  }

  /// Elements at an address; where a condition is given, only those that fulfil it are touched, and
  /// others are anything.
  IrValue read(uint32_t buffer, const Address& address, std::optional<IrValue> condition) {
    if (address.stride != 0 && !address.isPadded)
      condition = alsoActive(condition);
    DType dtype = around_.nest.buffers[buffer].dtype;
    IrType one{storedAs(dtype)};
    bool isOne = address.stride == 0 && (!condition || condition->type.lanes == 1);
    if (isOne || lanes() == 1)
      return readOne(buffer, address.first, condition);
    IrType type = one.withLanes(lanes());
    std::string alignment = fmt::format("{}", bytesOf(buffer));
    if (address.stride == 1 && !condition) {
      IrValue from = pointer(buffer, address.first);
      return writeLoaded(
          text_,
          readBy(buffer, type,
                 fmt::format("load {}, ptr {}, align {}", textOf(type), from.text, alignment)),
          dtype);
    }
    std::string mask = condition ? text_.splat(*condition, lanes()).text : "splat (i1 true)";
    std::string bits = fmt::format("<{} x i1> {}", lanes(), mask);
    if (address.stride == 1) {
      IrValue from = pointer(buffer, address.first);
      return writeLoaded(
          text_,
          readBy(buffer, type,
                 fmt::format("call {} @llvm.masked.load.{}.p0(ptr {}, i32 {}, {}, {} "
                             "zeroinitializer)",
                             textOf(type), suffixOf(type), from.text, alignment, bits,
                             textOf(type))),
          dtype);
    }
    if (!condition && address.stride && isNear(*address.stride, type, around_.vectorBytes))
      return writeLoaded(text_, readNear(buffer, address, type), dtype);
    IrValue from = pointer(buffer, eachOf(address));
    return writeLoaded(
        text_,
        readBy(buffer, type,
               fmt::format("call {} @llvm.masked.gather.{}.v{}p0(<{} x ptr> {}, i32 {}, "
                           "{}, {} zeroinitializer)",
                           textOf(type), suffixOf(type), lanes(), lanes(), from.text, alignment,
                           bits, textOf(type))),
        dtype);
  }

  /// Whole vectors from the first element to the last, of which all but those of lanes are left
  /// out.
  IrValue readNear(uint32_t buffer, const Address& address, IrType type) {
    auto stride = uint32_t(*address.stride);
    IrType wide = type.withLanes(type.lanes * stride);
    std::string bits, places;
    for (uint32_t i = 0; i < wide.lanes; ++i)
      bits += fmt::format("{}i1 {}", i == 0 ? "" : ", ", i % stride == 0);
    for (uint32_t i = 0; i < type.lanes; ++i)
      places += fmt::format("{}i32 {}", i == 0 ? "" : ", ", i * stride);
    IrValue from = pointer(buffer, address.first);
    IrValue all =
        readBy(buffer, wide,
               fmt::format("call {} @llvm.masked.load.{}.p0(ptr {}, i32 {}, <{} x i1> <{}>, {} "
                           "zeroinitializer)",
                           textOf(wide), suffixOf(wide), from.text, bytesOf(buffer), wide.lanes,
                           bits, textOf(wide)));
    return text_.add(type, fmt::format("shufflevector {}, {} poison, <{} x i32> <{}>", typed(all),
                                       textOf(wide), type.lanes, places));
  }

  /// A condition for lanes that have an iteration alone.
  std::optional<IrValue> alsoActive(const std::optional<IrValue>& condition) {
    if (!around_.lanes || !around_.lanes->mask)
      return condition;
    return condition ? both("and", *condition, *around_.lanes->mask) : *around_.lanes->mask;
  }

  IrValue readOne(uint32_t buffer, const IrValue& flat, const std::optional<IrValue>& condition) {
    DType dtype = around_.nest.buffers[buffer].dtype;
    IrType type{storedAs(dtype)};
    IrValue from = pointer(buffer, flat);
    if (condition)
      from.text = text_
                      .add(type, fmt::format("select i1 {}, ptr {}, ptr {}", condition->text,
                                             from.text, around_.harmless))
                      .text;
    return writeLoaded(
        text_,
        readBy(buffer, type,
               fmt::format("load {}, ptr {}, align {}", textOf(type), from.text, bytesOf(buffer))),
        dtype);
  }

  void write(uint32_t buffer, const Address& address, const IrValue& value) {
    DType dtype = around_.nest.buffers[buffer].dtype;
    uint32_t count = address.stride == 0 ? 1 : lanes();
    if (value.type.lanes > count)
      throw Unsupported{"lanes that store at one place"};
    IrValue stored = writeStored(text_, text_.splat(value, count), dtype);
    auto mask = count == 1 || address.isPadded ? std::nullopt : alsoActive(std::nullopt);
    if (count > 1 && address.stride == 1 && mask) {
      text_.addLine(fmt::format(
          "call void @llvm.masked.store.{}.p0({}, ptr {}, i32 {}, {})", suffixOf(stored.type),
          typed(stored), pointer(buffer, address.first).text, bytesOf(buffer), typed(*mask)));
      return;
    }
    if (count == 1 || address.stride == 1) {
      text_.addLine(fmt::format("store {}, ptr {}, align {}", typed(stored),
                                pointer(buffer, address.first).text, bytesOf(buffer)));
      return;
    }
    IrValue to = pointer(buffer, eachOf(address));
    text_.addLine(fmt::format("call void @llvm.masked.scatter.{}.v{}p0({}, <{} x ptr> {}, i32 {}, "
                              "{})",
                              suffixOf(stored.type), count, typed(stored), count, to.text,
                              bytesOf(buffer),
                              typed(mask.value_or(FunctionText::bit(true, count)))));
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
      IrValue at = place.value == loops::none ? position(place.form) : *values_[place.value];
      IrValue extent = around_.positions.value(buffer.extents[i], around_.facts);
      IrValue isInside = text_.compare("icmp ult", at, text_.splat(extent, at.type.lanes));
      all = all ? both("and", *all, isInside) : isInside;
    }
    return all;
  }

  IrValue load(uint32_t at) {
    const Operation& operation = statement_.operations[at];
    std::optional<IrValue> inside = insideOf(operation);
    IrValue value = read(operation.buffer, addressOf(operation.buffer, operation.places), inside);
    if (!inside)
      return value;
    outside_[at] = text_.binary("xor", *inside, FunctionText::bit(true, inside->type.lanes));
    if (operation.operands.empty())
      return value;
    std::vector<IrValue> all = together({*inside, value, *values_[operation.operands[0]]});
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
    IrValue when = by.isAlways ? *also : also ? both("and", *by.when, *also) : *by.when;
    need.when = isFirst ? when : both("or", *need.when, when);
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
      IrValue counts = all[at].isAlways ? when : both("and", when, *all[at].when);
      any = any ? both("or", *any, counts) : counts;
    }
    if (!any)
      return;
    if (any->type.lanes > 1)
      any = alsoActive(any);
    std::string next = text_.newLabel();
    text_.branch(text_.any(*any), around_.faultLabel, next);
    text_.open(next);
  }

  // Stores.

  Address addressOf(const Store& store) {
    std::vector<Place> places;
    for (Form form : store.position)
      places.push_back({form});
    return addressOf(store.buffer, places);
  }

  void store() {
    const Store& store = statement_.stores[0];
    Address to = addressOf(store);
    IrValue value = *values_[store.value];
    if (statement_.combiner && to.stride == 0 && value.type.lanes > 1)
      value = reduced(value);
    if (statement_.combiner)
      value = joined(store, to, value);
    write(store.buffer, to, value);
  }

  IrValue joined(const Store& store, const Address& to, const IrValue& value) {
    DType dtype = around_.nest.buffers[store.buffer].dtype;
    IrValue before = read(store.buffer, to, std::nullopt);
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
                         together({a, b}));
  }

  /// The lanes joined to one value, by halves.
  IrValue reduced(IrValue value) {
    DType dtype = around_.nest.buffers[statement_.stores[0].buffer].dtype;
    if (around_.lanes->mask)
      value = text_.select(*around_.lanes->mask, value, text_.splat(identity(dtype), lanes()));
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
    return text_.intrinsic("llvm.fmuladd", together({*values_[product.operands[0]],
                                                     *values_[product.operands[1]], before}));
  }

  void joinPlace() {
    const Store &place = statement_.stores[0], &extreme = statement_.stores[1];
    DType dtype = around_.nest.buffers[extreme.buffer].dtype;
    Address toPlace = addressOf(place), toExtreme = addressOf(extreme);
    std::vector<IrValue> all = together({*values_[place.value], *values_[extreme.value],
                                         read(place.buffer, toPlace, std::nullopt),
                                         read(extreme.buffer, toExtreme, std::nullopt)});
    IrValue isBetter =
        text_.binary("or", beats(dtype, all[1], all[3]),
                     text_.binary("and", equals(dtype, all[1], all[3]), isFurther(all[0], all[2])));
    write(place.buffer, toPlace, text_.select(isBetter, all[0], all[2]));
    write(extreme.buffer, toExtreme, text_.select(isBetter, all[1], all[3]));
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
