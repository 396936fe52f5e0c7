// The variable is a phi of the head; what the body makes is not known behind the loop.
#include "codegen/llvm/counted_loop.h"

#include <fmt/format.h>

namespace codegen {

void writeCountedLoop(FunctionText& text, Positions& positions, Name variable, const IrValue& begin,
                      const IrValue& end, uint32_t step, const std::function<void()>& body) {
  std::string head = text.newLabel(), inside = text.newLabel(), next = text.newLabel(),
              after = text.newLabel();
  std::string from = text.block();
  text.jump(head);
  text.open(head);
  std::string advanced = "%n" + next;
  IrValue at = text.addOnce(
      {}, fmt::format("phi i64 [ {}, %{} ], [ {}, %{} ]", begin.text, from, advanced, next));
  text.branch(text.compare("icmp slt", at, end), inside, after);
  text.open(inside);
  positions.bind(variable, at);
  body();
  positions.forget(variable);
  text.jump(next);
  text.open(next);
  text.addLine(fmt::format("{} = add nsw i64 {}, {}", advanced, at.text, step));
  text.jump(head);
  text.open(after);
}

} // namespace codegen
