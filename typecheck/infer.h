// Inference of one group of globals: a walk over their blocks that gives every variable a type.
#pragma once

#include "typecheck/checking.h"
#include "typecheck/relations.h"
#include "typecheck/type_difference.h"

#include <memory>
#include <unordered_set>

namespace typecheck {

/// Infers the types of a group of mutually recursive globals, and of one after the other.
class Inference {
public:
  Inference(Checking& checking, lang::Diagnostics& diagnostics);

  /// Begins with a group; all that was known of another one is forgotten.
  void start(std::vector<const lang::Global*> group);
  /// Goes on until the types of the group are written down, or instances of open definitions are
  /// needed first; false then.
  bool advance();

private:
  using Type = lang::Type;
  using TypeMemo = std::unordered_map<const Type*, const Type*>;

  /// A use of an open definition: what its type parameters, the names of its sizes and what it
  /// leaves open are there.
  struct OpenUse {
    const lang::Global& global;
    std::vector<const Type*> generics = {};
    std::unordered_map<const lang::Dim*, const lang::Dim*> sizes = {};
    Unifier::FreshUnknowns unknowns = {};
  };

  // Definitions.
  void walkGroup();
  bool finishRound();
  bool solveAll();
  bool isLeftOpen();
  const Type* foundType(const lang::Var& var);
  const Type* foundResult(const lang::Function& function);
  const Type* declare(const lang::Function& function);
  void inferBody(const lang::Function& function);
  void checkBody(const lang::Function& function, const Type* body);
  void finishGroup();
  void poisonGroup();
  void reportOpen(std::initializer_list<lang::VarOrigin> origins);
  bool isConsequence(lang::VarOrigin origin) const;
  void reportOpenResults();
  void reportHoles();
  bool writeTypes();

  // Expressions: each returns the type of the value.
  const Type* inferBlock(const lang::Block& block);
  const Type* infer(const lang::Expr& expr);
  const Type* inferOperand(const lang::Operand& operand);
  const Type* inferHole(const lang::Hole& hole);
  void addNumber(const Type* unknown, lang::Dims shape, OpenClass its);
  const Type* inferConstant(const lang::Constant& constant);
  const Type* fieldType(const lang::Constructor& constructor, size_t field, const Type* data);
  const Type* inferTuple(const lang::TupleExpr& tuple);
  const Type* inferCall(const lang::Call& call);
  void checkOpenInstances();
  const Type* inferOperatorCall(const lang::Call& call, const lang::OperatorRow& row);
  const lang::Global* openGlobal(const lang::Expr& expr) const;
  const Type* inferSize(const lang::Call& call, const lang::Constant& size);
  const Type* inferChange(const lang::Call& call, const lang::Constructor& change);
  const Type* inferOpenCall(const lang::Call& call, const lang::Global& global);
  const Type* inferOpenValue(const void* mention, lang::SourceRange range,
                             const lang::Global& global);
  OpenUse enterUse(const lang::Global& global);
  const Type* declaredAt(OpenUse& use, const Type* declared);
  const Type* addOpenUse(OpenUse& use, const void* mention, std::span<const Type* const> operands,
                         std::span<const lang::Operand> places, lang::SourceRange range);
  void checkPartialResults();
  void inferArgument(const lang::Call& call, size_t i, const Type& function, const Type* argument);
  void reportArgument(const lang::Call& call, size_t i, const Type* wanted, const Type* given,
                      lang::Types parameters);
  const Type* inferRecordCall(const lang::Call& call, const lang::Global& named);
  const Type* inferFunctionCall(const lang::Call& call, const Type* callee);
  /// Where a branch stands that said the type of all of them, if any did.
  using Told = std::shared_ptr<lang::SourceRange>;
  void tell(const Told& told, const Type* type, const lang::Operand& branch);
  MismatchReporter branchReporter(Told told, const lang::Operand& branch);
  const Type* inferIf(const lang::If& branch);
  const Type* inferMatch(const lang::Match& match);
  const Type* inferProject(const lang::Project& project);
  const Type* inferRefRead(const lang::RefRead& read);
  const Type* inferRefWrite(const lang::RefWrite& write);
  const Type* inferFunction(const lang::Function& function);
  bool isFullyDeclared(const lang::Function& function);
  const Type* globalType(const lang::Global& global);
  const Type* constructorType(const lang::Constructor& constructor);
  void inferBinding(const lang::Binding& binding);
  void inferPattern(const lang::Pattern& pattern, const Type* type);
  void inferConstructorPattern(const lang::Pattern& pattern, const Type* type);
  void checkCoverage(const lang::Match& match);

  const lang::Attributes* attributesOf(const lang::Call& call, const lang::OperatorRow& row);
  const Type* monomorphic(const Type* type);
  const Type* joinable(const Type* branches, const Type* next);
  void checkTypeParameters();
  std::vector<const Type*> generalisable(std::span<const lang::Global* const> group);
  void generalise(std::span<const lang::Global* const> group);
  bool isTypeName(std::string_view name, const lang::Function& function) const;
  bool reportEscapes(bool named);
  bool reportEscape(const Type* type, size_t scope, lang::SourceRange range,
                    const std::string& what);
  const Type* annotated(const Type* annotation, const Type* found);
  const Type* ownDims(const Type* annotation);
  const Type* freshDims(const Type* type,
                        std::unordered_map<const lang::Dim*, const lang::Dim*>& sizes);
  const Type* instantiateDims(const Type* type, const lang::Global& global);
  void enterDefinition(const lang::Global& global);
  void requireSizes(const Type* annotation);
  void closeRecursion();
  void nameSizes(std::span<const lang::Global* const> group);
  void settleSizes(std::unordered_map<const lang::Dim*, const lang::Dim*>& names);
  std::string_view sizeName(const lang::Dim* size, std::span<const lang::Global* const> group);
  bool isSizeName(std::string_view name, std::span<const lang::Global* const> group) const;
  void checkBounds();
  void reportBound(const OpenBound& bound);
  void checkEquations();
  void setType(const lang::Var& var, const Type* type);
  const Type* tooLarge(lang::SourceRange range);
  const Type* settled(const Type* type, lang::SourceRange range, TypeMemo& known);
  bool require(const Type* wanted, const Type* given, lang::SourceRange range,
               MismatchReporter report, bool keepGiven = false);
  bool unify(const Type* left, const Type* right, lang::SourceRange range, bool keepRight = false);
  std::string text(const Type* type);
  /// Reports that a type is not what is wanted; the message ends in both, behind what is `before`.
  template <typename... Before>
  lang::Diagnostic& reportTypes(lang::Message message, lang::SourceRange range, const Type* wanted,
                                const Type* given, const Before&... before) {
    const Type *left = unifier_.resolve(wanted), *right = unifier_.resolve(given);
    TypeDifference difference = differenceOf(left, right);
    auto& report =
        diagnostics_.report(message, range, before..., difference.left, difference.right);
    showDifference(report, left, right);
    return report;
  }

  Checking& checking_;
  const lang::Module& module_;
  lang::Diagnostics& diagnostics_;
  Unifier& unifier_;
  lang::Typing& typing_;
  std::vector<const Type*>& varTypes_;
  std::vector<const Type*>& resultTypes_;
  std::vector<size_t>& scopeOf_;
  std::vector<const lang::Global*> group_;
  Relations relations_;
  /// Every variable and function literal of the group, to write their types at the end.
  std::vector<const lang::Var*> groupVars_;
  std::vector<const lang::Function*> groupFunctions_;
  /// Functions with type parameters, each inside of its `parent`; number 0 is the module.
  struct GenericScope {
    size_t parent = 0;
    std::span<const lang::TypeParameter* const> generics = {};
  };
  std::vector<GenericScope> genericScopes_ = std::vector<GenericScope>(1);
  size_t genericScope_ = 0;
  /// The scopes of groupVars_ and groupFunctions_; empty while nothing is generic.
  std::vector<size_t> varScopes_, functionScopes_;
  /// Types that mistakes of the group were reported about; what stays open in them is no news.
  std::vector<const Type*> mistaken_;
  /// Calls of generic functions whose types were not all known by then: the callee's type and the
  /// instance of it.
  struct OpenInstance {
    const lang::Call* call;
    const Type *callee, *instance;
  };
  std::vector<OpenInstance> openInstances_;
  /// The named dimensions of a definition. Those of the signature are rigid; any other one stands
  /// for an unknown of the definition.
  struct DefinitionDims {
    std::unordered_set<const lang::Dim*> rigid;
    std::unordered_map<const lang::Dim*, const lang::Dim*> flexible;
  };
  /// Of the globals of the group.
  std::unordered_map<const lang::Global*, DefinitionDims> definitionDims_;
  const lang::Global* definition_ = nullptr;
  /// The names of a definition and what they are in its calls of itself.
  std::vector<std::pair<const lang::Dim*, const lang::Dim*>> recursiveDims_;
  /// Where the operand that is being inferred stands.
  lang::SourceRange useRange_;
  std::vector<std::pair<DimEquation, lang::SourceRange>> equations_;
  /// The expression holes of the group.
  std::vector<std::pair<const lang::Hole*, const Type*>> holes_;
  /// How many errors there were before the group.
  size_t groupErrors_ = 0;
  /// Whether a type in the group was too large. The rest of such a group is not looked at, since
  /// what is missing of that type shows everywhere.
  bool isGroupTooLarge_ = false;
  /// Rounds that were begun; a later one starts from the types that the last one found.
  int rounds_ = 0;
  bool isWalked_ = false;
  bool isRepeated_ = false;
  /// What was counted when the round began.
  struct Counts {
    size_t errors = 0, findings = 0;
    uint64_t weakened = 0;
  };
  Counts before_;
};

} // namespace typecheck
