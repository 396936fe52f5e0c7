// The patterns of Baton's notation beyond what it shares with Relay's.
#pragma once

#include "parser/surface/builder.h"

namespace parser::baton {

class PatternBuilder {
public:
  using Range = lang::SourceRange;
  using PatternPtr = const surface::Pattern*;

  PatternBuilder(parser::Builder& shared, runtime::Arena& arena) : shared_(shared), arena_(arena) {}

  PatternPtr either(Range range, List alternatives);
  PatternPtr literalPattern(Range range, const surface::Expr* value);
  PatternPtr fieldsPattern(Range range, Text name, Range nameRange, List fields);
  /// A field by its name, which waits for a list.
  void fieldPattern(Text name, Range range, PatternPtr pattern);
  List startFieldPatterns() { return fieldPatterns_.start(fieldPattern_); }
  List pushFieldPattern(List list) { return fieldPatterns_.push(list, fieldPattern_); }
  /// A parameter that a pattern takes apart.
  const surface::Parameter* parameter(Range range, PatternPtr pattern, const surface::Type* type);

private:
  struct FieldPattern {
    surface::Identifier name;
    PatternPtr pattern = nullptr;
  };

  parser::Builder& shared_;
  runtime::Arena& arena_;
  FieldPattern fieldPattern_;
  ListStack<FieldPattern> fieldPatterns_;
};

} // namespace parser::baton
