// The names of element types in .safetensors, private to formats/. The format has more of them than
// we can compute with.
#pragma once

#include "runtime/dtype.h"

#include <array>
#include <optional>
#include <string_view>

namespace formats {

struct SafetensorsType {
  std::string_view name;
  runtime::DType dtype;
};

inline constexpr std::array safetensorsTypes{
    SafetensorsType{"BOOL", runtime::Bool},     SafetensorsType{"I8", runtime::Int8},
    SafetensorsType{"I16", runtime::Int16},     SafetensorsType{"I32", runtime::Int32},
    SafetensorsType{"I64", runtime::Int64},     SafetensorsType{"U8", runtime::UInt8},
    SafetensorsType{"U16", runtime::UInt16},    SafetensorsType{"U32", runtime::UInt32},
    SafetensorsType{"U64", runtime::UInt64},    SafetensorsType{"F16", runtime::Float16},
    SafetensorsType{"BF16", runtime::BFloat16}, SafetensorsType{"F32", runtime::Float32},
    SafetensorsType{"F64", runtime::Float64},
};

/// The field of the header that holds free text and is no tensor.
inline constexpr std::string_view safetensorsMetadata = "__metadata__";

/// Nothing when we have no such element type.
inline std::optional<runtime::DType> findSafetensorsType(std::string_view name) {
  for (const SafetensorsType& row : safetensorsTypes)
    if (row.name == name)
      return row.dtype;
  return std::nullopt;
}

} // namespace formats
