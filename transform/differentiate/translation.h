// From the code that is differentiated to the new code: which atom stands for which variable, what
// depends on what is differentiated, and what is written as it was. Both modes share it.
#pragma once

#include "lang/ir/typing.h"
#include "lang/source/diagnostic.h"
#include "transform/analysis/effects.h"
#include "transform/differentiate/derivative_types.h"
#include "transform/differentiate/usefulness.h"

#include <functional>

namespace transform {

/// Calls `visit` for every operand of a value, inside of its blocks too.
void forEachOperandWithin(const lang::Expr& value,
                          const std::function<void(const lang::Expr&)>& visit);

/// What a function is made of: bindings that may be evaluated once more, each after those that it
/// needs, and what they capture beside.
struct Origin {
  std::vector<const lang::Binding*> made = {};
  std::vector<const lang::Var*> captured = {};
  /// A function that only a run knows, if there is one.
  const lang::Var* unknown = nullptr;
};

class Translation {
public:
  Translation(lang::Builder& builder, const lang::Typing& ofOld, lang::Diagnostics& sink, Mode mode,
              SymbolicZeros* zeros = nullptr);
  Translation(const Translation&) = delete;
  Translation& operator=(const Translation&) = delete;

  lang::Builder& make;
  const lang::Typing& typing;
  lang::Diagnostics& findings;
  DerivativeTypes types;
  /// What of the old code the derivative can hang on.
  const Usefulness useful;
  /// What the mode does: writes a binding that varies into the root block, and gives the derivative
  /// of a global with respect to the parameters of a mask.
  std::function<void(const lang::Binding&)> writeAtRoot;
  std::function<const lang::Global*(const lang::Global&, std::vector<bool>)> derivativeOf;

  /// Whether all of the way there is computed, in its order, also what nothing needs.
  bool keepsSteps = false;

  // Of the function at hand.

  /// The block that is around all others.
  lang::BlockBuilder* root = nullptr;
  /// By variables of the old code: whether the new code has to follow them.
  std::unordered_map<const lang::Var*, bool> varied;

  /// Forgets the function at hand.
  void reset();
  lang::Atom& known(const lang::Var& var) { return atoms_[&var]; }
  bool isKnown(const lang::Var& var) const { return atoms_.contains(&var); }

  const lang::Type* typeOf(const lang::Expr& atom) const;
  const lang::OperatorRow* rowOf(const lang::Call& call) const {
    return calledOperator(call, typing);
  }
  /// The attributes of a call of an operator; a call through a variable has the defaults.
  const lang::Attributes& attributesOf(const lang::Call& call);
  bool isVaried(const lang::Expr& atom) const;
  /// Whether a binding gives something useful that depends on what is differentiated, or touches
  /// functions and references, which may lead to that.
  bool isVaried(const lang::Binding& binding) const;

  /// What stands for an atom in the new code.
  lang::Atom mapped(const lang::Expr& atom);
  std::vector<lang::Atom> mapped(std::span<const lang::Operand> operands);
  /// The parameters of a function as they are in the old code, for one that people call.
  std::vector<const lang::Var*> primalParameters(const lang::Function& function);
  /// A parameter with the name of an old one.
  lang::Var* parameter(const lang::Var& old, const lang::Type* type);
  /// A variable of a pattern for an old one.
  lang::Var* patternVar(const lang::Var& old);
  /// Binds what stands for an old variable, under its name, and with the type that the program
  /// declares if there is one.
  void bindAs(const lang::Binding& old, const lang::Expr* value, lang::BlockBuilder& out,
              bool isDeclared = true);
  /// Lets an atom of the new code stand for an old variable; where steps are kept, under its name.
  void nameAs(const lang::Binding& old, lang::Atom atom, lang::BlockBuilder& out);
  /// Writes a binding as it was.
  void copy(const lang::Binding& binding, lang::BlockBuilder& out);
  /// A value without blocks over the atoms of the new code.
  const lang::Expr* rebuilt(const lang::Expr& value);

  /// The pattern over constructors and variables of the new code.
  const lang::Pattern* dualPattern(const lang::Pattern& pattern, const lang::Type* type);
  /// What stands for a variable of a pattern, or for `_`, which becomes that variable.
  lang::Atom named(const lang::Pattern& pattern, lang::Atom variable);
  /// The value that a pattern took apart, put together; `_` gets a variable for it.
  lang::Atom takenApart(const lang::Pattern& pattern, const lang::Type* type,
                        lang::BlockBuilder& out);

  /// Whether a function can be made anew somewhere else in the form of the new code: what it is and
  /// what it captures is known, and nobody notices when that is evaluated once more.
  bool canMakeAgain(const lang::Expr& function) const;
  /// What a function is made of where `plain` makes it.
  Origin originOf(const lang::Expr& function) const;
  /// The same, with what functions from outside of the function at hand are made of.
  Origin deepOriginOf(const lang::Expr& function) const;
  /// Whether the old code writes into references.
  bool writesReferences() const { return writesReferences_; }
  /// What a value is in the old code, within the new one: functions without their derivatives
  /// (plain_functions.cpp). Null where a function cannot be made anew.
  lang::Atom plain(const lang::Expr& atom, lang::BlockBuilder& out);
  /// Whether nothing but `plain` asks for a function, and it answers.
  bool isOnlyPlain(const lang::Var& var) const;
  /// The operator of a call that says how to differentiate its operand, which a variable is bound
  /// to, and the call; null for any other variable.
  const lang::Call* ruleOf(const lang::Expr& atom) const;
  /// Whether a variable is used other than as what is called.
  bool isPassedOn(const lang::Var& var) const;

  /// Reports that the derivative of `what` is not known.
  void fail(lang::SourceRange range, const lang::Words& what);
  void failOf(lang::SourceRange range, const lang::Expr& function, std::string_view where = {});
  /// Reports that a definition has type parameters, and therefore no derivative, where it is used.
  void failGeneric(lang::SourceRange range, const lang::Global& global);

private:
  /// What the program declares a variable to be, in the new code; null when it says nothing.
  const lang::Type* declared(const lang::Var& old);
  bool isMadeAgain(const lang::Var& var) const;
  Origin originOf(const lang::Expr& function,
                  const std::function<bool(const lang::Var&)>& isGiven) const;
  bool isGivenPlain(const lang::Var& var) const;
  lang::Atom givenPlain(const lang::Var& var, lang::BlockBuilder& out);
  lang::Atom outside(const lang::Var& var);
  lang::Atom copied(const lang::Expr& atom);
  const lang::Expr* rebuilt(const lang::Expr& value,
                            const std::function<lang::Atom(const lang::Expr&)>& standingFor);

  Effects effects_;
  /// How often a variable is used in the old code: at all, as what is called, and by those who
  /// want it as it is.
  struct Uses {
    size_t all = 0;
    size_t called = 0;
    size_t plain = 0;
  };
  void countUses(const lang::Expr& value);

  std::unordered_map<const lang::Expr*, Uses> uses_;
  bool writesReferences_ = false;
  /// The bindings of all variables of the module that have one.
  std::unordered_map<const lang::Var*, const lang::Binding*> definitions_;
  std::unordered_map<const lang::Var*, lang::Atom> atoms_;
  /// Parameters that hold functions and are given in the form of the old code.
  std::unordered_map<const lang::Var*, lang::Atom> primal_;
  /// Variables from outside of the function at hand that the new code was given, as they were.
  std::unordered_map<const lang::Var*, lang::Atom> outside_;
  /// Variables for `_`.
  std::unordered_map<const lang::Pattern*, lang::Atom> wildcards_;
};

} // namespace transform
