// `describe` calls a port with the operands of an instruction in their order; a port writes or
// reads them.
#include "vm/assembly/instructions.h"

#include "lang/source/utf8.h"
#include "vm/assembly/numbers.h"
#include "vm/executable/fields.h"
#include "vm/machine/scalar.h"

#include <cstring>

namespace assembly {

using vm::OperandKind;
using vm::Word;

namespace {

/// An instruction taken apart. A target is what a jump adds to the next place.
struct Instruction {
  Word word = {}, more = {};
  std::vector<uint16_t> registers = {};
  std::vector<int32_t> arms = {};
};

template <typename Port>
void operand(Port& port, OperandKind kind, Word& word, uint16_t& value) {
  switch (kind) {
  case OperandKind::__:
  case OperandKind::Result:
    return;
  case OperandKind::Layout:
  case OperandKind::Signature:
    return port.index(value);
  case OperandKind::Tag:
  case OperandKind::Count:
    return port.number(value);
  case OperandKind::Short:
    return port.signedNumber(value);
  case OperandKind::Target:
    return port.shortTarget(value);
  case OperandKind::LongTarget:
    return port.longTarget(word);
  case OperandKind::Long:
    return port.longNumber(word);
  case OperandKind::Function:
    return port.function(word);
  case OperandKind::Number:
  case OperandKind::Static:
  case OperandKind::Site:
    return port.longIndex(word);
  default:
    return port.reg(value);
  }
}

template <typename Port>
void secondWord(Port& port, vm::Op op, Word& more) {
  if (vm::isFusedCall(op)) {
    port.reg(more.op);
    port.symbol("=");
    port.reg(more.a);
    if (!vm::fusesAdd(op))
      return;
    port.symbol("+");
    return port.signedNumber(more.b);
  }
  if (op == vm::Op::Choose)
    return port.reg(more.op);
  if (op == vm::Op::Convert) {
    port.dtype(more.op);
    return port.dtype(more.a);
  }
  port.reg(more.b);
  port.scalarFunction(more.op);
  port.dtype(more.a);
}

template <typename Port>
void describe(Port& port, Instruction& instruction) {
  auto op = vm::Op(instruction.word.op);
  const vm::InstructionRow& row = vm::instructionRow(op);
  Word& word = instruction.word;
  operand(port, row.a, word, word.a);
  operand(port, row.b, word, word.b);
  if (!vm::isWide(row.b))
    operand(port, row.c, word, word.c);
  if (row.hasWord)
    secondWord(port, op, instruction.more);
  if (row.tail == OperandKind::Arms)
    port.arms(instruction.arms);
  else if (row.tail != OperandKind::__)
    port.registers(instruction.registers);
}

void setWide(Word& word, uint32_t number) {
  word.b = uint16_t(number);
  word.c = uint16_t(number >> 16);
}

Instruction decoded(const vm::Program& program, const Word* at) {
  const vm::InstructionRow& row = vm::instructionRow(vm::Op(at->op));
  Instruction made{*at};
  if (row.hasWord)
    made.more = at[1];
  size_t count = vm::tailCount(program, at);
  if (row.tail == OperandKind::Arms) {
    made.arms.resize(count);
    std::memcpy(made.arms.data(), at + 1, 4 * count);
  } else if (count > 0) {
    made.registers.resize(count);
    std::memcpy(made.registers.data(), at + 1, 2 * count);
  }
  return made;
}

void encode(const Instruction& made, std::vector<Word>& code) {
  const vm::InstructionRow& row = vm::instructionRow(vm::Op(made.word.op));
  code.push_back(made.word);
  if (row.hasWord)
    code.push_back(made.more);
  auto append = [&](const auto& list) {
    if (list.empty())
      return;
    size_t start = code.size(), bytes = list.size() * sizeof list[0];
    code.resize(start + (bytes + sizeof(Word) - 1) / sizeof(Word), Word{});
    std::memcpy(code.data() + start, list.data(), bytes);
  };
  append(made.registers);
  append(made.arms);
}

/// Writes operands; `end` is the place behind the instruction.
class WritePort {
public:
  WritePort(std::string& text, size_t end) : text_(text), end_(int64_t(end)) {}

  void reg(uint16_t reg) { put(reg == vm::none ? "_" : fmt::format("r{}", reg)); }
  void number(uint16_t number) { put(fmt::format("{}", number)); }
  void signedNumber(uint16_t number) { put(fmt::format("{}", int16_t(number))); }
  void longNumber(Word word) { put(fmt::format("{}", int32_t(vm::wide(word)))); }
  void index(uint16_t number) { put(fmt::format("#{}", number)); }
  void longIndex(Word word) { put(fmt::format("#{}", vm::wide(word))); }
  void function(Word word) { put(fmt::format("f{}", vm::wide(word))); }
  void shortTarget(uint16_t words) { put(target(int16_t(words))); }
  void longTarget(Word word) { put(target(int32_t(vm::wide(word)))); }
  void dtype(uint16_t bits) { put(runtime::dtypeName(vm::unpacked(bits))); }
  void scalarFunction(uint16_t number) {
    put(runtime::scalarFunctionName(runtime::ScalarFunction(number)));
  }
  void symbol(std::string_view symbol) {
    text_ += fmt::format(" {} ", symbol);
    separator_ = "";
  }
  void registers(const std::vector<uint16_t>& registers) {
    list(registers, [&](uint16_t each) { reg(each); });
  }
  void arms(const std::vector<int32_t>& arms) {
    list(arms, [&](int32_t words) { put(target(words)); });
  }

private:
  template <typename List, typename Item>
  void list(const List& items, Item&& item) {
    put("[");
    separator_ = "";
    for (auto each : items)
      item(each);
    text_ += ']';
  }
  std::string target(int64_t words) const { return fmt::format("@{}", end_ + words); }
  void put(std::string_view operand) {
    text_ += separator_;
    text_ += operand;
    separator_ = ", ";
  }

  std::string& text_;
  int64_t end_;
  std::string_view separator_ = " ";
};

std::string layoutText(const vm::Program& program, uint16_t number) {
  const vm::Layout& layout = program.layouts[number];
  std::string_view name = layout.kind == vm::LayoutKind::Closure ? "" : layout.symbol.name;
  return fmt::format("{}{}({})", executable::namesOf<vm::LayoutKind>[size_t(layout.kind)],
                     name.empty() ? "" : fmt::format(" {}", name), repsText(layout.fields));
}

std::string siteText(const vm::Program& program, const vm::HostSite& site) {
  return site.op < program.operators.size()
             ? program.operators[site.op]
             : std::string(executable::namesOf<vm::SiteKind>[size_t(site.kind)]);
}

std::string meaning(const vm::Program& program, OperandKind kind, Word word, uint16_t operand) {
  switch (kind) {
  case OperandKind::Layout:
    return layoutText(program, operand);
  case OperandKind::Function:
    return program.functions[vm::wide(word)].name;
  case OperandKind::Number:
    return fmt::format("{:#x}", program.words[vm::wide(word)]);
  case OperandKind::Site:
    return siteText(program, program.sites[vm::wide(word)]);
  case OperandKind::Static:
    return layoutText(program, program.statics[vm::wide(word)].layout);
  default:
    return "";
  }
}

} // namespace

std::string repText(vm::Rep rep) {
  return rep.isScalar() ? runtime::dtypeName(rep.dtype)
                        : std::string(executable::namesOf<vm::Hold>[size_t(rep.hold)]);
}

std::string repsText(const std::vector<vm::Rep>& reps) {
  std::string text;
  for (vm::Rep rep : reps)
    text += (text.empty() ? "" : ", ") + repText(rep);
  return text;
}

std::string instructionText(const vm::Program& program, const Word* at, size_t place) {
  Instruction instruction = decoded(program, at);
  std::string text = fmt::format("{:<22}", vm::instructionText(vm::Op(at->op)).text);
  WritePort port(text, place + vm::wordCount(program, at));
  describe(port, instruction);
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string remark(const vm::Program& program, const Word* at) {
  const vm::InstructionRow& row = vm::instructionRow(vm::Op(at->op));
  std::string text = meaning(program, row.b, *at, at->b);
  if (text.empty() && !vm::isWide(row.b))
    text = meaning(program, row.c, *at, at->c);
  return lang::printable(text);
}

std::optional<vm::Op> findInstruction(std::string_view name) {
  static const auto table = [] {
    std::unordered_map<std::string_view, vm::Op> byName;
    for (uint16_t op = 0; op < vm::opCount; ++op)
      byName.emplace(vm::instructionText(vm::Op(op)).text, vm::Op(op));
    return byName;
  }();
  auto found = table.find(name);
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

/// Reads operands. A target is 0 until all places are known.
struct CodeReader::Port {
  CodeReader& reader;
  Tokens& tokens;
  size_t word;
  bool isFirst = true;

  void next() {
    if (!isFirst)
      tokens.expect(",");
    isFirst = false;
  }
  template <typename T>
  T numberOf(const Token& token, size_t prefix = 0) {
    T number = 0;
    if (tokens.isGood() && !readNumber(token.text.substr(prefix), number))
      tokens.fail(lang::Message::NumberOutOfRange, token.range, lang::printable(token.text),
                  numberTypeName<T>());
    return number;
  }
  template <typename T>
  T numberAt(TokenKind kind, std::string_view what, size_t prefix = 0) {
    next();
    return numberOf<T>(tokens.expect(kind, what), prefix);
  }
  /// What is behind a letter, as in `r3` and `f2`.
  template <typename T>
  T named(char letter, std::string_view what) {
    bool isOne = tokens.isAt(TokenKind::Name) && tokens.peek().text[0] == letter &&
                 tokens.peek().text.size() > 1 && std::isdigit(uint8_t(tokens.peek().text[1]));
    if (!isOne)
      tokens.failExpecting(std::string(what));
    return numberOf<T>(tokens.take(), 1);
  }

  void reg(uint16_t& reg) {
    next();
    reg = tokens.accept("_") ? vm::none : named<uint16_t>('r', "a register such as `r3`");
  }
  void number(uint16_t& number) { number = numberAt<uint16_t>(TokenKind::Number, "a number"); }
  void signedNumber(uint16_t& number) {
    number = uint16_t(numberAt<int16_t>(TokenKind::Number, "a number"));
  }
  void longNumber(Word& to) {
    setWide(to, uint32_t(numberAt<int32_t>(TokenKind::Number, "a number")));
  }
  void index(uint16_t& number) {
    number = numberAt<uint16_t>(TokenKind::Index, "a number such as `#3`", 1);
  }
  void longIndex(Word& to) {
    setWide(to, numberAt<uint32_t>(TokenKind::Index, "a number such as `#3`", 1));
  }
  void function(Word& to) {
    next();
    setWide(to, named<uint32_t>('f', "a function such as `f3`"));
  }
  void target(Reach reach, size_t arm = 0) {
    next();
    Token at = tokens.expect(TokenKind::Place, "a place such as `@3`");
    reader.jumps_.push_back({word, reach, arm, 0, at});
  }
  void shortTarget(uint16_t&) { target(Reach::Short); }
  void longTarget(Word&) { target(Reach::Long); }
  void dtype(uint16_t& bits) {
    next();
    Token name = tokens.expect(TokenKind::Name, "an element type");
    auto dtype = runtime::parseDType(name.text);
    if (tokens.isGood() && !dtype)
      tokens.fail(lang::Message::UnknownDType, name.range, lang::printable(name.text));
    bits = vm::packed(dtype.value_or(runtime::DType()));
  }
  void scalarFunction(uint16_t& number) {
    next();
    Token name = tokens.expect(TokenKind::Name, "a scalar function");
    while (number < runtime::scalarFunctionCount &&
           runtime::scalarFunctionName(runtime::ScalarFunction(number)) != name.text)
      ++number;
    if (number == runtime::scalarFunctionCount)
      tokens.fail(lang::Message::SyntaxError, name.range, "a scalar function",
                  fmt::format("`{}`", lang::printable(name.text)));
  }
  void symbol(std::string_view symbol) {
    tokens.expect(symbol);
    isFirst = true;
  }
  template <typename Item>
  void list(Item&& item) {
    next();
    tokens.expect("[");
    isFirst = true;
    while (tokens.isGood() && !tokens.isAt("]"))
      item();
    tokens.expect("]");
  }
  void registers(std::vector<uint16_t>& registers) {
    list([&] { reg(registers.emplace_back()); });
  }
  void arms(std::vector<int32_t>& arms) {
    list([&] {
      target(Reach::Arm, arms.size());
      arms.push_back(0);
    });
  }
};

void CodeReader::read() {
  if (tokens_.isAt(TokenKind::Number)) {
    Token place = tokens_.take();
    uint32_t number = 0;
    if (!readNumber(place.text, number))
      tokens_.fail(lang::Message::NumberOutOfRange, place.range, lang::printable(place.text),
                   numberTypeName<uint32_t>());
    else if (!places_.emplace(number, code_.size()).second)
      tokens_.fail(lang::Message::SyntaxError, place.range,
                   "a place that no instruction before it has", fmt::format("`{}`", number));
  }
  Token name = tokens_.expect(TokenKind::Name, "an instruction");
  auto op = findInstruction(name.text);
  if (!op) {
    tokens_.fail(lang::Message::SyntaxError, name.range, "an instruction",
                 fmt::format("`{}`", lang::printable(name.text)));
    return;
  }
  Instruction made{{uint16_t(*op)}};
  Port port{*this, tokens_, code_.size()};
  size_t jump = jumps_.size();
  describe(port, made);
  encode(made, code_);
  for (; jump < jumps_.size(); ++jump)
    jumps_[jump].from = code_.size();
}

void CodeReader::patch(const Jump& jump, int64_t distance) {
  auto words = int32_t(distance);
  Word& word = code_[jump.word];
  if (jump.reach == Reach::Arm) {
    std::memcpy(reinterpret_cast<std::byte*>(&word + 1) + 4 * jump.arm, &words, 4);
  } else if (jump.reach == Reach::Long) {
    setWide(word, uint32_t(words));
  } else {
    word.c = uint16_t(words);
    if (int16_t(words) != words)
      tokens_.fail(lang::Message::NumberOutOfRange, jump.target.range, jump.target.text,
                   "a jump of 16 bits");
  }
}

void CodeReader::finish() {
  for (size_t i = 0; i < jumps_.size() && tokens_.isGood(); ++i) {
    const Jump& jump = jumps_[i];
    uint32_t number = 0;
    bool isNumber = readNumber(jump.target.text.substr(1), number);
    auto found = places_.find(number);
    if (isNumber && found != places_.end())
      patch(jump, int64_t(found->second) - int64_t(jump.from));
    else
      tokens_.fail(lang::Message::UnknownPlace, jump.target.range,
                   lang::printable(jump.target.text));
  }
}

} // namespace assembly
