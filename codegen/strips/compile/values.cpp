#include "codegen/strips/compile/values.h"

#include "codegen/strips/compile/compile.h"
#include "lower/loops/names.h"

#include <algorithm>
#include <bit>

namespace strips {

namespace {

using loops::Operation;
using loops::OperationKind;
using runtime::ScalarFunction;

/// Whether elements of one type are those of another as they stand.
bool haveSameBits(Element from, Element to) {
  bool areWhole = !lower::isFloat(from) && !lower::isFloat(to) && to != Element::Bool;
  return from == to || (areWhole && lower::elementBytes(from) == lower::elementBytes(to));
}

bool isAnalysis(ScalarFunction function) {
  return function >= ScalarFunction::Exp && function <= ScalarFunction::Sigmoid;
}

bool isRounding(ScalarFunction function) {
  return function >= ScalarFunction::Floor && function <= ScalarFunction::RoundEven;
}

} // namespace

size_t ValueCompiler::depthFor(bool isStrip, size_t depth) const {
  if (depth == 0 && !isStrip)
    return 0;
  return strip_ && !isStrip && depth <= strip_->front ? strip_->front : emitter_.depth();
}

uint32_t ValueCompiler::countOf(bool isStrip) const {
  return isStrip ? strip_->count : emitter_.constant(1);
}

Value ValueCompiler::result(Element element, bool isStrip, size_t depth) {
  return {emitter_.freshRegister(element, isStrip), element, isStrip, depth};
}

void ValueCompiler::emit(const Value& value, Instruction instruction) {
  // In front of its loop a strip is as long as the longest.
  bool isInFront = value.isStrip && value.depth <= strip_->front && strip_->front < strip_->inside;
  instruction.out = value.reg;
  instruction.count = isInFront ? strip_->mostCount : countOf(value.isStrip);
  emitter_.emit(value.depth, instruction);
}

void ValueCompiler::evaluate(const Operations& operations, const std::vector<uint32_t>& roots) {
  isNeeded_.assign(operations.size(), 0);
  for (uint32_t root : roots)
    isNeeded_[root] = 1;
  for (size_t i = operations.size(); i-- > 0;)
    if (isNeeded_[i])
      loops::forEachValue(operations[i], [&](uint32_t value) { isNeeded_[value] = 1; });
  values_.assign(operations.size(), {});
  accesses_.assign(operations.size(), none);
  for (uint32_t i = 0; i < operations.size(); ++i) {
    if (!isNeeded_[i])
      continue;
    const Operation& operation = operations[i];
    switch (operation.kind) {
    case OperationKind::Number:
      values_[i] = number(operation);
      break;
    case OperationKind::Position:
      values_[i] = position(operation.position);
      break;
    case OperationKind::Load:
      values_[i] = load(operation, i);
      break;
    case OperationKind::Cast:
      values_[i] = converted(values_[operation.operands[0]], lower::elementOf(operation.dtype));
      break;
    case OperationKind::Apply:
      values_[i] = applyOperation(operations, i);
      break;
    }
  }
}

/// A number as an int64 element.
Value ValueCompiler::uniform(uint32_t number, size_t depth) {
  Value made = result(Element::Int64, false, depth);
  emit(made, {.code = Code::Number, .a = number});
  return made;
}

Value ValueCompiler::number(const Operation& operation) {
  Element element = lower::elementOf(operation.dtype);
  bool isReal = lower::isFloat(element);
  auto bits = isReal ? std::bit_cast<uint64_t>(operation.real) : uint64_t(operation.integer);
  auto [known, isNew] = constants_.try_emplace({element, bits});
  if (isNew) {
    Value made = uniform(emitter_.constant(int64_t(bits)), 0);
    if (isReal)
      made.element = Element::Float64;
    known->second = converted(made, element);
  }
  return known->second;
}

bool ValueCompiler::isConstant(const Value& value) const {
  return std::ranges::any_of(constants_,
                             [&](const auto& known) { return known.second.reg == value.reg; });
}

// Positions.

std::optional<ValueCompiler::Even> ValueCompiler::evenOf(Form form) {
  if (!strip_)
    return Even{emitter_.number(form), emitter_.constant(0)};
  auto stride = sizes::slopeOf(nest_.table, form, strip_->variable);
  if (!stride)
    return std::nullopt;
  return Even{emitter_.number(form), emitter_.number(*stride)};
}

std::optional<ValueCompiler::Even> ValueCompiler::evenIn(uint32_t buffer, Form flat) {
  if (!isOwn(buffer))
    return evenOf(flat);
  auto stride = sizes::slopeOf(nest_.table, flat, strip_->variable);
  if (!stride)
    return std::nullopt;
  sizes::Table& table = nest_.table;
  return Even{
      emitter_.number(table.product(flat, emitter_.lanes())),
      emitter_.number(table.sum(table.number(1), table.product(*stride, emitter_.lanes())))};
}

Value ValueCompiler::position(Form form) {
  auto even = evenOf(form);
  if (!even)
    return unevenPosition(form);
  bool isStrip = even->lane != emitter_.constant(0);
  if (!isStrip)
    return uniform(even->first, depthFor(false, emitter_.depthOf(even->first)));
  Value made = result(Element::Int64, true, emitter_.depth());
  emit(made, {.code = Code::Position, .a = even->first, .b = even->lane});
  return made;
}

/// A form that does not go on evenly, term by term.
Value ValueCompiler::unevenPosition(Form form) {
  sizes::Table& table = nest_.table;
  const sizes::Sum sum = table.sumOf(form);
  Form even = table.number(sum.constant);
  std::optional<Value> made;
  for (const sizes::Term& term : sum.terms) {
    Form product = table.number(term.coefficient);
    for (sizes::Atom atom : term.factors)
      product = table.product(product, table.atom(atom));
    if (evenOf(product)) {
      even = table.sum(even, product);
      continue;
    }
    Value value = position(table.number(term.coefficient));
    for (sizes::Atom atom : term.factors)
      value = apply(ScalarFunction::Multiply, {value, factor(atom)});
    made = made ? apply(ScalarFunction::Add, {*made, value}) : value;
  }
  return apply(ScalarFunction::Add, {*made, position(even)});
}

Value ValueCompiler::factor(sizes::Atom atom) {
  sizes::AtomParts parts = nest_.table.partsOf(atom);
  if (parts.kind == sizes::AtomKind::Name || evenOf(nest_.table.atom(atom)))
    return position(nest_.table.atom(atom));
  ScalarFunction function = parts.kind == sizes::AtomKind::Quotient ? ScalarFunction::FloorDivide
                            : parts.kind == sizes::AtomKind::Least  ? ScalarFunction::Minimum
                                                                    : ScalarFunction::Maximum;
  return apply(function, {position(parts.left), position(parts.right)});
}

/// Places that do not go on evenly, as a strip.
Value ValueCompiler::unevenIn(uint32_t buffer, Form flat) {
  Value places = asStrip(position(flat));
  if (!isOwn(buffer))
    return places;
  places = apply(ScalarFunction::Multiply, {places, position(emitter_.lanes())});
  Value lane = result(Element::Int64, true, emitter_.depth());
  emit(lane, {.code = Code::Position, .a = emitter_.constant(0), .b = emitter_.constant(1)});
  return apply(ScalarFunction::Add, {places, lane});
}

// Reads.

void ValueCompiler::addPlace(Place place, const Value& value, std::vector<Place>& places,
                             Value& result) {
  place.value = value.reg;
  place.isStrip = value.isStrip;
  result.isStrip |= value.isStrip;
  result.depth = std::max(result.depth, value.depth);
  places.push_back(place);
}

/// Dimensions that are values or need a look, and what the others add to a place.
void ValueCompiler::addPlaces(const Operation& load, std::vector<Place>& places,
                              std::vector<Form>& flat, Value& result) {
  const loops::Buffer& buffer = nest_.buffers[load.buffer];
  sizes::Table& table = nest_.table;
  for (size_t i = 0; i < load.places.size(); ++i) {
    const loops::Place& at = load.places[i];
    Form stride = strideOfDimension(table, buffer.extents, i);
    if (isOwn(load.buffer))
      stride = table.product(stride, emitter_.lanes());
    bool isFree = at.value == loops::none && !at.isChecked;
    flat.push_back(at.value == loops::none ? at.form : table.number(0));
    if (isFree)
      continue;
    Place place{.extent = emitter_.number(buffer.extents[i]), .dimension = uint32_t(i)};
    auto even = at.value == loops::none ? evenOf(at.form) : std::nullopt;
    if (even) {
      place.position = even->first;
      place.lane = even->lane;
      result.isStrip |= even->lane != emitter_.constant(0);
      result.depth = std::max(result.depth, emitter_.depthOf(even->first));
      places.push_back(place);
      continue;
    }
    place.stride = emitter_.number(stride);
    flat.back() = table.number(0);
    addPlace(place, at.value == loops::none ? unevenPosition(at.form) : values_[at.value], places,
             result);
  }
}

Value ValueCompiler::load(const Operation& operation, uint32_t place) {
  const loops::Buffer& buffer = nest_.buffers[operation.buffer];
  Value made{.element = lower::elementOf(operation.dtype)};
  std::vector<Place> places;
  std::vector<Form> position;
  addPlaces(operation, places, position, made);
  Form flat = flatPlace(nest_.table, buffer.extents, position);
  Access access{.buffer = operation.buffer, .element = made.element};
  if (auto even = evenIn(operation.buffer, flat)) {
    access.offset = even->first;
    access.lane = even->lane;
  } else {
    access.offset = access.lane = emitter_.constant(0);
    addPlace({.extent = emitter_.constant(INT64_MAX), .stride = emitter_.constant(1)},
             unevenIn(operation.buffer, flat), places, made);
  }
  made.isStrip |= access.lane != emitter_.constant(0);
  made.depth = std::max(made.depth, emitter_.depthOf(access.offset));
  bool mayHoist =
      strip_ && emitter_.depth() == strip_->inside && !strip_->changed.contains(operation.buffer);
  made.depth =
      mayHoist ? depthFor(made.isStrip, std::max<size_t>(made.depth, 1)) : emitter_.depth();
  if (places.empty())
    return rowOf(operation, access, made);
  Value other = operation.operands.empty() ? Value{} : values_[operation.operands[0]];
  if (other.reg != none && !other.isStrip)
    access.fill = other.reg;
  access.firstPlace = uint32_t(emitter_.program.places.size());
  access.placeCount = uint32_t(places.size());
  for (const Place& each : places)
    emitter_.program.places.push_back(each);
  emitter_.program.accesses.push_back(access);
  accesses_[place] = uint32_t(emitter_.program.accesses.size() - 1);
  made.depth = std::max(made.depth, other.depth);
  made.reg = emitter_.freshRegister(made.element, made.isStrip);
  emitter_.registers[made.reg].isLoaded = true;
  emit(made, {.code = Code::Load, .element = made.element, .a = accesses_[place]});
  if (!other.isStrip)
    return made;
  return apply(ScalarFunction::Select, {outside(accesses_[place]), other, made});
}

/// Elements that are all there.
Value ValueCompiler::rowOf(const Operation& load, const Access& access, Value made) {
  bool isRow = !made.isStrip || access.lane == emitter_.constant(1);
  made.reg = emitter_.freshRegister(made.element, made.isStrip, isRow);
  if (isRow) {
    emit(made, {.code = Code::Row, .element = made.element, .a = load.buffer, .b = access.offset});
    return made;
  }
  emitter_.registers[made.reg].isLoaded = true;
  emitter_.program.accesses.push_back(access);
  emit(made, {.code = Code::Load,
              .element = made.element,
              .a = uint32_t(emitter_.program.accesses.size() - 1)});
  return made;
}

/// Bools that hold where a read is outside; one where that is the same for all lanes.
Value ValueCompiler::outside(uint32_t access) {
  const Access& at = emitter_.program.accesses[access];
  bool isStrip = false;
  for (uint32_t i = 0; i < at.placeCount; ++i) {
    const Place& place = emitter_.program.places[at.firstPlace + i];
    isStrip |= place.isStrip || (place.value == none && place.lane != emitter_.constant(0));
  }
  Value flags = result(Element::Bool, isStrip, emitter_.depth());
  emit(flags, {.code = Code::Outside, .a = access});
  return flags;
}

// Functions.

Value ValueCompiler::converted(Value value, Element to) {
  while (value.element != to) {
    Element next = lower::castStep(value.element, to);
    if (!haveSameBits(value.element, next)) {
      Value made = result(next, value.isStrip, value.depth);
      emit(made, {.code = Code::Apply,
                  .kernel = emitter_.kernel(
                      {.kind = KernelKind::Cast, .from = value.element, .to = next}),
                  .a = value.reg});
      value = made;
    }
    value.element = next;
  }
  return value;
}

Value ValueCompiler::asStrip(Value value) {
  if (value.isStrip || !strip_)
    return value;
  bool isInside = value.depth > strip_->front;
  uint32_t count = isInside ? strip_->count : strip_->mostCount;
  auto [known, isNew] = spread_.try_emplace({value.reg, count}, none);
  size_t depth = value.depth == 0 && emitter_.depthOf(count) > 0 ? strip_->front : value.depth;
  Value made{known->second, value.element, true, depth};
  if (!isNew)
    return made;
  made.reg = known->second = emitter_.freshRegister(value.element, true);
  emitter_.emit(made.depth, {.code = Code::Splat,
                             .element = value.element,
                             .out = made.reg,
                             .a = value.reg,
                             .count = count});
  return made;
}

Value ValueCompiler::applyOperation(const Operations& operations, uint32_t place) {
  const Operation& operation = operations[place];
  std::vector<Value> operands;
  for (uint32_t operand : operation.operands)
    operands.push_back(values_[operand]);
  Element element = lower::elementOf(operation.dtype), from = operands[0].element;
  if (operation.function == ScalarFunction::Reinterpret) {
    if (lower::elementBytes(element) != lower::elementBytes(from))
      throw NoProgram{"bits in it are taken for those of a type of another size"};
    operands[0].element = element;
    return operands[0];
  }
  if (isAnalysis(operation.function) && !lower::isFloat(from)) {
    for (Value& operand : operands)
      operand = converted(operand, Element::Float64);
    return converted(apply(operation.function, operands), element);
  }
  if (isRounding(operation.function) && !lower::isFloat(from))
    return operands[0];
  return converted(apply(operation.function, std::move(operands)), element);
}

Value ValueCompiler::apply(ScalarFunction function, std::vector<Value> operands) {
  bool isChoice = function == ScalarFunction::Select, isStrip = false;
  Element from = operands[isChoice ? 1 : 0].element;
  Element wide = lower::computeElement(function, from);
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i] = converted(operands[i], isChoice && i == 0 ? Element::Bool : wide);
    isStrip |= operands[i].isStrip;
  }
  size_t depth = 0;
  Instruction instruction{.code = Code::Apply};
  uint32_t* places[] = {&instruction.a, &instruction.b, &instruction.c};
  for (size_t i = 0; i < operands.size(); ++i) {
    if (isStrip)
      operands[i] = asStrip(operands[i]);
    *places[i] = operands[i].reg;
    depth = std::max(depth, operands[i].depth);
  }
  if (!lower::applyKernel(function, wide))
    throw NoProgram{"a function in it is not defined on its types"};
  instruction.kernel =
      emitter_.kernel({.kind = KernelKind::Apply, .function = function, .from = wide});
  bool isTest = runtime::scalarFunctionGivesBool(function);
  Value made = result(isTest ? Element::Bool : wide, isStrip, depthFor(isStrip, depth));
  emit(made, instruction);
  return isTest ? made : converted(made, from);
}

} // namespace strips
