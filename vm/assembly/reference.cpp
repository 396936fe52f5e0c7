// Made of vm/machine/instructions.def alone, so nothing here names an instruction.
#include "vm/assembly/reference.h"

#include "vm/machine/operands.h"

#include <fmt/format.h>

namespace assembly {

namespace {

using vm::OperandKind;

struct KindText {
  std::string_view name, meaning;
};

/// By kind; one without a name takes no place in a text.
constexpr KindText kinds[] = {
    {"", ""},
    {"out", "a register that gets a scalar"},
    {"in", "a register with a scalar"},
    {"owned", "a register that gets an owned reference"},
    {"ref", "a register with a reference, which is looked at"},
    {"lent", "a register that gets a borrowed reference"},
    {"taken", "a register with an owned reference, which is given up"},
    {"memory", "a register with the memory of a dead object, or `_`"},
    {"", ""},
    {"layout", "the number of a layout"},
    {"tag", "the place of a constructor in its type"},
    {"count", "a number without a sign"},
    {"signature", "the number of a signature"},
    {"function", "a function"},
    {"site", "the number of a site"},
    {"static", "the number of an object of the program"},
    {"word", "the number of a word of the program"},
    {"window", "the first register of those of a call; all from there on are given up"},
    {"short", "a number of 16 bits"},
    {"long", "a number of 32 bits"},
    {"target", "a place within 32,767 words"},
    {"place", "any place of the function"},
    {"[fields]", "a register for each field of the layout, or `_`"},
    {"[operands]", "a register for each operand of the site"},
    {"[arms]", "a place for each constructor of the type"},
};
static_assert(std::size(kinds) == size_t(OperandKind::Arms) + 1);

std::string operandsText(const vm::InstructionRow& row) {
  std::string text;
  auto add = [&](std::string_view operand) {
    if (!operand.empty())
      text += fmt::format("{}{}", text.empty() ? "" : ", ", operand);
  };
  add(kinds[size_t(row.a)].name);
  add(kinds[size_t(row.b)].name);
  if (!vm::isWide(row.b))
    add(kinds[size_t(row.c)].name);
  if (row.hasWord)
    add("more");
  add(kinds[size_t(row.tail)].name);
  return text;
}

} // namespace

std::string instructionReference() {
  std::string text =
      "# Instructions\n\nMade from `vm/machine/instructions.def` by `baton instructions`; "
      "`baton disasm FILE` shows those of a program.\nThe letters a, b and c are "
      "the operands in their order, but for the list and what stands behind as "
      "*more*.\n\n| operand | what it is |\n|---|---|\n";
  for (KindText kind : kinds)
    if (!kind.name.empty())
      text += fmt::format("| {} | {} |\n", kind.name, kind.meaning);
  text += "| more | what the instruction's sentence says besides |\n"
          "\n| instruction | operands | what it does |\n|---|---|---|\n";
  for (uint16_t op = 0; op < vm::opCount; ++op) {
    const vm::InstructionText& words = vm::instructionText(vm::Op(op));
    text += fmt::format("| `{}` | {} | {} |\n", words.text,
                        operandsText(vm::instructionRow(vm::Op(op))), words.doc);
  }
  return text;
}

} // namespace assembly
