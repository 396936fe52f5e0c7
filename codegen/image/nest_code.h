// The machine code of a nest as data: all that a run of it needs, in bytes that can be kept.
//
// Bytes come back from a disk where anybody may have changed them, so what is read is verified: a
// reader would be wrong to take an index of it for granted because a checksum was right.
#pragma once

#include "codegen/image/image.h"
#include "codegen/image/size_steps.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace codegen {

/// A function that runs a part of the nest.
struct CodePart {
  static constexpr uint32_t once = UINT32_MAX;

  /// Its number among the entries of the image; of a nest without one, among linked functions.
  uint32_t entry = 0;
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

/// An input and an output that may lie in the same memory.
struct CodeSharing {
  uint32_t input = 0, output = 0;
};

struct NestCode {
  uint32_t inputs = 0, outputs = 0, sizes = 0;
  SizeSteps steps = {};
  runtime::List<CodePart> parts = {};
  /// Their pointers stand behind those of inputs and outputs, in this order.
  runtime::List<CodeScratch> scratch = {};
  runtime::List<CodeSharing> sharable = {};
  /// Without code where functions are linked.
  Image image = {};
};

inline bool hasImage(const NestCode& code) {
  return !code.image.code.empty();
}

std::string bytesOf(const NestCode& code);
/// Nothing where the bytes are none of bytesOf(), or an index or place in them is out of place.
std::optional<NestCode> nestCodeOf(std::string_view bytes);

} // namespace codegen
