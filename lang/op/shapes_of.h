// What the extents of a call are to each other, for all sizes that its types allow.
//
// A relation answers with types, which are interned; a machine that meets a new shape at every call
// has no use for types. So the relation is asked once about names in place of the sizes, and its
// answer, forms over these names, becomes sizes of a table (runtime/checks/shapes.h). That a
// relation says the same of names as of numbers is what tests/unit/operator_symbolic_test.cpp holds
// every row to.
#pragma once

#include "lang/op/declared.h"
#include "lang/op/leaves.h"
#include "lang/op/relation.h"
#include "runtime/checks/shapes.h"

namespace lang {

/// The shapes of calls with operands of these types: each name, form or unknown size stands for any
/// number, equal ones for equal numbers, and each `?` for one of its own. Nothing when the relation
/// cannot tell without numbers or needs values. The tensors of the result have the types `results`,
/// unless there are none.
std::optional<checks::Shapes> shapesOf(const OperatorRow& row, Types operands,
                                       const Attributes& attributes, Types results = {});

/// What types alone tell of the extents of operands and results.
checks::Shapes shapesOf(Types operands, Types results);

/// The same for a function of the program, in which what Relay lets stand for anything is one size
/// wherever it stands.
checks::Shapes shapesOfFunction(Types operands, Types results);

/// The types with names of their own for sizes, in the order in which these occur, if they have
/// any: those of calls that differ in names alone are the same ones.
std::vector<const Type*> withOwnNames(TypeContext& types, Types operands);

} // namespace lang
