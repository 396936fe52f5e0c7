// Which functions come to be differentiated, by derivatives of functions that only a run knows.
//
// Values that may be the same are put in one class: what is bound to, stored in or taken out of
// what (unification, so each binding is looked at once). A class is that of all functions in its
// values, however deep in tuples, data or references. So the answer may be yes for a function that
// nobody differentiates, and is never no for one that somebody does.
#pragma once

#include "lang/ir/module.h"
#include "lang/ir/typing.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace transform {

class FunctionFlow {
public:
  /// Of all derivatives in the program, those of `asked` count.
  FunctionFlow(const lang::Module& module, const lang::Typing& typing,
               std::unordered_set<const lang::Call*> asked);

  bool isAsked(const lang::Call& derivative) const { return asked_.contains(&derivative); }
  /// Whether a derivative that counts may be one of the function, or of one that calls it.
  bool isDifferentiated(const lang::Function& function) const {
    return differentiated_.contains(&function);
  }
  /// Whether what a call of a derivative gives may be differentiated once more.
  bool isDifferentiated(const lang::Call& derivative) const {
    return differentiatedTwice_.contains(&derivative);
  }

private:
  using Class = size_t;
  struct Values {
    Class parent;
    std::vector<const lang::Function*> functions = {};
    std::vector<const lang::Call*> derivatives = {};
    /// Of calls, once there is one or a function is known.
    std::vector<Class> parameters = {};
    std::optional<Class> result = {};
    bool isDifferentiated = false;
  };

  Class fresh();
  Class find(Class values);
  void unify(Class left, Class right);
  Class of(const lang::Expr& atom);
  Class ofFunction(const lang::Function& function);
  Class ofMention(const lang::Function& function);
  Class ofConstructor();
  Class parameter(Class callee, size_t number);
  Class result(Class callee);
  bool mayHold(const lang::Expr& atom) const;
  bool takesFunctions(const lang::Function& function) const;
  void join(const lang::Expr& left, const lang::Expr& right);
  void joinWith(Class values, const lang::Expr& atom);

  void look(const lang::Function& function);
  void look(const lang::Binding& binding, const lang::Function& around);
  void lookAtCall(const lang::Binding& binding, const lang::Call& call,
                  const lang::Function& around);
  void lookAtOperator(const lang::Binding& binding, const lang::Call& call,
                      const lang::OperatorRow& row, const lang::Function& around);
  void spread();

  const lang::Typing& typing_;
  const std::unordered_set<const lang::Call*> asked_;
  std::vector<Values> classes_;
  std::unordered_map<const lang::Expr*, Class> ofVars_;
  std::unordered_map<const lang::Function*, Class> ofFunctions_;
  /// What the body of a function calls itself.
  std::unordered_map<const lang::Function*, std::vector<Class>> callees_;
  std::vector<const lang::Function*> open_;
  std::unordered_set<const lang::Function*> differentiated_;
  std::unordered_set<const lang::Call*> differentiatedTwice_;
};

} // namespace transform
