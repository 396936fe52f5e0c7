// The verifier of the machine's programs on code that no compiler makes, and the arrays that it
// keeps states in.
#include "vm/machine/persistent_array.h"
#include "vm/machine/verify.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>

using vm::none;
using vm::Op;
using vm::Word;

namespace {

constexpr uint16_t boxLayout = 0, oneLayout = 1, pairLayout = 2, mixedLayout = 3, cellLayout = 4;
const vm::Rep number{vm::Hold::Scalar, runtime::Int64};
const vm::Rep owned{vm::Hold::Owned}, borrowed{vm::Hold::Borrowed};

Word word(Op op, uint16_t a = 0, uint16_t b = 0, uint16_t c = 0) {
  return {uint16_t(op), a, b, c};
}
/// Registers behind an instruction.
Word tail(uint16_t a, uint16_t b = 0) {
  return {a, b, 0, 0};
}
Word jumpBy(Op op, uint16_t reg, int32_t words) {
  return {uint16_t(op), reg, uint16_t(words), uint16_t(uint32_t(words) >> 16)};
}

/// What the verifier says of a function; empty when nothing is wrong.
std::string verdict(std::vector<vm::Rep> parameters, uint16_t registers, std::vector<Word> code,
                    vm::Rep result = number) {
  vm::Program program;
  program.layouts.push_back({.kind = vm::LayoutKind::Tuple, .fields = {owned}});
  program.layouts.push_back({.kind = vm::LayoutKind::Tuple, .fields = {owned, owned}});
  program.layouts.push_back({.kind = vm::LayoutKind::Tuple, .fields = {owned, number}});
  program.layouts.push_back({.kind = vm::LayoutKind::Cell, .fields = {owned}});
  program.code = std::move(code);
  program.functions.push_back({.name = "f",
                               .size = uint32_t(program.code.size()),
                               .registers = registers,
                               .parameters = std::move(parameters),
                               .result = result});
  std::string problem = vm::verify(program).value_or("");
  return problem.substr(std::min(problem.size(), problem.find(": ") + (problem.empty() ? 0 : 2)));
}

const Word give = word(Op::LoadLong, 9), end = word(Op::Return, 9);

} // namespace

TEST_CASE("what is borrowed goes with what it lies in, however deep", "[verifier]") {
  std::vector<Word> inner{word(Op::Fields1, 0, oneLayout), tail(1), word(Op::Fields1, 1, oneLayout),
                          tail(2)};
  auto with = [&](std::vector<Word> more) {
    std::vector<Word> code = inner;
    code.insert(code.end(), more.begin(), more.end());
    code.insert(code.end(), {give, end});
    return code;
  };
  // Register 2 is inside of 1, which is inside of 0.
  CHECK(verdict({owned}, 10,
                with({word(Op::Retain, 3, 2), word(Op::Release, 0), word(Op::Release, 3)})) == "");
  CHECK(verdict({owned}, 10,
                with({word(Op::Release, 0), word(Op::Retain, 3, 2), word(Op::Release, 3)})) ==
        "a register holds no reference");
  CHECK(verdict({owned}, 10, {word(Op::Fields1, 0, oneLayout, 1), tail(1), give, end}) ==
        "an instruction has an operand that it does not take");
  // Where the outer one is lent by the caller, a field may take its register.
  std::vector<Word> over{word(Op::Fields1, 0, oneLayout),
                         tail(1),
                         word(Op::Fields1, 1, oneLayout),
                         tail(0),
                         word(Op::Retain, 3, 0),
                         word(Op::Release, 3),
                         give,
                         end};
  CHECK(verdict({borrowed}, 10, over) == "");
  CHECK(verdict({owned}, 10, over) == "a reference is overwritten");
}

TEST_CASE("ways meet with what they have in common", "[verifier]") {
  auto code = [](Word first, Word second) {
    return std::vector<Word>{
        word(Op::LoadLong, 1), jumpBy(Op::JumpUnless, 1, 2), first, jumpBy(Op::Jump, 0, 1), second,
        word(Op::Return, 2)};
  };
  Word load = word(Op::LoadLong, 2), other = word(Op::LoadLong, 3);
  CHECK(verdict({}, 10, code(load, load)) == "");
  CHECK(verdict({}, 10, code(load, other)) == "a register holds no scalar");
  CHECK(verdict({owned}, 10, code(word(Op::Release, 0), load)) ==
        "a reference is held on one way and not on another");
}

TEST_CASE("around a wrapped call one reference is open", "[verifier]") {
  auto around = [](uint16_t layout, Word fields, std::vector<Word> more = {}) {
    std::vector<Word> code{word(Op::Wrap, 0, layout, none), fields};
    code.insert(code.end(), more.begin(), more.end());
    code.insert(code.end(), {word(Op::Retain, 2, 1), word(Op::Return, 2)});
    return verdict({owned, borrowed}, 10, std::move(code), owned);
  };
  CHECK(around(pairLayout, tail(0, none)) == "");
  CHECK(around(pairLayout, tail(none, 0)) == "");
  CHECK(around(pairLayout, tail(0, none), {word(Op::Wrap1, 0, oneLayout, none), tail(none)}) == "");
  // The field is taken over, none is forgotten, and what is open is one reference of an object.
  CHECK(around(pairLayout, tail(0, none), {word(Op::Release, 0)}) ==
        "a register owns no reference");
  CHECK(around(oneLayout, tail(none)) == "a call ends with a reference");
  CHECK(around(pairLayout, tail(none, none), {word(Op::Release, 0)}) ==
        "a wrapped call is no single reference in an object");
  CHECK(around(oneLayout, tail(0)) == "a wrapped call is no single reference in an object");
  CHECK(around(mixedLayout, tail(0, none)) == "a wrapped call is no single reference in an object");
  CHECK(around(cellLayout, tail(none), {word(Op::Release, 0)}) == "a cell is made around a call");
  CHECK(verdict({owned}, 10, {word(Op::Wrap2, 0, pairLayout, none), tail(0, none), give, end}) ==
        "the result is no reference");
  CHECK(verdict({owned}, 10, {word(Op::Fill), word(Op::Return, 0)}, owned) ==
        "there is no such instruction");
}

TEST_CASE("a match leaves the object where it does not fit", "[verifier]") {
  auto matching = [](Op op, std::vector<Word> fits, std::vector<Word> fitsNot) {
    std::vector<Word> code{word(op, 0, oneLayout, uint16_t(fits.size() + 2)), tail(1)};
    for (const auto& way : {fits, fitsNot}) {
      code.insert(code.end(), way.begin(), way.end());
      code.insert(code.end(), {give, end});
    }
    return verdict({owned}, 10, std::move(code));
  };
  Word whole = word(Op::Release, 0), field = word(Op::Release, 1), memory = word(Op::FreeToken, 0);
  CHECK(matching(Op::Match1, {whole}, {whole}) == "");
  CHECK(matching(Op::Match1, {field}, {whole}) == "a register owns no reference");
  CHECK(matching(Op::MatchUnpack1, {field}, {whole}) == "");
  CHECK(matching(Op::MatchUnpack1, {whole}, {whole}) == "a register owns no reference");
  CHECK(matching(Op::MatchUnpack1, {field}, {field}) == "a register owns no reference");
  CHECK(matching(Op::MatchReuse1, {field, memory}, {whole}) == "");
  CHECK(matching(Op::MatchReuse1, {field}, {whole}) == "a call ends with a reference");
  CHECK(matching(Op::MatchReuse1, {field, memory}, {memory}) == "a register holds no memory");
}

TEST_CASE("a call ends with what its function says", "[verifier]") {
  auto ending = [](std::vector<vm::Rep> flat, std::vector<Word> code,
                   std::vector<vm::Rep> calledFlat = {}, vm::Rep calledResult = owned) {
    vm::Program program;
    program.layouts.push_back({.kind = vm::LayoutKind::Tuple, .fields = {owned}});
    program.functions.push_back({.name = "entry", .registers = 1, .result = owned});
    program.code = {word(Op::LoadOwned, 0), word(Op::Return, 0)};
    program.statics.push_back({boxLayout, runtime::tensorValue(runtime::Tensor())});
    program.functions[0].size = 2;
    auto add = [&](std::vector<Word> body, std::vector<vm::Rep> fields, vm::Rep result) {
      program.functions.push_back({.name = "f",
                                   .start = uint32_t(program.code.size()),
                                   .size = uint32_t(body.size()),
                                   .registers = 10,
                                   .parameters = {owned, number},
                                   .result = result,
                                   .flat = std::move(fields)});
      program.code.insert(program.code.end(), body.begin(), body.end());
    };
    add(std::move(code), std::move(flat), owned);
    // A function that goes on for ever may end with anything.
    add({word(Op::TailCall, 0, 2)}, std::move(calledFlat), calledResult);
    std::string problem = vm::verify(program).value_or("");
    return problem.substr(std::min(problem.size(), problem.find(": ") + (problem.empty() ? 0 : 2)));
  };
  const Word tailCall = word(Op::TailCall, 0, 2), flatEnd = word(Op::ReturnFlat);
  CHECK(ending({owned, number}, {flatEnd}) == "");
  CHECK(ending({number, number}, {flatEnd}) == "a register holds no scalar");
  CHECK(ending({number}, {word(Op::LoadLong, 5), word(Op::Release, 0), flatEnd}) ==
        "a register holds no scalar");
  CHECK(ending({}, {flatEnd}) == "the result is no tuple's fields");
  CHECK(ending({owned, number}, {word(Op::Return, 0)}) == "the result is a tuple's fields");
  CHECK(ending({}, {tailCall}) == "");
  CHECK(ending({}, {tailCall}, {}, number) == "a tail call ends with another result");
  CHECK(ending({}, {tailCall}, {owned}) == "a tail call ends with another result");
  CHECK(ending({owned}, {tailCall}) == "a tail call ends with another result");
  CHECK(ending({owned}, {tailCall}, {owned}) == "");
  // What comes back begins at the window.
  const Word call = word(Op::Call, 0, 2);
  CHECK(ending({}, {call, word(Op::Return, 0)}, {owned, number}) == "");
  CHECK(ending({}, {call, word(Op::Return, 0)}, {owned, owned}) == "a call ends with a reference");
  CHECK(ending({}, {call, word(Op::Return, 0)}, {number, owned}) == "a register owns no reference");
}

TEST_CASE("no jump leads back, since only calls take fuel", "[verifier]") {
  auto jumping = [](int32_t words) {
    return verdict({borrowed}, 10, {give, jumpBy(Op::JumpUnless, 9, words), end});
  };
  CHECK(jumping(0) == "");
  for (int32_t words : {-1, -2, -3, INT32_MIN})
    CHECK(jumping(words) == "a jump leads back");
  CHECK(jumping(1) == "a jump leads out of the function");
}

TEST_CASE("a cell is looked into by its own instructions alone", "[verifier]") {
  // What was borrowed from it would be gone with what is written into it.
  CHECK(verdict({borrowed}, 10, {word(Op::Fields1, 0, cellLayout), tail(1), give, end}) ==
        "a cell is taken apart");
  CHECK(verdict({borrowed}, 10, {word(Op::Match1, 0, cellLayout, 0), tail(1), give, end}) ==
        "a cell is taken apart");
}

TEST_CASE("layouts have the fields of their kinds", "[verifier]") {
  auto with = [](vm::LayoutKind kind, size_t fields) {
    vm::Program program;
    program.layouts.push_back({.kind = kind, .fields = std::vector<vm::Rep>(fields, owned)});
    return vm::verify(program).value_or("");
  };
  const std::string problem = "a layout has more fields, or fewer, than its objects";
  CHECK(with(vm::LayoutKind::Tuple, 65534) == "");
  CHECK(with(vm::LayoutKind::Tuple, 65535) == problem);
  CHECK(with(vm::LayoutKind::Data, 65540) == problem);
  CHECK(with(vm::LayoutKind::Cell, 1) == "");
  CHECK(with(vm::LayoutKind::Cell, 0) == problem);
  CHECK(with(vm::LayoutKind::Cell, 2) == problem);
  // Boxed values are the first layout and no other.
  CHECK(with(vm::LayoutKind::Boxed, 0) == problem);
  vm::Program boxed;
  boxed.layouts[0].fields = {owned};
  CHECK(vm::verify(boxed) == problem);
}

TEST_CASE("a check looks at each argument once", "[verifier]") {
  auto verdictOf = [](std::vector<uint32_t> positions) {
    vm::Program program;
    checks::FunctionCheck& check = program.checks.functions.emplace_back();
    for (uint32_t position : positions)
      check.parameters.push_back({.position = position});
    return vm::verify(program).value_or("");
  };
  CHECK(verdictOf({}) == "");
  CHECK(verdictOf({0, 2}) == "");
  CHECK(verdictOf({1, 1}) == "the parameters of a check are in no order");
  CHECK(verdictOf({1, 0}) == "the parameters of a check are in no order");
}

TEST_CASE("persistent arrays are arrays, and their copies too", "[verifier]") {
  for (size_t size : {1, 16, 17, 256, 300, 5000, 65535}) {
    CAPTURE(size);
    std::mt19937 random{uint32_t(size)};
    using Array = vm::PersistentArray<int>;
    std::vector<std::pair<Array, std::map<size_t, int>>> both{{Array(size), {}}};
    auto compared = [&](const auto& left, const auto& right) {
      std::vector<size_t> found, expected;
      left.first.compare(right.first, std::equal_to<>(), [&](size_t i) { found.push_back(i); });
      for (const auto& [from, to] : {std::pair(&left.second, &right.second)})
        for (size_t i = 0; i < size; ++i)
          if (from->contains(i) != to->contains(i) ||
              (from->contains(i) && from->at(i) != to->at(i)))
            expected.push_back(i);
      return found == expected;
    };
    for (int step = 0; step < 600; ++step) {
      if (step % 50 == 49)
        both.push_back(both[random() % both.size()]);
      auto& [array, map] = both[random() % both.size()];
      size_t i = random() % size;
      if (random() % 3 == 0) {
        array.erase(i);
        map.erase(i);
      } else {
        array.edit(i) = map[i] = step;
      }
      auto behind = map.lower_bound(i);
      CHECK(array.next(i) == (behind == map.end() ? SIZE_MAX : behind->first));
      CHECK((array.find(i) ? *array.find(i) : -1) == (map.contains(i) ? map[i] : -1));
    }
    for (const auto& each : both)
      CHECK(compared(each, both[0]));
  }
}
