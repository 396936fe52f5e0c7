// Statements as instructions: what values are computed for, elements that are made or joined to.
#pragma once

#include "codegen/strips/compile/values.h"

namespace strips {

class StatementCompiler {
public:
  StatementCompiler(Nest& nest, Emitter& emitter)
      : nest_(nest), emitter_(emitter), values_(nest, emitter) {}

  /// In the loop whose iterations are lanes, or in none.
  void compile(const loops::Statement& statement, const StripLoop* strip);
  /// Computes one value of a statement as a strip of some type; gives its register.
  uint32_t compileStrip(const loops::Statement& statement, uint32_t value, Element element,
                        const StripLoop& strip);

private:
  /// Where a statement stores: evenly, or at a strip of places.
  struct Target {
    std::optional<ValueCompiler::Even> even;
    Value places = {};
    /// Whether each lane has an element of its own.
    bool hasLanes = false;
  };

  Target targetOf(const loops::Store& store);
  void storeTo(const loops::Store& store, const Target& target, Value value);
  bool storeDirectly(const loops::Store& store, const Target& target, const Value& value);
  Value read(const loops::Store& store, const Target& target);
  Value row(const loops::Store& store, const Target& target);
  bool scan(const loops::Statement& statement, const Target& target);
  bool reduces(const Target& target) const { return values_.strip() && !target.hasLanes; }
  std::vector<uint32_t> joinedRoots(const loops::Statement& statement, const Target& target);
  Value joinedValue(const loops::Statement& statement);
  void join(const loops::Statement& statement, const Target& target);
  void joinLanes(const loops::Statement& statement, const Target& target);
  void reduce(const loops::Statement& statement, const Target& target);
  void addProducts(const loops::Store& store, const Target& target);
  bool addScaled(const loops::Store& store, const Target& target);
  void joinPlaces(const loops::Statement& statement);

  Nest& nest_;
  Emitter& emitter_;
  ValueCompiler values_;
  /// The factors of a product that is joined and not computed by itself.
  std::optional<std::pair<uint32_t, uint32_t>> factors_;
};

} // namespace strips
