// Look-ups in a module, and constants as tensors.
#include "lang/ir/module.h"

namespace lang {

const TypeDefinition storageDefinition{.name = "Storage", .range = {}, .isExtern = true};

runtime::Tensor constantTensor(const Constant& constant) {
  if (constant.tensor)
    return *constant.tensor;
  runtime::Tensor scalar(constant.type->dtype, {});
  std::memcpy(scalar.bytes(), &constant.bits, std::min<size_t>(scalar.byteSize(), 8));
  return scalar;
}

const Global* Module::find(std::string_view name) const {
  for (const Global* global : globals)
    if (global->name == name && global->function)
      return global;
  return nullptr;
}

} // namespace lang
