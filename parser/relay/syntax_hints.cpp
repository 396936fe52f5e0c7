// The hints look at two tokens and at the text around them, as plain text: what a look into a
// comment makes of them will not read, and so is not shown.
#include "parser/relay/syntax_hints.h"

#include "lang/op/op.h"
#include "parser/relay/operator_hints.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace parser {

using lang::Diagnostic;
using lang::Edit;
using lang::SourceRange;
using Symbol = Grammar::symbol_kind;
using Kind = Grammar::symbol_kind_type;

namespace {

/// More places are not changed at once.
constexpr size_t mostPlaces = 100;

bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

SourceRange before(uint32_t place) {
  return {place, place};
}

class Repairs {
public:
  Repairs(Diagnostic& report, const Lexer& lexer, const SyntaxMistake& mistake)
      : report_(report), lexer_(lexer), mistake_(mistake) {}

  void suggest() {
    punctuation();
    numbers();
    marks();
    statements();
    brackets();
    attributes();
    names();
  }

private:
  bool found(Kind kind) const { return mistake_.found == kind; }
  bool follows(Kind kind) const { return mistake_.before == kind; }
  bool expects(Kind kind) const {
    return std::ranges::find(mistake_.expected, kind) != mistake_.expected.end();
  }
  bool isOneOf(Kind kind, std::initializer_list<Kind> kinds) const {
    return std::ranges::find(kinds, kind) != kinds.end();
  }
  std::string_view text(SourceRange range) const { return lexer_.textOf(range); }

  uint32_t place() const { return mistake_.range.begin; }
  /// Where the token before ends.
  uint32_t gap() const { return mistake_.beforeRange.end; }
  SourceRange both() const { return lang::cover(mistake_.beforeRange, mistake_.range); }
  /// The text from a place on.
  std::string_view from(uint32_t at) const {
    SourceRange all = lexer_.range();
    return text({at, std::min<uint32_t>(all.end, at + farthestHint)});
  }
  /// The text up to a place.
  std::string_view upTo(uint32_t at) const {
    SourceRange all = lexer_.range();
    return text({std::max<uint32_t>(all.begin, at > farthestHint ? at - farthestHint : 0), at});
  }

  void add(std::string words, std::vector<Edit> edits, SourceRange shown = {}) {
    bool isFallback = !report_.suggestions.empty();
    report_.suggest({std::move(words), std::move(edits), shown, isFallback});
  }

  /// One mark for another, or one that is missing.
  void punctuation() {
    struct Mark {
      Kind kind;
      std::string_view text, name;
    };
    constexpr Mark marks[] = {{Symbol::S_FatArrow, "=>", " =>"}, {Symbol::S_Arrow, "->", ""},
                              {Symbol::S_Colon, ":", ":"},       {Symbol::S_Assign, "=", " ="},
                              {Symbol::S_Comma, ",", ","},       {Symbol::S_Semicolon, ";", ""}};
    bool isMark = std::ranges::find(marks, mistake_.found, &Mark::kind) != std::end(marks);
    if (found(Symbol::S_Assign) && expects(Symbol::S_Equal))
      add("a comparison is written {}", {{mistake_.range, "=="}});
    if (expects(Symbol::S_Semicolon) && isNewLine())
      add("a binding ends in a semicolon: {}", {{before(gap()), ";"}}, lastWord());
    for (const Mark& mark : marks) {
      if (!expects(mark.kind))
        continue;
      if (isMark)
        add("write {}", {{mistake_.range, std::string(mark.text)}});
      else if (!mark.name.empty())
        add(fmt::format("here a `{}` is missing: {{}}", mark.text),
            {{before(gap()), std::string(mark.name)}}, both());
    }
  }

  /// The end of the text before the gap, back to a blank.
  SourceRange lastWord() const {
    std::string_view left = upTo(gap());
    size_t blank = left.find_last_of(blanks);
    return {gap() - uint32_t(left.size() - (blank == std::string_view::npos ? 0 : blank + 1)),
            gap()};
  }

  bool isNewLine() const {
    return found(Symbol::S_Let) || text({gap(), place()}).find('\n') != std::string_view::npos;
  }

  void numbers() {
    std::string_view word = text(mistake_.range);
    bool isNegative =
        isOneOf(mistake_.found, {Symbol::S_Integer, Symbol::S_Float}) && word.starts_with('-');
    if (isNegative)
      add("a subtraction has blanks on both sides: {}",
          {{{place(), place() + 1}, gap() == place() ? " - " : "- "}}, both());
    if (found(Symbol::S_Projection) && expects(Symbol::S_Float))
      add("a real number begins with a digit and ends in `f`: {}",
          {{mistake_.range, fmt::format("0{}f", word)}});
  }

  /// What other languages have marks for.
  void marks() {
    if (found(Symbol::S_LeftBracket) &&
        isOneOf(mistake_.before,
                {Symbol::S_Local, Symbol::S_Graph, Symbol::S_Projection, Symbol::S_RightParen}))
      suggestIndexing(report_, lexer_, place());
    if (found(Symbol::S_Star) && follows(Symbol::S_Star) && gap() == place())
      suggestInfixCall(report_, lexer_, both());
    if (found(Symbol::S_Minus) && expects(Symbol::S_Local))
      suggestPrefixCall(report_, lexer_, mistake_.range, "neg");
  }

  void statements() {
    std::string_view word = text(mistake_.beforeRange);
    auto isWord = [&](std::initializer_list<std::string_view> words) {
      return std::ranges::find(words, word) != words.end();
    };
    if (follows(Symbol::S_Semicolon) &&
        isOneOf(mistake_.found, {Symbol::S_RightBrace, Symbol::S_YYEOF}))
      add("a block ends in its value, without a semicolon", {{mistake_.beforeRange, ""}});
    if (follows(Symbol::S_Local) && found(Symbol::S_Assign))
      add("a value gets a name by {}", {{before(mistake_.beforeRange.begin), "let "}}, both());
    if (isWord({"return"}))
      returned();
    if (isWord({"var", "val", "const", "auto"}) && found(Symbol::S_Local))
      add("a value gets a name by {}", {{mistake_.beforeRange, "let"}}, both());
    if (found(Symbol::S_Global) &&
        (follows(Symbol::S_Fn) || isWord({"func", "function", "fun", "define"})))
      add("a function is defined by {}", {{mistake_.beforeRange, "def"}}, both());
    if (expects(Symbol::S_Else) && isOneOf(mistake_.found, {Symbol::S_Identifier}) &&
        text(mistake_.range) == "elif")
      add("write {}", {{mistake_.range, "else if"}});
    if (expects(Symbol::S_Else))
      report_.note("an `if` is a value, so it has an `else`");
    if (expects(Symbol::S_Semicolon) && text(mistake_.range) == "in")
      add("a binding ends in a semicolon: {}", {{{gap(), mistake_.range.end}, ";"}}, lastWord());
    if (found(Symbol::S_Assign) && expects(Symbol::S_LeftBrace))
      bodyBehindEquals();
    foreignStatements();
  }

  /// `def @f(%x: float32) = %x`, up to the next definition.
  void bodyBehindEquals() {
    std::string_view rest = from(mistake_.range.end);
    size_t end = rest.substr(0, rest.find("\ndef ")).find_last_not_of(blanks) + 1;
    add("a body stands in braces",
        {{mistake_.range, "{"}, {before(mistake_.range.end + uint32_t(end)), " }"}});
  }

  /// What has no counterpart here, or one of another form.
  void foreignStatements() {
    std::string_view word = text(mistake_.beforeRange);
    if (isLoop("for") || isLoop("while"))
      report_.note("there are no loops: a function calls itself, and lists are gone through by "
                   "functions of the prelude");
    if (word == "import" || word == "from")
      report_.note("a program is one text; operators and the prelude are there without an import");
    if (follows(Symbol::S_Let) && found(Symbol::S_LeftParen))
      report_.note("a `let` gives one value a name; its fields are `.0` and `.1`, and a `match` "
                   "gives them names: `match (%t) { (%a, %b) => ... }`");
    if (found(Symbol::S_Assign) && gap() == place() &&
        isOneOf(mistake_.before,
                {Symbol::S_Plus, Symbol::S_Minus, Symbol::S_Star, Symbol::S_Slash}))
      report_.note("values do not change: `let` gives a new one a name");
    if (expects(Symbol::S_Wildcard) && expects(Symbol::S_RightBrace) &&
        isOneOf(mistake_.found,
                {Symbol::S_Integer, Symbol::S_Float, Symbol::S_True, Symbol::S_False}))
      report_.note("patterns take data types and tuples apart; numbers are compared by `if`");
  }

  /// Whether the word of a loop stands before, or before the parenthesis around or before the
  /// place.
  bool isLoop(std::string_view word) const {
    std::string_view left = upTo(gap());
    size_t end = left.size(), depth = left.ends_with(')') ? 0 : 1;
    if (text(mistake_.beforeRange) != word) {
      do {
        if (end == 0)
          return false;
        --end;
        depth += left[end] == ')' ? 1 : left[end] == '(' ? size_t(-1) : 0;
      } while (depth > 0);
      left = left.substr(0, left.find_last_not_of(blanks, end == 0 ? 0 : end - 1) + 1);
    }
    bool isWord = left.ends_with(word);
    left.remove_suffix(isWord ? word.size() : 0);
    return isWord && (left.empty() || !isLetter(left.back()));
  }

  /// `return e` or `return e;` as the value of a body.
  void returned() {
    Edit word{{mistake_.beforeRange.begin, place()}, ""};
    std::string_view rest = from(place());
    size_t end = rest.find_first_of(";}");
    add("a function is worth its last expression: {}", {word}, mistake_.range);
    if (end != std::string_view::npos && rest[end] == ';')
      add("a function is worth its last expression: {}",
          {word, {{place() + uint32_t(end), place() + uint32_t(end) + 1}, ""}}, mistake_.range);
  }

  void brackets() {
    bool isHead = isOneOf(mistake_.before, {Symbol::S_If, Symbol::S_Match, Symbol::S_PartialMatch});
    if (isHead && expects(Symbol::S_LeftParen)) {
      std::string_view rest = from(place());
      size_t brace = rest.find('{');
      size_t end = brace == 0 || brace == std::string_view::npos
                       ? std::string_view::npos
                       : rest.find_last_not_of(blanks, brace - 1);
      if (end != std::string_view::npos)
        add("what is asked stands in parentheses: {}",
            {{before(place()), "("}, {before(place() + uint32_t(end) + 1), ")"}});
    }
    if (follows(Symbol::S_LeftBracket) && expects(Symbol::S_LeftParen))
      tensorShape();
    if (found(Symbol::S_RightBracket) && expects(Symbol::S_Comma) && follows(Symbol::S_RightParen))
      elementType();
    if (found(Symbol::S_Comma))
      listInParentheses();
    bool isInLiteral = expects(Symbol::S_Integer) && !expects(Symbol::S_Local);
    if (isInLiteral && isOneOf(mistake_.found, {Symbol::S_Local, Symbol::S_Graph, Symbol::S_Global,
                                                Symbol::S_Identifier, Symbol::S_DottedName}))
      tupleInBrackets();
  }

  /// `[%x, %y]`.
  void tupleInBrackets() {
    std::string_view left = upTo(place()), right = from(place());
    size_t open = left.find_last_of("[]"), close = right.find_first_of("[]{};");
    if (open == std::string_view::npos || close == std::string_view::npos || left[open] != '[' ||
        right[close] != ']')
      return;
    uint32_t first = place() - uint32_t(left.size() - open), last = place() + uint32_t(close);
    bool isOne = text({first, last}).find(',') == std::string_view::npos;
    add("a tensor literal holds numbers; several values are a tuple: {}",
        {{{first, first + 1}, "("}, {{last, last + 1}, isOne ? ",)" : ")"}}, {first, last + 1});
  }

  void attributes() {
    if (found(Symbol::S_String) && expects(Symbol::S_Local))
      namelessText();
    if (isOneOf(mistake_.found, {Symbol::S_LeftParen, Symbol::S_Plus, Symbol::S_Minus,
                                 Symbol::S_Star, Symbol::S_Slash}) &&
        isInAttribute())
      report_.note("an attribute is known before the program runs, so nothing is computed in it");
  }

  /// `cast(%x, "int32")`.
  void namelessText() {
    std::string_view left = upTo(place());
    size_t depth = 1, open = left.size();
    while (open > 0 && depth > 0) {
      --open;
      depth += left[open] == ')' ? 1 : left[open] == '(' ? size_t(-1) : 0;
    }
    std::string_view callee = left.substr(0, open);
    callee = callee.substr(callee.find_last_of(" \t\r\n(,;{=") + 1);
    const lang::OperatorRow* row = lexer_.operators() ? lexer_.operators()->find(callee) : nullptr;
    for (const lang::AttributeRow& attribute :
         row ? row->attributes : std::span<const lang::AttributeRow>{})
      if (attribute.kind == lang::AttributeKind::String ||
          attribute.kind == lang::AttributeKind::DType)
        add("a text is the value of an attribute: {}",
            {{before(place()), fmt::format("{}=", attribute.name)}}, mistake_.range);
  }

  /// Whether a name and `=` stand before, and nothing but names, numbers and brackets behind them.
  bool isInAttribute() const {
    std::string_view left = upTo(gap());
    size_t equals = left.rfind('=');
    if (equals == std::string_view::npos || equals == 0 || !isLetter(left[equals - 1]))
      return false;
    std::string_view value = left.substr(equals + 1);
    return std::ranges::all_of(value, [](char c) {
      return isLetter(c) || std::string_view(" ,[.%@").find(c) != std::string_view::npos;
    });
  }

  /// `Tensor[2, 3, float32]` without parentheses around the shape.
  void tensorShape() {
    std::string_view rest = from(place());
    size_t end = rest.find(']');
    if (end == std::string_view::npos)
      return;
    size_t comma = rest.substr(0, end).rfind(',');
    if (comma == std::string_view::npos)
      add("a scalar has an empty shape: {}", {{before(place()), "(), "}}, mistake_.range);
    else
      add("a shape stands in parentheses: {}",
          {{before(place()), "("}, {before(place() + uint32_t(comma)), ")"}});
  }

  /// `Tensor[(2, 3)]`.
  void elementType() {
    std::string_view left = upTo(place());
    size_t type = left.rfind("Tensor");
    if (type != std::string_view::npos)
      add("a tensor type has an element type: {}", {{before(place()), ", float32"}},
          {place() - uint32_t(left.size() - type), place() + 1});
  }

  /// `newshape=(3, 2)`.
  void listInParentheses() {
    std::string_view left = upTo(place()), right = from(place());
    size_t open = left.find_last_of("()"), close = right.find_first_of("()");
    if (open == std::string_view::npos || close == std::string_view::npos || left[open] != '(' ||
        right[close] != ')')
      return;
    uint32_t first = place() - uint32_t(left.size() - open), last = place() + uint32_t(close);
    add("a list stands in brackets: {}", {{{first, first + 1}, "["}, {{last, last + 1}, "]"}});
  }

  void names() {
    std::string_view word = text(mistake_.range);
    bool isName = found(Symbol::S_Identifier) && !expects(Symbol::S_Identifier);
    if (isName && expects(Symbol::S_Global))
      add("the name of a function begins with `@`: {}", {{before(place()), "@"}}, mistake_.range);
    if (found(Symbol::S_Local) && expects(Symbol::S_Global) && !expects(Symbol::S_Local))
      add("the name of a function begins with `@`: {}", {{{place(), place() + 1}, "@"}},
          mistake_.range);
    if (isName && expects(Symbol::S_Local) && !expects(Symbol::S_Global))
      addSigils({word}, place());
    bool isParameter =
        follows(Symbol::S_Identifier) && expects(Symbol::S_Assign) &&
        isOneOf(mistake_.found, {Symbol::S_Colon, Symbol::S_Comma, Symbol::S_RightParen});
    if (isParameter)
      addSigils(parameterNames(), mistake_.beforeRange.begin);
  }

  /// The names without a sigil before colons in a list of parameters, of which the first was read.
  std::vector<std::string_view> parameterNames() const {
    std::vector<std::string_view> result{text(mistake_.beforeRange)};
    std::string_view rest = from(gap());
    size_t depth = 0;
    for (size_t i = 0; i < rest.size() && result.size() < mostPlaces; ++i) {
      if (rest[i] == '(' || rest[i] == '[')
        ++depth;
      else if ((rest[i] == ')' || rest[i] == ']') && depth-- == 0)
        break;
      if (rest[i] != ':' || depth > 0)
        continue;
      size_t end = rest.find_last_not_of(blanks, i == 0 ? 0 : i - 1) + 1, begin = end;
      while (begin > 0 && isLetter(rest[begin - 1]))
        --begin;
      if (begin < end && begin > 0 && rest[begin - 1] != '%')
        result.push_back(rest.substr(begin, end - begin));
    }
    return result;
  }

  /// `%` before each of the names from a place to the end of the definition.
  void addSigils(const std::vector<std::string_view>& names, uint32_t begin) {
    std::string_view rest = from(begin);
    rest = rest.substr(0, std::min(rest.find("\ndef "), rest.size()));
    std::vector<Edit> edits;
    for (size_t i = 0; i < rest.size() && edits.size() < mostPlaces;) {
      size_t end = i;
      while (end < rest.size() && isLetter(rest[end]))
        ++end;
      std::string_view word = rest.substr(i, end - i);
      bool isPlain =
          i == 0 || std::string_view("%@.\"").find(rest[i - 1]) == std::string_view::npos;
      if (isPlain && std::ranges::find(names, word) != names.end() && !isKey(rest, end))
        edits.push_back({before(begin + uint32_t(i)), "%"});
      i = std::max(end, i + 1);
    }
    if (!edits.empty())
      add(fmt::format("the name of a value begins with `%`: `%{}`", fmt::join(names, "`, `%")),
          edits);
  }

  /// Whether a name that ends here is the key of an attribute.
  static bool isKey(std::string_view rest, size_t end) {
    size_t next = std::min(rest.find_first_not_of(blanks, end), rest.size());
    bool isEquation = next < rest.size() && rest[next] == '=';
    return isEquation && next == end && rest.substr(next, 2) != "==";
  }

  Diagnostic& report_;
  const Lexer& lexer_;
  const SyntaxMistake& mistake_;
};

} // namespace

void suggestRepairs(Diagnostic& report, const Lexer& lexer, const SyntaxMistake& mistake) {
  SyntaxMistake placed = mistake;
  // At the beginning there is no token before, and a made-up one may have any place.
  if (!placed.beforeRange.isValid() || placed.beforeRange.end > placed.range.begin)
    placed.beforeRange = before(placed.range.begin);
  Repairs(report, lexer, placed).suggest();
}

} // namespace parser
