// One walk over the words.
#include "vm/machine/code_form.h"

#include "vm/machine/verify_tables.h"

#include <algorithm>

namespace vm {

void CodeForm::find(size_t& at) {
  demand(function_.start <= program_.code.size() &&
             function_.size <= program_.code.size() - function_.start,
         "its code lies outside of the program's");
  demand(function_.size > 0, "it has no code");
  const Word* code = program_.code.data() + function_.start;
  starts_.resize(function_.size);
  for (at = 0; at < function_.size;) {
    auto op = Op(code[at].op);
    demand(code[at].op < opCount && op != Op::Stop && op != Op::Fill,
           "there is no such instruction");
    checkNumbers(code[at]);
    starts_[at] = 1;
    size_t count = wordCount(program_, code + at);
    demand(count <= function_.size - at, "an instruction goes beyond the end");
    forEachTarget(code[at], at + count,
                  [&](int64_t target) { demand(target > int64_t(at), "a jump leads back"); });
    at += count;
  }
}

void CodeForm::checkNumbers(const Word& word) const {
  const InstructionRow& row = instructionRow(Op(word.op));
  checkNumber(row.a, word.a, word);
  checkNumber(row.b, word.b, word);
  if (!isWide(row.b))
    checkNumber(row.c, word.c, word);
}

void CodeForm::checkNumber(OperandKind kind, uint16_t operand, const Word& word) const {
  auto below = [](uint32_t number, size_t count) {
    demand(number < count, "a number is beyond its table");
  };
  switch (kind) {
  case OperandKind::__:
  case OperandKind::Result:
    return demand(operand == 0, "an instruction has an operand that it does not take");
  case OperandKind::Layout:
    return below(operand, program_.layouts.size());
  case OperandKind::Signature:
    return below(operand, program_.signatures.size());
  case OperandKind::Function:
    return below(wide(word), program_.functions.size());
  case OperandKind::Site:
    return below(wide(word), program_.sites.size());
  case OperandKind::Static:
    return below(wide(word), program_.statics.size());
  case OperandKind::Number:
    return below(wide(word), program_.words.size());
  default:
    return;
  }
}

} // namespace vm
