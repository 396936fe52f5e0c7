// What the parts of the writer share. What is planned lies on a stack, so a deep tree takes no
// recursion.
#pragma once

#include "parser/baton/write.h"

#include <vector>

namespace parser::baton {

/// How tightly an expression holds together, from the loosest.
enum class Binding : uint8_t {
  Lambda,
  Pipe,
  Or,
  And,
  Comparison,
  Sum,
  Product,
  Prefix,
  Power,
  Postfix,
  Primary
};

/// What is left to write. To write a node is to plan its pieces, in their order.
class WritingPlan {
protected:
  enum class Step : uint8_t { Text, Expr, Chain, Pattern, Type, Dim, Items };

  /// Which fields count depends on the step.
  struct Task {
    Step step;
    Binding least = Binding::Lambda;
    const void* node = nullptr;
    std::string text = {};
  };

  void text(std::string words) { plan_.push_back({.step = Step::Text, .text = std::move(words)}); }
  void expr(const surface::Expr* expr, Binding least = Binding::Lambda) {
    plan_.push_back({.step = Step::Expr, .least = least, .node = expr});
  }
  void dim(const surface::Dim* dim, Binding least = Binding::Lambda) {
    plan_.push_back({.step = Step::Dim, .least = least, .node = dim});
  }
  /// What needs no more than the node.
  void plan(Step step, const void* node) { plan_.push_back({.step = step, .node = node}); }
  void pattern(const surface::Pattern* pattern) { plan(Step::Pattern, pattern); }
  void type(const surface::Type* type) { plan(Step::Type, type); }

  /// Takes the task that comes next; false where all is done. What was planned since the last time
  /// comes before what was planned earlier.
  bool next(Task& task);

private:
  std::vector<Task> plan_, tasks_;
};

class Writer : private WritingPlan {
public:
  std::string file(const surface::File& file, const DocOf& docOf);
  std::string head(const surface::Definition& definition);

private:
  void run();
  void doc(std::string_view lines);
  void perform(const Task& task);

  // Definitions (write.cpp).
  void definition(const surface::Definition& definition);
  void function(const surface::FunctionDefinition& definition);
  void constantType(const surface::ConstantDefinition& constant);
  void typeDefinition(const surface::TypeDefinition& definition);
  void constructor(const surface::Constructor& constructor);
  void generics(std::span<const surface::Identifier> names);
  void signature(const surface::Function& function);
  void parameter(const surface::Parameter& parameter);
  void attributes(std::span<const surface::Attribute> attributes);

  // Expressions (write_expr.cpp).
  void planExpr(const surface::Expr* expr, Binding least);
  void planPlain(const surface::Expr* expr);
  void planSmall(const surface::Expr* expr);
  void chain(const surface::Infix& infix);
  void call(const surface::Call& call);
  void tensor(const surface::TensorLiteral& literal);
  void tuple(const surface::Tuple& tuple);
  void index(const surface::Index& index);
  void subscript(const surface::Subscript& subscript);
  void with(const surface::With& with);
  void lambda(const surface::Function& function);
  void branch(const surface::If& branch);
  void match(const surface::Match& match);
  /// `{ items; value }`; the line ends behind its brace where it is to stay broken.
  void block(const surface::Expr* body, bool isBroken = false);
  /// What stands in a block.
  void items(const surface::Expr* body);
  void item(const surface::Item& item);
  template <typename Items, typename Each>
  void list(const Items& items, Each each);

  // Patterns, types and sizes (write_types.cpp).
  void planPattern(const surface::Pattern& pattern);
  void planType(const surface::Type& type);
  void planDim(const surface::Dim& dim, Binding least);
  void types(std::span<const surface::Type* const> types);

  std::string out_;
};

/// The number of a literal as it is written.
std::string literalText(const surface::Expr& literal);
/// A text in quotes.
std::string quotedText(std::string_view text);

/// Elements with commas between them.
template <typename Items, typename Each>
void Writer::list(const Items& items, Each each) {
  bool isFirst = true;
  for (const auto& item : items) {
    if (!isFirst)
      text(", ");
    isFirst = false;
    each(item);
  }
}

} // namespace parser::baton
