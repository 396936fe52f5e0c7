// The words of a text with what stands between them, in the terms of no notation: what a layout is
// made of.
//
// parser/format/ lays programs out anew. It changes blanks, line ends, and commas behind last
// elements, so it needs the order of tokens and the brackets around them (structure.h), and no
// tree.
#pragma once

#include "lang/source/diagnostic.h"
#include "parser/surface/surface.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace parser::format {

/// What a token is for its neighbours.
enum class Role : uint8_t {
  /// A name that may stand in front of brackets with types, or in front of `=` in a list.
  Name,
  /// Another operand of one token.
  Word,
  Number,
  /// What is called but takes no comma behind its last operand.
  StrictName,
  /// What goes on an operand without blanks, as `.1`.
  Suffix,
  Dot,
  OpenParen,
  OpenBracket,
  OpenBrace,
  CloseParen,
  CloseBracket,
  CloseBrace,
  Comma,
  Semicolon,
  Colon,
  Assign,
  FatArrow,
  Arrow,
  /// Between operands, or in front of one.
  Infix,
  Prefix,
  Let,
  If,
  Else,
  Match,
  Fn,
  With,
  As,
  Def,
  Type,
  Extern,
  Test,
  Import
};

/// How tightly an infix operator holds, from the loosest: one row of the operators of all
/// notations.
enum class Holds : uint8_t { None, Choice, Pipe, Or, And, Comparison, Sum, Product, Power };

/// What a pair of brackets is.
enum class Brackets : uint8_t {
  /// Around one expression, or around the elements of a tuple.
  Grouping,
  /// Behind what is called.
  Call,
  /// Of a literal.
  Literal,
  /// Behind what is indexed, or what takes types.
  Tight,
  /// In braces: statements, the branch of an `if`, arms or members, attributes.
  Block,
  Branch,
  Members,
  Attributes
};

struct Token {
  /// The place of its first byte in the text, and how many it has.
  uint32_t begin = 0;
  uint32_t size = 0;
  /// How many comments stand in front of it in the text.
  uint32_t comments = 0;
  /// Of a bracket: the other one.
  uint32_t mate = 0;
  /// Chains of operators that begin here, and what ends behind it: chains, values, branches.
  uint16_t opens = 0;
  uint16_t closes = 0;
  Role role = Role::Word;
  Holds holds = Holds::None;
  Brackets brackets = Brackets::Grouping;
  /// Line ends right in front of it, behind comments there; 2 for more.
  uint8_t lineEnds : 2 = 0;
  /// Whether something between the token before and this one ends a line.
  bool beginsLine : 1 = false;
  /// It is written without the blanks inside of it.
  bool hasBlanks : 1 = false;

  // What structure.h finds out, beside brackets and chains.

  /// Of an opener: whether there are elements, commas between them, numbers alone, one element that
  /// is in brackets itself, statements.
  bool hasElements : 1 = false;
  bool hasCommas : 1 = false;
  bool hasNumbersOnly : 1 = false;
  bool hasOneBracket : 1 = false;
  bool hasStatements : 1 = false;
  /// Of an opener: a line ends behind it; a comma behind the last element means nothing; the last
  /// element may end in a block that is broken alone; no line is broken inside.
  bool isForced : 1 = false;
  bool isCommaFree : 1 = false;
  bool endsInBlock : 1 = false;
  bool staysInLine : 1 = false;
  /// Of an `=` or `=>`: what follows is a value that may begin on a line of its own. It may have
  /// statements.
  bool startsValue : 1 = false;
  /// Of an `=` in a list of Relay's text, a `:` in a slice, a `/` in a path, the `fn` of a type.
  bool isTight : 1 = false;
  /// Of a `-` in front of an operand, and an `if` in front of an arm's arrow or behind `else`.
  bool isOther : 1 = false;
  /// An element without a comma in front of it.
  bool isElement : 1 = false;
};

struct Comment {
  std::string_view text;
  /// Line ends in front of it; 2 for more.
  uint8_t lineEnds = 0;
  /// Whether the next token or comment stands on another line.
  bool endsLine = false;
};

/// A text as tokens.
struct Tokens {
  surface::Notation notation = surface::Notation::Relay;
  std::string_view text;
  std::vector<Token> tokens;
  std::vector<Comment> comments;
  /// Relay's header as it is written anew, and how many comments stand in front of it; line ends in
  /// front of it.
  std::string header;
  uint32_t commentsBeforeHeader = 0;
  uint8_t headerLineEnds = 0;
  /// From `#[metadata]` on, as it is; line ends in front of it.
  std::string_view metadata;
  uint8_t metadataLineEnds = 0;
  /// Tokens and comments that are written with fewer bytes than they have.
  std::map<uint32_t, std::string> joined;

  std::string_view textOf(const Token& token) const {
    return token.hasBlanks ? joined.at(token.begin) : text.substr(token.begin, token.size);
  }
};

/// Whether an operand may end in it.
bool endsOperand(Role role);
bool isOpener(Role role);
bool isCloser(Role role);

/// Reads a text whose syntax is good. The file must outlive the tokens.
Tokens relayTokens(const lang::SourceFile& file);
Tokens batonTokens(const lang::SourceFile& file);

} // namespace parser::format
