// The readers of the kinds of file that hold values, private to files.cpp.
#pragma once

#include "driver/values/files.h"

namespace driver {

/// The outer name of a run's result in a file.
inline constexpr const char* resultKey = "out";

using OpenedValues = runtime::Result<std::unique_ptr<ValueFile>>;

// Errors name the path.

/// A .npz or .safetensors.
OpenedValues openArrays(const std::string& path);
OpenedValues openJson(const std::string& path);
OpenedValues openText(const std::string& path);
OpenedValues openNpy(const std::string& path);

} // namespace driver
