// Where values of statements go: elements that are made, joined lane by lane, or joined into one.
#include "codegen/strips/compile/statement.h"

#include "codegen/strips/compile/factors.h"
#include "codegen/strips/compile/scan.h"
#include "lower/loops/names.h"

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

/// The product of floats of 32 bits that a sum adds up, or none.
uint32_t floatProductOf(const loops::Statement& statement) {
  if (*statement.combiner != Combiner::Sum)
    return none;
  uint32_t product = productOf(statement);
  return product != none && statement.operations[product].dtype == runtime::Float32 ? product
                                                                                    : none;
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

void StatementCompiler::compile(const loops::Statement& statement, const StripLoop* strip) {
  values_.enter(strip);
  factors_.reset();
  const loops::Store& store = statement.stores[0];
  bool isPlace = statement.combiner && loops::findsPlace(*statement.combiner);
  Target target = targetOf(store);
  if (scan(statement, target))
    return;
  std::vector<uint32_t> roots{store.value};
  if (isPlace)
    roots.push_back(statement.stores[1].value);
  else if (statement.combiner)
    roots = joinedRoots(statement, target);
  values_.evaluate(statement.operations, roots);
  values_.checkFailures(statement.operations, roots);
  if (isPlace)
    joinPlaces(statement);
  else if (statement.combiner)
    join(statement, target);
  else if (!storeDirectly(store, target, values_.at(store.value)))
    storeTo(store, target, values_.at(store.value));
}

uint32_t StatementCompiler::compileStrip(const loops::Statement& statement, uint32_t value,
                                         Element element, const StripLoop& strip) {
  values_.enter(&strip);
  values_.evaluate(statement.operations, {value});
  return values_.asStrip(values_.converted(values_.at(value), element)).reg;
}

/// A statement that goes on from what it made before: lanes one after the other.
bool StatementCompiler::scan(const loops::Statement& statement, const Target& target) {
  auto step = values_.strip() ? scanOf(nest_, statement, values_.strip()->variable) : std::nullopt;
  if (!step)
    return false;
  const loops::Store& store = statement.stores[0];
  values_.evaluate(statement.operations, {step->next});
  values_.checkFailures(statement.operations, {step->next});
  Value next = values_.asStrip(values_.at(step->next));
  // What comes before the first lane.
  const StripLoop* strip = values_.strip();
  values_.enter(nullptr);
  values_.evaluate(statement.operations, {step->before});
  values_.enter(strip);
  bool isOrdered = nest_.numbers == loops::Numbers::Reference && lower::isFloat(next.element);
  Value made = values_.result(next.element, true, emitter_.depth());
  values_.emit(made,
               {.code = Code::Scan,
                .flags = uint8_t((step->multiplies ? Multiplies : 0) | (isOrdered ? InOrder : 0)),
                .element = made.element,
                .a = next.reg,
                .b = values_.at(step->before).reg});
  if (!storeDirectly(store, target, made))
    storeTo(store, target, made);
  return true;
}

StatementCompiler::Target StatementCompiler::targetOf(const loops::Store& store) {
  Form flat = flatPlace(nest_, store);
  Target target{.even = values_.evenIn(store.buffer, flat)};
  target.hasLanes = values_.strip() && (values_.isOwn(store.buffer) ||
                                        nest_.table.mentions(flat, values_.strip()->variable));
  if (!target.even)
    target.places = values_.unevenIn(store.buffer, flat);
  return target;
}

void StatementCompiler::storeTo(const loops::Store& store, const Target& target, Value value) {
  if (target.hasLanes)
    value = values_.asStrip(value);
  Instruction instruction{.code = target.even ? Code::Store : Code::StoreAt,
                          .element = value.element,
                          .out = value.reg,
                          .a = store.buffer,
                          .count = values_.countOf(target.hasLanes)};
  instruction.b = target.even ? target.even->first : target.places.reg;
  instruction.c = target.even ? target.even->lane : none;
  emitter_.emit(instruction);
}

/// Lets the function that was computed last write where its value is stored, if nothing else needs
/// that and the elements are in a row.
bool StatementCompiler::storeDirectly(const loops::Store& store, const Target& target,
                                      const Value& value) {
  Sequence& code = emitter_.code(emitter_.depth());
  if (!target.even || code.empty() || value.isStrip != target.hasLanes ||
      (target.hasLanes && target.even->lane != emitter_.constant(1)))
    return false;
  Instruction& last = code.back();
  // Constants serve other statements, too.
  bool isMade = last.code == Code::Apply || last.code == Code::Scan || last.code == Code::Load;
  bool isOfStore = isMade && last.out == value.reg && !values_.isConstant(value);
  if (!isOfStore)
    return false;
  Value place = row(store, target);
  std::swap(code[code.size() - 1], code[code.size() - 2]);
  code.back().out = place.reg;
  if (code.back().code == Code::Load)
    code.back().flags = 1;
  return true;
}

/// The elements of a target where they lie, in a row.
Value StatementCompiler::row(const loops::Store& store, const Target& target) {
  Element element = lower::elementOf(nest_.buffers[store.buffer].dtype);
  Value made{emitter_.freshRegister(element, target.hasLanes, true), element, target.hasLanes,
             emitter_.depth()};
  values_.emit(made,
               {.code = Code::Row, .element = element, .a = store.buffer, .b = target.even->first});
  return made;
}

/// The elements of a target as they are, where they lie if that is in a row.
Value StatementCompiler::read(const loops::Store& store, const Target& target) {
  if (target.even && (!target.hasLanes || target.even->lane == emitter_.constant(1)))
    return row(store, target);
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
  Value made = values_.result(element, target.hasLanes, emitter_.depth());
  emitter_.registers[made.reg].isLoaded = true;
  values_.emit(
      made, {.code = Code::Load, .element = element, .a = uint32_t(program.accesses.size() - 1)});
  return made;
}

/// What is computed of a statement that joins: its value, or what that is made of where joining
/// does the rest.
std::vector<uint32_t> StatementCompiler::joinedRoots(const loops::Statement& statement,
                                                     const Target& target) {
  const loops::Store& store = statement.stores[0];
  runtime::DType dtype = nest_.buffers[store.buffer].dtype;
  uint32_t product = floatProductOf(statement), narrow = narrowOperand(statement, dtype);
  bool isFloat32 = dtype == runtime::Float32 && product == store.value;
  bool isSum = isFloat32 || (dtype == runtime::Float64 && product != none);
  bool isOrdered = nest_.numbers == loops::Numbers::Reference;
  if (values_.strip() && isSum && !isOrdered && (isFloat32 || reduces(target))) {
    const Operation& factors = statement.operations[product];
    factors_ = {factors.operands[0], factors.operands[1]};
    return {factors_->first, factors_->second};
  }
  return {narrow == none ? store.value : narrow};
}

Value StatementCompiler::joinedValue(const loops::Statement& statement) {
  if (factors_)
    return values_.apply(ScalarFunction::Multiply,
                         {values_.at(factors_->first), values_.at(factors_->second)});
  const loops::Store& store = statement.stores[0];
  uint32_t narrow = narrowOperand(statement, nest_.buffers[store.buffer].dtype);
  return values_.at(narrow == none ? store.value : narrow);
}

void StatementCompiler::join(const loops::Statement& statement, const Target& target) {
  const loops::Store& store = statement.stores[0];
  if (reduces(target) && factors_)
    addProducts(store, target);
  else if (reduces(target))
    reduce(statement, target);
  else if (!factors_ || !addScaled(store, target))
    joinLanes(statement, target);
}

void StatementCompiler::addProducts(const loops::Store& store, const Target& target) {
  Value total = read(store, target), before = values_.converted(total, Element::Float64);
  emitter_.emit({.code = Code::AddProducts,
                 .out = before.reg,
                 .a = values_.asStrip(values_.at(factors_->first)).reg,
                 .b = values_.asStrip(values_.at(factors_->second)).reg,
                 .count = values_.strip()->count});
  if (before.reg != total.reg)
    storeTo(store, target, values_.converted(before, total.element));
}

/// Adds a strip times a number; false where that is not what the factors are.
bool StatementCompiler::addScaled(const loops::Store& store, const Target& target) {
  Value strip = values_.at(factors_->first), factor = values_.at(factors_->second);
  if (!strip.isStrip)
    std::swap(strip, factor);
  if (!strip.isStrip || factor.isStrip || !target.even || target.even->lane != emitter_.constant(1))
    return false;
  values_.emit(read(store, target), {.code = Code::AddScaled, .a = strip.reg, .b = factor.reg});
  return true;
}

void StatementCompiler::joinLanes(const loops::Statement& statement, const Target& target) {
  const loops::Store& store = statement.stores[0];
  Element element = lower::elementOf(nest_.buffers[store.buffer].dtype);
  ScalarFunction function = functionOf(*statement.combiner);
  Value before = read(store, target);
  bool isInPlace = emitter_.registers[before.reg].isRow;
  Value value = joinedValue(statement);
  if (target.hasLanes)
    value = values_.asStrip(value);
  if (isInPlace && element == Element::Float64 && value.element == Element::Float32) {
    values_.emit(before, {.code = Code::Join,
                          .kernel = emitter_.kernel({.kind = KernelKind::AddLanes,
                                                     .combiner = *statement.combiner,
                                                     .from = Element::Float32}),
                          .a = value.reg});
    return;
  }
  value = values_.converted(value, element);
  if (isInPlace && lower::computeElement(function, element) == element) {
    values_.emit(before, {.code = Code::Apply,
                          .kernel = emitter_.kernel(
                              {.kind = KernelKind::Apply, .function = function, .from = element}),
                          .a = before.reg,
                          .b = value.reg});
    return;
  }
  storeTo(store, target, values_.apply(function, {before, value}));
}

void StatementCompiler::reduce(const loops::Statement& statement, const Target& target) {
  const loops::Store& store = statement.stores[0];
  runtime::DType dtype = nest_.buffers[store.buffer].dtype;
  Combiner combiner = *statement.combiner;
  Value value = joinedValue(statement);
  Element from = value.element;
  lower::ReduceKernels kernels = lower::reduceKernels(combiner, from);
  bool isOrdered =
      nest_.numbers == loops::Numbers::Reference && dtype.isFloat() && isTotal(combiner);
  Value total = read(store, target), before = values_.converted(total, kernels.accumulator);
  value = values_.asStrip(values_.converted(value, kernels.operand));
  emitter_.emit(
      {.code = Code::Reduce,
       .flags = isOrdered,
       .element = value.element,
       .kernel = emitter_.kernel({.kind = KernelKind::AddAll, .combiner = combiner, .from = from}),
       .out = before.reg,
       .a = value.reg,
       .count = values_.strip()->count});
  if (before.reg != total.reg)
    storeTo(store, target, values_.converted(before, total.element));
}

void StatementCompiler::joinPlaces(const loops::Statement& statement) {
  const loops::Store &places = statement.stores[0], &extremes = statement.stores[1];
  Target placeTarget = targetOf(places), target = targetOf(extremes);
  Value bestPlace = read(places, placeTarget), best = read(extremes, target);
  Element wide = best.element == Element::Bool ? Element::Int64 : lower::wideElement(best.element);
  Value before = values_.converted(best, wide);
  Value place = values_.asStrip(values_.at(places.value)),
        value = values_.asStrip(values_.converted(values_.at(extremes.value), wide));
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
                 .count = values_.countOf(values_.strip() != nullptr)});
  if (!emitter_.registers[bestPlace.reg].isRow)
    storeTo(places, placeTarget, bestPlace);
  if (before.reg != best.reg || !emitter_.registers[best.reg].isRow)
    storeTo(extremes, target, values_.converted(before, best.element));
}

} // namespace strips
