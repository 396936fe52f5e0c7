// The first pass after which a program means something else, and where in the program it does.
//
// Passes keep the value of a program and may remove a fault, but never add one. So the program is
// run by the interpreter after each pass, and after each step inside of one that tells of them.
// Where derivatives are not written out yet, they are first, from the code as it is where that can
// be done; their floats may then differ by roundings.
#pragma once

#include "driver/session/derive.h"
#include "driver/session/session.h"
#include "interp/interpret.h"
#include "transform/run_passes.h"

namespace driver {

class Bisection {
public:
  /// A program before all passes, what is called of it, and with what. Passes add gradients of
  /// `order` on their way, or none where that is 0. The session must outlive this.
  Bisection(Session& session, const lang::Module& module, const lang::Typing& typing,
            std::string entry, std::vector<runtime::Value> arguments, interp::Options how,
            unsigned order = 0);

  /// Takes what a pass or a step of one gave; the first one that is wrong ends the search.
  void look(std::string_view pass, const lang::Module& module, const lang::Typing& typing);
  /// Takes a pass whose result is wrong by itself.
  void refuse(const transform::PassFault& fault);

  /// Whether a pass is wrong.
  bool isFound() const { return isFound_; }
  /// Whether some run came to an end, so that passes could be compared.
  bool isCompared() const { return good_.end.has_value(); }
  /// After which passes the program could not be run, for people.
  const std::string& notes() const { return notes_; }
  /// What came out.
  std::string report() const;

private:
  /// How a run ended; nothing where the program cannot be run as it is.
  struct Outcome {
    std::optional<std::variant<runtime::Value, runtime::RunFault>> end = {};
    /// For people; without an end, why there is none.
    std::string text = {};
    /// Whether derivatives were written out for this run alone.
    bool isDerived = false;
    /// What ran, which has the constructors that the value was made by.
    std::shared_ptr<const lang::Module> module = {};
  };

  /// The own definitions of a program as texts, by their names.
  struct Definitions {
    using Named = std::pair<std::string, std::string>;
    std::vector<Named> types, globals;
    /// Whether the texts say all.
    bool isWhole = true;

    const std::string* find(std::string_view global) const;
  };

  Outcome outcomeOf(const lang::Module& module, const lang::Typing& typing) const;
  /// That of a module without derivatives to be written out, once it has all gradients.
  Outcome gradientOf(const lang::Module& module, const lang::Typing& typing) const;
  Outcome endOf(const lang::Module& module, const std::string& called) const;
  Definitions definitionsOf(const lang::Module& module) const;
  /// Whether the program is wrong where it ends so.
  bool isWrong(const Outcome& now) const;
  /// Which definitions of a wrong result differ, and the first one that matters.
  void blame(const Definitions& after, bool isIllTyped);
  /// Whether a program is wrong in which the first `count` of `changed` are as after the pass.
  bool isWrongWith(const Definitions& after, const std::vector<std::string>& changed, size_t count,
                   bool isIllTyped) const;

  Session& session_;
  std::string entry_;
  GradientOrders gradients_;
  std::vector<runtime::Value> arguments_;
  interp::Options how_;
  Outcome good_;
  Definitions before_;
  /// Passes behind the last one after which the program was run.
  std::vector<std::string> skipped_;
  size_t compared_ = 0;
  std::string notes_, found_;
  bool isFound_ = false;
};

} // namespace driver
