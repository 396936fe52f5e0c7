// References of an object file to its own places, which are relative to where they stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace codegen {

/// What is wrong with an object.
struct Malformed {
  std::string what;
};

[[noreturn]] void refuse(std::string what);

/// Writes a reference of a kind of ELF's, for a machine of ELF's, at a place of these bytes to
/// another place. Refuses those that do not fit, or are of a kind that is not relative.
void refer(uint16_t machine, uint32_t kind, std::span<char> bytes, size_t place, int64_t to);

} // namespace codegen
