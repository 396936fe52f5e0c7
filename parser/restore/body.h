// The body of one definition. Blocks are gone through by a stack, since their nesting is that of
// the program.
#pragma once

#include "parser/restore/pieces.h"

namespace parser::restoring {

class BodyRestorer : private PieceMaker {
public:
  using PieceMaker::PieceMaker;

  const surface::Function* definition(const lang::Function& function);

private:
  /// A block that is being restored, and the function or the pattern that binds what it is about.
  struct Frame {
    const lang::Block* block;
    const lang::Function* function = nullptr;
    const lang::Pattern* pattern = nullptr;
    size_t next = 0;
    size_t mark = 0;
    bool isOpen = false;
    /// Whether the blocks inside of the value that comes next are done.
    bool isEntered = false;
    std::vector<surface::Item> items = {};
  };

  void run();
  void step();
  void openFrame(Frame& frame);
  void finishFrame();
  void enter(const lang::Binding& binding);
  void bindLet(const lang::Binding& binding, const surface::Expr* value);
  Piece named(const lang::Var& var, Piece value) override;
  void reserveNames(const lang::Function& function);
  void expectNames(const lang::Binding& binding);

  std::vector<Frame> frames_;
};

} // namespace parser::restoring
