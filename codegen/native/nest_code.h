// The machine code of a nest as data: all that a run of it needs, in bytes that can be kept.
//
// Bytes come back from a disk where anybody may have changed them, so what is read is verified: a
// reader would be wrong to take an index of it for granted because a checksum was right.
#pragma once

#include "codegen/native/size_steps.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace codegen {

/// A function of the object that runs a part of the nest.
struct CodePart {
  static constexpr uint32_t once = UINT32_MAX;

  std::string symbol;
  /// The step that gives how often its outermost loop runs, if that may run by threads; else
  /// `once`.
  uint32_t iterations = once;
};

/// Scratch that the caller provides.
struct CodeScratch {
  /// The step that gives how many elements.
  uint32_t elements = 0;
  uint32_t elementBytes = 0;
  /// Whether threads need one each.
  bool isPrivate = false;
};

struct NestCode {
  uint32_t inputs = 0, outputs = 0, sizes = 0;
  SizeSteps steps = {};
  std::vector<CodePart> parts = {};
  /// Their pointers stand behind those of inputs and outputs, in this order.
  std::vector<CodeScratch> scratch = {};
  /// Input and output that may lie in the same memory.
  std::vector<std::pair<uint32_t, uint32_t>> sharable = {};
  /// An object file.
  std::string object = {};
};

std::string bytesOf(const NestCode& code);
/// Nothing where the bytes are none of bytesOf(), or an index in them is out of place. The object
/// is for LoadedObject to look at.
std::optional<NestCode> nestCodeOf(std::string_view bytes);

} // namespace codegen
