// The kernels of a program as loop nests: for each group, and each operator that is called outside
// of one.
#pragma once

#include "lang/calls/kernel_nest.h"
#include "lang/ir/module.h"
#include "lang/ir/typing.h"

namespace lang {

struct ProgramNest {
  /// What its operators are called, and a number where several kernels have the same.
  std::string name;
  SourceRange range;
  const Global* in;
  runtime::Checked<loops::Nest> nest;
};

/// In the order of the text. Operators that compute no tensors by an expression have no entry.
std::vector<ProgramNest> programNests(const Module& module, const Typing& typing);

} // namespace lang
