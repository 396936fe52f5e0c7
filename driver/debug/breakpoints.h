// Where a run is to stop: lines, variables, functions.
#pragma once

#include "driver/debug/run_names.h"

#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace driver {

struct Breakpoint {
  uint32_t number = 0;
  /// What it stands for, in words.
  std::string text = {};
  /// The line of a file, or null.
  const lang::SourceFile* file = nullptr;
  uint32_t line = 0;
  std::unordered_set<const lang::Binding*> bindings = {};
  /// Where their calls begin.
  std::unordered_set<const lang::Function*> functions = {};
  /// Where numbers arise that are none.
  bool isOnNonFinite = false;
  /// An expression that must hold, or empty.
  std::string condition = {};
};

class Breakpoints {
public:
  Breakpoints(const Program& program, const lang::SourceMap& sources, const RunNames& names);

  using Holds = std::function<bool(const Breakpoint&)>;

  /// Adds one at `LINE`, `FILE:LINE`, `@f` or `%x`, or `on nan`; the error says why there is no
  /// such place. A line without code stands for the next one that has some.
  runtime::Result<const Breakpoint*> add(std::string_view where, std::string_view condition = {});
  /// False when there is none of that number.
  bool remove(uint32_t number);
  void clear() { points_.clear(); }
  const std::vector<Breakpoint>& all() const { return points_; }

  /// The one for the begin of a call whose condition holds, or null.
  const Breakpoint* at(const lang::Function& function, const Holds& holds) const;
  /// The one for numbers that are none, or null.
  const Breakpoint* onNonFinite(const Holds& holds) const;
  /// The one for a binding, or null. One for a line counts if `lineBefore`, where the call was
  /// before, was another one.
  const Breakpoint* at(const lang::Binding& binding, uint32_t lineBefore, const Holds& holds) const;
  /// The line on which a binding is evaluated.
  uint32_t lineOf(const lang::Binding& binding) const;

private:
  struct Place {
    const lang::SourceFile* file = nullptr;
    uint32_t line = 0;
  };
  runtime::Result<Breakpoint> atLine(std::string_view file, std::string_view line) const;
  runtime::Result<Breakpoint> atName(std::string_view name) const;

  const Program& program_;
  const lang::SourceMap& sources_;
  const RunNames& names_;
  std::unordered_map<const lang::Binding*, Place> places_;
  std::vector<const lang::Function*> functions_;
  std::vector<Breakpoint> points_;
  uint32_t last_ = 0;
};

} // namespace driver
