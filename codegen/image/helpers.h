// Functions of ours and of the C library that compiled code may call, by numbers that are part of
// the form of files: new ones come last.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace codegen {

/// Nothing where there is none of that name.
std::optional<uint32_t> helperNumber(std::string_view name);
/// Its address; null where there is none.
void* helperAt(uint64_t number);

} // namespace codegen
