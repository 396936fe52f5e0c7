// Lanes side by side are read and written as vectors; others are gathered and scattered.
#include "codegen/llvm/elements.h"

#include "lower/sizes/slope.h"

#include <fmt/format.h>

namespace codegen {

namespace {

constexpr IrType wholeType{Element::Int64};

Address anywhere(IrValue each) {
  if (each.type.lanes == 1)
    return {each};
  return {each, std::nullopt, each};
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

} // namespace

IrValue Elements::position(Form form) {
  return around_.lanes ? around_.positions.laneValues(form, *around_.lanes, around_.facts)
                       : around_.positions.value(form, around_.facts);
}

std::optional<IrValue> Elements::alsoActive(const std::optional<IrValue>& condition) {
  if (!around_.lanes || !around_.lanes->mask)
    return condition;
  return condition ? text_.both("and", *condition, *around_.lanes->mask) : *around_.lanes->mask;
}

Address Elements::addressOf(uint32_t buffer, std::span<const loops::Place> places,
                            std::span<const std::optional<IrValue>> values) {
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
    IrValue part = text_.both("mul nsw", *values[places[i].value], scale);
    each = each ? text_.both("add nsw", *each, part) : part;
  }
  flat = around_.facts.simplified(flat);
  if (each)
    return byValues(flat, *each, buffer);
  Address address = byForm(flat, buffer);
  address.isPadded = around_.buffers[buffer].isPerLane || goesThroughPadded(buffer, places);
  return address;
}

/// Whether lanes go through the last dimension of a padded buffer, from its first element on.
bool Elements::goesThroughPadded(uint32_t buffer, std::span<const loops::Place> places) const {
  if (!around_.lanes || !around_.buffers[buffer].isPadded || places.empty())
    return false;
  Name variable = around_.lanes->variable;
  for (const loops::Place& place : places.first(places.size() - 1))
    if (around_.nest.table.mentions(place.form, variable))
      return false;
  return around_.nest.table.nameOf(places.back().form) == variable;
}

Address Elements::byValues(Form flat, const IrValue& each, uint32_t buffer) {
  if (around_.buffers[buffer].isPerLane)
    throw Unsupported{"elements of lanes at places that are values"};
  return anywhere(text_.both("add nsw", each, position(flat)));
}

Address Elements::byForm(Form flat, uint32_t buffer) {
  IrValue first = around_.positions.value(flat, around_.facts);
  if (!around_.lanes)
    return {first};
  if (around_.buffers[buffer].isPerLane)
    return {text_.both("mul nsw", first, FunctionText::whole(wholeType, lanes())), 1};
  auto stride = sizes::slopeOf(around_.nest.table, flat, around_.lanes->variable);
  if (!stride)
    return anywhere(position(flat));
  if (auto number = around_.nest.table.constantOf(around_.positions.known(*stride)))
    return {first, number};
  return anywhere(position(flat));
}

IrValue Elements::pointer(uint32_t buffer, const IrValue& flat) {
  Element element = storedAs(around_.nest.buffers[buffer].dtype);
  std::string type = flat.type.lanes == 1 ? "ptr" : fmt::format("<{} x ptr>", flat.type.lanes);
  return text_.add(flat.type, fmt::format("getelementptr {}, ptr {}, {}", textOf(IrType{element}),
                                          around_.buffers[buffer].pointer, typed(flat)));
}

/// The places of all lanes.
IrValue Elements::eachOf(const Address& address) {
  if (address.each)
    return *address.each;
  return text_.binary("add nsw", text_.splat(address.first, lanes()),
                      FunctionText::counted(lanes(), *address.stride));
}

/// Inputs are what they are; other buffers change.
IrValue Elements::readBy(uint32_t buffer, IrType type, const std::string& instruction) {
  bool isInput = around_.nest.buffers[buffer].space == loops::Space::Input;
  return isInput ? text_.add(type, instruction) : text_.addOnce(type, instruction);
}

IrValue Elements::read(uint32_t buffer, const Address& address, std::optional<IrValue> condition) {
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
                           textOf(type), suffixOf(type), from.text, alignment, bits, textOf(type))),
        dtype);
  }
  if (address.stride && isNear(*address.stride, type, around_.vectorBytes))
    return writeLoaded(text_, readNear(buffer, address, type, condition), dtype);
  IrValue from = pointer(buffer, eachOf(address));
  return writeLoaded(
      text_,
      readBy(buffer, type,
             fmt::format("call {} @llvm.masked.gather.{}.v{}p0(<{} x ptr> {}, i32 {}, "
                         "{}, {} zeroinitializer)",
                         textOf(type), suffixOf(type), lanes(), lanes(), from.text, alignment, bits,
                         textOf(type))),
      dtype);
}

/// Whole vectors from the first element to the last, of which all but those of lanes are left
/// out.
IrValue Elements::readNear(uint32_t buffer, const Address& address, IrType type,
                           const std::optional<IrValue>& condition) {
  auto stride = uint32_t(*address.stride);
  IrType wide = type.withLanes(type.lanes * stride);
  IrType bits{Element::Bit, wide.lanes};
  std::string fixed, spread, places;
  for (uint32_t i = 0; i < wide.lanes; ++i) {
    bool isOfLane = i % stride == 0;
    fixed += fmt::format("{}i1 {}", i == 0 ? "<" : ", ", isOfLane);
    spread += fmt::format("{}i32 {}", i == 0 ? "" : ", ", isOfLane ? i / stride : type.lanes);
  }
  for (uint32_t i = 0; i < type.lanes; ++i)
    places += fmt::format("{}i32 {}", i == 0 ? "" : ", ", i * stride);
  IrValue mask{fixed + ">", bits};
  if (condition) {
    IrValue lanes = text_.splat(*condition, type.lanes);
    mask = text_.add(bits, fmt::format("shufflevector {}, {} zeroinitializer, <{} x i32> <{}>",
                                       typed(lanes), textOf(lanes.type), wide.lanes, spread));
  }
  IrValue from = pointer(buffer, address.first);
  IrValue all =
      readBy(buffer, wide,
             fmt::format("call {} @llvm.masked.load.{}.p0(ptr {}, i32 {}, {}, {} zeroinitializer)",
                         textOf(wide), suffixOf(wide), from.text, bytesOf(buffer), typed(mask),
                         textOf(wide)));
  return text_.add(type, fmt::format("shufflevector {}, {} poison, <{} x i32> <{}>", typed(all),
                                     textOf(wide), type.lanes, places));
}

IrValue Elements::readOne(uint32_t buffer, const IrValue& flat,
                          const std::optional<IrValue>& condition) {
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

void Elements::write(uint32_t buffer, const Address& address, const IrValue& value) {
  DType dtype = around_.nest.buffers[buffer].dtype;
  uint32_t count = address.stride == 0 ? 1 : lanes();
  if (value.type.lanes > count)
    throw Unsupported{"lanes that store at one place"};
  IrValue stored = writeStored(text_, text_.splat(value, count), dtype);
  auto mask = count == 1 || address.isPadded ? std::nullopt : alsoActive(std::nullopt);
  if (count > 1 && address.stride == 1 && mask) {
    text_.addLine(fmt::format("call void @llvm.masked.store.{}.p0({}, ptr {}, i32 {}, {})",
                              suffixOf(stored.type), typed(stored),
                              pointer(buffer, address.first).text, bytesOf(buffer), typed(*mask)));
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
                            bytesOf(buffer), typed(mask.value_or(FunctionText::bit(true, count)))));
}

} // namespace codegen
