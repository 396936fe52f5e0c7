// The C functions of a program: which there are, what they are called, and the header that declares
// them.
#pragma once

#include "runtime/result.h"
#include "vm/executable/executable.h"

namespace driver {

/// A function for an entry: tensors in, and as many out as the result has.
struct ProductFunction {
  std::string symbol;
  /// Of the entry, as the text says it.
  std::string signature;
  /// Identifiers of C, each another.
  std::vector<std::string> parameters;
  size_t results = 0;
};

/// The functions of the entries, in their order, whose names begin with the name of the product. Of
/// each parameter a tensor goes in, and of the result one or a tuple of them comes out: fails where
/// that is not so, and where two functions would have one name.
runtime::Checked<std::vector<ProductFunction>> productFunctions(const executable::Executable& made,
                                                                const std::string& product);

/// `m` of `build/m.so`, as far as it is an identifier of C.
std::string productName(const std::string& path);

/// A header that needs no other file of Baton.
std::string headerText(const std::string& product, const std::vector<ProductFunction>& functions);

} // namespace driver
