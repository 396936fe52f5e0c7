// What must hold of every text, good or bad; the fuzzer and the mutation test ask the same.
#pragma once

#include <string>

namespace testing {

/// Reads, checks and prints a text, and reads what was printed. Empty when all is well, else the
/// promise that was broken. Mistakes in the text are well.
std::string brokenPromise(const std::string& text);

} // namespace testing
