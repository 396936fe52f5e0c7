// The command line as a function of its words, and folders for the files that it works on.
#pragma once

#include "driver/command_line.h"
#include "driver/large_stack.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace tests {

using driver::Answer;
using driver::ExitCode;

/// A folder of its own for one test, gone at the end.
class Folder {
public:
  Folder() : path_(std::filesystem::temp_directory_path() / fmt::format("baton-{}", getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

private:
  std::filesystem::path path_;
};

/// What `baton WORDS...` answers.
inline Answer baton(std::vector<std::string> words) {
  std::vector<const char*> pointers{"baton"};
  for (const std::string& word : words)
    pointers.push_back(word.c_str());
  Answer answer;
  driver::runOnLargeStack(
      [&] { answer = driver::runCommandLine(int(pointers.size()), pointers.data(), {}); });
  return answer;
}

/// The answer's code and error text together.
inline void checkError(const Answer& answer, ExitCode code, const std::string& part) {
  CHECK(answer.output == "");
  CHECK(answer.code == code);
  CAPTURE(answer.errors);
  CHECK(answer.errors.find(part) != std::string::npos);
}

} // namespace tests
