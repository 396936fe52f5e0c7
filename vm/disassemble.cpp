// One line for an instruction: its place, its name, its operands.
#include "vm/disassemble.h"

#include "vm/operands.h"
#include "vm/scalar.h"

#include <cstring>
#include <fmt/format.h>

namespace vm {

namespace {

std::string repText(Rep rep) {
  switch (rep.hold) {
  case Hold::Scalar:
    return runtime::dtypeName(rep.dtype);
  case Hold::Owned:
    return "owned";
  case Hold::Borrowed:
    return "borrowed";
  }
  return "";
}

std::string resultText(const Function& function) {
  if (function.flat.empty())
    return repText(function.result);
  std::string fields;
  for (Rep field : function.flat)
    fields += (fields.empty() ? "" : ", ") + repText(field);
  return "(" + fields + ")";
}

std::string registerText(uint16_t reg) {
  return reg == none ? "_" : fmt::format("r{}", reg);
}

std::string layoutText(const Program& program, uint16_t number) {
  const Layout& layout = program.layouts[number];
  constexpr const char* kinds[] = {"tuple",    "data", "closure", "maker",
                                   "operator", "cell", "boxed"};
  std::string fields;
  for (Rep field : layout.fields)
    fields += (fields.empty() ? "" : ", ") + repText(field);
  std::string_view name = layout.kind == LayoutKind::Closure ? "" : layout.symbol.name;
  return fmt::format("{}{}({})", kinds[size_t(layout.kind)],
                     name.empty() ? "" : fmt::format(" {}", name), fields);
}

/// The instruction at `at`, whose place in its function is `place`.
class Line {
public:
  Line(const Program& program, const Word* at, size_t place)
      : program_(program), at_(at), end_(int64_t(place + wordCount(program, at))) {}

  std::string text() {
    const InstructionRow& row = instructionRow(Op(at_->op));
    std::string line = fmt::format("{:<22}", row.text);
    add(line, row.a, at_->a);
    add(line, row.b, at_->b);
    if (!isWide(row.b))
      add(line, row.c, at_->c);
    if (row.hasWord)
      addWord(line);
    addTail(line, row.tail);
    return line;
  }

private:
  void put(std::string& line, const std::string& operand) {
    line += isFirst_ ? " " : ", ";
    line += operand;
    isFirst_ = false;
  }

  std::string targetText(int64_t words) const { return fmt::format("@{}", end_ + words); }

  void add(std::string& line, OperandKind kind, uint16_t operand) {
    using Kind = OperandKind;
    if (kind == Kind::__ || kind == Kind::Result)
      return;
    if (isRegister(kind))
      return put(line, registerText(operand));
    uint32_t number = wide(*at_);
    switch (kind) {
    case Kind::Layout:
      return put(line, layoutText(program_, operand));
    case Kind::Short:
      return put(line, fmt::format("{}", int16_t(operand)));
    case Kind::Target:
      return put(line, targetText(int16_t(operand)));
    case Kind::LongTarget:
      return put(line, targetText(int32_t(number)));
    case Kind::Long:
      return put(line, fmt::format("{}", int32_t(number)));
    case Kind::Number:
      return put(line, fmt::format("{:#x}", program_.words[number]));
    case Kind::Function:
      return put(line, fmt::format("f{} {}", number, program_.functions[number].name));
    case Kind::Static:
    case Kind::Site:
      return put(line, fmt::format("#{}", number));
    default:
      return put(line, fmt::format("{}", operand));
    }
  }

  void addWord(std::string& line) {
    const Word& word = at_[1];
    if (isFusedCall(Op(at_->op))) {
      put(line, registerText(word.op) + " = " + registerText(word.a));
      if (fusesAdd(Op(at_->op)))
        line += fmt::format(" + {}", int16_t(word.b));
      return;
    }
    if (Op(at_->op) == Op::Choose)
      return put(line, registerText(word.op));
    if (Op(at_->op) == Op::Convert) {
      put(line, runtime::dtypeName(unpacked(word.op)));
      return put(line, runtime::dtypeName(unpacked(word.a)));
    }
    put(line, registerText(word.b));
    put(line, std::string(runtime::scalarFunctionName(runtime::ScalarFunction(word.op))));
    put(line, runtime::dtypeName(unpacked(word.a)));
  }

  void addTail(std::string& line, OperandKind kind) {
    std::string list;
    for (size_t i = 0; i < tailCount(program_, at_); ++i) {
      list += list.empty() ? "" : ", ";
      const auto* tail = reinterpret_cast<const std::byte*>(at_ + 1);
      if (kind == OperandKind::Arms) {
        int32_t words;
        std::memcpy(&words, tail + 4 * i, 4);
        list += targetText(words);
      } else {
        uint16_t reg;
        std::memcpy(&reg, tail + 2 * i, 2);
        list += registerText(reg);
      }
    }
    if (!list.empty())
      put(line, fmt::format("[{}]", list));
  }

  const Program& program_;
  const Word* at_;
  int64_t end_;
  bool isFirst_ = true;
};

} // namespace

std::string disassemble(const Program& program) {
  std::string text;
  for (size_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.functions[i];
    std::string parameters;
    for (Rep parameter : function.parameters)
      parameters += (parameters.empty() ? "" : ", ") + repText(parameter);
    text += fmt::format("{}f{} {}({}) -> {}, {} registers\n", i == 0 ? "" : "\n", i, function.name,
                        parameters, resultText(function), function.registers);
    for (size_t place = 0; place < function.size;) {
      const Word* at = program.code.data() + function.start + place;
      text += fmt::format("{:6}  {}\n", place, Line(program, at, place).text());
      place += wordCount(program, at);
    }
  }
  return text;
}

} // namespace vm
