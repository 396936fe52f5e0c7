// Inference of one group of definitions, in rounds: a walk, what it found settled and written down,
// and again while that changes what others take.
#pragma once

#include "typecheck/mentions.h"
#include "typecheck/walk.h"

namespace typecheck {

/// Infers the types of a group, and of one after the other.
class Inference {
public:
  Inference(Checking& checking, lang::Diagnostics& diagnostics);

  /// Begins with a group; all that was known of another one is forgotten.
  void start(std::vector<const lang::Global*> group);
  /// Goes on until the types of the group are written down, or instances of open definitions are
  /// needed first; false then.
  bool advance();
  /// The instances that are needed first.
  std::span<Instance* const> needed() const { return group_.relations.neededInstances(); }

private:
  void walk();
  bool solveAll();
  bool isLeftOpen();
  bool hasOpenLiteral();
  bool finishRound();
  void tellJoined();

  Group group_;
  GroupSizes sizes_;
  Mentions mentions_;
  Walk walk_;
  /// Rounds that were begun; a later one starts from the types that the last one found.
  int rounds_ = 0;
  bool isWalked_ = false;
  /// What was counted when the round began.
  struct Counts {
    size_t errors = 0, findings = 0;
    uint64_t weakened = 0;
  };
  Counts before_;
};

} // namespace typecheck
