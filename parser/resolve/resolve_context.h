// What all parts of name resolution share, and the parts themselves.
#pragma once

#include "parser/resolve/definitions.h"
#include "parser/resolve/graph.h"
#include "parser/resolve/names.h"

#include <map>

namespace parser {

/// The state of one resolution.
struct ResolveContext {
  lang::Module& module;
  const Environment& environment;
  lang::Diagnostics& diagnostics;
  Definitions& definitions;
  const lang::SourceFile& source;

  /// The unit whose definition is being resolved.
  const Unit* unit = nullptr;
  ScopedNames<const lang::Var*> locals = {};
  ScopedNames<const lang::TypeParameter*> typeParameters = {};
  runtime::Arena nodes = {};
  uint32_t nodeCount = 0;

  /// Of Relay's notation.
  struct Relay {
    struct GraphBinding {
      Use use;
      lang::SourceRange range;
      bool isUsed = false;
    };
    /// Graph variables are one namespace for a whole text.
    std::map<uint32_t, GraphBinding> graph;
    /// What `free_var` declared, in order.
    std::vector<const lang::Var*> freeVariables;
    /// What objects of the metadata section are that were mentioned already: constants, and
    /// dimensions, null for those that are none.
    std::unordered_map<size_t, const lang::Constant*> constants;
    std::unordered_map<size_t, const lang::Dim*> dims;
  };
  Relay relay = {};
  /// Values of constants and defaults, of which one may stand in another: those that are being
  /// built, with the depth of them all, and those that were built inside of the outermost one.
  struct ApartValues {
    std::vector<const surface::Expr*> open;
    size_t depth = 0;
    std::unordered_map<const surface::Expr*, Use> made;
  };
  /// Of Baton's notation: also what names of values without a place stand for, aliases of the text
  /// that are being built, and the literals in the pattern that is, with the names that stand for
  /// them.
  struct Bare {
    ApartValues apart;
    std::unordered_map<const lang::Var*, Use> shared;
    std::vector<const surface::TypeDefinition*> openAliases;
    std::vector<std::pair<const lang::Var*, const surface::Expr*>> literalTests;
    /// The data type whose fields are being resolved, or null.
    const lang::TypeDefinition* defined = nullptr;
    /// Whether values are called, which may be records.
    bool callsValues = false;
    /// The type parameters that the definition's signature names by a small letter, without a list
    /// of them, and whether that signature is being resolved.
    std::vector<const lang::TypeParameter*> letters;
    bool isSignature = false;
    /// The sizes that types of the definition name so far.
    std::unordered_map<std::string_view, const lang::Dim*> sizes;
  };
  Bare bare = {};

  Node* makeNode(NodeKind kind, lang::SourceRange range) {
    return nodes.make<Node>(kind, nodeCount++, range);
  }
  const lang::Var* makeVar(std::string_view name, lang::VarOrigin origin, lang::SourceRange range,
                           const lang::Type* annotation) {
    return module.arena.make<lang::Var>(lang::Expr{lang::ExprKind::Var, range}, name, origin,
                                        module.varCount++, annotation);
  }
};

/// Whether the definition that is being resolved stands in a text of Baton's notation.
inline bool isBare(const ResolveContext& context) {
  return context.unit->notation == surface::Notation::Baton;
}

/// The words at a place in the text of the unit.
inline std::string_view textAt(const ResolveContext& context, lang::SourceRange range) {
  const lang::SourceFile& source = context.unit->source ? *context.unit->source : context.source;
  return source.text().substr(range.begin - source.base(), range.end - range.begin);
}

/// Another unit for as long as this lives.
class InUnit {
public:
  InUnit(ResolveContext& context, const Unit& unit)
      : context_(context), before_(std::exchange(context.unit, &unit)) {}
  ~InUnit() { context_.unit = before_; }
  InUnit(const InUnit&) = delete;
  InUnit& operator=(const InUnit&) = delete;

private:
  ResolveContext& context_;
  const Unit* before_;
};

// Expressions (build_graph.cpp).

/// The graph of a function; the node carries the function's head.
Node* buildFunction(ResolveContext& context, const surface::Function& function);
/// The graph of an expression.
Use buildExpr(ResolveContext& context, const surface::Expr* expr);

/// Reports that one of two variables in a scope hides the other.
inline void reportRepeated(ResolveContext& context, const lang::Var& var, const lang::Var& other) {
  auto& report = context.diagnostics.report(lang::Message::RepeatedLocal, var.range,
                                            lang::localName(var.name));
  report.label(other.range, "first bound here");
  if (!isBare(context))
    report.note("TVM would go on to mean the first one; give one of them another name");
}

/// Brings a variable into scope in the innermost frame. A parameter may hide what it likes: its
/// head says in the same line that it is new. In Baton's notation so may a let.
inline void bindLocal(ResolveContext& context, const lang::Var* var) {
  bool mayRepeat = isBare(context) && var->origin == lang::VarOrigin::Let;
  if (const lang::Var* other = context.locals.findInFrame(var->name); other && !mayRepeat)
    reportRepeated(context, *var, *other);
  else if (const lang::Var* hidden = context.locals.find(var->name);
           hidden && var->origin != lang::VarOrigin::Parameter && !isBare(context))
    context.diagnostics
        .report(lang::Message::ShadowedLocal, var->range, lang::localName(var->name),
                lang::localName(hidden->name))
        .label(hidden->range, "hidden from here on");
  context.locals.bind(var->name, var);
}

/// The element type that a short name is, `f32`, or a long one.
std::optional<runtime::DType> namedDType(std::string_view name);

// Types (build_types.cpp). Null for `_` and for no type at all; the poison type after an error.

const lang::Type* buildType(ResolveContext& context, const surface::Type* type);
/// `f32[.., n]` or `_[n]`, of which dimensions or the element type are left open; null for any
/// other type.
const lang::PartialTensor* buildPartial(ResolveContext& context, const surface::Type* type);
/// Whether a tensor may have that rank; else it is reported of `what`.
bool checkRank(ResolveContext& context, std::string_view what, size_t rank,
               lang::SourceRange range);

/// The dimension that an object of the metadata section is, or null (build_dims.cpp).
const lang::Dim* metadataDim(ResolveContext& context, size_t number);

// Patterns (build_patterns.cpp); binds the pattern's variables in the innermost frame.

const lang::Pattern* buildPattern(ResolveContext& context, const surface::Pattern* pattern);

// Constants (build_constants.cpp).

const lang::Constant* scalarConstant(ResolveContext& context, lang::SourceRange range,
                                     runtime::DType dtype, uint64_t bits);
/// Whether all elements are literals, so that it is a constant.
bool isOfNumbers(const surface::TensorLiteral& literal);
const lang::Constant* buildLiteral(ResolveContext& context, const surface::Expr* literal);
/// The constant that `meta[relay.Constant][i]` names, or null after a report.
const lang::Constant* buildMetaConstant(ResolveContext& context,
                                        const surface::MetaReference& reference,
                                        lang::SourceRange range);
/// The number of the metadata node that a reference names; nothing after a report.
std::optional<size_t> findMetadata(ResolveContext& context, const surface::MetaReference& reference,
                                   lang::SourceRange range);

// Attributes (build_attributes.cpp).

/// The attributes of a call of `row`, defaults filled in; null after a report.
const lang::Attributes* buildAttributes(ResolveContext& context, const lang::OperatorRow& row,
                                        const surface::Call& call);
/// The attributes of an operator that is called without any, as infix operators are.
const lang::Attributes* defaultAttributes(ResolveContext& context, const lang::OperatorRow& row);
/// Attributes as written, for functions and calls of other things.
std::span<const lang::NamedAttribute> buildNamed(ResolveContext& context,
                                                 std::span<const surface::Attribute> attributes);
/// True when the reference names an attribute object rather than a value.
bool namesAttributes(const surface::MetaReference& reference);

} // namespace parser
