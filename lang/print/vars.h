// What the printer knows of each variable of a module: the graph that its temporaries stand for.
// A temporary is a node of the graph; it is shown in place or as a line `%N = ...;`.
#pragma once

#include "lang/ir/walk.h"
#include "lang/print/text.h"

#include <memory>

namespace lang::printing {

struct PrintedVar {
  /// The defining expression of a temporary.
  const Expr* value = nullptr;
  /// How often it is used in what is printed.
  uint32_t uses = 0;
  /// The text of a temporary from when it is finished to when its line is written.
  std::unique_ptr<Text> text = nullptr;
  /// With its `%`; empty until a binder or a line has given one.
  std::string name = {};
  /// The temporary in whose text the line stands, or null when it stands in none.
  const Var* home = nullptr;

  bool isFinished() const { return text || !name.empty(); }
};

class PrintedVars {
public:
  PrintedVar& operator[](const Var& var);

  /// Learns the temporaries of a block or an expression and counts the uses of all variables.
  void count(const Block& root);
  void count(const Expr& root);

  /// Goes from a temporary that only renames an atom to that atom.
  const Expr* resolve(const Expr* atom);
  /// The temporary that an atom is, or nullptr for other atoms and those defined elsewhere.
  const Var* temporary(const Expr* atom);
  /// The same when the atom is its only use.
  const Var* soleTemporary(const Expr* atom);

private:
  void use(const Expr* atom);
  void enter(const Block& block);
  void countAll();

  std::vector<PrintedVar> vars_;
  std::vector<const Block*> blocks_;
  std::vector<const Expr*> values_;
};

} // namespace lang::printing
