// The loop nest of a tensor function over what types say of its tensors: a dimension of the checker
// becomes a form over sizes here and nowhere else.
#pragma once

#include "lang/op/leaves.h"
#include "lower/loops/nest.h"
#include "runtime/result.h"

namespace lang {

/// A tensor of a kernel, and what its parameter or result is called.
struct NamedTensor {
  std::string name;
  const Type* type;
};

/// The nest of a function from such tensors to such. Names of dimensions are sizes of the kernel;
/// each `?`, and what nobody knows, is a size of its own. Why there is none is a matter of the
/// function, as in loops::nestOf.
runtime::Checked<loops::Nest> kernelNest(std::string name, const tensor::TensorFunction& function,
                                         std::span<const NamedTensor> inputs,
                                         std::span<const NamedTensor> results);

} // namespace lang
