// What Baton's notation builds beyond what it shares with Relay's (parser/surface/builder.h).
//
// As there, parts of lists that have no value on the stack are kept until the rule that puts them
// on a list is reduced.
#pragma once

#include "parser/surface/builder.h"

namespace parser::baton {

class Builder {
public:
  using Range = lang::SourceRange;
  using ExprPtr = const surface::Expr*;
  using TypePtr = const surface::Type*;
  using PatternPtr = const surface::Pattern*;

  Builder(parser::Builder& shared, runtime::Arena& arena, lang::Diagnostics& diagnostics)
      : shared_(shared), arena_(arena), diagnostics_(diagnostics) {}

  // Definitions.
  const surface::Definition* constant(Range range, Text name, Range nameRange, TypePtr type,
                                      ExprPtr value);
  const surface::Definition* test(Range range, Text name, Range nameRange, ExprPtr body);
  const surface::Definition* import(Range range, Text path, Range pathRange, Text name,
                                    Range nameRange);
  Text joined(Text left, std::string_view mark, Text right);
  const surface::Definition* dataType(Range range, Text name, Range nameRange, List generics,
                                      List memberList);
  const surface::Definition* alias(Range range, Text name, Range nameRange, List generics,
                                   TypePtr type);
  void constructor(Text name, Range range, List entryList);
  void field(Text name, Range range, TypePtr type);
  void entry(Text name, Range range, TypePtr type);
  List startMembers() { return members_.start(member_); }
  List pushMember(List list) { return members_.push(list, member_); }
  List startEntries() { return entries_.start(entry_); }
  List pushEntry(List list) { return entries_.push(list, entry_); }

  // Functions and blocks.
  const surface::Parameter* parameter(Text name, Range range, TypePtr type, ExprPtr defaultValue);
  const surface::Parameter* unnamedParameter(Range range, TypePtr type);
  const surface::Parameter* attributedParameter(Text name, Range range, TypePtr type,
                                                List attributes);
  surface::Function* attributed(surface::Function* function, List attributes);
  void let(Range range, PatternPtr pattern, TypePtr type, ExprPtr value);
  void share(Range range, Text name, Range nameRange, ExprPtr value);

  /// `if` as a statement; `otherwise` is another one, or null.
  ExprPtr onlyIf(Range range, ExprPtr condition, ExprPtr then, ExprPtr otherwise);

  // Expressions.
  ExprPtr integer(Range range, IntValue value);
  ExprPtr prefix(Range range, surface::PrefixOp op, Range opRange, ExprPtr operand);
  ExprPtr call(Range range, ExprPtr callee, List argumentList);
  ExprPtr index(Range range, ExprPtr operand, List subscriptList);
  ExprPtr fieldOf(Range range, ExprPtr operand, Text name, Range nameRange);
  ExprPtr with(Range range, ExprPtr operand, List fieldList);
  ExprPtr functionLiteral(Range range, List generics, surface::Function* head, TypePtr result,
                          ExprPtr body);
  ExprPtr text(Range range, Text text);
  ExprPtr placeholder(Range range);
  ExprPtr tuple(Range range, ExprPtr first, List rest);
  void argument(Text name, Range nameRange, ExprPtr value);
  List startArguments() { return shared_.attributes.start(argument_); }
  List pushArgument(List list) { return shared_.attributes.push(list, argument_); }
  ListStack<surface::Subscript> subscripts;
  const surface::Subscript* at(Range range, ExprPtr position);
  const surface::Subscript* slice(Range range, ExprPtr begin, ExprPtr end, ExprPtr step);
  const surface::Subscript* restOf(Range range);
  const surface::Arm* arm(PatternPtr pattern, ExprPtr guard, ExprPtr body);

  /// Reports what only the whole text shows.
  void finish();

private:
  /// A number that only a minus sign in front makes right.
  struct Unsigned {
    Range range;
    IntValue value;
  };
  /// A field or a constructor of a data type, or an entry in a constructor's parentheses.
  struct Member {
    surface::Constructor constructor;
    TypePtr type = nullptr;
  };
  struct Entry {
    surface::Identifier name;
    TypePtr type = nullptr;
  };

  bool takesSign(const surface::IntLiteral& integer);
  surface::Constructor recordOf(surface::Identifier name, std::span<const Member> fields);

  parser::Builder& shared_;
  runtime::Arena& arena_;
  lang::Diagnostics& diagnostics_;
  Member member_;
  Entry entry_;
  surface::Attribute argument_;
  ListStack<Member> members_;
  ListStack<Entry> entries_;
  std::vector<Unsigned> unsigned_;
};

} // namespace parser::baton
