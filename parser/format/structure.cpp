// One walk with a stack of segments: what stands in brackets, behind `=` or `=>`, or between `if`
// or `match` and its brace. The text is known to be good, so what fits nowhere is of no interest.
#include "parser/format/structure.h"

#include <utility>

namespace parser::format {

namespace {

constexpr uint32_t nowhere = UINT32_MAX;

class StructureFinder {
public:
  explicit StructureFinder(Tokens& tokens)
      : tokens_(tokens.tokens), isRelay_(tokens.notation == surface::Notation::Relay) {}

  std::vector<uint32_t> find() {
    segments_.push_back({.kind = SegmentKind::Brackets});
    brackets_.push_back(nowhere);
    for (uint32_t i = 0; i < tokens_.size(); ++i)
      visit(i);
    endElement(uint32_t(tokens_.size()));
    return std::move(starts_);
  }

private:
  enum class SegmentKind : uint8_t { Brackets, Value, Arrow, Head, Chain };

  struct Segment {
    SegmentKind kind = SegmentKind::Brackets;
    /// What opened it.
    uint32_t token = nowhere;
    uint32_t operand = nowhere;
    /// Where the last operand began that has ended.
    uint32_t lastOperand = nowhere;
    size_t firstChain = 0;
    /// What stands here, and what stands here behind each comma, is a type.
    bool isType = false;
    bool isTypeAnew = false;
    /// What stands here is the type of a result.
    bool isResult = false;
    /// What stands here binds a name, so that the value of a chain is still to come.
    bool binds = false;
    /// There was an `fn` whose body is to come.
    bool awaitsBody = false;
  };
  struct Chain {
    Holds holds;
    uint32_t start;
  };

  Segment& top() { return segments_.back(); }
  bool isAtRoot() const { return segments_.size() == 1; }
  Role roleOf(uint32_t i) const { return i < tokens_.size() ? tokens_[i].role : Role::Semicolon; }
  bool followsOperand(uint32_t i) const { return i > 0 && endsOperand(tokens_[i - 1].role); }
  /// The brackets that are open; none at the root.
  Token* opener() { return brackets_.back() == nowhere ? nullptr : &tokens_[brackets_.back()]; }
  void beginOperand(uint32_t i) {
    if (top().operand == nowhere)
      top().operand = i;
  }

  void visit(uint32_t i) {
    Token& token = tokens_[i];
    if (brackets_.size() == 1)
      beginDefinition(i);
    if (isRelay_ && isElement(i)) {
      token.isElement = true;
      endElement(i);
      opener()->hasCommas = true;
    }
    if (Token* around = opener())
      around->hasNumbersOnly &= token.role == Role::Number || token.role == Role::Comma ||
                                token.holds == Holds::Sum || isCloser(token.role);
    if (isOpener(token.role))
      open(i);
    else if (isCloser(token.role))
      close(i);
    else
      visitPlain(i);
  }

  void visitPlain(uint32_t i) {
    switch (tokens_[i].role) {
    case Role::Comma:
      endElement(i);
      if (Token* around = opener())
        around->hasCommas |= !isCloser(roleOf(i + 1));
      return;
    case Role::Semicolon:
      return endStatement(i);
    case Role::Colon:
      return colon(i);
    case Role::Arrow:
      endChains(i);
      top().isType = top().isResult = true;
      return;
    case Role::Assign:
      return assign(i);
    case Role::FatArrow:
      if (top().kind == SegmentKind::Head)
        pop(i);
      return beginValue(i, SegmentKind::Arrow);
    case Role::Infix:
      return infix(i);
    case Role::If:
    case Role::Match:
      return head(i);
    case Role::Fn:
      beginOperand(i);
      tokens_[i].isTight = !isRelay_ && top().isType;
      top().awaitsBody = !isRelay_ && !top().isType;
      return;
    case Role::Dot:
    case Role::Suffix:
    case Role::As:
    case Role::Else:
      return;
    case Role::With:
      top().isType = top().isResult = false;
      return;
    case Role::Let:
      return let();
    default:
      return beginOperand(i);
    }
  }

  // Definitions.

  static bool isDefinition(Role role) { return role >= Role::Def; }

  void beginDefinition(uint32_t i) {
    Role role = tokens_[i].role;
    bool begins = isDefinition(role) || (role == Role::Let && !isRelay_);
    if (!begins || (i > 0 && roleOf(i - 1) == Role::Extern))
      return;
    endElement(i);
    definition_ = role == Role::Extern ? Role::Type : role;
    starts_.push_back(i);
  }

  // Where things end.

  void endChains(uint32_t i) {
    while (chains_.size() > top().firstChain)
      endChain(i);
  }

  void endChain(uint32_t i) {
    ++tokens_[chains_.back().start].opens;
    ++tokens_[i - 1].closes;
    chains_.pop_back();
  }

  void endOperand(uint32_t i) {
    endChains(i);
    if (top().operand != nowhere)
      top().lastOperand = top().operand;
    top().operand = nowhere;
  }

  void pop(uint32_t i) {
    endChains(i);
    bool isValue = top().kind == SegmentKind::Value || top().kind == SegmentKind::Arrow;
    if (isValue)
      ++tokens_[i - 1].closes;
    segments_.pop_back();
  }

  void endElement(uint32_t i) {
    while (top().kind != SegmentKind::Brackets)
      pop(i);
    endOperand(i);
    top().isType = top().isTypeAnew;
    top().awaitsBody = top().isResult = false;
  }

  /// In Relay's text a value may be a chain of bindings without braces, up to what binds nothing.
  void let() {
    if (isRelay_ && top().kind == SegmentKind::Value) {
      tokens_[top().token].hasStatements = true;
      segments_.push_back({.kind = SegmentKind::Chain, .firstChain = chains_.size()});
    }
    top().binds = top().kind == SegmentKind::Chain;
  }

  /// Arms may have statements without braces too.
  void endStatement(uint32_t i) {
    while (top().kind != SegmentKind::Brackets && top().kind != SegmentKind::Arrow) {
      if (std::exchange(top().binds, false))
        return endOperand(i);
      pop(i);
    }
    endOperand(i);
    top().isType = top().awaitsBody = top().isResult = false;
    if (top().kind == SegmentKind::Arrow)
      tokens_[top().token].hasStatements = true;
    else if (Token* around = opener())
      around->hasStatements = true;
  }

  /// An element that no comma parts from the one before.
  bool isElement(uint32_t i) {
    const Token* around = opener();
    if (!around || !followsOperand(i) || around->brackets == Brackets::Block ||
        around->brackets == Brackets::Branch)
      return false;
    switch (tokens_[i].role) {
    case Role::Name:
    case Role::Word:
    case Role::Number:
    case Role::StrictName:
    case Role::Let:
    case Role::If:
    case Role::Match:
    case Role::Fn:
      return true;
    case Role::OpenBracket:
      return tokens_[i - 1].role != Role::Name;
    default:
      return false;
    }
  }

  // Brackets.

  void open(uint32_t i) {
    Token& token = tokens_[i];
    token.brackets = token.role == Role::OpenBrace ? bracesAt(i) : bracketsAt(i);
    token.hasNumbersOnly = true;
    if (token.role == Role::OpenBrace)
      token.isForced = i + 1 < tokens_.size() && tokens_[i + 1].beginsLine;
    beginOperand(i);
    // Types of one argument or result are broken nowhere, but for functions and tuples.
    bool isOfType = token.brackets == Brackets::Tight && (isRelay_ || top().isType);
    token.staysInLine = top().isResult || isOfType;
    bool isType = top().isType || (isAtRoot() && token.brackets == Brackets::Members);
    segments_.push_back(
        {.token = i, .firstChain = chains_.size(), .isType = isType, .isTypeAnew = isType});
    brackets_.push_back(i);
  }

  Brackets bracketsAt(uint32_t i) const {
    bool isTight = followsOperand(i) || (i > 0 && roleOf(i - 1) == Role::Fn);
    if (tokens_[i].role == Role::OpenParen)
      return isTight || (i > 0 && roleOf(i - 1) == Role::With) ? Brackets::Call
                                                               : Brackets::Grouping;
    if (isRelay_ && i > 0 && roleOf(i - 1) != Role::Name && roleOf(i - 1) != Role::Fn)
      isTight = false;
    return isTight ? Brackets::Tight : Brackets::Literal;
  }

  Brackets bracesAt(uint32_t i) {
    bool endsHead = top().kind == SegmentKind::Head && followsOperand(i) && !top().awaitsBody;
    if (endsHead) {
      bool isMatch = roleOf(top().token) == Role::Match;
      pop(i);
      return isMatch ? Brackets::Members : Brackets::Branch;
    }
    if (i > 0 && roleOf(i - 1) == Role::Else)
      return Brackets::Branch;
    if (isAtRoot() && definition_ == Role::Type)
      return Brackets::Members;
    const Token* around = opener();
    bool isParameter =
        around && around->role == Role::OpenParen && i > 0 && roleOf(i - 1) == Role::Word;
    bool hasAttributes = roleOf(i + 1) == Role::Name && roleOf(i + 2) == Role::Assign;
    if (isRelay_ && (hasAttributes || (isParameter && roleOf(i + 1) == Role::CloseBrace)))
      return Brackets::Attributes;
    top().awaitsBody = top().isType = top().isResult = false;
    return Brackets::Block;
  }

  void close(uint32_t i) {
    endElement(i);
    uint32_t first = brackets_.back();
    Token& token = tokens_[first];
    token.mate = i;
    tokens_[i].mate = first;
    tokens_[i].brackets = token.brackets;
    token.hasElements = i > first + 1;
    token.isForced |= token.hasStatements && token.role == Role::OpenBrace;
    token.hasNumbersOnly &= token.hasElements;
    bool isStrict = first > 0 && roleOf(first - 1) == Role::StrictName;
    token.isCommaFree = token.hasElements && !isStrict &&
                        (token.brackets != Brackets::Grouping || token.hasCommas) &&
                        token.brackets != Brackets::Block && token.brackets != Brackets::Branch;
    uint32_t last = segments_.back().lastOperand;
    token.endsInBlock = token.brackets == Brackets::Call && last != nowhere &&
                        (roleOf(last) == Role::Fn || roleOf(last) == Role::OpenBrace ||
                         roleOf(last) == Role::Match);
    token.hasOneBracket = hasOneBracket(first, i);
    segments_.pop_back();
    brackets_.pop_back();
    bool isLastBranch = token.brackets == Brackets::Branch && roleOf(i + 1) != Role::Else;
    if (isLastBranch)
      ++tokens_[i].closes;
  }

  /// Whether all that brackets have is in brackets again.
  bool hasOneBracket(uint32_t first, uint32_t last) const {
    const Token& inner = tokens_[first + 1];
    bool isBracket = inner.role == Role::OpenParen || inner.role == Role::OpenBracket;
    uint32_t end = last - (roleOf(last - 1) == Role::Comma ? 1 : 0);
    return isBracket && inner.mate + 1 == end && inner.comments == tokens_[first].comments &&
           tokens_[last].comments == tokens_[end - 1].comments;
  }

  // Between operands.

  void colon(uint32_t i) {
    endOperand(i);
    const Token* around = opener();
    bool isSlice = around && around->role == Role::OpenBracket;
    tokens_[i].isTight = isSlice;
    top().isType |= !isSlice;
  }

  void assign(uint32_t i) {
    endOperand(i);
    top().binds = top().kind == SegmentKind::Chain;
    const Token* around = opener();
    bool isInList = around && around->role != Role::OpenBrace;
    bool isAttribute = isRelay_ && i > 0 && roleOf(i - 1) == Role::Name &&
                       (i < 2 || (roleOf(i - 2) != Role::Colon && roleOf(i - 2) != Role::Arrow));
    bool isNamed = !isRelay_ && isInList && !top().awaitsBody;
    top().isType = top().awaitsBody = top().isResult = false;
    tokens_[i].isTight = isAttribute;
    if (!isAttribute && !isNamed)
      beginValue(i, SegmentKind::Value);
  }

  void beginValue(uint32_t i, SegmentKind kind) {
    endOperand(i);
    top().isType = false;
    bool isAlias = isAtRoot() && definition_ == Role::Type;
    tokens_[i].startsValue = true;
    segments_.push_back({.kind = kind,
                         .token = i,
                         .firstChain = chains_.size(),
                         .isType = isAlias,
                         .isTypeAnew = isAlias});
  }

  /// An `if` in front of an arm's arrow, or behind an `else`, begins no branch.
  void head(uint32_t i) {
    const Token* around = opener();
    bool isGuard = !isRelay_ && top().kind == SegmentKind::Brackets && around &&
                   around->brackets == Brackets::Members;
    tokens_[i].isOther = isGuard || (i > 0 && roleOf(i - 1) == Role::Else);
    if (isGuard)
      endChains(i);
    beginOperand(i);
    segments_.push_back({.kind = SegmentKind::Head, .token = i, .firstChain = chains_.size()});
  }

  void infix(uint32_t i) {
    Token& token = tokens_[i];
    if (isAtRoot() && definition_ == Role::Import) {
      token.isTight = true;
      return;
    }
    if (!followsOperand(i)) {
      token.isOther = true;
      return beginOperand(i);
    }
    uint32_t start = top().operand;
    while (chains_.size() > top().firstChain && chains_.back().holds > token.holds) {
      start = chains_.back().start;
      endChain(i);
    }
    bool goesOn = chains_.size() > top().firstChain && chains_.back().holds == token.holds;
    if (!goesOn)
      chains_.push_back({token.holds, start == nowhere ? i : start});
    top().operand = nowhere;
  }

  std::vector<Token>& tokens_;
  bool isRelay_;
  std::vector<Segment> segments_;
  std::vector<Chain> chains_;
  std::vector<uint32_t> brackets_;
  std::vector<uint32_t> starts_;
  Role definition_ = Role::Comma;
};

} // namespace

std::vector<uint32_t> findStructure(Tokens& tokens) {
  return StructureFinder(tokens).find();
}

} // namespace parser::format
