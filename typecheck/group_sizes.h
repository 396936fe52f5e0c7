// The named sizes of a group's definitions: which are rigid, their instances at calls, what
// definitions need of them, and what sizes that nothing tells are called.
#pragma once

#include "typecheck/group.h"

#include <unordered_set>

namespace typecheck {

using SizeMap = std::unordered_map<const lang::Dim*, const lang::Dim*>;

class GroupSizes {
public:
  explicit GroupSizes(Group& group) : group_(group), unifier_(group.unifier) {}

  /// Forgets the definitions of another walk.
  void clear();
  /// Takes the names of a definition's signature, which its callers choose. Calls in what follows
  /// stand in it, until another one is entered.
  void enter(const lang::Global& definition);
  /// Enters an instance of one use, whose names are sizes of the use.
  void enterOwn(const lang::Global& instance);
  /// Goes back to a definition that was entered.
  void goBackTo(const lang::Global& definition) { definition_ = &definition; }
  const lang::Global* definition() const { return definition_; }
  bool isEntered(const lang::Global& global) const { return names_.contains(&global); }

  /// A declared type in the current definition: names that its signature does not bind are
  /// unknowns.
  const Type* own(const Type* annotation);
  /// The type of what may be declared, and of which the last walk may have found something: an
  /// unknown where both are null.
  const Type* declared(const Type* annotation, const Type* found);
  /// A type in which names are unknowns of this use, which are added to `sizes`.
  const Type* fresh(const Type* type, SizeMap& sizes);
  /// The type of a global at a use at `range`, with unknowns for its names, whose bounds come
  /// along.
  const Type* instance(const Type* type, const lang::Global& global, lang::SourceRange range);

  /// Lets a size of a recursive call that nothing determines be that of the caller, as it would be
  /// if the function were not polymorphic in it.
  void closeRecursion();
  /// Gives names to what nothing says of the sizes of parameters: it is for callers to choose.
  /// Sizes that equations still wait for are left to run time.
  void nameOpen();
  /// Reports equations that do not hold; one that is still open is left to run time.
  void checkEquations();
  /// Reports bounds that numbers break; those over names become requirements of the definition, and
  /// the others are left to run time.
  void checkBounds();

private:
  /// The names in a definition. Those of the signature are rigid; any other one stands for an
  /// unknown of the definition.
  struct Names {
    std::unordered_set<const lang::Dim*> rigid;
    SizeMap flexible;
  };

  void requireSizes(const Type* annotation);
  void settle(SizeMap& names);
  std::string_view nameFor(const lang::Dim* size);
  bool isTaken(std::string_view name) const;
  void reportBound(const OpenBound& bound);

  Group& group_;
  Unifier& unifier_;
  std::unordered_map<const lang::Global*, Names> names_;
  const lang::Global* definition_ = nullptr;
  /// The names of a definition and what they are in its calls of itself.
  std::vector<std::pair<const lang::Dim*, const lang::Dim*>> recursive_;
};

} // namespace typecheck
