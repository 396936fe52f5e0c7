// The types of what a program mentions at a place: definitions, constructors and their fields, open
// definitions, each with unknowns of this use.
#pragma once

#include "typecheck/group_sizes.h"

namespace typecheck {

/// A use of an open definition: what its type parameters, the names of its sizes and what it leaves
/// open are there.
struct OpenUse {
  const lang::Global& global;
  std::vector<const Type*> generics = {};
  SizeMap sizes = {};
  Unifier::FreshUnknowns unknowns = {};
};

class Mentions {
public:
  Mentions(Group& group, GroupSizes& sizes)
      : group_(group), sizes_(sizes), unifier_(group.unifier) {}

  /// Within its group a global has the types that inference is working on; before that, its final
  /// one.
  const Type* typeOf(const lang::Global& global);
  const Type* typeOf(const lang::Constructor& constructor);
  /// The type of a field of a constructor in a value of the type `data`.
  const Type* fieldType(const lang::Constructor& constructor, size_t field, const Type* data);

  /// The open definition that an atom is; null for anything else.
  const lang::Global* openDefinition(const lang::Expr& expr) const;
  /// A use of an open definition, whose type parameters are unknowns of it.
  OpenUse use(const lang::Global& global);
  /// A declared type of the definition at this use.
  const Type* declaredAt(OpenUse& use, const Type* declared);
  /// What the names of sizes in the text of the definition are at this use.
  std::vector<std::pair<const Dim*, const Dim*>> namesOf(OpenUse& use);

  /// Where the mention stands.
  lang::SourceRange range;

private:
  bool isFullyDeclared(const lang::Function& function);

  Group& group_;
  GroupSizes& sizes_;
  Unifier& unifier_;
};

} // namespace typecheck
