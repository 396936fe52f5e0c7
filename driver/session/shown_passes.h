// The program after passes, as people ask to see it.
#pragma once

#include "driver/session/answer.h"
#include "driver/session/options.h"
#include "driver/session/session.h"

#include <map>

namespace driver {

/// What ends a command whose answer is the program after a pass.
struct StoppedAfterPass {};

/// A program that passes made, as a whole text.
std::string passedText(const Session& session, const lang::Module& module);

/// Counts passes by their names. The label of one is its name, and from its second time on its name
/// and the number, as in `inlining:2`.
class PassCounter {
public:
  std::string label(std::string_view pass);
  /// How often a pass was run so far.
  size_t count(std::string_view pass) const;

private:
  std::map<std::string, size_t, std::less<>> counts_;
};

/// Shows what a view asks for, of all passes that are run while this lives.
class ShownPasses {
public:
  /// All must outlive this. Names that are no passes are an error of the answer.
  ShownPasses(Session& session, const PassView& view, Answer& answer);
  ~ShownPasses();
  ShownPasses(const ShownPasses&) = delete;
  ShownPasses& operator=(const ShownPasses&) = delete;

  /// Whether all names are passes.
  bool isGood() const { return isGood_; }
  /// Refuses names of passes that were not run; false where there are some.
  bool end();

private:
  void after(std::string_view pass, const lang::Module& module);
  void demandSeen(std::string_view option, const std::string& name);

  Session& session_;
  const PassView& view_;
  Answer& answer_;
  PassCounter counter_;
  /// Labels of the passes that were run.
  std::vector<std::string> seen_;
  bool isGood_ = true;
};

/// Whether there is a pass of that name; where not, the answer says so.
bool isPass(std::string_view name, Answer& answer);

} // namespace driver
