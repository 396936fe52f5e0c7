// A group of mutually recursive definitions while its types are found: what was seen in it so far,
// and what unifies types and tells what does not fit.
#pragma once

#include "typecheck/checking.h"
#include "typecheck/relations.h"
#include "typecheck/type_difference.h"

namespace typecheck {

/// Functions with type parameters, each inside of its `parent`; number 0 is the module.
struct GenericScope {
  size_t parent = 0;
  std::span<const lang::TypeParameter* const> generics = {};
};

/// What one walk over the definitions of a group saw.
struct Seen {
  /// Every variable and function literal, to write their types at the end, with their scopes.
  std::vector<const lang::Var*> vars = {};
  std::vector<const lang::Function*> functions = {};
  std::vector<size_t> varScopes = {}, functionScopes = {};
  std::vector<GenericScope> genericScopes = std::vector<GenericScope>(1);
  /// The scope that the walk is in.
  size_t genericScope = 0;
  /// Types that mistakes were reported about; what stays open in them is no news.
  std::vector<const Type*> mistaken = {};
  /// Equations between sizes that had too many unknowns when they came up.
  std::vector<std::pair<DimEquation, lang::SourceRange>> equations = {};
  /// Calls of generic functions whose types were not all known by then: the callee's type and the
  /// instance of it.
  struct OpenInstance {
    const lang::Call* call;
    const Type *callee, *instance;
  };
  std::vector<OpenInstance> openInstances = {};
  std::vector<std::pair<const lang::Hole*, const Type*>> holes = {};
  /// Instances of one use each, and the uses.
  struct Joined {
    const Instance* instance;
    const lang::Global* open;
    lang::SourceRange range;
    std::vector<const Type*> operands;
  };
  std::vector<Joined> joined = {};
  /// Whether a type was too large. The rest of such a group is not looked at, since what is missing
  /// of that type shows everywhere.
  bool isTooLarge = false;
};

class Group {
public:
  Group(Checking& checking, lang::Diagnostics& diagnostics);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Begins with other definitions; all that was known of the ones before is forgotten.
  void start(std::vector<const lang::Global*> definitions);
  /// Begins a walk; from the second one on, what the last one found counts as declared.
  void startWalk();

  /// Whether `@main` is among the definitions.
  bool holdsMain() const;
  /// Whether a mistake was reported since the walk began.
  bool hasMistakes() const { return diagnostics.errorCount() > errorsBefore_; }

  void setType(const lang::Var& var, const Type* type);
  void addNumber(const Type* unknown, lang::Dims shape, OpenClass its);
  /// What the last walk found of a variable, or of a function's result, if a printed program says
  /// it; else null.
  const Type* foundType(const lang::Var& var);
  const Type* foundResult(const lang::Function& function);
  /// A polymorphic function as the instance that its place needs.
  const Type* monomorphic(const Type* type);

  /// Unifies and reports failures that have no message of their own.
  bool unify(const Type* left, const Type* right, lang::SourceRange range, bool keepRight = false);
  /// Unifies, and reports a mismatch now or when a relation tells what is given.
  bool require(const Type* wanted, const Type* given, lang::SourceRange range,
               MismatchReporter report, bool keepGiven = false);
  /// A type that is too large is one mistake, wherever it shows again.
  const Type* tooLarge(lang::SourceRange range);
  lang::Words text(const Type* type);
  /// Reports that a type is not what is wanted; the message ends in both, behind what is `before`.
  template <typename... Before>
  lang::Diagnostic& reportTypes(lang::Message message, lang::SourceRange range, const Type* wanted,
                                const Type* given, const Before&... before) {
    const Type *left = shownType(unifier, wanted), *right = shownType(unifier, given);
    TypeDifference difference = differenceOf(left, right);
    auto& report = diagnostics.report(message, range, before..., difference.left, difference.right);
    showDifference(report, left, right);
    return report;
  }

  Checking& checking;
  lang::Diagnostics& diagnostics;
  Unifier& unifier;
  Relations relations;
  std::vector<const lang::Global*> definitions;
  Seen seen;

private:
  size_t errorsBefore_ = 0;
  size_t walks_ = 0;
};

/// What a call calls, in words.
lang::Words calleeText(const lang::Operand& callee);

} // namespace typecheck
