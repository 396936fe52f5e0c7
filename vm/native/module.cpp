// Functions are written twice where they turn out to have floats, which need variables of their
// own.
#include "vm/native/module.h"

#include "vm/native/write_calls.h"

#include <algorithm>

namespace vm::native {

namespace {

/// What a module may have, so that compiling it takes seconds at most.
constexpr size_t mostWords = 200'000, mostRegisters = 2'000;

std::string functionText(const Program& program, const std::vector<bool>& jumps, uint32_t number) {
  FunctionWriter whole(program, jumps, number, false);
  std::string text = whole.write();
  return whole.usesFloats() ? FunctionWriter(program, jumps, number, true).write() : text;
}

/// The functions that others go on with in their place, and those; a closure may be called so from
/// anywhere.
std::vector<bool> jumping(const Program& program) {
  std::vector<bool> jumps(program.functions.size());
  for (uint32_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.functions[i];
    if (function.isClosure)
      jumps[i] = true;
    for (uint32_t at = function.start; at < function.start + function.size;
         at += uint32_t(wordCount(program, &program.code[at]))) {
      const Word& word = program.code[at];
      const InstructionRow& row = instructionRow(Op(word.op));
      bool isTail = row.b == OperandKind::Function && row.a != OperandKind::Window;
      if (isTail && wide(word) != i)
        jumps[i] = jumps[wide(word)] = true;
      if (Op(word.op) == Op::TailCallClosure)
        jumps[i] = true;
    }
  }
  return jumps;
}

std::string refuelText() {
  return fmt::format("define internal preserve_allcc i64 @{}(i64 %at, ptr %top, i64 %room) "
                     "nounwind noinline cold {{\n"
                     "  %helper = load ptr, ptr getelementptr (i8, ptr @context, i64 {})\n"
                     "  %fuel = call i64 %helper(ptr @context, i64 %at, ptr %top, i64 %room)\n"
                     "  ret i64 %fuel\n}}\n\n",
                     refuelName, offsetof(NativeContext, helpers.refuel));
}

/// Takes arguments from the window, as if this function had been called with registers there, and
/// puts the result there; the fields of a tuple are there already.
std::string entryText(const Program& program, const std::vector<bool>& jumps, uint32_t number) {
  const Function& function = program.functions[number];
  codegen::FunctionText text;
  std::string window =
      text.add(wordType, fmt::format("load ptr, ptr getelementptr (i8, ptr @context, i64 {})",
                                     offsetof(NativeContext, window)))
          .text;
  std::vector<IrValue> arguments;
  auto take = [&](IrType type) {
    std::string place = text.add(wordType, fmt::format("getelementptr i64, ptr {}, i64 {}", window,
                                                       arguments.size()))
                            .text;
    arguments.push_back(text.addOnce(type, fmt::format("load {}, ptr {}", textOf(type), place)));
  };
  for (const Rep& rep : function.parameters)
    take(passedAs(rep));
  if (function.isClosure)
    take(wordType);
  std::string type = resultType(function.result);
  std::string all =
      text.addOnce(wordType,
                   fmt::format("call {} {} @{}({})", jumps[number] ? "tailcc" : "ccc", type,
                               nameOf(number), argumentList(arguments, "%fuel", "%top", "poison")))
          .text;
  if (function.flat.empty()) {
    IrType given = passedAs(function.result);
    IrValue result = text.add(given, fmt::format("extractvalue {} {}, 0", type, all));
    text.addLine("store i64 0, ptr " + window);
    text.addLine(fmt::format("store {}, ptr {}", typed(result), window));
  }
  IrValue left = text.add(wordType, fmt::format("extractvalue {} {}, 1", type, all));
  return fmt::format("define i64 @{}(i64 %fuel, ptr %top) nounwind {{\n{}  ret {}\n}}\n\n",
                     enterName(number), text.body(), typed(left));
}

} // namespace

std::string enterName(uint32_t function) {
  return fmt::format("enter{}", function);
}

std::vector<std::string> entryNames(const Program& program) {
  std::vector<std::string> names{std::string(contextName)};
  for (uint32_t i = 0; i < program.functions.size(); ++i)
    names.push_back(nameOf(i));
  for (uint32_t i = 0; i < program.functions.size(); ++i)
    names.push_back(enterName(i));
  return names;
}

std::string moduleOf(const Program& program) {
  if (program.code.size() > mostWords)
    throw NotCompiled("a program that is very long");
  for (const Function& function : program.functions)
    if (function.registers > mostRegisters)
      throw NotCompiled("a function that is very long");
  std::string text = fmt::format("@context = internal global [{} x i64] [i64 1", contextWords);
  for (size_t i = 1; i < contextWords; ++i)
    text += ", i64 0";
  text += fmt::format("]\n\ndefine ptr @{}() nounwind {{\n  ret ptr @context\n}}\n\n", contextName);
  text += refuelText();
  const std::vector<bool> jumps = jumping(program);
  for (uint32_t i = 0; i < program.functions.size(); ++i)
    text += functionText(program, jumps, i);
  for (uint32_t i = 0; i < program.functions.size(); ++i)
    text += entryText(program, jumps, i);
  return text + "!0 = !{}\n!1 = !{!\"branch_weights\", i32 1, i32 1000000}\n";
}

} // namespace vm::native
