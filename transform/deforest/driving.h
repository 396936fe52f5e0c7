// Driving: writing the code that a call with known arguments runs, with nothing built that is taken
// apart at once (Wadler, Deforestation; Turchin's and Sorensen's supercompilation).
//
//   @foldl(f, %acc, @map(g, %xs))   is a call of the residual function
//
//   def @foldl_map(%acc, %xs) {
//     match (%xs) {
//       Cons(%x, %rest) => @foldl_map(f(%acc, g(%x)), %rest),
//       Nil => %acc,
//     }
//   }
//
// A call is unfolded, and a match on a call unfolds that one too, with the match as what comes next
// (`Next`) at every end of its body. An end that is a constructor decides the match and is not
// made. An end that is another call becomes the argument of the call around it, and that, known up
// to the names of its variables, is folded: a call of the residual function that there is or will
// be. So each configuration is written once, and limits on how deep they nest bound their number.
//
// Everything that is driven must be quiet (transform/analysis/quiet_code.h): it runs later than it
// stands, or never, but not twice.
#pragma once

#include "transform/deforest/chain_facts.h"

#include <deque>
#include <functional>
#include <map>
#include <set>

namespace transform {

/// A function that driving wrote, in the words of the old module. `name` stands for it in calls.
struct Residual {
  lang::Global* name;
  const Term* call = nullptr;
  std::vector<const lang::Var*> parameters = {};
  /// Those of the definition around the chain that its types mention.
  std::vector<const lang::TypeParameter*> generics = {};
  const lang::Function* function = nullptr;
};

class Driving {
public:
  /// `scratch` makes nodes whose variables are none of the old module's.
  Driving(ChainFacts& facts, lang::Builder& scratch);

  /// The value that a call of a residual function stands for, or null where driving finds nothing
  /// that need not be built. Its arguments are atoms that the call's parts mention.
  const lang::Call* fused(const Term& call);
  std::span<const Residual> residuals() const { return residuals_; }

  /// What an atom is at a place.
  const Term* lookUp(const lang::Expr& atom, const CodePlace& place);
  /// A call of a known function: of a global, a constructor, or a literal; null for any other.
  const Term* callOf(const lang::Binding& binding, const CodePlace& place);

private:
  /// What is done with a value that is known as far as it can be, at the end of some code.
  using Next = std::function<lang::Atom(const Term* value, lang::BlockBuilder& out)>;
  /// The rest of a match: its arms' patterns for what is looked at, `columns`, in turn.
  struct Row {
    std::vector<const lang::Pattern*> patterns;
    const lang::Arm* arm;
  };
  struct Choice {
    std::vector<Row> rows;
    std::vector<const Term*> columns;
    CodePlace place;
    const Term* entry = nullptr;
    /// Columns that were driven and are no constructors.
    std::set<const Term*> opaque = {};
  };
  /// Counts how deep driving is in itself, and gives up where it is too deep.
  class Deeper {
  public:
    explicit Deeper(size_t& depth);
    ~Deeper() { --depth_; }

  private:
    size_t& depth_;
  };
  void countStep();

  // Code.
  lang::Atom block(const lang::Block& block, CodePlace place, lang::BlockBuilder& out,
                   const Next& next, const Term* entry);
  const Term* step(const lang::Binding& binding, const CodePlace& place, lang::BlockBuilder& out,
                   const Term* entry);
  const Term* operatorCall(const lang::Call& call, const lang::Type* type, const CodePlace& place,
                           lang::BlockBuilder& out);
  lang::Atom run(const Term& suspended, lang::BlockBuilder& out, const Next& next);
  const Term* opened(const Term* term, lang::BlockBuilder& out);
  lang::Atom force(const Term* term, lang::BlockBuilder& out, const Next& next);
  lang::Atom unfold(const Term& call, lang::BlockBuilder& out, const Next& next);
  const Scope* bound(const Scope* outer, const lang::Var& var, const Term* term,
                     lang::BlockBuilder& out);
  const Term* spread(const Term* term, size_t uses, lang::BlockBuilder& out);

  // Matches.
  lang::Atom choose(Choice choice, lang::BlockBuilder& out, const Next& next);
  lang::Atom take(const Choice& choice, lang::BlockBuilder& out, const Next& next);
  lang::Atom drive(Choice choice, size_t column, lang::BlockBuilder& out, const Next& next);
  static bool isNamedAndOpened(const Choice& choice, size_t column);
  lang::Atom decide(Choice choice, size_t column, lang::BlockBuilder& out, const Next& next);
  lang::Atom ask(const Choice& choice, size_t column, lang::BlockBuilder& out, const Next& next);
  const Term* replaced(const Term* call, const Term* old, const Term* by);

  // Values.
  lang::Atom made(const Term* term, lang::BlockBuilder& out);
  lang::Atom madeCall(const Term& call, lang::BlockBuilder& out);
  lang::Atom madeClosure(const Term& closure, lang::BlockBuilder& out);
  const Term* atom(lang::Atom atom, const lang::Type* type);
  const Term* held(const Term* term, lang::BlockBuilder& out);
  const Term* field(const Term& tuple, uint32_t index, const lang::Type* type,
                    lang::BlockBuilder& out);
  const Term* typed(const Term* term, const lang::Type* type);
  std::vector<const lang::Type*> fieldTypes(const lang::Constructor& constructor,
                                            const lang::Type& type);
  const lang::Type* typeAt(const lang::Type* type, const CodePlace& place) const;

  // Configurations.
  struct Configuration;
  const Term* settled(const Term* term, bool mayStay, size_t level, lang::BlockBuilder& out);
  const Term* settledCall(const Term& call, size_t level, lang::BlockBuilder& out);
  const Term* abstracted(const Term* term, Configuration& of, size_t level);
  const lang::Call* foldedCall(const Term& settled);
  void write(size_t number);
  std::string name(const Term& call);
  bool isQuiet(const Term& term, size_t level);

  ChainFacts& facts_;
  lang::Builder& make_;
  std::deque<Scope> scopes_;
  std::vector<Residual> residuals_;
  std::map<std::string, size_t> byKey_;
  std::set<std::string> names_;
  /// How many numbers were given to a name.
  std::map<std::string, size_t> nameCounts_;
  /// Of the chain at hand.
  size_t deepestNest_ = 0;
  size_t firstResidual_ = 0;
  size_t steps_ = 0;
  size_t depth_ = 0;
  /// How many values need not be built.
  size_t saved_ = 0;
  /// Steps for all chains.
  size_t work_ = 0;
};

} // namespace transform
