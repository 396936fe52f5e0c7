// Values of statements as instructions: straight code over strips, or over single elements.
//
// All operations of a statement are computed, in a way that is safe where they do not count; then
// it is looked whether one that counts has failed. What is the same for all lanes is computed once
// in front of the loop where that is allowed.
#pragma once

#include "codegen/strips/compile/emit.h"

#include <optional>
#include <set>

namespace strips {

/// A loop whose iterations are lanes.
struct StripLoop {
  Name variable;
  /// Numbers: the lanes of a strip, and those of the longest.
  uint32_t count = none, mostCount = none;
  /// The scope in front of the loop, and that of the loop.
  size_t front = 0, inside = 0;
  /// Buffers that are written or allocated inside, and those that are allocated there: these have
  /// an element for each lane.
  std::set<uint32_t> changed = {}, own = {};
};

struct Value {
  uint32_t reg = none;
  Element element = Element::Bool;
  bool isStrip = false;
  /// The scope that computes it.
  size_t depth = 0;
};

class ValueCompiler {
public:
  using Operations = std::vector<loops::Operation>;

  /// Places that go on evenly from lane to lane, as numbers.
  struct Even {
    uint32_t first, lane;
  };

  ValueCompiler(Nest& nest, Emitter& emitter) : nest_(nest), emitter_(emitter) {}

  /// Statements from here on are inside of this loop, or of none.
  void enter(const StripLoop* strip) { strip_ = strip; }
  const StripLoop* strip() const { return strip_; }

  /// Computes operations of a statement and what they need.
  void evaluate(const Operations& operations, const std::vector<uint32_t>& roots);
  /// Looks whether something has failed that counts, as the roots do in any case.
  void checkFailures(const Operations& operations, const std::vector<uint32_t>& roots);
  const Value& at(uint32_t operation) const { return values_[operation]; }

  Value apply(runtime::ScalarFunction function, std::vector<Value> operands);
  Value converted(Value value, Element to);
  /// The value in all lanes.
  Value asStrip(Value value);
  /// A register for a value, and the instruction that makes it.
  Value result(Element element, bool isStrip, size_t depth);
  void emit(const Value& value, Instruction instruction);
  /// The number that has the lanes of a strip, or 1.
  uint32_t countOf(bool isStrip) const;
  bool isConstant(const Value& value) const;

  /// Places in a buffer, if they go on evenly, or else as a strip.
  std::optional<Even> evenIn(uint32_t buffer, Form flat);
  Value unevenIn(uint32_t buffer, Form flat);
  /// Whether each lane has the buffer for itself.
  bool isOwn(uint32_t buffer) const { return strip_ && strip_->own.contains(buffer); }

private:
  Value number(const loops::Operation& operation);
  Value uniform(uint32_t number, size_t depth);
  Value position(Form form);
  Value unevenPosition(Form form);
  Value factor(sizes::Atom atom);
  Value load(const loops::Operation& operation, uint32_t place);
  void addPlaces(const loops::Operation& load, std::vector<Place>& places, std::vector<Form>& flat,
                 Value& result);
  void addPlace(Place place, const Value& value, std::vector<Place>& places, Value& result);
  Value rowOf(const loops::Operation& load, const Access& access, Value result);
  Value outside(uint32_t access);
  Value applyOperation(const Operations& operations, uint32_t place);
  size_t depthFor(bool isStrip, size_t depth) const;
  std::optional<Even> evenOf(Form form);

  Value failureOf(const Operations& operations, uint32_t place);
  std::optional<Value> needOf(const Operations& operations, uint32_t place);
  std::optional<Value> conditionOf(const Operations& operations, uint32_t user, size_t operand);

  Nest& nest_;
  Emitter& emitter_;
  const StripLoop* strip_ = nullptr;
  /// By operation.
  std::vector<Value> values_;
  std::vector<uint32_t> accesses_;
  std::vector<std::optional<Value>> needs_;
  std::vector<uint8_t> isNeeded_, isNeededAlways_;
  /// Registers of constants, and of values that are spread.
  std::map<std::pair<Element, uint64_t>, Value> constants_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> spread_;
};

} // namespace strips
