// Unification of types, with Relay's treatment of `?`.
//
// Types are interned and unknowns are numbers; what an unknown stands for is kept here. Where two
// tensor types meet, `?` wins, as in TVM, and both sides are weakened: an unknown that stood for
// the sharper type stands for the merged one afterwards. That is why the checker gives every
// declared type an unknown of its own.
#pragma once

#include "typecheck/dims.h"
#include "typecheck/open_numbers.h"

#include <functional>
#include <map>
#include <unordered_set>

namespace typecheck {

using lang::Type;
using lang::TypeContext;

/// Why two types do not unify.
enum class UnifyResult : uint8_t { Same, Different, Infinite, TooLarge };

/// Substitution of unknowns, and the operations on it.
class Unifier {
public:
  /// Bounds on types, so that no program makes the checker run away.
  static constexpr uint32_t maximumSize = 100000, maximumDepth = 4100, maximumSteps = 1000000;

  /// `likely` is about how many unknowns there will be.
  Unifier(TypeContext& types, uint32_t firstUnknown, uint32_t firstUnknownDim, size_t likely = 0);

  /// A fresh unknown.
  const Type* fresh();
  /// A fresh unknown that stands for `type`, so that it can be weakened on its own.
  const Type* slot(const Type* type);

  /// Makes the types equal; the left one is what is wanted, the right one what is given. With
  /// `keepRight`, what the right side's unknowns stand for is not weakened, only filled in where
  /// nothing was known: the rule for arguments of calls.
  UnifyResult unify(const Type* left, const Type* right, bool keepRight = false);

  /// What the type is at the top: never an unknown that stands for something.
  const Type* shallow(const Type* type);
  /// The type with everything known filled in; the poison type when it is too large.
  const Type* resolve(const Type* type);
  /// Whether a type passes the bounds, with what its unknowns stand for.
  bool isTooLarge(const Type* type);

  /// The type with `replace` applied to every dimension.
  const Type* mapDims(const Type* type, const std::function<const Dim*(const Dim*)>& replace);
  /// As above, for many types with one `replace`: `known` holds what was mapped before.
  const Type* mapDims(const Type* type, const std::function<const Dim*(const Dim*)>& replace,
                      std::unordered_map<const Type*, const Type*>& known);
  /// The type with type parameters replaced; the two lists are of one length. The argument of a
  /// dimension parameter is a Dimension type.
  const Type* substitute(const Type* type, std::span<const lang::TypeParameter* const> parameters,
                         lang::Types arguments);
  /// What fresh unknowns stand for in a copy.
  struct FreshUnknowns {
    std::unordered_map<const Type*, const Type*> types;
    std::unordered_map<const Dim*, const Dim*> dims;
  };
  /// A declared type with unknowns of its own.
  const Type* withFreshUnknowns(const Type* type, FreshUnknowns& known);
  /// A function type without type parameters, fresh unknowns in their places.
  const Type* instantiate(const Type* function);
  /// A type, not a too large one, with instances of its polymorphic functions where `other` has
  /// functions that are not.
  const Type* instantiateLike(const Type* type, const Type* other);

  /// The unknowns inside the type that stand for nothing yet, each once.
  std::vector<const Type*> openUnknowns(const Type* type) { return openUnknownsOf({&type, 1}); }
  std::vector<const Type*> openUnknownsOf(lang::Types types);
  /// Makes the open unknowns inside the type the poison type: a mistake was reported about it.
  void poison(const Type* type) { poisonAll({&type, 1}); }
  void poisonAll(lang::Types types);

  OpenNumbers& numbers() { return numbers_; }

  /// How often `?` took the place of a size that one of the types said and goes on to say wherever
  /// else it went.
  uint64_t weakenedCount() const { return weakenedCount_; }

  /// Called with the number of an unknown when it comes to stand for something.
  std::function<void(uint32_t)> onBound;

  TypeContext& types() { return types_; }
  DimSolver& dims() { return dims_; }

private:
  /// How deep a type is nested, and how many types it holds, written out.
  struct Extent {
    uint32_t depth = 1;
    uint32_t size = 1;
  };
  struct Merged {
    UnifyResult result = UnifyResult::Same;
    const Type* type = nullptr;
    /// Whether a size that the left or the right type says is `?` in the merged one.
    bool weakensLeft = false, weakensRight = false;
    /// What the right type is from now on, where that is not the merged one: a polymorphic function
    /// of which the merged type has an instance stays polymorphic for its other uses.
    const Type* right = nullptr;
  };
  struct MergedParts {
    std::vector<const Type*> types;
    /// Empty while none differs from the merged one.
    std::vector<const Type*> right;
  };

  const Type* root(const Type* unknown);
  template <typename Enter>
  void walkUnknowns(lang::Types types, Enter enter);
  Merged merge(const Type* left, const Type* right, bool keepRight, uint32_t depth);
  Merged mergeUnknowns(const Type* left, const Type* right, bool keepRight, uint32_t depth);
  Merged mergeStructures(const Type* left, const Type* right, bool keepRight, uint32_t depth);
  Merged mergeTensors(const Type* left, const Type* right);
  Merged mergeFunctions(const Type* left, const Type* right, bool keepRight, uint32_t depth);
  Merged mergeParts(const Type* left, const Type* right, bool keepRight, uint32_t depth,
                    MergedParts& parts);
  Merged mergeInvariantParts(const Type* left, const Type* right, bool keepRight, uint32_t depth,
                             MergedParts& parts);
  bool losesSize(const Type* type, std::span<const Dim* const> merged);
  UnifyResult bind(const Type* unknown, const Type* type);
  void setBinding(const Type* unknown, const Type* type);
  Extent extentOf(const Type* type);
  bool isCovariant(const Type& type);
  bool holdsFunctions(const lang::TypeDefinition* definition);
  bool occurs(const Type* unknown, const Type* type);
  const Type* resolve(const Type* type, uint32_t depth);
  const Type* rebuild(const Type* type, const std::function<const Type*(const Type*)>& part);
  const Type* rebuildShape(const Type* type, const std::function<const Dim*(const Dim*)>& replace);

  const Type* asArgument(const lang::TypeParameter* parameter);

  TypeContext& types_;
  DimSolver dims_;
  OpenNumbers numbers_{*this};
  /// What is known of an unknown.
  struct Unknown {
    /// What it stands for.
    const Type* binding = nullptr;
    /// How large that is what it stood for first. Types only grow afterwards where their own
    /// unknowns are bound, so this may be too little, never too much.
    Extent extent = {};
    /// The search that saw it last.
    uint32_t seenIn = 0;
    /// True when what it stands for has no open unknown in it.
    bool isClosed = false;
  };
  Unknown& at(const Type* unknown) { return unknowns_[unknown->number]; }
  /// By their numbers.
  std::vector<Unknown> unknowns_;
  std::map<std::tuple<const Type*, const Type*, bool>, Merged> mergedGround_;
  std::unordered_map<const lang::TypeDefinition*, bool> holdsFunctions_;
  /// What types resolved to since something was bound: shared parts are visited once.
  std::unordered_map<const Type*, const Type*> resolved_;
  /// How often something was bound, by now and when `resolved_` began.
  uint64_t changes_ = 0, resolvedChanges_ = 0;
  bool tooLarge_ = false;
  std::unordered_map<const Type*, Extent> extentsOfTypes_;
  /// Walks through unknowns, and what the current one has before it and behind it.
  uint32_t searches_ = 0;
  std::vector<const Type*> toVisit_;
  std::unordered_set<const Type*> visited_;
  /// Above 0 inside of types whose parts may not be instantiated.
  uint32_t invariant_ = 0;
  uint64_t weakenedCount_ = 0;
  /// Merges done by the current call of unify().
  uint32_t steps_ = 0;
};

} // namespace typecheck
