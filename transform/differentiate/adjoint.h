// Reverse mode: the adjoint of a block is the block backwards.
//
// Each variable gathers cotangents where it is used, and hands them on to the operands of its value
// where it is bound. What is known and straight needs nothing else. A branch, a match and a call
// of something that is not spliced in give, beside their value, their pull-back: a function of what
// the forward part computed, which it captures. So a derivative keeps exactly what its way back
// mentions, and the types of it can be written down.
//
// A match with one arm is no branch: all that comes after it, the way back too, stands in its arm.
// Until a block is finished that is a binding without meaning, which opens the arm. Where the way
// back follows at once, a branch that ends a block gives cotangents in place of a pull-back.
//
// Where a tensor is read in parts, its cotangent is zero but in these, which are added to what it
// has gathered, in place if nobody else holds that. For this pull-backs take the sums of such
// tensors, where there is something in them or will be, and give them back with more in them
// (adjoint_sums.cpp).
//
// A closure may be called from anywhere, so the cotangents of what it captures cannot come out of
// its pull-back. They are added up in a reference cell that is made with the closure and read where
// the way back passes its binding, which is after all calls. References are differentiated as
// cells beside them, in the exact reverse order (docs/notes/differentiation.md in docs/notes).
//
// Everything stays in one module: derivatives of globals become further globals. The module must be
// free of type parameters where derivatives pass, and of derivatives that are not written out.
#pragma once

#include "lang/ir/later_uses.h"
#include "transform/analysis/function_flow.h"
#include "transform/differentiate/cotangents.h"
#include "transform/differentiate/custom_rules.h"
#include "transform/differentiate/part_cells.h"
#include "transform/differentiate/part_reads.h"
#include "transform/differentiate/pending_derivatives.h"

#include <deque>

namespace transform {

/// What a derivative with respect to parameters of a function gives.
enum class Reverse : uint8_t {
  /// The gradient of the one float that the function gives.
  Gradient,
  /// The value, and its gradient.
  ValueAndGradient,
  /// The value, and the function from its cotangent to those of the parameters.
  PullBack,
  /// The value, and the gradient of the sum of all floats in it.
  ValueAndSumGradient
};

/// Parameters by number, and whether their cotangents come as a tuple even if it is one.
struct WithRespectTo {
  std::vector<size_t> parameters;
  bool isTuple = false;
};

/// What a call of a derivative says of its parameters.
WithRespectTo withRespectTo(const lang::Call& call, size_t parameters);

/// Makes derivatives of functions of one checked module, in it.
class Adjoint {
public:
  Adjoint(lang::Builder& make, const lang::Typing& typing, lang::Diagnostics& findings,
          SymbolicZeros& zeros);

  /// A function of the same parameters as a global or a literal. What stands in the way is
  /// reported, and the function is then of no use.
  const lang::Function* derivative(const lang::Expr& known, Reverse kind, const WithRespectTo& wrt);
  /// Whether the derivative of what a variable or global stands for can be written down: it is
  /// known, and nobody notices when it is made again.
  bool canDerive(const lang::Expr& function) const { return code_.canMakeAgain(function); }
  /// Reports that the derivative of a function over type parameters is asked for in a global.
  void refuseGeneric(const lang::Global& around) { code_.failGeneric(code_.make.range, around); }
  void refuse(lang::SourceRange range, const lang::Expr& function) {
    code_.failOf(range, function);
  }
  /// A function of the same parameters and results as a global, in which functions carry their
  /// derivatives (adjoint_carried.cpp), for a global that is free of functions in what it takes and
  /// gives. They carry what the derivatives ask for that `carryFor` was given, which are called for
  /// before; others are left for later.
  const lang::Function* carried(const lang::Global& global);
  void carryFor(std::unordered_set<const lang::Call*> derivatives);
  /// Lets derivatives compute all of the way there, in its order.
  void keepSteps() { code_.keepsSteps = true; }
  /// Writes the derivatives of globals that were called for.
  void finish();

private:
  struct Branch;
  /// What the way back needs of the way there.
  struct Step {
    lang::Atom back = nullptr;
    /// Of a branch or a call: what the pull-back gives cotangents of; null for what is no variable.
    std::vector<const lang::Var*> targets = {};
    /// The targets of which the pull-back takes the sums.
    std::vector<const lang::Var*> sums = {};
    /// Of a closure: cells with the cotangents of what it captures.
    std::vector<std::pair<const lang::Var*, lang::Atom>> cells = {};
    /// Of a write: what was there before, where its cotangent may have another form.
    lang::Atom before = nullptr;
    /// Whether the pull-back does more than give cotangents.
    bool hasEffects = false;
    /// Whether function values may be called there or back.
    bool mayCallFunctions = true;
    /// Whether the branches gave the cotangents themselves, and these.
    bool isAtOnce = false;
    std::vector<lang::Atom> parts = {};
    /// Of a call of a function with a rule of its own, whose arguments are `parts`.
    const CustomRule* rule = nullptr;
    /// Of a match: whether its arm was opened.
    bool isOpened = false;
  };
  /// The way back in the making.
  struct Way {
    lang::BlockBuilder out;
    Cotangents cotangents = {};
    /// Parameters that are what a variable outside has gathered, by its number.
    std::map<uint32_t, std::pair<const lang::Var*, lang::Var*>> sums = {};
  };
  /// A binding around the block at hand, of which the way back is a pull-back or goes on with the
  /// one around; null for a function, which has cells.
  struct Around {
    const lang::Binding* binding;
    bool isPullBack;
    PartCells* cells = nullptr;
  };
  /// A block there, and its way back as far as its own bindings go.
  struct RoundTrip {
    explicit RoundTrip(lang::Builder& make) : there(make), way{lang::BlockBuilder(make)} {}

    lang::BlockBuilder there;
    Way way;
    lang::Atom value = nullptr;
    lang::Var* incoming = nullptr;
  };
  /// The derivative that was asked for.
  struct Asked {
    const lang::Function& function;
    /// The function as a global, if it calls itself.
    const lang::Global* recursive;
    const lang::Type* type;
    bool isTuple;
    std::vector<const lang::Var*> given = {};
  };
  /// A match of one arm that holds all bindings behind it.
  struct Opening {
    lang::Atom scrutinee;
    /// What is not used of it is known at the end.
    std::function<const lang::Pattern*()> pattern;
    bool isPartial;
  };

  // Blocks there and back.
  lang::SourceRange turnBack();
  lang::Var* incomingOf(const lang::Type* type, Form form = Form::Cotangent);
  lang::Atom backOf(lang::Atom both, lang::BlockBuilder& out);
  void start(RoundTrip& trip, const lang::Block& block, const lang::Type* type,
             bool isAtOnce = false);
  lang::Atom thereAndBack(const lang::Block& block, const lang::Type* type, Way& way);
  lang::Atom lastThereAndBack(const lang::Binding& last, const lang::Type* type, Way& way);
  const lang::Block* finish(RoundTrip& trip, lang::Atom pack,
                            std::span<const lang::Var* const> sums = {});
  void open(Opening opening, lang::BlockBuilder& out);
  const lang::Block* finish(const lang::BlockBuilder& out, lang::Atom result);

  // The way there.
  lang::Atom forward(const lang::Block& block, lang::BlockBuilder& out);
  void forward(const lang::Binding& binding, lang::BlockBuilder& out);
  void forwardCall(const lang::Binding& binding, const lang::Call& call, lang::BlockBuilder& out);
  lang::Atom callThere(const lang::Expr& callee, std::span<const lang::Operand> arguments,
                       const lang::Type* type, Step& step, lang::BlockBuilder& out,
                       const lang::Binding* binding = nullptr);
  void forwardOperator(const lang::Binding& binding, const lang::Call& call,
                       const lang::OperatorRow& row, lang::BlockBuilder& out);
  void forwardCustom(const lang::Binding& binding, const lang::Call& call, lang::BlockBuilder& out);
  void forwardRuled(const lang::Binding& binding, const lang::Call& call, const CustomRule& rule,
                    lang::BlockBuilder& out);
  void forwardCheckpoint(const lang::Binding& binding, const lang::Call& call,
                         lang::BlockBuilder& out);
  void checkRepeats(const lang::Call& call);
  void forwardIf(const lang::Binding& binding, const lang::If& branch, lang::BlockBuilder& out,
                 bool isAtOnce);
  void forwardMatch(const lang::Binding& binding, const lang::Match& match, lang::BlockBuilder& out,
                    bool isAtOnce);
  bool isOpenable(const lang::Match& match) const;
  void openArm(const lang::Match& match, lang::BlockBuilder& out);
  void forwardOnlyArm(const lang::Binding& binding, const lang::Match& match,
                      lang::BlockBuilder& out);
  bool isOpen(lang::Atom record, const lang::Pattern& pattern);
  void bindPattern(const lang::Pattern& pattern, const lang::Expr& scrutinee);
  void forwardFunction(const lang::Binding& binding, const lang::Function& function,
                       lang::BlockBuilder& out);
  void forwardReference(const lang::Binding& binding, lang::BlockBuilder& out);

  // Where functions carry their derivatives.
  const lang::Block* carriedBody(const lang::Function& function);
  const lang::Block* withIdleBack(const lang::Function& function);
  void writeCarried(const PendingDerivatives::Item& pending, bool isValue);
  void forwardGradient(const lang::Binding& binding, const lang::Call& call,
                       const lang::OperatorRow& row, lang::BlockBuilder& out);
  lang::Atom chosenOf(const lang::Call& derivative, const lang::Type& function, lang::Atom gone,
                      const std::vector<lang::Atom>& values, lang::BlockBuilder& out);
  lang::Atom pullBackOf(const lang::Call& derivative, const lang::Type& function, lang::Atom back,
                        const std::vector<lang::Atom>& values, lang::BlockBuilder& out);
  lang::Atom gradientFunction(const lang::Call& derivative, const lang::OperatorRow& row,
                              const lang::Type& given, lang::BlockBuilder& out);
  const lang::Expr* gradientAt(const lang::Call& derivative, const lang::OperatorRow& row,
                               const std::vector<lang::Atom>& values, lang::BlockBuilder& out);
  const lang::Expr* gradientCall(const lang::Call& call, lang::BlockBuilder& out);

  // The way back.
  void backward(const lang::Block& block, const Cotangent& incoming, Way& way);
  void backward(const lang::Binding& binding, Way& way);
  void backwardMatch(const lang::Binding& binding, const lang::Match& match,
                     const Cotangent& incoming, Way& way);
  void backwardCall(const lang::Binding& binding, const lang::Call& call, Cotangent incoming,
                    Way& way);
  void backwardRuled(const lang::Binding& binding, const lang::Call& call,
                     const Cotangent& incoming, Way& way);
  void backwardOperator(const lang::Binding& binding, const lang::Call& call,
                        const lang::OperatorRow& row, const Cotangent& incoming, Way& way);
  void backwardConstructor(const lang::Call& call, const lang::Type* type,
                           const Cotangent& incoming, Way& way);
  void backwardUnfolded(const lang::Call& call, const lang::Constructor& constructor,
                        const lang::Type* type, lang::Atom incoming, Way& way);
  void backwardReference(const lang::Binding& binding, const Cotangent& incoming, Way& way);
  void callBack(const lang::Binding& binding, const Cotangent& incoming, Way& way);
  void callBack(const Step& step, lang::Atom incoming, Way& way);
  void readCells(const Step& step, Way& way);

  // Sums that pull-backs add to.
  bool willGather(const lang::Var& var, size_t around) const;
  lang::Var* sumParameter(const lang::Var& var, Way& way);
  lang::Atom takeSum(const lang::Var& var, bool mayCallFunctions, PartCells::Cell*& cell, Way& way);
  PartCells::Cell* cellOf(const lang::Var& var);
  void addSum(const lang::Var& var, Way& way);
  void chooseSums(const lang::Global& callee, std::span<const lang::Operand> arguments,
                  std::vector<bool>& mask, Step& step, const lang::Binding& binding);

  // Branches.
  std::vector<const lang::Block*> joinBranches(std::deque<Branch>& branches, Step& step);
  void finishBranches(const lang::Binding& binding, const lang::Expr* value, Step step,
                      lang::BlockBuilder& out);
  void giveMatched(const lang::Pattern& pattern, const lang::Expr& scrutinee, Way& way);
  void finishAtOnce(const lang::Binding& binding, const lang::Expr* value, Step step,
                    lang::BlockBuilder& out);
  Cotangent patternCotangent(const lang::Pattern& pattern, const lang::Type* type, Way& way);
  bool hasCotangent(const lang::Pattern& pattern, const Way& way) const;

  // Functions.
  void write(const PendingDerivatives::Item& pending);
  const lang::Block* pullBack(const Asked& asked);
  const lang::Block* gradient(const Asked& asked);
  lang::Atom callRecursive(const Asked& asked, Step& step, lang::BlockBuilder& out);
  lang::Atom packOf(const Asked& asked, Way& way);
  std::vector<lang::Atom> packed(std::span<const lang::Var* const> vars, Way& way);
  lang::Atom packOf(const std::vector<lang::Atom>& parts, lang::BlockBuilder& out);
  lang::Atom tupleBack(const std::vector<lang::Atom>& parts, lang::BlockBuilder& out);

  void give(const lang::Expr& atom, const Cotangent& cotangent, Way& way);
  Cotangent take(const lang::Var& var, Way& way);
  void reset();

  Translation code_;
  /// Derivatives; globals with functions that carry theirs, as they are called, and as values that
  /// nobody differentiates.
  PendingDerivatives pending_, carried_, idle_;
  std::optional<FunctionFlow> flow_;
  const PartReads partReads_;
  CustomRules custom_;
  // Of the function at hand.
  std::unordered_map<const lang::Var*, Step> steps_;
  lang::LaterUses later_;
  std::vector<Around> around_;
  /// The parameters of which its pull-back takes the sums.
  std::vector<const lang::Var*> ownSums_;
  /// Whether a way back that follows at once leaves the value too.
  bool wantsValue_ = false;
  /// Whether nothing here is differentiated, and functions carry their derivatives for others.
  bool isCarrying_ = false;
  /// Gradients that wait for their calls, by the variables that stand for them.
  std::unordered_map<const lang::Expr*, std::pair<const lang::Call*, const lang::OperatorRow*>>
      gradients_;
  /// By the bindings without meaning that stand for them.
  std::unordered_map<const lang::Var*, Opening> openings_;
  /// Records that are open in the blocks around: what was taken apart, and how.
  std::vector<std::pair<lang::Atom, const lang::Pattern*>> records_;
};

} // namespace transform
