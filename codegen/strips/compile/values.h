// Statements as instructions: straight code over strips, or over single elements.
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
  ValueCompiler(Nest& nest, Emitter& emitter) : nest_(nest), emitter_(emitter) {}

  void compile(const loops::Statement& statement, const StripLoop* strip);
  /// Computes one value of a statement as a strip of some type.
  uint32_t compileStrip(const loops::Statement& statement, uint32_t value, Element element,
                        const StripLoop& strip);
  Value converted(Value value, Element to);

private:
  using Operations = std::vector<loops::Operation>;

  /// Places that go on evenly from lane to lane, as numbers.
  struct Even {
    uint32_t first, lane;
  };
  /// Where a statement stores: evenly, or at a strip of places.
  struct Target {
    std::optional<Even> even;
    Value places = {};
    /// Whether each lane has an element of its own.
    bool hasLanes = false;
  };

  void evaluate(const Operations& operations, const std::vector<uint32_t>& roots);
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
  Value apply(runtime::ScalarFunction function, std::vector<Value> operands);
  Value asStrip(Value value);
  Value result(Element element, bool isStrip, size_t depth);
  void emit(const Value& value, Instruction instruction);
  uint32_t countOf(bool isStrip) const;
  size_t depthFor(bool isStrip, size_t depth) const;
  bool isOwn(uint32_t buffer) const { return strip_ && strip_->own.contains(buffer); }

  std::optional<Even> evenOf(Form form);
  std::optional<Even> evenIn(uint32_t buffer, Form flat);
  Value unevenIn(uint32_t buffer, Form flat);

  // What may fail.
  void checkFailures(const Operations& operations, const std::vector<uint32_t>& roots);
  Value failureOf(const Operations& operations, uint32_t place);
  std::optional<Value> needOf(const Operations& operations, uint32_t place);
  std::optional<Value> conditionOf(const Operations& operations, uint32_t user, size_t operand);

  // Targets.
  Target targetOf(const loops::Store& store);
  void storeTo(const loops::Store& store, const Target& target, Value value);
  bool storeDirectly(const loops::Store& store, const Target& target, const Value& value);
  Value read(const loops::Store& store, const Target& target);
  Value row(const loops::Store& store, const Even& even, bool hasLanes);
  bool scan(const loops::Statement& statement, const Target& target);
  void join(const loops::Statement& statement, const Target& target);
  std::vector<uint32_t> joinedRoots(const loops::Statement& statement, const Target& target);
  Value joinedValue(const loops::Statement& statement);
  void addProducts(const loops::Store& store, const Target& target);
  bool addScaled(const loops::Store& store, const Target& target);
  void joinLanes(const loops::Statement& statement, const Target& target);
  void reduce(const loops::Statement& statement, const Target& target);
  void joinPlaces(const loops::Statement& statement);
  bool reduces(const Target& target) const { return strip_ && !target.hasLanes; }

  Nest& nest_;
  Emitter& emitter_;
  const StripLoop* strip_ = nullptr;
  /// By operation.
  std::vector<Value> values_;
  std::vector<uint32_t> accesses_;
  std::vector<std::optional<Value>> needs_;
  std::vector<uint8_t> isNeeded_, isNeededAlways_;
  /// The factors of a product that is joined and not computed by itself.
  std::optional<std::pair<uint32_t, uint32_t>> factors_;
  /// Registers of constants, and of values that are spread.
  std::map<std::pair<Element, uint64_t>, Value> constants_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> spread_;
};

} // namespace strips
