// Values as expressions, made of operands that have been restored before.
#pragma once

#include "lang/print/metadata.h"
#include "lang/print/vars.h"
#include "lang/types/type_text.h"
#include "parser/restore/names.h"
#include "parser/restore/restore.h"

namespace parser::restoring {

/// What the definitions of one module share.
struct Restoring {
  lang::Arena& arena;
  const lang::Module& module;
  const lang::OperatorTable& operators;
  const lang::Typing* typing;
  GlobalNames names;
  lang::printing::MetadataCollector metadata;
  /// Whether types that were inferred are declared.
  bool showsTypes = false;
  lang::printing::TypeFacts facts = {};
  /// How often each tensor constant is mentioned; one that is once can be written out.
  std::unordered_map<const void*, uint32_t> mentions = {};
};

/// An expression, and how much of a line it takes.
struct Piece {
  const surface::Expr* expr = nullptr;
  uint32_t width = 0;
  /// The variable or the value of a name and the like: it is not worth a line of its own.
  bool isSmall = false;
  /// It goes over many lines and looks wrong among operands.
  bool isBranching = false;
  /// The temporary that it stands for, if it does.
  const lang::Var* var = nullptr;
};

/// What a number without a suffix becomes: what its use tells, the default of all numbers, or
/// nobody knows.
enum class NumberType : uint8_t { Told, Default, Unknown };

class PieceMaker {
public:
  explicit PieceMaker(Restoring& shared)
      : shared_(shared), arena_(shared.arena), locals_(shared.names) {}
  PieceMaker(const PieceMaker&) = delete;
  virtual ~PieceMaker() = default;

protected:
  Piece value(const lang::Expr& expr);
  Piece operand(const lang::Expr& atom);
  Piece words(std::string_view name);
  std::string_view nameOf(const lang::Var& var);
  const lang::Type* inferredType(const lang::Var& var) const;
  /// The type that is written of something; null for none.
  const surface::Type* writtenType(const lang::Type* declared, const lang::Type* inferred);
  const surface::Function* function(const lang::Function& function, bool isDefinition);
  /// Gives a temporary a name where the block is that is being restored.
  virtual Piece named(const lang::Var& var, Piece value) = 0;

  template <typename Node>
  Node* make() {
    Node* node = arena_.make<Node>();
    node->kind = Node::tag;
    return node;
  }

  Restoring& shared_;
  lang::Arena& arena_;
  lang::printing::PrintedVars vars_;
  LocalNames locals_;
  /// Whether numbers need their types where no use tells them.
  bool mixesNumbers_ = false;
  std::unordered_map<const lang::Block*, const surface::Expr*> bodies_;
  /// Lets of what has another name: that one.
  std::unordered_map<const lang::Var*, const lang::Var*> renamed_;
  /// By numbers of temporaries: what stands for them.
  std::unordered_map<uint32_t, Piece> pieces_;

private:
  void shorten(std::vector<Piece>& pieces, uint32_t more);
  Piece single(const lang::Operand& operand, uint32_t more);
  Piece tuple(const lang::TupleExpr& tuple);
  Piece branch(const lang::If& branch);
  Piece match(const lang::Match& match);
  std::optional<Piece> recordForm(const lang::Match& match);
  Piece fieldOf(Piece operand, std::string_view name);
  std::optional<Piece> changedRecord(const lang::Match& match, const lang::Call& call);
  const surface::Pattern* pattern(const lang::Pattern& pattern);
  Piece spelled(Spelling spelling);
  Piece reference(const char* name, std::initializer_list<const lang::Operand*> operands);
  Piece lambda(const lang::Function& function);
  Piece project(const lang::Project& project);

  // Calls (calls.cpp).
  Piece call(const lang::Call& call);
  Piece operatorCall(const lang::Call& call, const lang::OperatorRow& row);
  std::optional<Piece> operatorForm(const lang::Call& call, const lang::OperatorRow& row);
  std::optional<Piece> infixForm(const lang::Call& call, const lang::OperatorRow& row);
  std::vector<Piece> callOperands(const lang::Call& call, const lang::OperatorRow* row,
                                  uint32_t more);
  Piece inBrackets(Piece tuple);
  NumberType typeBy(const lang::Call& call, const lang::OperatorRow* row,
                    const lang::Constant& constant);
  bool takesEqualTypes(const lang::OperatorRow& row) const;
  Piece callOf(Piece callee, const std::vector<Piece>& operands,
               std::span<const surface::Attribute> attributes);

  // Constants (literals.cpp).
  Piece constant(const lang::Constant& constant, NumberType type);
  Piece literal(runtime::DType dtype, uint64_t bits, bool hasSuffix);
  Piece tensorLiteral(const lang::Constant& constant, NumberType type);
  bool canDoWithout(runtime::DType dtype, NumberType type) const;

  // Attributes (attributes.cpp).
  struct Attributes {
    std::vector<Piece> positional;
    std::vector<surface::Attribute> named;
  };
  Attributes attributesOf(const lang::OperatorRow& row, const lang::Attributes& attributes);
  std::span<const surface::Attribute>
  namedAttributes(std::span<const lang::NamedAttribute> attributes);
  const surface::Expr* attributeValue(const lang::AttributeRow* row,
                                      const lang::AttributeValue& value);
  const surface::Expr* textValue(const lang::AttributeRow* row, std::string_view text);
  const surface::Expr* listValue(const lang::AttributeRow* row, const lang::AttributeValue& value);
};

/// `meta[KEY][i]` as the reference that it is.
const surface::Expr* metaTree(lang::Arena& arena, std::string_view text);
/// About how wide an expression of attributes or literals is.
uint32_t widthOf(const surface::Expr* expr);
/// Whether all attributes have their defaults.
bool hasDefaults(const lang::OperatorTable& operators, const lang::OperatorRow& row,
                 const lang::Attributes& attributes);

} // namespace parser::restoring
