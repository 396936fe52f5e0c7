// Names of fields are looked up where the constructor is known; here they stay as written.
#include "parser/baton/pattern_builder.h"

#include "parser/surface/node_depth.h"

namespace parser::baton {

using namespace surface;
const Pattern* PatternBuilder::either(Range range, List alternatives) {
  auto* made = newNode<EitherPattern>(arena_, range);
  made->alternatives = shared_.patterns.take(arena_, alternatives);
  return made;
}

const Pattern* PatternBuilder::literalPattern(Range range, const Expr* value) {
  auto* made = newNode<LiteralPattern>(arena_, range);
  made->value = value;
  return made;
}

void PatternBuilder::fieldPattern(Text name, Range range, PatternPtr pattern) {
  fieldPattern_ = {{name.view(), range}, pattern};
}

const Pattern* PatternBuilder::fieldsPattern(Range range, Text name, Range nameRange, List fields) {
  auto* made = newNode<ConstructorPattern>(arena_, range);
  made->name = {name.view(), nameRange};
  std::vector<PatternPtr> patterns;
  std::vector<Identifier> names;
  for (const FieldPattern& field : fieldPatterns_.take(arena_, fields)) {
    patterns.push_back(field.pattern);
    names.push_back(field.name);
  }
  made->fields = arena_.copy(patterns);
  made->fieldNames = arena_.copy(names);
  return made;
}

const Parameter* PatternBuilder::parameter(Range range, PatternPtr pattern, const Type* type) {
  auto* made = arena_.make<Parameter>(Identifier{{}, range}, type);
  made->pattern = pattern;
  return made;
}

} // namespace parser::baton
