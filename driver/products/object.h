// One relocatable object of a program: its bytes, its kernels, and its C functions.
#pragma once

#include "driver/products/interface.h"
#include "driver/products/program_module.h"

namespace driver {

/// A module of LLVM with the kernels, the functions of the entries, and the bytes of the
/// executable, which are taken from a file when it is compiled.
std::string objectModule(const ProgramModule& kernels,
                         const std::vector<ProductFunction>& functions,
                         const std::string& bytesPath, size_t bytes);

} // namespace driver
