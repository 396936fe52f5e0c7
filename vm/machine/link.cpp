// One walk over the words of each function; the words of callees may be linked by then or not, so
// what is asked of them is what linking leaves as it is.
#include "vm/machine/link.h"

#include "vm/machine/operands.h"

#include <algorithm>
#include <array>

namespace vm {

namespace {

struct Pair {
  Op call, first;

  friend bool operator==(Pair, Pair) = default;
};

constexpr std::array pairs{
#define LINKED(call, first, handler) Pair{Op::call, Op::first},
#include "vm/machine/linked.def"
};

struct Chain {
  Op first, second;
  Use useSecond;
  Op third;
  Use useThird;
};

/// Those of three come before the shorter ones that they begin with.
constexpr std::array chains{
#define CHAINED(name, first, second, useSecond, third, useThird, handler)                          \
  Chain{Op::first, Op::second, Use::useSecond, Op::third, Use::useThird},
#include "vm/machine/linked.def"
};

/// Most instructions begin nothing.
constexpr auto begins = [] {
  std::array<bool, opCount> table{};
  for (const Pair& pair : pairs)
    table[size_t(pair.call)] = true;
  for (const Chain& chain : chains)
    table[size_t(chain.first)] = true;
  return table;
}();

bool takes(const Word& word, Use use, const Word& before) {
  uint16_t operand = use == Use::Left ? word.b : use == Use::Right ? word.c : word.a;
  return operand == before.a;
}

/// `code` is that of a function, which does not end within a chain.
bool fits(const Chain& chain, const Word* code) {
  return code[0].op == uint16_t(chain.first) && code[1].op == uint16_t(chain.second) &&
         takes(code[1], chain.useSecond, code[0]) &&
         (chain.third == Op::Stop ||
          (code[2].op == uint16_t(chain.third) && takes(code[2], chain.useThird, code[1])));
}

class Linker {
public:
  Linker(const Program& program, const LinkedOps& ops)
      : program_(program), ops_(ops), code_(program.code) {}

  std::vector<Word> run() {
    for (const Function& function : program_.functions)
      for (uint32_t at = function.start; at < function.start + function.size;
           at += uint32_t(wordCount(program_, program_.code.data() + at)))
        link(at);
    return std::move(code_);
  }

private:
  void link(uint32_t at) {
    const Word& word = program_.code[at];
    const InstructionRow& row = instructionRow(Op(word.op));
    if (row.b == OperandKind::Function) {
      uint32_t start = program_.functions[wide(word)].start;
      bool isFused = !ops_.areNumbers() && begins[word.op] && fuse(at, Op(program_.code[start].op));
      auto away = uint32_t((int64_t(start) + isFused - at) * int64_t(sizeof(Word)));
      code_[at].b = uint16_t(away);
      code_[at].c = uint16_t(away >> 16);
    }
    if (row.tail == OperandKind::Arms)
      linkArms(at);
    if (!ops_.areNumbers() && begins[word.op])
      chain(at);
    code_[at].op = ops_.of(code_[at].op);
  }

  void chain(uint32_t at) {
    auto found = std::ranges::find_if(
        chains, [&](const Chain& each) { return fits(each, program_.code.data() + at); });
    if (found != chains.end())
      code_[at].op = uint16_t(opCount + pairs.size() + size_t(found - chains.begin()));
  }

  bool fuse(uint32_t at, Op first) {
    auto found = std::ranges::find(pairs, Pair{Op(code_[at].op), first});
    if (found != pairs.end())
      code_[at].op = uint16_t(opCount + (found - pairs.begin()));
    return found != pairs.end();
  }

  void linkArms(uint32_t at) {
    auto words = int32_t(wordCount(program_, program_.code.data() + at));
    code_[at].c = none;
    for (size_t i = code_[at].b; i-- > 0;) {
      int32_t away = arm(&code_[at], i) + words;
      setArm(&code_[at], i, away);
      const Word& first = program_.code[size_t(int64_t(at) + away)];
      if (first.op == uint16_t(Op::ReturnField) && first.a == code_[at].a && first.c == 0 &&
          program_.layouts[first.b].tag == i)
        code_[at].c = first.b;
    }
  }

  const Program& program_;
  const LinkedOps& ops_;
  std::vector<Word> code_;
};

} // namespace

std::vector<Word> linkedCode(const Program& program, const LinkedOps& ops) {
  return Linker(program, ops).run();
}

} // namespace vm
