// What is rare lies behind branches that LLVM is told of.
#include "vm/native/access.h"

#include <cstddef>
#include <fmt/format.h>

namespace vm::native {

std::string pointer(FunctionWriter& to, const IrValue& word, int64_t bytes) {
  std::string made = to.text.add(wordType, fmt::format("inttoptr i64 {} to ptr", word.text)).text;
  return bytes == 0 ? made : offset(to, made, bytes);
}

std::string offset(FunctionWriter& to, const std::string& pointer, int64_t bytes) {
  return to.text.add(wordType, fmt::format("getelementptr i8, ptr {}, i64 {}", pointer, bytes))
      .text;
}

IrValue loadAs(FunctionWriter& to, IrType type, const std::string& pointer, std::string_view more) {
  return to.text.addOnce(type, fmt::format("load {}, ptr {}{}", textOf(type), pointer, more));
}

void store(FunctionWriter& to, const IrValue& value, const std::string& pointer) {
  to.text.addLine(fmt::format("store {}, ptr {}", typed(value), pointer));
}

std::string context(FunctionWriter& to, size_t offset) {
  std::string place = fmt::format("getelementptr (i8, ptr @context, i64 {})", offset);
  return to.text.addOnce(wordType, fmt::format("load ptr, ptr {}, !invariant.load !0", place)).text;
}

std::string window(FunctionWriter& to, uint16_t reg) {
  return offset(to, context(to, offsetof(NativeContext, window)), int64_t(reg) * 8);
}

std::string here(FunctionWriter& to, const Word* at) {
  return fmt::format("i64 {}, ptr {}", to.positionOf(at), to.top());
}

void callHelper(FunctionWriter& to, size_t offset, std::string_view arguments) {
  std::string helper = context(to, offset);
  to.text.addLine(fmt::format("call void {}(ptr @context, {})", helper, arguments));
}

IrValue askHelper(FunctionWriter& to, size_t offset, std::string_view arguments) {
  std::string helper = context(to, offset);
  return to.text.addOnce(wordType, fmt::format("call i64 {}(ptr @context, {})", helper, arguments));
}

void takeFuel(FunctionWriter& to, const Word* at, bool needsRoom) {
  IrValue left = to.text.binary("sub", to.fuel(), number(1));
  to.set("%fuel", left);
  std::string empty = to.text.newLabel(), go = to.text.newLabel();
  to.branchRarely(to.text.compare("icmp eq", left, number(0)), empty, go);
  to.open(empty);
  std::string place = here(to, at);
  IrValue given = to.text.addOnce(wordType, fmt::format("call preserve_allcc i64 @{}({}, i64 {})",
                                                        refuelName, place, int(needsRoom)));
  to.set("%fuel", to.text.binary("sub", given, number(1)));
  to.jump(go);
  to.open(go);
}

void trap(FunctionWriter& to, const Word* at, Trap reason) {
  std::string place = here(to, at);
  callHelper(to, offsetof(NativeContext, helpers.trap),
             fmt::format("{}, i64 {}", place, int(reason)));
  to.end("unreachable");
}

void trapIf(FunctionWriter& to, const IrValue& condition, const Word* at, Trap reason) {
  std::string bad = to.text.newLabel(), good = to.text.newLabel();
  to.branchRarely(condition, bad, good);
  to.open(bad);
  trap(to, at, reason);
  to.open(good);
}

} // namespace vm::native
