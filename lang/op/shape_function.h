// Shape functions from relations.
//
// A relation answers with types, which are interned; a machine that meets a new shape at every call
// has no use for types. So the relation is asked once about names in place of the sizes, and its
// answer, forms over these names, becomes a few steps of arithmetic. That a relation says the same
// of names as of numbers is what tests/unit/operator_symbolic_test.cpp holds every row to.
#pragma once

#include "lang/op/declared.h"
#include "lang/op/leaves.h"
#include "lang/op/relation.h"
#include "lower/tensor/shape_function.h"

namespace lang {

using tensor::ShapeFunction;

/// The shape function of calls with operands of these types: each name, form or unknown size stands
/// for any number, equal ones for equal numbers, and each `?` for one of its own. Nothing when the
/// relation cannot tell without numbers or needs values.
std::optional<ShapeFunction> shapeFunction(const OperatorRow& row, Types operands,
                                           const Attributes& attributes);

/// The shape function of what gives tensors of types `results` for tensors of types `inputs`, each
/// size of a result being a form over those of the inputs. Nothing where one is not.
std::optional<ShapeFunction> shapeFunction(Types inputs, Types results);

/// The type with `change` applied to the dimensions of its tensors in order, made in `types`, which
/// may be another context.
const Type* withDims(TypeContext& types, const Type* type,
                     const std::function<const Dim*(const Dim*)>& change);

} // namespace lang
