// Why a computation could not go on: something about its data, or no memory.
#pragma once

#include <string>

namespace runtime {

struct Fault {
  std::string problem;
  /// True when nothing is wrong but that memory ran out.
  bool isMemory = false;
};

} // namespace runtime
