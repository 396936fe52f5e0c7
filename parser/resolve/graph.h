// The graph between the surface tree and the core IR.
//
// A graph line `%0 = e` gives `e` no place: the node stands wherever it is used and is evaluated
// once per activation of the innermost scope around all its uses. So names are resolved into a
// graph with sharing first (build_graph.cpp), then every node gets its place (place_graph.cpp), and
// last the flat blocks are written (emit_blocks.cpp). A node is made after everything it mentions;
// numbers therefore grow from uses to users, which spares all later steps a search.
#pragma once

#include "lang/ir/expr.h"
#include "lang/source/diagnostic.h"

#include <vector>

namespace parser {

struct Node;

/// A mention of a value: an atom, or a node of the graph.
struct Use {
  const lang::Expr* atom = nullptr;
  Node* node = nullptr;
  lang::SourceRange range = {};
};

/// `let %x = value`, or the effect `value;` with a nameless variable.
struct LetItem {
  const lang::Var* var;
  Use value;
};

struct Scope;

/// A place: after the `segment`-th let of the block that `scope` becomes.
struct Place {
  Scope* scope = nullptr;
  uint32_t segment = 0;
};

/// A block in the making. Segment i holds the temporaries evaluated before let i.
struct Scope {
  Place parent;
  uint32_t depth = 0;
  struct Segment {
    std::vector<lang::Binding> temporaries;
    const lang::Var* let = nullptr;
    const lang::Expr* value = nullptr;
    lang::SourceRange place = {};
  };
  std::vector<Segment> segments = std::vector<Segment>(1);
};

enum class NodeKind : uint8_t {
  Tuple,
  Project,
  Call,
  If,
  Match,
  Function,
  RefNew,
  RefRead,
  RefWrite,
  Sequence
};

/// How the last user found mentions a node; together with a use count of one it decides whether
/// the node is written in place.
enum class UseKind : uint8_t { Operand, LetValue, Tail };

/// One node. `operands` are in the order of evaluation: the fields of a tuple, the arguments of a
/// call and then its callee, a condition, a scrutinee. `bodies` are the roots of blocks.
struct Node {
  NodeKind kind;
  uint32_t number;
  lang::SourceRange range;
  std::span<const Use> operands = {};
  std::span<const Use> bodies = {};
  std::span<const LetItem> items = {};
  Use result = {};

  uint32_t index = 0;
  /// Of a projection by name.
  std::string_view field = {};
  const lang::FieldHint* hint = nullptr;
  /// Of a projection that a pattern makes: how many fields there are.
  uint32_t fieldCount = 0;
  bool isPartial = false;
  const lang::Attributes* attributes = nullptr;
  std::span<const lang::NamedAttribute> named = {};
  std::span<const lang::Pattern* const> patterns = {};
  /// For a function: all but its body.
  const lang::Function* function = nullptr;
  /// Whether a definition was given this function already.
  bool isLowered = false;

  // Filled anew for each definition that reaches the node.
  uint32_t definition = 0;
  uint32_t uses = 0;
  UseKind lastUse = UseKind::Operand;
  Place home = {};
  /// Scopes of the bodies, or the one that the items of a sequence go to.
  std::span<Scope* const> scopes = {};
  uint32_t firstSegment = 0;
  /// How the result is named after the node is emitted: a variable, or for a sequence in place the
  /// atom that its result is.
  const lang::Expr* atom = nullptr;
  const lang::Expr* expr = nullptr;

  bool isInPlace(UseKind use) const { return uses == 1 && lastUse == use; }
};

} // namespace parser
