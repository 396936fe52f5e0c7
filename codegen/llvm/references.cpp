// The psABI for x86-64 and "ELF for the Arm 64-bit Architecture" name the kinds.
#include "codegen/llvm/references.h"

#include <cstring>
#include <elf.h>
#include <fmt/format.h>

namespace codegen {

void refuse(std::string what) {
  throw Malformed{std::move(what)};
}

namespace {

template <typename T>
T read(std::span<char> bytes, size_t place) {
  if (place > bytes.size() || bytes.size() - place < sizeof(T))
    refuse("a reference outside of its section");
  T value;
  std::memcpy(&value, bytes.data() + place, sizeof value);
  return value;
}

template <typename T>
void write(std::span<char> bytes, size_t place, int64_t value) {
  read<T>(bytes, place);
  if (value != T(value))
    refuse("a reference that is too far off");
  T number = T(value);
  std::memcpy(bytes.data() + place, &number, sizeof number);
}

void referX86(uint32_t kind, std::span<char> bytes, size_t place, int64_t to) {
  const int64_t distance = to - int64_t(place);
  switch (kind) {
  case R_X86_64_PC64:
    return write<int64_t>(bytes, place, distance);
  case R_X86_64_PC32:
  case R_X86_64_PLT32:
    return write<int32_t>(bytes, place, distance);
  default:
    refuse(fmt::format("a reference of kind {}", kind));
  }
}

/// Puts the low bits of a value into a field of an instruction.
void setField(std::span<char> bytes, size_t place, unsigned shift, unsigned bits, int64_t value) {
  auto word = read<uint32_t>(bytes, place);
  uint32_t mask = ((uint32_t(1) << bits) - 1) << shift;
  word = (word & ~mask) | (uint32_t(value) << shift & mask);
  std::memcpy(bytes.data() + place, &word, sizeof word);
}

/// The low twelve bits of a place, in units that it is a multiple of.
void setLowBits(std::span<char> bytes, size_t place, int64_t to, int64_t unit) {
  if (to % unit != 0)
    refuse("a reference to what is not aligned");
  setField(bytes, place, 10, 12, (to & 0xfff) / unit);
}

void referArm(uint32_t kind, std::span<char> bytes, size_t place, int64_t to) {
  constexpr int64_t farthestCall = int64_t(1) << 27;
  const int64_t distance = to - int64_t(place);
  switch (kind) {
  case R_AARCH64_PREL64:
    return write<int64_t>(bytes, place, distance);
  case R_AARCH64_PREL32:
    return write<int32_t>(bytes, place, distance);
  case R_AARCH64_CALL26:
  case R_AARCH64_JUMP26:
    if (distance % 4 != 0 || distance >= farthestCall || distance < -farthestCall)
      refuse("a reference that is too far off");
    return setField(bytes, place, 0, 26, distance / 4);
  case R_AARCH64_ADR_PREL_PG_HI21: {
    // Images lie at pages, so pages in them are pages.
    int64_t pages = (to >> 12) - (int64_t(place) >> 12);
    setField(bytes, place, 29, 2, pages & 3);
    return setField(bytes, place, 5, 19, pages >> 2);
  }
  case R_AARCH64_ADD_ABS_LO12_NC:
  case R_AARCH64_LDST8_ABS_LO12_NC:
    return setLowBits(bytes, place, to, 1);
  case R_AARCH64_LDST16_ABS_LO12_NC:
    return setLowBits(bytes, place, to, 2);
  case R_AARCH64_LDST32_ABS_LO12_NC:
    return setLowBits(bytes, place, to, 4);
  case R_AARCH64_LDST64_ABS_LO12_NC:
    return setLowBits(bytes, place, to, 8);
  case R_AARCH64_LDST128_ABS_LO12_NC:
    return setLowBits(bytes, place, to, 16);
  default:
    refuse(fmt::format("a reference of kind {}", kind));
  }
}

} // namespace

void refer(uint16_t machine, uint32_t kind, std::span<char> bytes, size_t place, int64_t to) {
  if (machine == EM_X86_64)
    referX86(kind, bytes, place, to);
  else
    referArm(kind, bytes, place, to);
}

} // namespace codegen
