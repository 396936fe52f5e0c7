// The generator's state; generate.cpp makes definitions, generate_expr.cpp expressions,
// generate_function.cpp functions, generate_block.cpp blocks, generate_match.cpp matches,
// generate_types.cpp types.
#pragma once

#include "tests/harness/generate.h"
#include "tests/harness/random.h"
#include "tests/harness/scope.h"
#include "tests/harness/types.h"

#include <array>
#include <optional>
#include <set>

namespace harness {

/// A name that expressions may use: a local, or a graph line.
struct Variable {
  NodeKind kind;
  std::string name;
  const lang::Type* type;
};

/// Makes one program. "Pinned" says that the context of an expression gives its type, so that it
/// need not be told by the expression itself: `Nil` alone does not say what it could hold.
class Generator {
public:
  Generator(Universe& universe, uint64_t seed, const GenerateOptions& options)
      : universe_(universe), types_(universe.types), random_(seed), options_(options),
        favoured_(seed % universe.samples.byRow.size()) {}

  Program program();

private:
  using Type = lang::Type;
  /// A mention of a function.
  struct Named {
    Node node;
    bool isGeneric;
  };

  // Definitions.
  void plainDefinition();
  void recursiveDefinition();
  void recursivePair();
  void mainDefinition();
  void beginDefinition(std::string name);
  void chooseGenerics(int most);
  void addParameter(const Type* type);
  NodeId recursiveBody(const Type* result, bool pinned);
  Callable finishDefinition(NodeId body, const Type* result, bool isResultAnnotated);
  NodeId withInferredParameters(NodeId body);
  void chooseArguments();
  bool tellsSizes(const std::vector<const Type*>& parameters) const;
  bool agrees(const Callable& callable, const Bindings& bindings) const;

  // Types.
  const Type* randomType(int depth);
  const Type* randomTensor();
  const lang::Dim* randomExtent();
  const Type* randomData(int depth);
  const Type* randomData(const DataType& data, int depth);
  const Type* scalar(runtime::DType dtype) { return types_.scalar(dtype); }
  void useDataType(const DataType& data);

  // Expressions.
  NodeId expr(const Type* goal, int depth, bool pinned);
  std::optional<NodeId> generalForm(const Type* goal, int depth, bool pinned);
  NodeId make(const Type* goal, int depth, bool pinned);
  NodeId smallest(const Type* goal, bool pinned);
  NodeId makeTensor(const Type* goal, int depth);
  NodeId smallestTensor(const Type* goal);
  std::optional<NodeId> creation(const Type* goal);
  NodeId literal(runtime::DType dtype);
  NodeId makeTuple(const Type* goal, int depth, bool pinned);
  NodeId makeData(const Type* goal, int depth, bool pinned);
  NodeId makeFunction(const Type* goal, int depth, bool pinned);
  NodeId ruledSquare(const lang::Type* goal);
  std::array<std::span<const Callable>, 2> callableLists() const;
  static Node globalNode(const Callable& callable);
  std::vector<Named> namedFunctions(const Type* goal) const;
  NodeId throughCall(const Type* type, NodeId value);
  std::optional<NodeId> knownFunction(const Type* goal, int depth, bool pinned);
  NodeId operatorCall(const OperatorSample& sample, int depth);
  NodeId onNumber(const char* infix, const std::string& left, const char* right,
                  const lang::Type* type);
  NodeId branch(const Type* goal, int depth, bool pinned);
  std::optional<NodeId> callKnown(const Type* goal, int depth);
  std::optional<NodeId> chain(const Type* goal, int depth);
  NodeId chainArgument(const Type* type, int depth, bool pinned);
  NodeId call(const Callable& callable, Bindings bindings, int depth,
              std::optional<NodeId> first = {});
  std::optional<NodeId> callVariable(const Type* goal, int depth);
  std::optional<Bindings> bindLocal(const Variable& variable, const Type* goal) const;
  NodeId callLiteral(const Type* goal, int depth, bool pinned);
  std::optional<NodeId> projection(const Type* goal, int depth);
  std::optional<NodeId> readReference(const Type* goal);
  NodeId named(const Type* goal, NodeId value);
  NodeId use(const Variable& variable);
  NodeId freshParameter(const Type* type);
  void bindTheRest(const Callable& callable, Bindings& bindings);

  // Forms of Baton's notation.
  std::optional<NodeId> notationForm(const Type* goal, int depth);
  std::optional<std::vector<const Type*>> argumentsFor(const lang::TypeDefinition& definition,
                                                       size_t field, const Type* goal);
  std::optional<NodeId> fieldRead(const Type* goal, int depth);
  std::optional<NodeId> recordCopy(const Type* goal, int depth);
  void beginFunctionOfRecord();
  NodeId compute(const char* infix, NodeId left, int64_t right);
  std::optional<NodeId> extent(const std::function<bool(const lang::Dim*)>& isWanted);
  NodeId sizeOfNumber(int64_t number);
  std::optional<NodeId> sizeCode(const lang::Dim* dim);
  std::optional<NodeId> computedShape(const Type* goal, int depth);
  std::optional<NodeId> wantedShape(const Type* goal);
  std::optional<NodeId> indexed(const Type* goal, int depth);

  // Blocks and matches.
  NodeId block(const Type* goal, int depth, bool pinned);
  void addItem(Node& block, int depth);
  void addOperatorItem(Node& block, int depth);
  void addOperatorValue(Node& block, int depth);
  void addGenericClosure(Node& block, int depth);
  void addGenericValue(Node& block);
  void addLocalRecursion(Node& block, int depth);
  void addCall(Node& block, int depth);
  void addWrite(Node& block, int depth);
  void addWeakenedCell(Node& block);
  void bind(Node& block, NodeId value, const Type* type, bool mayAnnotate);
  void bindLet(Node& block, NodeId value, const Type* type, bool isAnnotated);
  NodeId matchExpr(const Type* goal, int depth, bool pinned);
  std::vector<MatchPattern> coveringPatterns(const Type* type);
  std::vector<MatchPattern> splitCases(const Type* type);
  void bindPattern(MatchPattern& pattern, const Type* type);

  std::vector<const Variable*> visible(const std::function<bool(const Variable&)>& wanted) const;
  std::vector<const Variable*> visible(const Type* goal) const;
  std::string freshName(const char* stem);
  bool isFull() const { return program_.nodes.size() > options_.nodes; }
  bool fits(const OperatorSample& sample) const { return mayUseSymbols_ || !sample.hasSymbols; }
  bool isWanted(const OperatorSample& sample, int faulting = 2);
  bool callsFavoured(Node& block, int depth);
  bool hasSizes(const Type* type) const;

  Universe& universe_;
  lang::TypeContext& types_;
  Random random_;
  GenerateOptions options_;
  /// The row that is called as soon as a call fits, so that seeds take turns and none is rare; none
  /// once it was.
  std::optional<size_t> favoured_;
  Program program_;
  size_t names_ = 0, graphLines_ = 0;
  /// Names that are used once each.
  std::set<std::string> oddNames_;
  std::set<const lang::TypeDefinition*> usedData_;
  std::vector<Callable> callables_;

  // Of the definition that is being made.
  std::string definitionName_;
  std::vector<Binder> parameters_;
  std::vector<const lang::TypeParameter*> generics_;
  bool mayAddParameters_ = true, mayUseSymbols_ = false, isInGenericClosure_ = false,
       isInChain_ = false;
  /// Parameters are visible everywhere; other locals until their block ends.
  std::vector<Variable> parameterLocals_, locals_, graphs_;
  GraphNeeds graphNeeds_;
  /// The function that a recursive definition may call in place, and how often still.
  std::optional<Callable> self_;
  size_t selfCalls_ = 0;
  std::string fuel_;
  std::vector<NodeId> openSelfCalls_;
  /// The names that the matches around are of, empty for what has none.
  std::vector<std::string> matched_;
  /// Sizes for which the body is well-typed, and whether it uses that it is for them only.
  Bindings sizes_;
  bool isBounded_ = false;
};

} // namespace harness
