// A profile of a run of the machine: from places in the code to what a text calls them.
#pragma once

#include "profile/recorder.h"
#include "vm/observer.h"

namespace bytecode {

/// Puts the functions and sites of a program into a recorder, and watches a run with it. Instances
/// of one function, and of one call of an operator, are one subject.
class Profiler {
public:
  /// `placeText` says where a range is. All but the function must outlive this.
  Profiler(const vm::Program& program, profile::Recorder& recorder,
           const std::function<std::string(runtime::SourceRange)>& placeText);
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
