// Programs that are linked in, as objects of `baton compile` have them: what these call stands in
// `libbaton_rt.a`, and needs no more of models and values than the C interface.
#pragma once

#include "vm/rt/baton_rt.h"

extern "C" {

/// An executable at a multiple of 64, which stays, and the functions of its machine code. The
/// objects write it down (driver/products/object.cpp).
struct baton_program {
  const void* bytes;
  size_t size;
  void (*const* functions)();
  size_t functionCount;
  /// Null at first.
  void* state;
};

/// Calls an entry, from any thread, with tensors for its parameters, each of which is given once;
/// its result is so many tensors. When it does not fail, it took over the arguments, and the
/// results are the caller's; when it fails, the arguments are still the caller's.
baton_error* baton_program_call(baton_program* program, size_t entry,
                                DLManagedTensor* const* arguments, size_t argumentCount,
                                DLManagedTensor** results, size_t resultCount);
}

namespace rt {

/// A model of a program whose bytes stay where they are, with the kernels that it is linked with.
baton_error* openLinked(const baton_program& program, baton_model** model);

/// Does the work; what it throws becomes an error.
baton_error* withoutExceptions(baton_error* (*work)(void*), void* with);

} // namespace rt
