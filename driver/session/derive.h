// Derivatives before a run: those that the program asks for, and those of its entry.
#pragma once

#include "driver/session/answer.h"
#include "driver/session/options.h"
#include "driver/session/session.h"
#include "transform/run_passes.h"

namespace driver {

/// What `grad`, `run --grad` and `--fix` do to a program beside passes.
namespace steps {
inline constexpr std::string_view derivative = "derivative", namedLets = "named-lets",
                                  entryGradient = "entry-gradient", nextGradient = "next-gradient",
                                  fixedInputs = "fixed-inputs";
inline constexpr std::string_view names[] = {derivative, namedLets, entryGradient, nextGradient,
                                             fixedInputs};
} // namespace steps

/// The parameters of the entry that get a gradient when the options ask for gradients.
std::vector<std::string> namesWithGradient(const lang::Global& entry, const Program& program,
                                           const RunOptions& options);

/// Writes out all derivatives of a good program, so that it can run. If the options ask for
/// gradients, the last global of the module then gives the value of the only entry and its
/// gradients; if somebody follows the run, its steps are kept. False when the answer says what
/// stands in the way.
bool writeOutDerivatives(Session& session, Program& program, transform::Entries entries,
                         const RunOptions& options, const Look& look, Answer& answer);

/// A good program in a file, without derivatives that are still to be written out, and the names of
/// its entries.
struct ReadyProgram {
  Program program;
  std::vector<std::string> entries;
};

/// Makes one, with the entries that options `--entry` name, or `main`, once `first` did to it what
/// comes before derivatives; nothing when the answer says what stands in the way.
std::optional<ReadyProgram> loadReady(Session& session, Input input,
                                      std::span<const std::string> entries, const Look& look,
                                      Answer& answer, bool isFollowed = false,
                                      const std::function<bool(ReadyProgram&)>& first = {});

/// The gradients of an entry that are to be added to a program, one order after the other.
struct GradientOrders {
  /// The entry, and once orders are written what gives those of the last one.
  std::string global;
  unsigned wanted = 0;
  unsigned written = 0;
  /// As in transform::withEntryGradient.
  bool mayGoForward = false;

  std::string_view step() const { return written ? steps::nextGradient : steps::entryGradient; }
};

/// The module with one more global, which is last: what gives the gradients of the next order.
std::unique_ptr<lang::Module> withNextOrder(const lang::Module& module,
                                            const transform::PassContext& context,
                                            const GradientOrders& orders);

/// A program on its way through the passes that make derivatives.
class Derivation {
public:
  Derivation(Session& session, Program& program) : session_(session), program_(program) {}

  /// Writes out the derivatives that calls of `entries` ask for.
  bool writeOut(transform::Entries entries);
  /// The same for a program whose steps somebody follows: what no derivative reaches stays as it
  /// is, and the way there does what the functions do, in their order.
  bool writeOutSteps(transform::Entries entries);
  /// Goes on with what a step of that name makes of the module.
  bool add(std::string_view name, transform::StepFunction make);
  /// Adds a function, the last one, that gives what `entry` gives with its gradients of an order.
  /// Each order is made of the one before as simply as passes can say it, else its size would
  /// double.
  bool addGradient(std::string_view entry, unsigned order);
  /// Says everything as simply as passes can, and leaves out what `entry` does not reach.
  bool clean(std::string_view entry);

  /// What stands in the way, once something answered false.
  lang::Diagnostics findings;

private:
  bool run(const transform::Pipeline& pipeline, transform::Entries entries);
  bool goOn(runtime::Checked<transform::TypedModule> made);

  Session& session_;
  Program& program_;
  /// The program as it came, once there is another one.
  std::unique_ptr<lang::Module> written_;
};

} // namespace driver
