// The names of one definition: locals that nothing they stand in scope of is called by, and names
// of definitions and operators that no local hides.
#pragma once

#include "lang/ir/module.h"
#include "lang/op/op.h"

#include <unordered_map>
#include <unordered_set>

namespace parser::restoring {

/// A name, and where it is looked for: `ops` or `prelude`, else nothing.
struct Spelling {
  std::string_view room;
  std::string_view name;
};

/// What the definitions of a module are called, which decides how operators can be.
class GlobalNames {
public:
  GlobalNames(const lang::Module& module, const lang::OperatorTable& operators);

  /// Of a definition or a constructor, of the module or of the prelude.
  Spelling of(std::string_view name) const;
  bool isConstructor(std::string_view name) const { return constructors_.contains(name); }
  bool isOwn(std::string_view name) const { return own_.contains(name); }
  bool isOperator(std::string_view name) const;
  /// Whether a form takes the place of the operator where it is called, as `fail` does.
  bool isForm(std::string_view name) const {
    return name == operators_.withRole(lang::Role::Fail).name;
  }
  /// Whether an operator of `nn` is found without that.
  bool isShort(std::string_view name) const { return !operators_.find(name.substr(3)); }

private:
  const lang::OperatorTable& operators_;
  std::unordered_set<std::string_view> own_, constructors_;
};

/// The locals of one definition, by scopes.
class LocalNames {
public:
  explicit LocalNames(const GlobalNames& globals) : globals_(globals) {}

  /// A name that no local may have.
  void reserve(std::string_view name) { reserved_.insert(name); }
  /// A name that some local has, if it can.
  void expect(std::string_view name) { expected_.insert(name); }
  bool isExpected(std::string_view name) const { return expected_.contains(name); }
  /// Gives a variable that comes into scope a name near to `hint`, of `arena`.
  std::string_view bind(lang::Arena& arena, const lang::Var& var, std::string_view hint);
  /// The same for one that has no name yet: `x1`, `x2`.
  std::string_view number(lang::Arena& arena, const lang::Var& var);
  std::string_view of(const lang::Var& var) const;
  bool isBound(const lang::Var& var) const { return !of(var).empty(); }
  /// `relu` where the look-up finds it, `nn.relu`, and in `ops` where something else may be called
  /// by that name.
  Spelling ofOperator(std::string_view name) const;

  size_t mark() const { return scope_.size(); }
  void leave(size_t mark);

private:
  bool isTaken(std::string_view name) const {
    return visible_.contains(name) || reserved_.contains(name);
  }
  std::string numbered(std::string_view prefix);
  std::string_view enter(lang::Arena& arena, const lang::Var& var, std::string_view name);

  const GlobalNames& globals_;
  std::vector<std::string_view> names_;
  std::vector<std::string_view> scope_;
  std::unordered_set<std::string_view> visible_, reserved_, expected_;
  std::unordered_map<std::string_view, size_t> counts_;
};

} // namespace parser::restoring
