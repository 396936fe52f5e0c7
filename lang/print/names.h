// The names of one print job: repaired (lang/types/repaired_names.h), and told apart.
#pragma once

#include "lang/ir/expr.h"

#include <memory_resource>
#include <unordered_map>
#include <unordered_set>

namespace lang::printing {

/// Gives out the names of locals and globals of one print job.
class Names {
public:
  explicit Names(std::span<const Global* const> globals);

  /// A fresh name for a local with its `%`: `v` goes in front of a hint that does not begin with a
  /// letter, a number behind one that is taken.
  std::string local(std::string_view hint);
  /// The names of the parameters of a definition: their own, by which a run is told arguments, also
  /// where other definitions have locals of these names.
  std::vector<std::string> parameters(std::span<const Var* const> parameters);
  /// The name of a global with its `@`. It depends on the globals alone, not on the order of
  /// asking.
  std::string global(const Global& global) const;

private:
  void repair(const Global& global);
  std::string_view keep(std::string_view name);

  /// Names are only added, so neither they nor their entries need an allocation each.
  std::pmr::monotonic_buffer_resource memory_;
  std::pmr::unordered_map<std::string_view, size_t> locals_{&memory_};
  std::unordered_set<std::string> globals_;
  /// The names of those globals that are not printed by their own.
  std::unordered_map<const Global*, std::string> repaired_;
};

} // namespace lang::printing
