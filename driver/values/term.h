// The whole of a value as text, as text.h shows it and `readValueText` reads it, whatever
// stands for its tensors.
#pragma once

#include "runtime/result.h"
#include "runtime/value.h"

#include <functional>
#include <string>

namespace driver {

/// Tensors and other parts that a value may have in a file: it may share them, so that a small one
/// is huge when it is written out.
inline constexpr size_t mostParts = 50'000'000;

/// What a part of that kind is that no file can hold, such as `a function`; empty for others.
std::string_view unwritable(runtime::ValueKind kind);
runtime::Error unwritableError(runtime::ValueKind kind);
runtime::Error tooManyParts(size_t most);

/// Appends what stands for a tensor.
using AppendLeaf =
    std::function<runtime::Result<runtime::Done>(std::string&, const runtime::Value&)>;

/// Appends a value of tensors, tuples and constructors.
runtime::Result<runtime::Done> appendValueText(std::string& out, const runtime::Value& value,
                                               const AppendLeaf& leaf);

} // namespace driver
