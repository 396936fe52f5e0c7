// Where several rows fit, the first one counts, so those that ask for more stand first.
#include "parser/baton/habits.h"

#include "parser/baton/habit_repairs.h"
#include "parser/surface/foreign_words.h"
#include "runtime/dtype.h"

#include <algorithm>

namespace parser::baton {

namespace {

using enum Grammar::symbol_kind::symbol_kind_type;
using Kind = Grammar::symbol_kind_type;

/// What the grammar would take where a habit is met: one kind of token or two, and not a third.
struct Wanted {
  Kind kind = S_YYEMPTY;
  Kind also = S_YYEMPTY;
  Kind without = S_YYEMPTY;
  Kind nor = S_YYEMPTY;
};

constexpr Wanted anything{};
/// A definition, and nothing that goes on with an expression.
constexpr Wanted definition{S_Def, S_YYEMPTY, S_Plus};
constexpr Wanted definitionOrMore{S_Def};
constexpr Wanted operand{S_Fn, S_Integer};
constexpr Wanted infix{S_Plus, S_YYEMPTY, S_YYEMPTY};
constexpr Wanted semicolon{S_Semicolon};
constexpr Wanted arrow{S_FatArrow};
constexpr Wanted patternStart{S_Wildcard, S_Identifier, S_Fn};
constexpr Wanted braces{S_LeftBrace, S_YYEMPTY, S_Assign};
constexpr Wanted body{S_LeftBrace, S_Assign};
constexpr Wanted resultType{S_LeftBrace, S_Arrow};
constexpr Wanted typeEnd{S_LeftBracket, S_YYEMPTY, S_Plus, S_Integer};
constexpr Wanted importPath{S_As, S_Slash};
constexpr Wanted name{S_Identifier, S_YYEMPTY, S_Plus};
constexpr Wanted arms{S_Comma, S_RightBrace};
constexpr Wanted key{S_Comma, S_Assign};

/// What `lead` and `found` say beside words and marks: tokens of a class.
constexpr std::string_view aName = "<name>", aNumber = "<number>", aText = "<text>",
                           aType = "<element type>", aField = "<field>", aRecord = "<Name>",
                           aKey = "<name> =", aLet = "<let>;", aLibrary = "<library>",
                           aPoint = "<number>.", aProjection = ".<number>";

struct Habit {
  /// The token before, what is called before it, or two dashes; anything if empty.
  std::string_view lead;
  /// The token that does not fit, or the marks around it; anything if empty.
  std::string_view found;
  Wanted wanted;
  /// Empty for what is said of the word that leads.
  std::string_view says;
  Repair repair = nullptr;
  std::string_view with = {};
  /// The call that may be meant as well.
  std::string_view orAround = {};
};

constexpr std::string_view
    comment = "a comment begins with `//`",
    blockComment = "a comment stands between `/*` and `*/`",
    functionValue = "a function that is a value is written `fn (x) = value`",
    functionBody = "the body of a function is `= value`, or a block in braces",
    braced = "the branches of an `if`, and the arms of a `match`, stand in braces",
    letName = "a value gets a name by `let name = value;`",
    noChange = "values do not change: a new one gets a name by `let`",
    noElementChange =
        "values do not change: `scatter_nd(x, [i], value)` is a tensor with another element",
    noSigils = "names have no sigils here: `x`, not `%x` or `@x`",
    defined = "a function is defined by `def`",
    choice = "a choice is written `if c { x } else { y }`",
    notEqual = "what differs is compared by `!=`",
    byElement = "operators go by element as they are, without a point",
    parenthesised = "a function is called with parentheses: `f(x)`";

constexpr Habit table[] = {
    {"",
     "* **",
     {S_Wildcard, S_Identifier, S_Fn},
     "a function takes as many arguments as its head names; a list of them is one"},

    // Comments.
    {"//", "", anything, Scanner::quotientWords, writeQuotient},
    {"--", "", anything, comment, replaceLead, "//"},
    {"", "--", definition, comment, replaceFound, "//"},
    {"", "(*", anything, blockComment, writeComment},

    // Definitions.
    {"", "fn func function fun define proc sub", definitionOrMore, defined, replaceFound, "def"},
    {"", "struct record enum union data newtype", definitionOrMore,
     "a type is defined by `type Name { ... }`", replaceFound, "type"},
    {"", "class", definitionOrMore,
     "there are no classes: a `type` has fields, and functions stand beside it"},
    {"", "impl trait interface instance module namespace mod object", definitionOrMore,
     "definitions stand side by side, and in no block: a file is a module"},
    {"", "const var val static auto final", definitionOrMore,
     "a constant is defined by `let name = value;`", replaceFound, "let"},
    {"", "from", definitionOrMore,
     "a file is imported as a whole: behind `import optim` there is `optim.adam`", writeImport},
    {"", "use using open include require", definitionOrMore, "a file is imported by `import name`",
     replaceFound, "import"},
    {"", "pub public export private protected inline async extern unsafe", definitionOrMore,
     "all that a file defines can be imported, so nothing stands before `def`", dropFound},
    {"", "@", definitionOrMore, "there are no decorators: what makes a function of one is called"},
    {"", "f32 f64 i32 i64 int float double void", definition,
     "a function is defined by `def name(parameter: Type) -> Type`"},
    {"", ";;", definitionOrMore, "nothing parts definitions", dropFound},
    {"", ";", definitionOrMore, "nothing parts definitions", dropFound},
    {"", aKey, definition, "a constant is defined by `let name = value;`", insertBefore, "\nlet "},
    {"rec", aName, anything, "a function is defined by `def`, and may call itself",
     writeDefinition},
    {aName, "(", {S_Colon, S_Assign, S_RightBrace}, defined, writeDefinition},
    {aName,
     "(",
     {S_LeftBrace, S_Assign},
     "the fields of a type stand in braces",
     otherBrackets,
     " {}"},
    {"", ":", resultType, "a result's type stands behind `->`, and a body behind `=` or in braces",
     writeBody, " ->"},
    {"", ":", body, functionBody, writeBody},
    {"", ":", braces, braced},
    {"", ":", {S_If, S_LeftBrace}, braced},
    {"", "=>", body, functionBody, replaceFound, "="},
    {"",
     "+ - * / ** @ < > == ( )",
     {S_With, S_LeftBrace, S_Plus},
     "behind `->` stands the type of the result, and the value behind `=`"},

    // Parameters.
    {"",
     "<number> <text> true false [ (",
     {S_Wildcard, S_Identifier, S_Fn},
     "a parameter is a name; cases are told apart by `match`"},
    {aName,
     "<",
     {S_LeftParen, S_LeftBracket, S_Plus},
     "type parameters stand in brackets: `f[A](x: A)`",
     otherBrackets,
     "[]"},
    {aType, aName, {S_Colon, S_Comma, S_Plus}, "a parameter is `name: Type`", aroundRest, "$r: $l"},
    {"", "%", name, noSigils, dropSigils},
    {"", "@", name, noSigils, dropSigils},
    {"", "%", operand, noSigils, dropSigils},
    {"", "@", operand, noSigils, dropSigils},

    // Imports.
    {"import", aText, anything, "a file is imported by its name, without quotes", dropQuotes},
    {aLibrary, ".", importPath,
     "libraries of Python are none here: operators are there without an import"},
    {"", ".", importPath, "the parts of a path are joined by `/`", replaceEach, "/"},

    // Types.
    {"",
     "(",
     {S_Def, S_LeftBracket},
     "the constructors of a type stand in braces",
     writeConstructors},
    {"", "|", definition, "the constructors of a type stand in braces", writeConstructors},
    {"", "<", typeEnd, "what a type is made of stands in brackets: `List[f32]`", otherBrackets,
     "[]"},
    {aType, "(", typeEnd, "the sizes of a tensor stand in brackets: `f32[n, 3]`", otherBrackets,
     "[]"},
    {"",
     "->",
     {S_LeftBracket, S_Dot, S_Plus},
     "the type of a function is `fn(A) -> B`",
     aroundRest,
     "fn($l) $r"},
    {"", "list option array vector", typeEnd,
     "what a type is made of stands behind it: `List[f32]`"},
    {"", "?", typeEnd, "what may be missing is an `Option[f32]`"},
    {"",
     "of",
     {S_LeftParen, S_RightBrace},
     "the fields of a constructor stand in parentheses",
     parenthesise},
    {"", "-", {S_DotDot, S_Question}, "a size that may be any is a name, or `?`: `f32[n, ?]`"},
    {"", "[", {S_Wildcard, S_DotDot, S_Fn}, "a tensor is `f32[n, 3]`, a list `List[f32]`"},
    {":", "[", anything, "a tensor is `f32[n, 3]`, a list `List[f32]`"},

    // Statements.
    {aLet, "}", anything, "a block ends in a value, and a `let` only names one"},
    {";", "}", anything, "a block ends in its value, without a semicolon", dropLead},
    {"return", "", anything, "", dropReturn},
    {"", ":=", anything, letName, writeLet},
    {aField, "=", anything, "values do not change: `p with (x = 1)` is another one"},
    {aName, "=", semicolon, letName, writeLet},
    {"]", "=", semicolon, noElementChange, writeElement},
    {"", "+= -= *= /= **= %=", anything, noChange, writeChange},
    {"", "++; --;", anything, noChange, writeChange},
    {"var val const auto", aName, anything, "", replaceLead, "let"},
    {"mut", aName, anything, "values do not change, so there is no `mut`", replaceUpTo},
    {aType, aName, semicolon, "a value gets a name by `let name: Type = value;`", aroundRest,
     "let $r"},
    {"", "in", semicolon, "a `let` ends in a semicolon", replaceGap, ";"},
    {"fun function func", "", anything, functionValue, writeFunction, "-> => = {"},
    {"lambda", "", anything, functionValue, writeFunction, ":"},
    {"fn", aName, anything, functionValue, writeFunction, "-> => ="},
    {"raise throw", aText, anything, "", aroundRest, "fail($r)"},
    {"new", aName, anything, "", replaceUpTo},
    {"not", "", anything, "", replaceUpTo, "!"},
    {"begin do", "{", anything, "", replaceUpTo},
    {"case", "", anything, "", dropEach},
    {"f b r u rb", aText, anything,
     "a text holds no code: places in it are `{}`, as in `print(\"x is {}\", x)`"},
    {"if", "", braces, braced, writeBranches},
    {"", "then", braces, braced, writeBranches},
    {"", "elif elsif elseif", {S_Else}, "`elif` is written `else if`", replaceFound, "else if"},

    {"}", "else", operand, "a branch with an `else` is a value, so it ends in one"},
    {"}", "", {S_Else}, "an `if` is a value, so it has an `else`"},
    {"{", "}", operand, "a block ends in a value; `()` is an empty one"},

    // Matches.
    {"with",
     aKey,
     {S_LeftParen},
     "the fields that differ stand in parentheses: `p with (x = 1)`",
     aroundRest,
     "with ($r)"},
    {"with", "", {S_LeftParen}, braced},
    {"", "|", patternStart, "the arms of a `match` are parted by commas", writeArms},
    {"", "|", arms, "the arms of a `match` are parted by commas", replaceFound, ","},
    {"", ";", arms, "what stands in these braces is parted by commas", replaceEach, ","},
    {"", "when where", arrow, "a guard begins with `if`", replaceFound, "if"},
    {"", "::", arrow, "a list is taken apart by `Cons(x, rest)`", aroundRest, "Cons($l, $r)"},
    {"", "::", {S_Wildcard, S_DotDot}, "a list is taken apart by `Cons(x, rest)`", writeCons},
    {"", "-> :", arrow, "an arm is written `pattern => value`", replaceEach, "=>"},
    {aRecord, "<name> <number> _", arrow, "the fields of a pattern stand in parentheses: `Some(x)`",
     wrapFound},
    {"", "[", patternStart, "a list is taken apart by `list(x, y)` and `Cons(x, rest)`",
     otherBrackets, "list()"},

    // Expressions.
    {"", "=>", {S_Comma}, functionValue, writeArrow},
    {"", "| ||", operand, functionValue, writeClosure},
    {"", "and", infix, "`and` is written `&&`", replaceFound, "&&"},
    {"", "or", infix, "`or` is written `||`", replaceFound, "||"},
    {"", "is", infix, "equal values are compared by `==`", replaceFound, "=="},
    {"", "mod rem", infix, "the remainder is `a % b`", replaceFound, "%"},
    {"", "div", infix, "the quotient without a rest is `floor_divide(a, b)`", aroundBoth,
     "floor_divide($l, $r)"},
    {"", "===", anything, "equal values are compared by `==`", replaceFound, "=="},
    {"", "!== <> =/=", anything, notEqual, replaceFound, "!="},
    {"", "=", {S_Equal}, "a comparison is written `==`", replaceFound, "=="},
    {"", "== != < <= > >=", {S_And, S_YYEMPTY, S_Less}, "comparisons do not chain", writeBoth},
    {"", "<<", anything, "bits are moved by `left_shift(a, n)`", aroundBoth, "left_shift($l, $r)"},
    {"", ">>", anything, "a value is handed to a function by `|>`", replaceFound, "|>"},
    {"", "+. .+", anything, byElement, replaceFound, "+"},
    {"", "-.", anything, byElement, replaceFound, "-"},
    {"", "*. .*", anything, byElement, replaceFound, "*"},
    {"", "/. ./", anything, byElement, replaceFound, "/"},
    {"", "|", infix,
     "either of two is `a || b`, by element `logical_or(a, b)`, by bit `bitwise_or(a, b)`",
     replaceFound, "||", "bitwise_or($l, $r)"},
    {"", "++", anything, "two lists make one by `concat(xs, ys)`", aroundBoth, "concat($l, $r)"},
    {"", "::", anything, "an element is put in front of a list by `Cons(x, xs)`", aroundBoth,
     "Cons($l, $r)"},
    {"", "?", infix, choice, writeChoice},
    {"", "if", infix, choice, writeChoice},
    {"", "as", infix, "another element type is made by `cast(x, dtype = f32)`", aroundBoth,
     "cast($l, dtype = $r)"},
    {"", "in", infix, "whether a list holds a value is asked by `contains` of `import list`"},
    {"", "if for while print assert", definitionOrMore,
     "what is done stands in a definition; a program begins with `def main()`"},
    {"", "where whereby", infix, "what has a name stands in front: `{ let y = value; y + 1 }`"},
    {"", "for", infix, "there are no comprehensions: `map(fn (x) = value, xs)`"},
    {"", "+", operand, "a plus sign stands between numbers only", dropFound},
    {"", "...", anything, "`..` stands for the dimensions between", replaceFound, ".."},
    {aText, ":", anything, "there are no dictionaries: a `type` has fields with names"},
    {aRecord, "{", infix, "a record is made by its name: `Point(x = 1, y = 2)`", writeRecord},
    {"", ":", key, "an argument is given by name as `x = value`", replaceEach, " ="},
    {aPoint, "", anything, "a real number has a digit behind its point", replaceLead, ".0"},
    {"", aProjection, operand, "a real number has a digit in front of its point", insertBefore,
     " 0"},
};

/// What may be guessed where no word of another language stands, in one line.
constexpr Habit guesses[] = {
    {aNumber, "<name> (", infix, "a product is written `2 * x`", insertBefore, " * "},
    {aName, "<name> <number> <text>", infix, parenthesised, aroundRest, "$l($r)"},
};

bool isName(int kind) {
  return kind == S_Identifier;
}

/// Whether the text behind a name is the mark that gives it a value.
bool isKey(const MistakeText& text, lang::SourceRange word) {
  std::string_view rest = text.from(word.end);
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  return rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>");
}

/// Whether the statement at the end of a text is a `let`.
bool isLet(std::string_view text) {
  text.remove_prefix(text.find_last_of(";{") + 1);
  text.remove_prefix(std::min(text.find_first_not_of(anyBlank), text.size()));
  return text.starts_with("let");
}

/// Whether a token, or what is written, is of a class that a row names.
bool isOfClass(const MistakeText& text, int kind, lang::SourceRange range, std::string_view word) {
  std::string_view written = text.text(range);
  std::string_view left = text.upTo(range.begin);
  bool isAfterPoint = left.ends_with('.');
  if (word == aKey)
    return isName(kind) && isKey(text, range);
  if (word == aLet)
    return written == ";" && isLet(left);
  if (word == aLibrary)
    return isName(kind) && isForeignLibrary(written);
  if (word == aPoint)
    return written == "." && !left.empty() && left.back() >= '0' && left.back() <= '9';
  if (word == aProjection)
    return kind == S_Projection;
  if (word == aName)
    return isName(kind);
  if (word == aRecord)
    return isName(kind) && written[0] >= 'A' && written[0] <= 'Z';
  if (word == aField)
    return isName(kind) && isAfterPoint;
  if (word == aType)
    return isName(kind) && !isAfterPoint &&
           (runtime::parseDType(written) ||
            isAmong(written, "f16 f32 f64 i8 i16 i32 i64 u8 double"));
  if (word == aNumber)
    return kind == S_Integer || kind == S_Float;
  return word == aText && kind == S_String;
}

bool fits(const MistakeText& text, int kind, lang::SourceRange range, std::string_view words) {
  if (words == aKey)
    return isOfClass(text, kind, range, aKey);
  if (words.empty() || isAmong(text.text(range), words))
    return true;
  constexpr std::string_view classes[] = {aLet,    aLibrary, aPoint, aProjection, aName,
                                          aRecord, aField,   aType,  aNumber,     aText};
  return std::ranges::any_of(classes, [&](std::string_view word) {
    return isAmong(word, words) && isOfClass(text, kind, range, word);
  });
}

bool isWanted(const MistakeText& text, const Wanted& wanted) {
  auto has = [&](Kind kind) { return kind == S_YYEMPTY || text.expects(kind); };
  return has(wanted.kind) && has(wanted.also) &&
         (wanted.without == S_YYEMPTY || !text.expects(wanted.without)) &&
         (wanted.nor == S_YYEMPTY || !text.expects(wanted.nor));
}

/// The token or its marks, as a row has it; nothing where it does not fit.
std::optional<lang::SourceRange> foundOf(const MistakeText& text, const Habit& habit) {
  int kind = text.mistake().found;
  for (lang::SourceRange range : {text.marks(), text.found()})
    if (fits(text, kind, range, habit.found))
      return habit.found.empty() ? text.found() : range;
  return std::nullopt;
}

std::optional<lang::SourceRange> leadOf(const MistakeText& text, const Habit& habit) {
  if (habit.lead.empty())
    return text.before();
  for (lang::SourceRange range : {text.before(), text.called(), text.dashes(), text.quotient()})
    if (fits(text, text.mistake().before, range, habit.lead) && range.begin < range.end)
      return range;
  return std::nullopt;
}

/// A word in a new line begins something, whatever could go on there, and in the same line it goes
/// on.
bool isElsewhere(const MistakeText& text, const Habit& habit) {
  bool isWord = isOfName(text.from(text.found().begin)[0]);
  if (!isWord)
    return false;
  bool goesOn = text.expects(S_Plus) && !text.isNewLine();
  return habit.wanted.kind == S_Plus ? text.isNewLine() : habit.wanted.kind == S_Def && goesOn;
}

/// A word, or a class of tokens in front of something, is less to the point than what follows it.
lang::SourceRange placeOf(const Habit& habit, const HabitPlace& place) {
  bool isClass = habit.lead.starts_with('<') && habit.lead != aPoint && habit.lead != aLet;
  bool isLead = !habit.lead.empty() && !isClass && habit.lead != ":" && habit.lead != "]";
  return isLead ? place.lead : place.found;
}

std::optional<FoundHabit> findRow(const MistakeText& text, std::span<const Habit> rows) {
  for (const Habit& habit : rows) {
    if (!isWanted(text, habit.wanted) || isElsewhere(text, habit))
      continue;
    auto found = foundOf(text, habit);
    auto lead = leadOf(text, habit);
    if (!found || !lead)
      continue;
    HabitPlace place{text, *lead, *found};
    const ForeignWord* word = habit.says.empty() ? foreignWord(text.text(*lead)) : nullptr;
    std::string_view says = word ? word->says : habit.says;
    return FoundHabit{placeOf(habit, place), says,
                      habit.repair ? habit.repair(place, habit.with) : Edits{},
                      habit.orAround.empty() ? Edits{} : aroundBoth(place, habit.orAround)};
  }
  return std::nullopt;
}

} // namespace

std::optional<FoundHabit> findHabit(const MistakeText& text) {
  if (auto found = findRow(text, table))
    return found;
  for (lang::SourceRange word : {text.before(), text.called(), text.found()})
    if (const ForeignWord* known = foreignWord(text.text(word)))
      return FoundHabit{word, known->says, {}};
  return text.isNewLine() ? std::nullopt : findRow(text, guesses);
}

} // namespace parser::baton
