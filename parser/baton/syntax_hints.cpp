// Each function knows one habit; the text around the mistake is looked at as plain text.
#include "parser/baton/syntax_hints.h"

#include <algorithm>
#include <fmt/format.h>

namespace parser::baton {

namespace {

using Symbol = Grammar::symbol_kind;

class Repairs {
public:
  Repairs(lang::Diagnostic& report, const Lexer& lexer, const SyntaxMistake& mistake)
      : report_(report), lexer_(lexer), mistake_(mistake) {}

  void suggest() {
    missingMark();
    comparisons();
    sigils();
    definitions();
    statements();
    foreignWords();
  }

private:
  bool found(int kind) const { return mistake_.found == kind; }
  bool follows(int kind) const { return mistake_.before == kind; }
  bool expects(int kind) const {
    return std::ranges::count(mistake_.expected, Grammar::symbol_kind_type(kind)) > 0;
  }
  std::string_view foundText() const { return lexer_.textOf(mistake_.range); }
  std::string_view beforeText() const { return lexer_.textOf(mistake_.beforeRange); }
  lang::SourceRange gap() const { return {mistake_.beforeRange.end, mistake_.beforeRange.end}; }

  void add(std::string words, std::vector<lang::Edit> edits, lang::SourceRange shown = {}) {
    bool isFallback = !report_.suggestions.empty();
    report_.suggest({std::move(words), std::move(edits), shown, isFallback});
  }

  bool isNewLine() const {
    lang::SourceRange between{mistake_.beforeRange.end, mistake_.range.begin};
    return found(Symbol::S_Let) || lexer_.textOf(between).find('\n') != std::string_view::npos;
  }

  void missingMark() {
    if (expects(Symbol::S_Semicolon) && isNewLine())
      add("a statement ends in a semicolon: {}", {{gap(), ";"}}, mistake_.beforeRange);
    struct Mark {
      int kind;
      std::string_view text;
    };
    for (Mark mark : {Mark{Symbol::S_FatArrow, "=>"}, {Symbol::S_Arrow, "->"}})
      if (expects(mark.kind) &&
          (found(Symbol::S_Arrow) || found(Symbol::S_FatArrow) || found(Symbol::S_Colon)))
        add("write {}", {{mistake_.range, std::string(mark.text)}});
    if (found(Symbol::S_Assign) && expects(Symbol::S_Equal))
      add("a comparison is written {}", {{mistake_.range, "=="}});
    if (expects(Symbol::S_Comma) && isNewLine())
      add("here a comma is missing: {}", {{gap(), ","}}, mistake_.beforeRange);
  }

  /// `a < b < c`: after a comparison no other one may follow.
  void comparisons() {
    using enum Symbol::symbol_kind_type;
    constexpr Symbol::symbol_kind_type kinds[] = {S_Equal,     S_NotEqual, S_Less,
                                                  S_LessEqual, S_Greater,  S_GreaterEqual};
    if (std::ranges::count(kinds, Symbol::symbol_kind_type(mistake_.found)) > 0 &&
        expects(Symbol::S_And))
      report_.note("comparisons do not chain: write `a < b && b < c`");
  }

  void statements() {
    if (follows(Symbol::S_Semicolon) && (found(Symbol::S_RightBrace) || found(Symbol::S_YYEOF)))
      add("a block ends in its value, without a semicolon", {{mistake_.beforeRange, ""}});
    if (expects(Symbol::S_Else))
      report_.note("an `if` is a value, so it has an `else`");
    if (expects(Symbol::S_Else) && foundText() == "elif")
      add("write {}", {{mistake_.range, "else if"}});
    if (follows(Symbol::S_Identifier) && found(Symbol::S_Assign) && expects(Symbol::S_Semicolon))
      add("a value gets a name by {}",
          {{{mistake_.beforeRange.begin, mistake_.beforeRange.begin}, "let "}},
          lang::cover(mistake_.beforeRange, mistake_.range));
  }

  void sigils() {
    if ((found(Symbol::S_At) || found(Symbol::S_Percent)) && expects(Symbol::S_Identifier))
      report_.note("names have no sigils in this notation: `x`, not `%x` or `@x`");
  }

  void definitions() {
    std::string_view word = foundText();
    if (expects(Symbol::S_Def) && found(Symbol::S_Identifier) &&
        (word == "function" || word == "func" || word == "fun"))
      add("a function is defined by {}", {{mistake_.range, "def"}});
    if (found(Symbol::S_Colon) && expects(Symbol::S_Arrow) && expects(Symbol::S_LeftBrace))
      report_.note("the body of a function is `= value`, or a block in braces");
    if (follows(Symbol::S_Identifier) && found(Symbol::S_Colon) && expects(Symbol::S_Semicolon))
      report_.note("a value gets a name by `let x = value;`");
  }

  /// What begins a statement elsewhere.
  void foreignWords() {
    std::string_view word = beforeText();
    if (word == "return")
      add("a block ends in its value: {}",
          {{{mistake_.beforeRange.begin, mistake_.range.begin}, ""}}, mistake_.range);
    if (word == "var" || word == "val" || word == "const" || word == "auto")
      add("a value gets a name by {}", {{mistake_.beforeRange, "let"}},
          lang::cover(mistake_.beforeRange, mistake_.range));
    if (word == "func" || word == "function" || word == "fun" || follows(Symbol::S_Fn))
      if (found(Symbol::S_Identifier))
        add("a function is defined by {}", {{mistake_.beforeRange, "def"}},
            lang::cover(mistake_.beforeRange, mistake_.range));
    if (word == "lambda")
      report_.note("a function is written `fn (x) = x + 1`");
    if (word == "for" || word == "while")
      report_.note("there are no loops: a function calls itself, and lists are gone through by "
                   "functions of the library");
    if (word == "not")
      add("write {}", {{{mistake_.beforeRange.begin, mistake_.range.begin}, "!"}}, mistake_.range);
    if (foundText() == "and" && expects(Symbol::S_And))
      add("write {}", {{mistake_.range, "&&"}});
    if (foundText() == "or" && expects(Symbol::S_Or))
      add("write {}", {{mistake_.range, "||"}});
    if (found(Symbol::S_Slash) && follows(Symbol::S_Slash))
      report_.note("`a // b` of integers is `floor_divide(a, b)`");
  }

  lang::Diagnostic& report_;
  const Lexer& lexer_;
  const SyntaxMistake& mistake_;
};

} // namespace

void suggestRepairs(lang::Diagnostic& report, const Lexer& lexer, const SyntaxMistake& mistake) {
  Repairs(report, lexer, mistake).suggest();
}

} // namespace parser::baton
