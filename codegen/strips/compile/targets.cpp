// Where values of statements go: elements that are made, joined lane by lane, or joined into one.
#include "codegen/strips/compile/values.h"

#include "lower/loops/names.h"

#include <algorithm>
#include <array>

namespace strips {

namespace {

using loops::Operation;
using loops::OperationKind;
using runtime::ScalarFunction;
using tensor::Combiner;

ScalarFunction functionOf(Combiner combiner) {
  constexpr std::array functions{ScalarFunction::Add,        ScalarFunction::Multiply,
                                 ScalarFunction::Maximum,    ScalarFunction::Minimum,
                                 ScalarFunction::LogicalAnd, ScalarFunction::LogicalOr};
  return functions[size_t(combiner)];
}

bool isTotal(Combiner combiner) {
  return combiner == Combiner::Sum || combiner == Combiner::Product;
}

/// The float of 32 bits that a sum adds up in 64, if that is what it does.
uint32_t narrowOperand(const loops::Statement& statement, runtime::DType dtype) {
  const auto& operations = statement.operations;
  const Operation& value = operations[statement.stores[0].value];
  bool isWidened = isTotal(*statement.combiner) && dtype == runtime::Float64 &&
                   value.kind == OperationKind::Cast &&
                   operations[value.operands[0]].dtype == runtime::Float32;
  return isWidened ? value.operands[0] : none;
}

} // namespace

void ValueCompiler::compile(const loops::Statement& statement, const StripLoop* strip) {
  strip_ = strip;
  std::vector<uint32_t> roots;
  for (const loops::Store& store : statement.stores)
    roots.push_back(store.value);
  bool isPlace = statement.combiner && loops::findsPlace(*statement.combiner);
  if (statement.combiner && !isPlace)
    if (uint32_t narrow = narrowOperand(statement, nest_.buffers[statement.stores[0].buffer].dtype);
        narrow != none)
      roots = {narrow};
  std::optional<Target> target;
  if (!statement.combiner)
    target = targetOf(statement.stores[0]);
  evaluate(statement.operations, roots);
  isNeededAlways_.assign(statement.operations.size(), 0);
  for (uint32_t root : roots)
    isNeededAlways_[root] = 1;
  checkFailures(statement.operations);
  if (isPlace)
    return joinPlaces(statement);
  if (statement.combiner)
    return join(statement);
  const loops::Store& store = statement.stores[0];
  if (!storeDirectly(store, *target, values_[store.value]))
    storeTo(store, *target, values_[store.value]);
}

ValueCompiler::Target ValueCompiler::targetOf(const loops::Store& store) {
  Form flat = flatPlace(nest_, store);
  Target target{.even = evenIn(store.buffer, flat)};
  target.hasLanes = strip_ && (isOwn(store.buffer) || nest_.table.mentions(flat, strip_->variable));
  if (!target.even)
    target.places = unevenIn(store.buffer, flat);
  return target;
}

void ValueCompiler::storeTo(const loops::Store& store, const Target& target, Value value) {
  if (target.hasLanes)
    value = asStrip(value);
  Instruction instruction{.code = target.even ? Code::Store : Code::StoreAt,
                          .element = value.element,
                          .out = value.reg,
                          .a = store.buffer,
                          .count = countOf(target.hasLanes)};
  instruction.b = target.even ? target.even->first : target.places.reg;
  instruction.c = target.even ? target.even->lane : none;
  emitter_.emit(instruction);
}

/// Lets the function that was computed last write where its value is stored, if nothing else needs
/// that and the elements are in a row.
bool ValueCompiler::storeDirectly(const loops::Store& store, const Target& target,
                                  const Value& value) {
  Sequence& code = emitter_.code(emitter_.depth());
  if (!target.even || code.empty() || value.isStrip != target.hasLanes ||
      (target.hasLanes && target.even->lane != emitter_.constant(1)))
    return false;
  Instruction& last = code.back();
  // Constants serve other statements, too.
  bool isOfStore = last.code == Code::Apply && last.out == value.reg &&
                   std::ranges::none_of(constants_, [&](const auto& known) {
                     return known.second.reg == value.reg;
                   });
  if (!isOfStore)
    return false;
  Value place = row(store, *target.even, target.hasLanes);
  std::swap(code[code.size() - 1], code[code.size() - 2]);
  code.back().out = place.reg;
  return true;
}

/// The elements of a target where they lie, in a row.
Value ValueCompiler::row(const loops::Store& store, const Even& even, bool hasLanes) {
  Element element = lower::elementOf(nest_.buffers[store.buffer].dtype);
  Value made{emitter_.freshRegister(element, hasLanes, true), element, hasLanes, emitter_.depth()};
  emit(made, {.code = Code::Row, .element = element, .a = store.buffer, .b = even.first});
  return made;
}

/// The elements of a target as they are, where they lie if that is in a row.
Value ValueCompiler::read(const loops::Store& store, const Target& target) {
  if (target.even && (!target.hasLanes || target.even->lane == emitter_.constant(1)))
    return row(store, *target.even, target.hasLanes);
  Program& program = emitter_.program;
  Element element = lower::elementOf(nest_.buffers[store.buffer].dtype);
  Access access{.buffer = store.buffer, .element = element};
  if (target.even) {
    access.offset = target.even->first;
    access.lane = target.even->lane;
  } else {
    access.offset = access.lane = emitter_.constant(0);
    access.firstPlace = uint32_t(program.places.size());
    access.placeCount = 1;
    program.places.push_back({.value = target.places.reg,
                              .extent = emitter_.constant(INT64_MAX),
                              .stride = emitter_.constant(1),
                              .isStrip = target.hasLanes});
  }
  program.accesses.push_back(access);
  Value made = result(element, target.hasLanes, emitter_.depth());
  emitter_.registers[made.reg].isLoaded = true;
  emit(made, {.code = Code::Load, .element = element, .a = uint32_t(program.accesses.size() - 1)});
  return made;
}

void ValueCompiler::join(const loops::Statement& statement) {
  Target target = targetOf(statement.stores[0]);
  if (strip_ && !target.hasLanes)
    reduce(statement, target);
  else
    joinLanes(statement, target);
}

void ValueCompiler::joinLanes(const loops::Statement& statement, const Target& target) {
  const loops::Store& store = statement.stores[0];
  runtime::DType dtype = nest_.buffers[store.buffer].dtype;
  Element element = lower::elementOf(dtype);
  uint32_t narrow = narrowOperand(statement, dtype);
  ScalarFunction function = functionOf(*statement.combiner);
  Value before = read(store, target);
  bool isInPlace = emitter_.registers[before.reg].isRow;
  Value value = values_[narrow == none ? store.value : narrow];
  if (target.hasLanes)
    value = asStrip(value);
  if (isInPlace && narrow != none) {
    emit(before, {.code = Code::Join,
                  .kernel = emitter_.kernel({.kind = KernelKind::AddLanes,
                                             .combiner = *statement.combiner,
                                             .from = Element::Float32}),
                  .a = value.reg});
    return;
  }
  value = converted(value, element);
  if (isInPlace && lower::computeElement(function, element) == element) {
    emit(before, {.code = Code::Apply,
                  .kernel = emitter_.kernel(
                      {.kind = KernelKind::Apply, .function = function, .from = element}),
                  .a = before.reg,
                  .b = value.reg});
    return;
  }
  storeTo(store, target, apply(function, {before, value}));
}

void ValueCompiler::reduce(const loops::Statement& statement, const Target& target) {
  const loops::Store& store = statement.stores[0];
  runtime::DType dtype = nest_.buffers[store.buffer].dtype;
  Combiner combiner = *statement.combiner;
  uint32_t narrow = narrowOperand(statement, dtype);
  Element from = narrow == none ? lower::elementOf(dtype) : Element::Float32;
  lower::ReduceKernels kernels = lower::reduceKernels(combiner, from);
  bool isOrdered =
      nest_.numbers == loops::Numbers::Reference && dtype.isFloat() && isTotal(combiner);
  Value total = read(store, target), before = converted(total, kernels.accumulator);
  Value value = asStrip(converted(values_[narrow == none ? store.value : narrow], kernels.operand));
  emitter_.emit(
      {.code = Code::Reduce,
       .flags = isOrdered,
       .element = value.element,
       .kernel = emitter_.kernel({.kind = KernelKind::AddAll, .combiner = combiner, .from = from}),
       .out = before.reg,
       .a = value.reg,
       .count = strip_->count});
  if (before.reg != total.reg)
    storeTo(store, target, converted(before, total.element));
}

void ValueCompiler::joinPlaces(const loops::Statement& statement) {
  const loops::Store &places = statement.stores[0], &extremes = statement.stores[1];
  Target placeTarget = targetOf(places), target = targetOf(extremes);
  Value bestPlace = read(places, placeTarget), best = read(extremes, target);
  Element wide = lower::isFloat(best.element)      ? Element::Float64
                 : best.element == Element::UInt64 ? Element::UInt64
                                                   : Element::Int64;
  Value before = converted(best, wide);
  Value place = asStrip(values_[places.value]),
        value = asStrip(converted(values_[extremes.value], wide));
  Combiner combiner = *statement.combiner;
  bool isLargest = combiner == Combiner::ArgMaximum || combiner == Combiner::ArgMaximumLast;
  bool isLast = combiner == Combiner::ArgMaximumLast || combiner == Combiner::ArgMinimumLast;
  emitter_.emit({.code = Code::JoinPlaces,
                 .flags = uint8_t((isLargest ? Largest : 0) | (isLast ? LastWins : 0) |
                                  (target.hasLanes ? EachLane : 0)),
                 .element = wide,
                 .out = bestPlace.reg,
                 .a = place.reg,
                 .b = value.reg,
                 .c = before.reg,
                 .count = countOf(strip_ != nullptr)});
  if (!emitter_.registers[bestPlace.reg].isRow)
    storeTo(places, placeTarget, bestPlace);
  if (before.reg != best.reg || !emitter_.registers[best.reg].isRow)
    storeTo(extremes, target, converted(before, best.element));
}

} // namespace strips
