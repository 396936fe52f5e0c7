// What instructions on references and objects become: the usual way in line, the rest by helpers.
//
// A header is as vm/machine/object.h has it: the layout in the low 16 bits, three flags, and the
// count or link above.
#pragma once

#include "vm/native/write_control.h"

#include <algorithm>

namespace vm::native::write {

inline constexpr int64_t oneReference = int64_t(1) << 19;
inline constexpr int64_t firstField = sizeof(Object);

inline const std::vector<Rep>& fieldsOf(FunctionWriter& to, uint16_t layout) {
  return to.program().layouts[layout].fields;
}
inline IrValue header(FunctionWriter& to, const IrValue& object) {
  return loadAs(to, wordType, pointer(to, object));
}
inline IrValue field(FunctionWriter& to, const IrValue& object, size_t i) {
  return loadAs(to, wordType, pointer(to, object, firstField + int64_t(i) * 8));
}
inline void setField(FunctionWriter& to, const IrValue& object, size_t i, const IrValue& value) {
  store(to, value, pointer(to, object, firstField + int64_t(i) * 8));
}

inline IrValue isNotOf(FunctionWriter& to, const IrValue& object, uint16_t layout) {
  IrValue found = loadAs(to, {Element::Int16}, pointer(to, object));
  return to.text.compare("icmp ne", found,
                         codegen::FunctionText::whole({Element::Int16}, int16_t(layout)));
}
inline void demandLayout(FunctionWriter& to, const Word* at, const IrValue& object,
                         uint16_t layout) {
  trapIf(to, isNotOf(to, object, layout), at, Trap::WrongObject);
}

// References.

inline void retainObject(FunctionWriter& to, const IrValue& object) {
  IrValue more = to.text.binary("add", header(to, object), number(oneReference));
  store(to, more, pointer(to, object));
}
inline void retain(FunctionWriter& to, const Word* at) {
  to.copy(at->a, at->b);
  retainObject(to, to.word(at->a));
}
inline IrValue isLast(FunctionWriter& to, const IrValue& header) {
  return to.text.compare("icmp ult", header, number(2 * oneReference));
}
inline void release(FunctionWriter& to, const Word* at) {
  IrValue object = to.word(at->a), count = header(to, object);
  std::string last = to.text.newLabel(), more = to.text.newLabel(), next = to.text.newLabel();
  to.branch(isLast(to, count), last, more);
  to.open(last);
  callHelper(to, offsetof(NativeContext, helpers.release), "i64 " + object.text);
  to.jump(next);
  to.open(more);
  store(to, to.text.binary("sub", count, number(oneReference)), pointer(to, object));
  to.jump(next);
  to.open(next);
}

inline IrValue staticObject(FunctionWriter& to, uint32_t number) {
  std::string all = context(to, offsetof(NativeContext, statics));
  return loadAs(to, wordType, offset(to, all, int64_t(number) * 8), ", !invariant.load !0");
}
inline void loadStatic(FunctionWriter& to, const Word* at) {
  to.write(at->a, staticObject(to, wide(*at)));
}
inline void loadOwned(FunctionWriter& to, const Word* at) {
  loadStatic(to, at);
  retainObject(to, to.word(at->a));
}

// Memory.

inline std::string heapMember(FunctionWriter& to, size_t member) {
  return offset(to, context(to, offsetof(NativeContext, heap)), int64_t(member));
}
inline std::string freeList(FunctionWriter& to, size_t fields) {
  return heapMember(to, offsetof(Heap::Front, free) + fields * 8);
}
inline IrValue newHeader(uint16_t layout) {
  return number(layout | oneReference);
}

/// Takes memory from the page at hand, if it has so much, into the variable `made`.
inline void takeFromPage(FunctionWriter& to, size_t fields, const std::string& made,
                         const std::string& done, const std::string& slow) {
  IrValue at = to.get(heapMember(to, offsetof(Heap::Front, at)));
  IrValue end = to.get(heapMember(to, offsetof(Heap::Front, end)));
  IrValue behind = to.text.binary("add", at, number(int64_t(fields + 1) * 8));
  std::string fits = to.text.newLabel();
  to.branch(to.text.compare("icmp ugt", behind, end), slow, fits);
  to.open(fits);
  store(to, behind, heapMember(to, offsetof(Heap::Front, at)));
  to.set(made, at);
  to.jump(done);
}

/// An object that waits in a list, if there is one, into the variable `made`.
inline void takeFromList(FunctionWriter& to, size_t fields, const std::string& made,
                         const std::string& done, const std::string& none) {
  IrValue first = to.get(freeList(to, fields));
  std::string found = to.text.newLabel();
  to.branch(to.text.compare("icmp eq", first, number(0)), none, found);
  to.open(found);
  IrValue link = to.text.binary("lshr", header(to, first), number(16));
  store(to, to.text.binary("and", link, number(-8)), freeList(to, fields));
  to.set(made, first);
  to.jump(done);
}

/// An object of a layout whose fields are to be filled, in memory that waits in a register, if that
/// has some.
inline IrValue newObject(FunctionWriter& to, const Word* at, uint16_t layout, uint16_t token) {
  size_t fields = fieldsOf(to, layout).size();
  std::string made = to.variable("made"), done = to.text.newLabel(), slow = to.text.newLabel();
  if (token != none) {
    IrValue waiting = to.word(token);
    to.set(made, waiting);
    std::string empty = to.text.newLabel();
    to.branch(to.text.compare("icmp eq", waiting, number(0)), empty, done);
    to.open(empty);
  }
  if (fields < Heap::pools) {
    std::string page = to.text.newLabel();
    takeFromList(to, fields, made, done, page);
    to.open(page);
    takeFromPage(to, fields, made, done, slow);
  } else {
    to.jump(slow);
  }
  to.open(slow);
  to.set(made, askHelper(to, offsetof(NativeContext, helpers.make), here(to, at)));
  to.jump(done);
  to.open(done);
  IrValue object = to.get(made);
  store(to, newHeader(layout), pointer(to, object));
  return object;
}

inline IrValue filledObject(FunctionWriter& to, const Word* at) {
  IrValue object = newObject(to, at, at->b, at->c);
  for (size_t i = 0; i < fieldsOf(to, at->b).size(); ++i)
    setField(to, object, i, to.word(tailOf(at)[i]));
  return object;
}

template <size_t>
void make(FunctionWriter& to, const Word* at) {
  to.write(at->a, filledObject(to, at));
}
template <size_t>
void returnNew(FunctionWriter& to, const Word* at) {
  to.ret(filledObject(to, at));
}
inline void reserve(FunctionWriter& to, const Word* at) {
  to.write(at->a, newObject(to, at, at->b, none));
}
inline void freeToken(FunctionWriter& to, const Word* at) {
  std::string some = to.text.newLabel(), next = to.text.newLabel();
  to.branch(to.text.compare("icmp eq", to.word(at->a), number(0)), next, some);
  to.open(some);
  lay(to, at->a);
  step(to, at);
  to.jump(next);
  to.open(next);
}

/// The call's result is to be a part of a new object, which is a part itself where the call has
/// made one before.
template <size_t>
void wrap(FunctionWriter& to, const Word* at) {
  IrValue object = newObject(to, at, at->b, at->c), hole;
  for (size_t i = 0; i < fieldsOf(to, at->b).size(); ++i)
    if (tailOf(at)[i] == none)
      hole = to.text.binary("add", object, number(firstField + int64_t(i) * 8));
    else
      setField(to, object, i, to.word(tailOf(at)[i]));
  std::string first = to.text.newLabel(), inner = to.text.newLabel(), next = to.text.newLabel();
  IrValue missing = to.get(to.variable("missing"));
  to.branch(to.text.compare("icmp eq", missing, number(0)), first, inner);
  to.open(inner);
  store(to, object, pointer(to, missing));
  to.jump(next);
  to.open(first);
  to.set(to.variable("whole"), object);
  to.jump(next);
  to.open(next);
  to.set(to.variable("missing"), hole);
}

// Fields.

/// As the machine does, brings near what is looked at soon.
inline void lookAhead(FunctionWriter& to, const IrValue& object, size_t fields) {
  constexpr int64_t slotsAhead = 64;
  for (const std::string& place : {pointer(to, field(to, object, fields - 1)),
                                   pointer(to, object, firstField + slotsAhead * 8)})
    to.text.addLine(fmt::format("call void @llvm.prefetch.p0(ptr {}, i32 0, i32 3, i32 1)", place));
}

inline void loadFields(FunctionWriter& to, const Word* at, const IrValue& object) {
  size_t count = fieldsOf(to, at->b).size();
  for (size_t i = 0; i < count; ++i)
    if (uint16_t reg = tailOf(at)[i]; reg != none)
      to.write(reg, field(to, object, i));
  if (count > 1 && count <= 3)
    lookAhead(to, object, count);
}

template <size_t>
void fields(FunctionWriter& to, const Word* at) {
  IrValue object = to.word(at->a);
  demandLayout(to, at, object, at->b);
  loadFields(to, at, object);
}

/// Whether a field that is a reference goes with its object.
inline bool drops(FunctionWriter& to, const Word* at) {
  const std::vector<Rep>& reps = fieldsOf(to, at->b);
  for (size_t i = 0; i < reps.size(); ++i)
    if (!reps[i].isScalar() && tailOf(at)[i] == none)
      return true;
  return false;
}

/// The memory of an object that nobody needs: kept in a register, or given back.
inline void keepMemory(FunctionWriter& to, uint16_t layout, uint16_t token, const IrValue& object) {
  size_t count = fieldsOf(to, layout).size();
  if (token == none) {
    IrValue link = to.text.binary("shl", to.get(freeList(to, count)), number(16));
    store(to, to.text.binary("or", link, number(layout)), pointer(to, object));
    store(to, object, freeList(to, count));
    return;
  }
  to.write(token, object);
  auto isReference = [](const Rep& rep) { return !rep.isScalar(); };
  if (std::ranges::count_if(fieldsOf(to, layout), isReference) != 1)
    return;
  constexpr IrType byte{Element::Int8};
  IrValue isLarge = loadAs(to, byte, heapMember(to, offsetof(Heap::Front, isLarge)));
  std::string moves = to.text.newLabel(), next = to.text.newLabel();
  to.branch(to.text.compare("icmp ne", isLarge, codegen::FunctionText::whole(byte, 0)), moves,
            next);
  to.open(moves);
  to.write(token, askHelper(to, offsetof(NativeContext, helpers.moved),
                            fmt::format("i64 {}, i64 {}", object.text, count)));
  to.jump(next);
  to.open(next);
}

inline void openByHelper(FunctionWriter& to, const Word* at, uint16_t token,
                         const IrValue& object) {
  IrValue left = askHelper(
      to, offsetof(NativeContext, helpers.open),
      fmt::format("i64 {}, i64 {}, i64 {}", to.positionOf(at), object.text, int(token != none)));
  if (token != none)
    to.write(token, left);
}

inline void giveUp(FunctionWriter& to, const Word* at, uint16_t token, const IrValue& object) {
  if (drops(to, at) || fieldsOf(to, at->b).size() >= Heap::pools)
    return openByHelper(to, at, token, object);
  std::string own = to.text.newLabel(), shared = to.text.newLabel(), next = to.text.newLabel();
  to.branch(isLast(to, header(to, object)), own, shared);
  to.open(shared);
  openByHelper(to, at, token, object);
  to.jump(next);
  to.open(own);
  keepMemory(to, at->b, token, object);
  to.jump(next);
  to.open(next);
}

template <size_t>
void open(FunctionWriter& to, const Word* at) {
  IrValue object = to.word(at->a);
  demandLayout(to, at, object, at->b);
  giveUp(to, at, at->c, object);
}
template <size_t>
void unpack(FunctionWriter& to, const Word* at) {
  IrValue object = to.word(at->a);
  demandLayout(to, at, object, at->b);
  loadFields(to, at, object);
  giveUp(to, at, at->c, object);
}

inline IrValue matched(FunctionWriter& to, const Word* at) {
  IrValue object = to.word(at->a);
  std::string next = to.text.newLabel();
  to.branch(isNotOf(to, object, at->b), to.targetOf(at, int16_t(at->c)), next);
  to.open(next);
  return object;
}
inline void jumpUnlessOf(FunctionWriter& to, const Word* at) {
  matched(to, at);
}
template <size_t>
void matchFields(FunctionWriter& to, const Word* at) {
  loadFields(to, at, matched(to, at));
}
template <size_t>
void matchUnpack(FunctionWriter& to, const Word* at) {
  IrValue object = matched(to, at);
  loadFields(to, at, object);
  giveUp(to, at, none, object);
}
template <size_t>
void matchReuse(FunctionWriter& to, const Word* at) {
  IrValue object = matched(to, at);
  loadFields(to, at, object);
  giveUp(to, at, at->a, object);
}

inline void switchTag(FunctionWriter& to, const Word* at) {
  IrType small{Element::Int16};
  IrValue layout =
      to.text.convert("zext", loadAs(to, small, pointer(to, to.word(at->a))), Element::Int64);
  std::string tags = context(to, offsetof(NativeContext, tags));
  std::string place =
      to.text.add(wordType, fmt::format("getelementptr i16, ptr {}, {}", tags, typed(layout))).text;
  IrValue tag = loadAs(to, small, place, ", !invariant.load !0");
  std::string bad = to.text.newLabel(), arms;
  for (uint16_t i = 0; i < at->b; ++i)
    arms += fmt::format(" i16 {}, label %{}", i, to.targetOf(at, arm(at, i)));
  to.end(fmt::format("switch {}, label %{} [{} ]", typed(tag), bad, arms));
  to.open(bad);
  trap(to, at, Trap::WrongObject);
}

// Cells.

inline void readScalar(FunctionWriter& to, const Word* at) {
  IrValue cell = to.word(at->b);
  demandLayout(to, at, cell, at->c);
  to.write(at->a, field(to, cell, 0));
}
inline void readOwned(FunctionWriter& to, const Word* at) {
  readScalar(to, at);
  retainObject(to, to.word(at->a));
}
inline void writeScalar(FunctionWriter& to, const Word* at) {
  IrValue cell = to.word(at->a);
  demandLayout(to, at, cell, at->c);
  setField(to, cell, 0, to.word(at->b));
}
inline void writeOwned(FunctionWriter& to, const Word* at) {
  lay(to, at->a);
  lay(to, at->b);
  step(to, at);
}

inline void returnField(FunctionWriter& to, const Word* at) {
  IrValue object = to.word(at->a);
  demandLayout(to, at, object, at->b);
  to.ret(field(to, object, at->c));
}
inline void returnStatic(FunctionWriter& to, const Word* at) {
  IrValue object = staticObject(to, wide(*at));
  retainObject(to, object);
  to.ret(object);
}

} // namespace vm::native::write
