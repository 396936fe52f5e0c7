#include "lang/ir/differentiable.h"

namespace lang {

bool holdsFloats(const Type* type) {
  return LeafSearch([](const Type& part) { return part.isTensor() && part.dtype.isFloat(); })
      .leadsToLeaf(type);
}

LeafSearch functionSearch() {
  return LeafSearch([](const Type& part) {
    return part.kind == TypeKind::Function || part.kind == TypeKind::Operator ||
           part.kind == TypeKind::Reference;
  });
}

bool holdsFunctions(const Type* type) {
  return functionSearch().leadsToLeaf(type);
}

} // namespace lang
