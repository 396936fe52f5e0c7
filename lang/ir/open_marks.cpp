// What a mark leaves open, filled in.
#include "lang/ir/open_marks.h"

namespace lang {

const Attributes* withElement(Arena& arena, const Attributes& attributes, runtime::DType dtype) {
  std::vector<AttributeValue> values(attributes.values.begin(), attributes.values.end());
  for (size_t i = 0; i < values.size(); ++i)
    if (attributes.rows[i].kind == AttributeKind::DType)
      values[i] = stringAttribute(arena.copyText(runtime::dtypeName(dtype)));
  return arena.make<Attributes>(attributes.rows, arena.copy(values));
}

} // namespace lang
