// Printing of functions and expressions: decides what is written in place and numbers the rest in
// the order in which Relay's printer does.
//
// To finish a value is to make its text; it happens once, after its operands are finished. To need
// a temporary is to mention it: the first time, its text goes as a line `%N = ...;` to the block
// that is open then, even when it is used outside of that block later. Both are driven by a stack
// of tasks instead of recursion, because chains of values are as long as programs.
#pragma once

#include "lang/print/attributes.h"
#include "lang/print/names.h"
#include "lang/print/print.h"
#include "lang/print/vars.h"
#include "lang/types/type_text.h"

namespace lang::printing {

/// One print job: numbers, names and references go on from one call to the next.
class ExprPrinter {
public:
  ExprPrinter(const Module& module, const OperatorTable& operators, const PrintOptions& options);

  /// Appends `def @name(...) {...}`.
  void definition(const Global& global, std::string& out);
  /// The name that a global is printed by, with its `@`.
  std::string globalName(const Global& global) const { return names_.global(global); }
  /// Appends the body of a function whose parameters are free variables of it.
  void openExpression(const Function& function, std::string& out);
  /// Appends an expression.
  void expression(const Expr& expr, std::string& out);
  /// An atom as an operand is written; the first mention of a temporary writes its line.
  std::string atomText(const Expr& atom);

  const MetadataCollector& metadata() const { return metadata_; }

private:
  enum class Step : uint8_t {
    Finish,
    Complete,
    Store,
    Need,
    Build,
    Atom,
    Write,
    Open,
    Close,
    Bindings,
    EndLet,
    EndFirstLet,
    EndTail,
    Arm,
    EndFunction
  };

  /// What is left to do; which fields count depends on the step.
  struct Task {
    Step step;
    const Expr* expr = nullptr;
    const Type* type = nullptr;
    const Block* block = nullptr;
    size_t index = 0;
    const char* text = nullptr;
  };

  void push(Task task) { tasks_.push_back(task); }
  void pushBody(const Block& block, const char* close);
  void pushOperands(const Expr& expr);
  void pushValue(const Expr* expr, const Type* type);
  void run();
  void perform(const Task& task);

  void complete(const Var& var);
  void bindings(const Block& block, size_t index);
  void beginLet(const Binding& binding);
  void tail(const Expr* result);
  void arm(const Match& match, size_t index);
  void closeScope();
  void finishTop(std::string& out);

  void build(const Expr& expr, const Type* type);
  void buildCall(const Call& call, const Type* type);
  void buildTuple(const TupleExpr& tuple, const Type* type);
  void buildBlock(const BlockExpr& expr);

  void emitLine(const Var& var);
  void emitHomes(const Var& var);
  const Var* openHome() const;
  std::string constantText(const Constant& constant);
  std::string binderText(const Var& var);
  std::string signatureText(const Function& function);
  std::string functionTypeText(const Function& function);
  std::string annotationText(const Type* inferred, const Type* written, std::string_view before);
  std::string comment(const Type* type);
  std::vector<std::string> callAttributes(const Call& call);
  void appendPattern(std::string& out, const Pattern& pattern);

  std::string& top() { return texts_.back().chars; }
  const Type* typeOf(const Var& var) const { return typing_ ? typing_->of(var) : nullptr; }
  const Type* resultOf(const Function& function) const {
    return typing_ ? typing_->result(function) : nullptr;
  }
  std::string genericsText(const Function& function) const;

  const OperatorTable& operators_;
  /// Null when no types are wanted.
  const Typing* typing_;
  int64_t mostInLiteral_;
  Names names_;
  MetadataCollector metadata_;
  AttributeWriter attributes_;
  TypeFacts facts_;
  PrintedVars vars_;
  TextPool pool_;
  /// Texts in the making, the innermost last; blocks that are open, the innermost last.
  std::vector<Text> texts_, scopes_;
  std::vector<Task> tasks_;
  /// A temporary whose text is in the making, and how many blocks were open before it.
  struct Completing {
    const Var* var;
    size_t scopes;
  };
  std::vector<Completing> completing_;
  uint64_t nextNumber_ = 0;
};

} // namespace lang::printing
