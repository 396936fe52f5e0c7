// Places of what is true, and what stands at them: along one dimension, or along the first ones.
#include "typecheck/masked_reads.h"

#include "lang/op/op.h"
#include "lang/types/type_text.h"

#include <fmt/format.h>

namespace typecheck {

using lang::RelationResult;
using lang::Role;

bool isMask(const Type* positions) {
  return positions->isTensor() && positions->dtype.isBool();
}

RelationResult maskedRelation(const lang::RelationCall& call, Unifier& unifier) {
  size_t count = call.rank(1);
  int64_t given = call.attributes.integer("axis");
  auto axis = call.normalAxis(given, call.rank(0));
  if (count == 0)
    return call.failedAt(1, "one truth value tells no positions; `if` chooses by it");
  bool isInside = axis && *axis + count <= call.rank(0) && (count == 1 || given == 0);
  std::vector<lang::DimMark> marks;
  for (size_t i = 0; isInside && i < count; ++i)
    if (!unifier.dims().unify(call.shape(1)[i], call.shape(0)[*axis + i]))
      marks = {{1, i}, {0, *axis + i}};
  if (!isInside || !marks.empty()) {
    lang::Words problem = lang::words(
        "truth values in brackets have the shape of the first dimensions, or of the one that they "
        "stand for, but they are `{}` for `{}`",
        shortType(call.operands[1]), shortType(call.operands[0]));
    RelationResult result =
        marks.empty() ? call.failedAt(1, problem) : call.failedOn(std::move(marks), problem);
    result.fixes = {{"`where(mask, x, y)` keeps the shape of `x`"}};
    return result;
  }
  lang::Dims shape = call.shape(0);
  std::vector<const Dim*> left(shape.begin(), shape.begin() + ptrdiff_t(*axis));
  left.push_back(call.types.any());
  left.insert(left.end(), shape.begin() + ptrdiff_t(*axis + count), shape.end());
  return call.solved(left, call.dtype(0));
}

const lang::Expr* maskedRead(lang::Builder& make, lang::BlockBuilder& out, lang::Atom x,
                             lang::Atom mask, size_t rank, int64_t axis) {
  const lang::OperatorTable& operators = make.operators;
  lang::Atom places = out.call(operators.withRole(Role::Places), {mask});
  if (rank > 1)
    return make.call(operators.withRole(Role::TakePoints),
                     {x, out.call(operators.withRole(Role::MatrixTranspose), {places})});
  lang::Atom flat = out.call(operators.withRole(Role::Reshape), {places},
                             {{"newshape", std::vector<int64_t>{-1}}});
  return make.call(operators.withRole(Role::Take), {x, flat}, {{"axis", axis}, {"mode", "fast"}});
}

} // namespace typecheck
