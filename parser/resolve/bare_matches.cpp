// Matches with guards, literals and alternatives, as plain ones.
//
//   match x {                        let rest = fn () { match? x { q => b, _ => c } };
//     p if g => a,                   match x {
//     q => b,                  =>      p => if g { a } else { rest() },
//     _ => c,                          q => rest(),
//   }                                  _ => rest(),
//                                    }
//
// An alternative is an arm of its own, and a literal a name with a test. The outer match has all
// patterns, so that it is as complete as what was written; its guarded ones count for nothing
// there.
#include "lang/op/op.h"
#include "parser/resolve/bare_forms.h"
#include "parser/surface/node_depth.h"

#include <algorithm>

namespace parser {

using lang::Message;
using lang::SourceRange;

namespace {

/// More arms than anybody writes, though alternatives inside of a pattern multiply.
constexpr size_t mostCases = 1000;

struct Case {
  const surface::Pattern* pattern;
  const surface::Expr* guard;
  const surface::Expr* body;
};

bool isLiteral(const surface::Pattern& pattern) {
  return pattern.kind == surface::PatternKind::Literal;
}

/// Whether a pattern, or one in it, is of some kind. What is in an alternative is not asked.
template <typename IsOfKind>
bool holds(const surface::Pattern* pattern, const IsOfKind& isOfKind) {
  if (isOfKind(*pattern))
    return true;
  std::span<const surface::Pattern* const> fields;
  if (const auto* tuple = surface::tryAs<surface::TuplePattern>(pattern))
    fields = tuple->fields;
  else if (const auto* constructor = surface::tryAs<surface::ConstructorPattern>(pattern))
    fields = constructor->fields;
  return std::ranges::any_of(fields, [&](auto* field) { return holds(field, isOfKind); });
}

class Alternatives {
public:
  explicit Alternatives(runtime::Arena& arena) : arena_(arena) {}

  using Patterns = std::vector<const surface::Pattern*>;

  /// The patterns without alternatives that one stands for.
  Patterns of(const surface::Pattern* pattern) {
    if (const auto* either = surface::tryAs<surface::EitherPattern>(pattern)) {
      Patterns all;
      for (const surface::Pattern* alternative : either->alternatives)
        for (const surface::Pattern* each : of(alternative))
          all.push_back(each);
      return all;
    }
    if (const auto* tuple = surface::tryAs<surface::TuplePattern>(pattern))
      return withFields(*tuple);
    if (const auto* constructor = surface::tryAs<surface::ConstructorPattern>(pattern))
      return withFields(*constructor);
    return {pattern};
  }

private:
  template <typename Node>
  Patterns withFields(const Node& pattern) {
    std::vector<Patterns> combinations{{}};
    for (const surface::Pattern* field : pattern.fields) {
      std::vector<Patterns> longer;
      for (const surface::Pattern* each : of(field))
        for (Patterns fields : combinations) {
          if (longer.size() > mostCases)
            break;
          fields.push_back(each);
          longer.push_back(std::move(fields));
        }
      combinations = std::move(longer);
    }
    if (combinations.size() == 1)
      return {&pattern};
    Patterns all;
    for (const Patterns& fields : combinations) {
      Node* made = arena_.make<Node>(pattern);
      made->fields = arena_.copy(fields);
      all.push_back(made);
    }
    return all;
  }

  runtime::Arena& arena_;
};

class Matches {
public:
  Matches(ResolveContext& context, SourceRange range) : context_(context), range_(range) {}

  Use build(const surface::Match& match) {
    Alternatives alternatives(context_.module.arena);
    for (const surface::Arm& arm : match.arms)
      for (const surface::Pattern* pattern : alternatives.of(arm.pattern))
        cases_.push_back({pattern, arm.guard, arm.body});
    openLastTruth();
    if (cases_.size() > mostCases)
      context_.diagnostics.report(Message::MatchTooComplex, match.range);
    Use scrutinee = buildExpr(context_, match.scrutinee);
    // It is looked at several times, and evaluated once, where it stands.
    const lang::Var* whole =
        context_.makeVar("whole", lang::VarOrigin::Let, match.scrutinee->range, nullptr);
    scrutinee_ = {whole, nullptr, match.scrutinee->range};
    Node* chain = arms(0, match.isPartial);
    Node* sequence = context_.makeNode(NodeKind::Sequence, range_);
    sequence->items =
        context_.module.arena.copy(std::initializer_list<LetItem>{{whole, scrutinee}});
    sequence->result = useOf(chain);
    return useOf(sequence);
  }

private:
  static std::optional<bool> truthOf(const Case& each) {
    const auto* literal = surface::tryAs<surface::LiteralPattern>(each.pattern);
    const auto* truth = literal ? surface::tryAs<surface::BoolLiteral>(literal->value) : nullptr;
    return truth && !each.guard ? std::optional(truth->value) : std::nullopt;
  }

  /// Behind `true` the pattern `false` is for all that is left, and the other way round.
  void openLastTruth() {
    for (size_t i = 1; i < cases_.size(); ++i) {
      auto isOther = [&](const Case& each) {
        return truthOf(each) && truthOf(each) != truthOf(cases_[i]);
      };
      auto behind = cases_.begin() + ptrdiff_t(i);
      if (truthOf(cases_[i]) && std::any_of(cases_.begin(), behind, isOther))
        cases_[i].pattern =
            newNode<surface::WildcardPattern>(context_.module.arena, cases_[i].pattern->range);
    }
  }

  Use useOf(Node* node) const { return {nullptr, node, range_}; }

  /// The match of the cases from `first` on.
  Node* arms(size_t first, bool isPartial) {
    std::vector<const lang::Pattern*> patterns;
    std::vector<Use> bodies;
    std::optional<Use> rest;
    for (size_t i = first; i < cases_.size() && !(rest && isPartial); ++i) {
      std::optional<Use> after = rest ? rest : restOf(i);
      context_.locals.openFrame();
      const lang::Pattern* pattern = buildPattern(context_, cases_[i].pattern);
      std::optional<Use> guard = guardOf(cases_[i]);
      if (guard)
        pattern = guarded(*pattern);
      patterns.push_back(pattern);
      bodies.push_back(rest ? callOf(*rest) : bodyOf(cases_[i], guard, after));
      context_.locals.closeFrame();
      if (guard && !rest)
        rest = after;
    }
    runtime::Arena& arena = context_.module.arena;
    if (rest && isPartial) {
      patterns.push_back(arena.make<lang::Pattern>(lang::PatternKind::Wildcard, range_));
      bodies.push_back(callOf(*rest));
    }
    Node* node = context_.makeNode(NodeKind::Match, range_);
    node->isPartial = isPartial;
    node->operands = arena.copy(std::initializer_list<Use>{scrutinee_});
    node->patterns = arena.copy(patterns);
    node->bodies = arena.copy(bodies);
    return node;
  }

  /// What goes on behind a case that may be left; nothing for one that may not.
  std::optional<Use> restOf(size_t place) {
    const Case& at = cases_[place];
    if (!at.guard && !holds(at.pattern, isLiteral))
      return std::nullopt;
    Node* chain = arms(place + 1, true);
    runtime::Arena& arena = context_.module.arena;
    Node* function = context_.makeNode(NodeKind::Function, range_);
    function->function = arena.make<lang::Function>(lang::Expr{lang::ExprKind::Function, range_},
                                                    context_.module.functionCount++);
    function->bodies = arena.copy(std::initializer_list<Use>{useOf(chain)});
    return useOf(function);
  }

  /// The tests of the literals of a pattern, then what was written.
  std::optional<Use> guardOf(const Case& at) {
    std::optional<Use> guard;
    for (const auto& [var, literal] : std::exchange(context_.bare.literalTests, {})) {
      Use equal = buildEquality(context_, {var, nullptr, literal->range}, literal);
      guard = guard ? buildBoth(context_, *guard, equal, literal->range) : equal;
    }
    if (!at.guard)
      return guard;
    Use written = buildExpr(context_, at.guard);
    return guard ? buildBoth(context_, *guard, written, at.guard->range) : written;
  }

  const lang::Pattern* guarded(const lang::Pattern& pattern) {
    auto* copy = context_.module.arena.make<lang::Pattern>(pattern);
    copy->isGuarded = true;
    return copy;
  }

  Use callOf(Use function) {
    Node* node = context_.makeNode(NodeKind::Call, range_);
    node->operands = context_.module.arena.copy(std::initializer_list<Use>{function});
    return useOf(node);
  }

  Use bodyOf(const Case& at, std::optional<Use> guard, std::optional<Use> after) {
    context_.locals.openFrame();
    Use body = buildExpr(context_, at.body);
    context_.locals.closeFrame();
    if (!guard)
      return body;
    // A node is made after all that it mentions.
    Use otherwise = callOf(*after);
    Node* node = context_.makeNode(NodeKind::If, range_);
    runtime::Arena& arena = context_.module.arena;
    node->operands = arena.copy(std::initializer_list<Use>{*guard});
    node->bodies = arena.copy(std::initializer_list<Use>{body, otherwise});
    return useOf(node);
  }

  ResolveContext& context_;
  SourceRange range_;
  std::vector<Case> cases_;
  Use scrutinee_;
};

} // namespace

bool hasBareArms(const surface::Match& match) {
  auto isOfBare = [](const surface::Pattern& pattern) {
    return isLiteral(pattern) || pattern.kind == surface::PatternKind::Either;
  };
  return std::ranges::any_of(match.arms, [&](const surface::Arm& arm) {
    return arm.guard || holds(arm.pattern, isOfBare);
  });
}

Use buildBareMatch(ResolveContext& context, const surface::Match& match) {
  return Matches(context, match.range).build(match);
}

} // namespace parser
