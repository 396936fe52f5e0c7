// A profile of a run of the machine: from places in the code to what a text calls them.
#pragma once

#include "vm/machine/observer.h"
#include "vm/profile/recorder.h"

namespace bytecode {

/// Puts the functions and sites of a program into a recorder, and watches a run with it. Instances
/// of one function, and of one call of an operator, are one subject.
class Profiler {
public:
  /// What is shown of a program: where a range is, and what a text calls the function there, given
  /// what the program calls it.
  struct Texts {
    std::function<std::string(runtime::SourceRange)> place = {};
    std::function<std::string(const std::string& name, runtime::SourceRange)> function = {};
  };

  /// All but the texts must outlive this.
  Profiler(const vm::Program& program, profile::Recorder& recorder, const Texts& texts);
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  const vm::Observer& observer() const { return observer_; }

private:
  profile::Recorder& recorder_;
  vm::Observer observer_;
  /// Of functions by where their code starts, and of sites by their numbers.
  std::vector<uint32_t> functionsAt_, sites_;
};

} // namespace bytecode
