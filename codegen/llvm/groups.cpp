// A group of elements in memory is one word of 32 or 64 bits, lanes are words: read together, or
// one for all lanes. Where no instruction adds up products, the elements of words are multiplied
// one place after the other.
#include "codegen/llvm/groups.h"

#include "lower/loops/edit.h"
#include "lower/sizes/slope.h"

#include <fmt/format.h>

namespace codegen {

namespace {

using loops::Loop;
using loops::Operation;
using loops::OperationKind;
using loops::Statement;

/// Words in memory.
struct Words {
  uint32_t buffer;
  /// Where the first element of the first word is.
  Form first;
  /// Words between lanes, or none where they are anywhere.
  std::optional<int64_t> stride;
  /// Whether lanes that have no iteration may be touched too.
  bool isPadded = false;
};

class GroupWriter {
public:
  GroupWriter(const Surroundings& around, const loops::Node& node)
      : around_(around), text_(around.text), statement_(std::get<Statement>(node.body[0].what)),
        group_(std::get<Loop>(node.what).variable),
        count_(uint32_t(*around.nest.table.constantOf(std::get<Loop>(node.what).end))) {}

  bool write(loops::WholeProducts products) {
    return statement_.combiner ? writeSum(products) : writeCopy();
  }

private:
  uint32_t lanes() const { return around_.lanes->count; }
  DType dtypeOf(uint32_t buffer) const { return around_.nest.buffers[buffer].dtype; }

  std::optional<int64_t> slopeOf(Form flat, Name variable) {
    auto slope = sizes::slopeOf(around_.nest.table, flat, variable);
    return slope ? around_.nest.table.constantOf(around_.positions.known(*slope)) : std::nullopt;
  }

  /// Where elements are, if each group lies side by side.
  std::optional<Words> wordsAt(uint32_t buffer, Form flat) {
    if (around_.buffers[buffer].isPerLane || slopeOf(flat, group_) != 1)
      return std::nullopt;
    return wordsFrom(buffer, flat, count_);
  }

  std::optional<Words> wordsFrom(uint32_t buffer, Form flat, int64_t elements) {
    auto slope = slopeOf(flat, around_.lanes->variable);
    std::optional<int64_t> stride;
    if (slope && *slope % elements == 0)
      stride = *slope / elements;
    return Words{buffer, flat, stride};
  }

  std::optional<Form> flatOf(const Operation& load) {
    auto places = loops::sureForms(load);
    return places ? std::optional(flatOf(load.buffer, *places)) : std::nullopt;
  }

  Form flatOf(uint32_t buffer, std::span<const Form> position) {
    return loops::flatOf(around_.nest, around_.nest.buffers[buffer].extents, position);
  }
  Form flatOf(const loops::Store& store) { return flatOf(store.buffer, store.position); }

  // Words in memory.

  std::string pointerTo(uint32_t buffer, const IrValue& element) {
    std::string type = element.type.lanes == 1 ? "ptr" : fmt::format("<{} x ptr>", lanes());
    return text_
        .add(element.type,
             fmt::format("getelementptr {}, ptr {}, {}", textOf(IrType{storedAs(dtypeOf(buffer))}),
                         around_.buffers[buffer].pointer, typed(element)))
        .text;
  }

  /// The first element of the first lane, while the group is at its first.
  IrValue firstOf(const Words& words) {
    around_.positions.fix(group_, 0);
    IrValue first = around_.positions.value(words.first, around_.facts);
    around_.positions.forget(group_);
    return first;
  }

  IrValue eachOf(const Words& words) {
    around_.positions.fix(group_, 0);
    IrValue each = around_.positions.laneValues(words.first, *around_.lanes, around_.facts);
    around_.positions.forget(group_);
    return text_.splat(each, lanes());
  }

  bool isMasked(const Words& words) const { return around_.lanes->mask && !words.isPadded; }

  IrValue read(const Words& words, Element word) {
    IrType type{word, lanes()};
    size_t alignment = dtypeOf(words.buffer).bytes();
    if (words.stride == 0) {
      std::string from = pointerTo(words.buffer, firstOf(words));
      IrValue one = text_.addOnce(IrType{word}, fmt::format("load {}, ptr {}, align {}",
                                                            textOf(IrType{word}), from, alignment));
      return firstLanesOf(one);
    }
    if (words.stride == 1 && !isMasked(words)) {
      std::string from = pointerTo(words.buffer, firstOf(words));
      return text_.addOnce(type,
                           fmt::format("load {}, ptr {}, align {}", textOf(type), from, alignment));
    }
    std::string mask = typed(around_.lanes->mask.value_or(FunctionText::bit(true, lanes())));
    if (words.stride == 1)
      return text_.addOnce(
          type, fmt::format("call {0} @llvm.masked.load.{1}.p0(ptr {2}, i32 {3}, {4}, {0} "
                            "zeroinitializer)",
                            textOf(type), suffixOf(type), pointerTo(words.buffer, firstOf(words)),
                            alignment, mask));
    return text_.addOnce(
        type, fmt::format("call {0} @llvm.masked.gather.{1}.v{2}p0(<{2} x ptr> {3}, i32 {4}, {5}, "
                          "{0} zeroinitializer)",
                          textOf(type), suffixOf(type), lanes(),
                          pointerTo(words.buffer, eachOf(words)), alignment, mask));
  }

  /// A word in all lanes: of a whole register first, so that loops with whole and with fewer lanes
  /// share what memory gives to all lanes at once.
  IrValue firstLanesOf(const IrValue& one) {
    uint32_t whole = around_.vectorBytes * 8 / bitsOf(one.type.element);
    IrValue all = text_.splat(one, std::max(whole, lanes()));
    while (all.type.lanes > lanes())
      all = text_.half(all, false);
    return all;
  }

  void store(const Words& words, const IrValue& value) {
    std::string to = pointerTo(words.buffer, firstOf(words));
    size_t alignment = dtypeOf(words.buffer).bytes();
    if (isMasked(words))
      return text_.addLine(fmt::format("call void @llvm.masked.store.{}.p0({}, ptr {}, i32 {}, {})",
                                       suffixOf(value.type), typed(value), to, alignment,
                                       typed(*around_.lanes->mask)));
    text_.addLine(fmt::format("store {}, ptr {}, align {}", typed(value), to, alignment));
  }

  // Sums.

  /// A factor of the products: a load that is converted.
  const Operation* factorOf(uint32_t value) const {
    const Operation& cast = statement_.operations[value];
    if (cast.kind != OperationKind::Cast)
      return nullptr;
    const Operation& load = statement_.operations[cast.operands[0]];
    bool isFactor = load.kind == OperationKind::Load && load.dtype.isInteger() &&
                    load.dtype.lanes == 1 && load.dtype.bits * count_ == wordBits;
    return isFactor ? &load : nullptr;
  }

  bool writeSum(loops::WholeProducts products) {
    const loops::Store& target = statement_.stores[0];
    const Operation& product = statement_.operations[target.value];
    if (statement_.combiner != loops::Combiner::Sum || dtypeOf(target.buffer) != runtime::Int32 ||
        product.kind != OperationKind::Apply || product.function != ScalarFunction::Multiply ||
        product.dtype != runtime::Int32)
      return false;
    const Operation *first = factorOf(product.operands[0]), *second = factorOf(product.operands[1]);
    if (!first || !second)
      return false;
    auto left = flatOf(*first), right = flatOf(*second);
    auto a = left ? wordsAt(first->buffer, *left) : std::nullopt;
    auto b = right ? wordsAt(second->buffer, *right) : std::nullopt;
    auto sum = wordsFrom(target.buffer, flatOf(target), 1);
    if (!a || !b || around_.buffers[target.buffer].isPerLane || sum->stride != 1 ||
        slopeOf(sum->first, group_) != 0)
      return false;
    sum->isPadded = around_.buffers[target.buffer].isPadded && !target.position.empty() &&
                    around_.nest.table.nameOf(target.position.back()) == around_.lanes->variable;
    IrValue before = read(*sum, Element::Int32);
    store(*sum, added(before, {read(*a, Element::Int32), first->dtype},
                      {read(*b, Element::Int32), second->dtype}, products));
    return true;
  }

  /// Words, and what their elements are.
  struct Elements {
    IrValue words;
    DType dtype;
  };

  IrValue added(const IrValue& before, const Elements& a, const Elements& b,
                loops::WholeProducts products) {
    bool hasInstructions = lanes() == 4 || lanes() == 8 || lanes() == 16;
    bool isQuad = a.dtype.bits == 8 && a.dtype != b.dtype;
    bool isPair = a.dtype == runtime::Int16 && b.dtype == runtime::Int16;
    if (hasInstructions && isQuad && products == loops::WholeProducts::Quads) {
      bool isFirst = !a.dtype.isSigned();
      return dotted("vpdpbusd", before, (isFirst ? a : b).words, (isFirst ? b : a).words);
    }
    if (hasInstructions && isPair && products == loops::WholeProducts::Quads)
      return dotted("vpdpwssd", before, a.words, b.words);
    if (hasInstructions && isPair && products == loops::WholeProducts::Pairs)
      return text_.binary("add", before, pairs(a.words, b.words));
    return oneByOne(before, a, b);
  }

  IrValue dotted(std::string_view name, const IrValue& before, const IrValue& a, const IrValue& b) {
    return text_.add(before.type,
                     fmt::format("call {} @llvm.x86.avx512.{}.{}({}, {}, {})", textOf(before.type),
                                 name, lanes() * wordBits, typed(before), typed(a), typed(b)));
  }

  IrValue pairs(const IrValue& a, const IrValue& b) {
    std::string_view name = lanes() == 16  ? "avx512.pmaddw.d.512"
                            : lanes() == 8 ? "avx2.pmadd.wd"
                                           : "sse2.pmadd.wd";
    return text_.add(a.type, fmt::format("call {} @llvm.x86.{}({}, {})", textOf(a.type), name,
                                         typed(elementsOf(a, Element::Int16)),
                                         typed(elementsOf(b, Element::Int16))));
  }

  IrValue elementsOf(const IrValue& words, Element element) {
    IrType type{element, words.type.lanes * bitsOf(words.type.element) / bitsOf(element)};
    return text_.add(type, fmt::format("bitcast {} to {}", typed(words), textOf(type)));
  }

  /// Products of the elements at each place of the words, each added to a sum of its lane.
  IrValue oneByOne(IrValue sum, const Elements& a, const Elements& b) {
    for (uint32_t place = 0; place < count_; ++place)
      sum = text_.binary("add", sum, text_.binary("mul", elementAt(a, place), elementAt(b, place)));
    return sum;
  }

  IrValue elementAt(const Elements& of, uint32_t place) {
    IrType type = of.words.type;
    auto by = [&](uint32_t bits) { return FunctionText::whole(type, bits); };
    IrValue up = text_.binary("shl", of.words, by(wordBits - of.dtype.bits * (place + 1)));
    return text_.binary(of.dtype.isSigned() ? "ashr" : "lshr", up, by(wordBits - of.dtype.bits));
  }

  // Copies.

  bool writeCopy() {
    const loops::Store& target = statement_.stores[0];
    uint32_t bits = dtypeOf(target.buffer).bits * count_;
    auto to = wordsAt(target.buffer, flatOf(target));
    if (!to || to->stride != 1 || (bits != 32 && bits != 64) || mayFail())
      return false;
    Element word = bits == 32 ? Element::Int32 : Element::Int64;
    auto together = readTogether();
    store(*to, asWords(together ? *together : readApart(), word));
    return true;
  }

  bool mayFail() const {
    for (const Operation& operation : statement_.operations) {
      if (operation.kind == OperationKind::Apply &&
          runtime::scalarFunctionDivides(operation.function))
        return true;
      for (const loops::Place& place : operation.places)
        if (place.isChecked || place.value != loops::none)
          return true;
    }
    return false;
  }

  IrValue asWords(const IrValue& elements, Element word) {
    IrType type{word, lanes()};
    return text_.add(type, fmt::format("bitcast {} to {}", typed(elements), textOf(type)));
  }

  /// What is stored, where all that is read lies side by side already.
  std::optional<IrValue> readTogether() {
    std::vector<IrValue> values;
    for (const Operation& operation : statement_.operations) {
      auto value = operation.kind == OperationKind::Load ? elementsRead(operation)
                                                         : computed(operation, values);
      if (!value)
        return std::nullopt;
      values.push_back(*value);
    }
    const loops::Store& target = statement_.stores[0];
    return writeStored(text_, text_.splat(values[target.value], lanes() * count_),
                       dtypeOf(target.buffer));
  }

  std::optional<IrValue> elementsRead(const Operation& load) {
    auto flat = flatOf(load);
    auto from = flat ? wordsAt(load.buffer, *flat) : std::nullopt;
    uint32_t bits = load.dtype.bits * count_;
    if (!from || (bits != 32 && bits != 64))
      return std::nullopt;
    IrValue words = read(*from, bits == 32 ? Element::Int32 : Element::Int64);
    return writeLoaded(text_, elementsOf(words, storedAs(load.dtype)), load.dtype);
  }

  std::optional<IrValue> computed(const Operation& operation, const std::vector<IrValue>& values) {
    if (operation.kind == OperationKind::Number)
      return numberOf(operation.dtype, operation.real, operation.integer);
    if (operation.kind == OperationKind::Position ||
        operation.function == ScalarFunction::Reinterpret)
      return std::nullopt;
    DType first = statement_.operations[operation.operands[0]].dtype;
    std::vector<IrValue> operands;
    for (uint32_t operand : operation.operands)
      operands.push_back(text_.splat(values[operand], lanes() * count_));
    if (operation.kind == OperationKind::Cast)
      return writeCast(text_, operands[0], first, operation.dtype);
    return writeFunction(text_, operation.function, first, operation.dtype, operands);
  }

  /// The elements of each place in all lanes, put beside each other.
  IrValue readApart() {
    std::vector<IrValue> places;
    for (uint32_t place = 0; place < count_; ++place) {
      around_.positions.fix(group_, place);
      places.push_back(text_.splat(storedValue(around_, statement_), lanes()));
      around_.positions.forget(group_);
    }
    while (places.size() > 1) {
      std::vector<IrValue> pairs;
      size_t half = places.size() / 2;
      for (size_t i = 0; i < half; ++i)
        pairs.push_back(interleaved(places[i], places[i + half]));
      places = std::move(pairs);
    }
    return places[0];
  }

  IrValue interleaved(const IrValue& a, const IrValue& b) {
    IrType type = a.type.withLanes(a.type.lanes * 2);
    std::string places;
    for (uint32_t i = 0; i < a.type.lanes; ++i)
      places += fmt::format("{}i32 {}, i32 {}", i == 0 ? "" : ", ", i, i + a.type.lanes);
    return text_.add(type, fmt::format("shufflevector {}, {}, <{} x i32> <{}>", typed(a), typed(b),
                                       type.lanes, places));
  }

  static constexpr uint32_t wordBits = 32;

  const Surroundings& around_;
  FunctionText& text_;
  const Statement& statement_;
  Name group_;
  uint32_t count_;
};

} // namespace

bool writeGroup(const Surroundings& around, const loops::Node& group,
                loops::WholeProducts products) {
  return around.lanes && GroupWriter(around, group).write(products);
}

} // namespace codegen
