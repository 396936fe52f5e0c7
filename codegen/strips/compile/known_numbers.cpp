// A number is made by one instruction, or by one loop and its end, so what that makes is what all
// see. Others come from outside of the code: sizes, what contractions set, and the ends of loops
// that threads share.
#include "codegen/strips/compile/known_numbers.h"

#include "codegen/strips/arithmetic.h"

#include <algorithm>
#include <map>
#include <vector>

namespace strips {

namespace {

using Member = uint32_t Instruction::*;

struct NumbersOf {
  std::vector<Member> read = {}, written = {};
};

/// The members of an instruction that name numbers.
NumbersOf numbersOf(Code code) {
  using I = Instruction;
  switch (code) {
  case Code::Sum:
    return {{&I::a, &I::b, &I::c}, {&I::out}};
  case Code::Quotient:
  case Code::Least:
  case Code::Greatest:
  case Code::Count:
    return {{&I::a, &I::b}, {&I::out}};
  case Code::Loop:
  case Code::Next:
    return {{&I::a}, {&I::out, &I::c}};
  case Code::Unless:
    return {{&I::a, &I::b}};
  case Code::Allocate:
    return {{&I::a}};
  case Code::Number:
    return {{&I::a, &I::count}};
  case Code::Row:
    return {{&I::b, &I::count}};
  case Code::Position:
    return {{&I::a, &I::b, &I::count}};
  case Code::Store:
    return {{&I::b, &I::c, &I::count}};
  case Code::Contract:
  case Code::Stop:
    return {};
  default:
    return {{&I::count}};
  }
}

/// Calls `visit` with each number that tables name, and whether contractions give it values.
template <typename Visit>
void forEachInTables(Program& program, Visit&& visit) {
  auto readAll = [&](std::initializer_list<uint32_t*> numbers) {
    for (uint32_t* number : numbers)
      visit(*number, false);
  };
  for (Access& access : program.accesses)
    readAll({&access.offset, &access.lane});
  for (Place& place : program.places)
    readAll({&place.position, &place.lane, &place.extent, &place.stride});
  for (Axis& axis : program.axes) {
    visit(axis.variable, true);
    readAll({&axis.end, &axis.stride});
  }
  for (Contraction& contraction : program.contractions) {
    readAll({&contraction.offset});
    visit(contraction.rows.count, true);
    visit(contraction.columns.count, true);
  }
}

class Folder {
public:
  explicit Folder(Program program)
      : program_(std::move(program)), isOpen_(program_.numbers.size()),
        same_(program_.numbers.size()), isLeftOut_(program_.code.size()) {
    for (uint32_t i = 0; i < same_.size(); ++i)
      same_[i] = i;
  }

  Program run() {
    findOpen();
    for (uint32_t pc = 0; pc < program_.code.size(); ++pc) {
      for (Member member : numbersOf(program_.code[pc].code).read)
        take(program_.code[pc].*member);
      fold(pc);
    }
    forEachInTables(program_, [&](uint32_t& number, bool) { take(number); });
    leaveOut();
    renumber();
    return std::move(program_);
  }

private:
  int64_t value(uint32_t number) const { return program_.numbers[number]; }
  bool isKnown(uint32_t number) const { return !isOpen_[number]; }
  bool is(uint32_t number, int64_t wanted) const {
    return isKnown(number) && value(number) == wanted;
  }

  void take(uint32_t& number) {
    if (number != none)
      number = same_[number];
  }

  void findOpen() {
    for (uint32_t i = 0; i < program_.sizeCount; ++i)
      isOpen_[i] = 1;
    for (const Instruction& at : program_.code) {
      for (Member member : numbersOf(at.code).written)
        if (at.*member != none)
          isOpen_[at.*member] = 1;
      if (at.code == Code::Loop && at.flags == 1)
        ownEnds_.push_back(at.a);
    }
    forEachInTables(program_, [&](uint32_t& number, bool isSet) {
      if (isSet && number != none)
        isOpen_[number] = 1;
    });
  }

  void fold(uint32_t pc) {
    const Instruction& at = program_.code[pc];
    if (at.code == Code::Loop)
      return foldLoop(pc);
    if (at.code == Code::Unless)
      isLeftOut_[pc] = isKnown(at.a) && isKnown(at.b) && value(at.a) < value(at.b);
    if (!makesNumber(at) || std::ranges::find(ownEnds_, at.out) != ownEnds_.end())
      return;
    bool isWhole = isKnown(at.a) && isKnown(at.b) && (at.c == none || isKnown(at.c));
    if (isWhole)
      know(at.out, computed(at));
    else if (at.code == Code::Sum && (is(at.b, 0) || is(at.c, 0)))
      same_[at.out] = at.a;
    else if (at.code == Code::Sum && is(at.a, 0) && (is(at.b, 1) || is(at.c, 1)))
      same_[at.out] = is(at.b, 1) ? at.c : at.b;
    else
      return;
    isLeftOut_[pc] = 1;
  }

  void know(uint32_t number, int64_t value) {
    program_.numbers[number] = value;
    isOpen_[number] = 0;
  }

  int64_t computed(const Instruction& at) const {
    return numberOf(at.code, value(at.a), value(at.b), at.c == none ? 0 : value(at.c));
  }

  /// A loop of one iteration is what it holds.
  void foldLoop(uint32_t pc) {
    const Instruction& loop = program_.code[pc];
    bool isStrip = loop.c != none;
    if (loop.flags != 0 || !isKnown(loop.a) || value(loop.a) < 1 ||
        value(loop.a) > (isStrip ? int64_t(program_.stripLength) : 1))
      return;
    know(loop.out, 0);
    if (isStrip)
      know(loop.c, value(loop.a));
    isLeftOut_[pc] = isLeftOut_[pc + uint32_t(loop.target) - 1] = 1;
  }

  void leaveOut() {
    std::vector<uint32_t> places;
    uint32_t next = 0;
    for (uint8_t isOut : isLeftOut_) {
      places.push_back(next);
      next += !isOut;
    }
    places.push_back(next);
    runtime::List<Instruction> kept;
    for (uint32_t pc = 0; pc < isLeftOut_.size(); ++pc) {
      if (isLeftOut_[pc])
        continue;
      Instruction at = program_.code[pc];
      if (at.code >= Code::Loop && at.code <= Code::Unless)
        at.target = int32_t(places[pc + uint32_t(at.target)]) - int32_t(places[pc]);
      kept.push_back(at);
    }
    program_.code = std::move(kept);
    for (Contraction& contraction : program_.contractions)
      for (Side* side : {&contraction.rows, &contraction.columns}) {
        side->begin = places[side->begin];
        side->end = places[side->end];
      }
  }

  /// Keeps numbers that are needed, and one for each constant.
  void renumber() {
    runtime::List<int64_t> kept;
    std::vector<uint32_t> places(program_.numbers.size(), none);
    std::map<int64_t, uint32_t> constants;
    auto add = [&](uint32_t old) {
      places[old] = uint32_t(kept.size());
      kept.push_back(program_.numbers[old]);
    };
    for (uint32_t i = 0; i < program_.sizeCount; ++i)
      add(i);
    auto place = [&](uint32_t& number) {
      if (number == none)
        return;
      if (isKnown(number)) {
        auto [known, isNew] = constants.try_emplace(value(number), number);
        number = known->second;
      }
      if (places[number] == none)
        add(number);
      number = places[number];
    };
    for (Instruction& at : program_.code) {
      NumbersOf numbers = numbersOf(at.code);
      for (const auto* members : {&numbers.read, &numbers.written})
        for (Member member : *members)
          place(at.*member);
    }
    forEachInTables(program_, [&](uint32_t& number, bool) { place(number); });
    program_.numbers = std::move(kept);
  }

  Program program_;
  /// By number: whether it has another value than at first, and the number that it is the same as.
  std::vector<uint8_t> isOpen_;
  std::vector<uint32_t> same_;
  /// Numbers that runs by threads change.
  std::vector<uint32_t> ownEnds_;
  /// By instruction.
  std::vector<uint8_t> isLeftOut_;
};

} // namespace

Program withoutKnown(Program program) {
  return Folder(std::move(program)).run();
}

} // namespace strips
