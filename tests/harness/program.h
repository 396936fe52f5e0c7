// Generated programs as plain data: a tree of expressions, each with the type that it must have.
//
// Nodes lie in one vector and name each other by number, so copying a program is copying vectors;
// mutation and shrinking copy first and change then. Names are used once in a whole program. Text
// is the only way out: what the reader makes of it is under test too.
#pragma once

#include "lang/ir/expr.h"
#include "lang/types/type.h"

#include <optional>
#include <string>
#include <vector>

namespace harness {

using NodeId = uint32_t;

enum class NodeKind : uint8_t {
  Local,
  Graph,
  Literal,
  Global,
  OperatorValue,
  Operator,
  Call,
  Constructor,
  Tuple,
  Project,
  If,
  Match,
  Function,
  RefNew,
  RefRead,
  RefWrite,
  // Forms of Baton's notation, which Relay's text says by others (plain_forms.h).
  Field,
  With,
  Extent,
  ComputedShape,
  WantedShape,
  Index,
  Block
};

/// A name that is bound, with its type, which the text says or leaves to be inferred.
struct Binder {
  std::string name;
  const lang::Type* type;
  bool isAnnotated = false;
  /// The annotation says `?` for every size.
  bool isWeak = false;
};

enum class ItemKind : uint8_t { Let, Graph, Sequence };

/// A line of a block; a graph line's name is its number, a sequence line has none.
struct Item {
  ItemKind kind;
  Binder binder;
};

struct MatchPattern {
  lang::PatternKind kind = lang::PatternKind::Wildcard;
  /// Of a variable.
  Binder binder = {};
  /// Of a constructor.
  std::string constructor = {};
  std::vector<MatchPattern> parts = {};
};

enum class SubscriptKind : uint8_t { At, Slice, New };

/// What is asked of one dimension: a position, a slice, or that it is a new one.
struct Subscript {
  SubscriptKind kind;
  int64_t position = 0;
  std::optional<int64_t> begin = {}, end = {};
  int64_t step = 1;

  bool isWhole() const { return kind == SubscriptKind::Slice && !begin && !end && step == 1; }
};

struct NamedText {
  std::string name;
  std::string value;
};

/// One expression; which fields count depends on the kind.
struct Node {
  NodeKind kind;
  const lang::Type* type;
  /// The name without sigil, the literal, or the operator's infix spelling or name.
  std::string text = {};
  /// Operands in order. Call: the callee first. If: condition and branches. Match: the scrutinee
  /// and the bodies of the arms. Block: the values of its items and the result. Function: the body.
  /// ComputedShape: as many operands as `index` says, then the extents.
  std::vector<NodeId> parts = {};
  /// Project, Field, With: the field. Extent: the dimension.
  uint32_t index = 0;
  bool isInfix = false;
  /// Global: one of the prelude, which the program does not define.
  bool isPrelude = false;
  std::vector<NamedText> attributes = {};
  std::vector<Item> items = {};
  /// Field, With: one of the record.
  std::vector<MatchPattern> patterns = {};
  std::vector<Subscript> subscripts = {};
  std::vector<Binder> parameters = {};
  std::vector<const lang::TypeParameter*> generics = {};
  bool isResultAnnotated = false;
};

/// How the named dimensions of a definition are written.
enum class DimStyle : uint8_t { Named, Any };

/// A global function; its node is a Function.
struct Definition {
  std::string name;
  NodeId function;
  DimStyle dims = DimStyle::Named;
};

/// A data type of a program, and the text that defines it.
struct DataTypeText {
  const lang::TypeDefinition* definition;
  std::string text;
};

/// A program whose last definition is `@main`.
struct Program {
  lang::TypeContext* types = nullptr;
  std::vector<DataTypeText> dataTypes = {};
  std::vector<Node> nodes = {};
  std::vector<Definition> definitions = {};
  /// The types of the tensors that `@main` is called with.
  std::vector<const lang::Type*> arguments = {};
  /// Whether `?` occurs, so that inferred types may say less than is known here.
  bool isDynamic = false;

  const Node& node(NodeId id) const { return nodes[id]; }
  NodeId add(Node node) {
    nodes.push_back(std::move(node));
    return NodeId(nodes.size() - 1);
  }
  const Node& functionOf(const Definition& definition) const { return nodes[definition.function]; }
};

/// The program in the text format, with its header.
std::string programText(const Program& program);

/// The nodes below one, itself first.
std::vector<NodeId> below(const Program& program, NodeId id);
/// The nodes that the definitions reach.
std::vector<NodeId> everyNode(const Program& program);

/// A type as an annotation says it.
std::string annotationText(lang::TypeContext& types, const lang::Type* type, DimStyle style);

} // namespace harness
