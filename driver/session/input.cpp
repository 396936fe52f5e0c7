// Of a regular file only the beginning is read before it is known what it is: executables are
// large, and are mapped.
#include "driver/session/input.h"

#include "runtime/formats/file.h"
#include "runtime/formats/quote.h"
#include "vm/assembly/text.h"
#include "vm/executable/executable.h"

#include <fstream>

namespace driver {

namespace {

constexpr uint64_t largest = uint64_t(1) << 31;

std::string beginning(const std::string& path) {
  std::string start(4096, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), std::streamsize(start.size()));
  start.resize(size_t(file.gcount()));
  return start;
}

Input::Kind kindOf(std::string_view start) {
  if (executable::isExecutable(std::as_bytes(std::span(start))))
    return Input::Kind::Executable;
  return assembly::isText(start) ? Input::Kind::Assembly : Input::Kind::Program;
}

} // namespace

std::string Input::quoted() const {
  return path_ == "-" ? "standard input" : formats::backquoted(path_);
}

bool Input::isRegular() const {
  return path_ != "-" && formats::isRegularFile(path_);
}

Input::Kind Input::kind() {
  if (!kept_ && isRegular())
    return kindOf(beginning(path_));
  if (!kept_)
    kept_ = read();
  return *kept_ ? kindOf(**kept_) : Kind::Program;
}

runtime::Result<std::string> Input::read() {
  if (kept_)
    return *std::move(kept_);
  return path_ == "-" ? formats::readStandardInput(largest) : formats::readFile(path_, largest);
}

} // namespace driver
