// First the tables, then the form of the code, then a walk over its ways with the states of
// registers.
#include "vm/machine/verify.h"

#include "runtime/list.h"
#include "vm/machine/code_form.h"
#include "vm/machine/operands.h"
#include "vm/machine/register_rules.h"
#include "vm/machine/scalar.h"
#include "vm/machine/verify_tables.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <memory>

namespace vm {

namespace {

class FunctionVerifier {
public:
  FunctionVerifier(const Program& program, const Function& function)
      : program_(program), function_(function), code_(program.code.data() + function.start),
        form_(program, function), registers_(function) {}

  /// Where the verifier was when it refused.
  size_t place() const { return at_; }

  void run() {
    form_.find(at_);
    known_.resize(function_.size);
    at_ = 0;
    flow(0, entryStates());
    // In the order of places all ways to this one are known, as jumps lead on.
    for (; at_ < function_.size; ++at_)
      if (known_[at_])
        follow(std::move(*std::exchange(known_[at_], nullptr)));
  }

private:
  // Ways.

  RegisterStates entryStates() const {
    RegisterStates states(function_.registers);
    demand(function_.parameters.size() + size_t(function_.isClosure) <= function_.registers,
           "it has fewer registers than parameters");
    for (size_t i = 0; i < function_.parameters.size(); ++i)
      states.set(uint16_t(i), stateOf(function_.parameters[i]));
    if (function_.isClosure)
      states.set(uint16_t(function_.parameters.size()), {Holding::Owned});
    return states;
  }

  /// The code at `target` is reached with these states. What holds on both ways is what is the
  /// same; what is owned is owned on both.
  void flow(size_t target, const RegisterStates& states) {
    demand(form_.isStart(target), "a jump leads to no instruction");
    RegisterStates* known = known_[target].get();
    if (!known) {
      known_[target] = std::make_unique<RegisterStates>(states);
      return;
    }
    for (uint16_t reg : known->differences(states)) {
      demand(!known->at(reg).mustStay() && !states.at(reg).mustStay(),
             "a reference is held on one way and not on another");
      known->clear(reg);
    }
  }

  /// From one instruction to where it leads, as long as that is the next one.
  void follow(RegisterStates states) {
    registers_.enter(std::move(states));
    while (true) {
      const Word* word = code_ + at_;
      size_t next = at_ + wordCount(program_, word);
      if (!step(*word, next))
        return;
      demand(next < function_.size, "it runs beyond its end");
      if (known_[next])
        return flow(next, registers_.states());
      at_ = next;
    }
  }

  void jumps(const Word& word, size_t next) {
    CodeForm::forEachTarget(word, next, [&](int64_t target) {
      demand(target < int64_t(function_.size), "a jump leads out of the function");
      flow(size_t(target), registers_.states());
    });
  }

  // Instructions.

  /// Whether it moves references or makes or opens objects, which then is done.
  bool object(const Word& word, size_t next) {
    switch (familyOf(Op(word.op))) {
    case Op::Move:
      registers_.moveTo(word.a, word.b);
      return true;
    case Op::Lend:
      registers_.lend(word.a, word.b);
      return true;
    case Op::Retain:
      registers_.retain(word.a, word.b);
      return true;
    case Op::Make:
      make(word);
      return true;
    case Op::Fields:
      load(word);
      return true;
    case Op::Open:
      open(word, word.c);
      return true;
    case Op::Unpack:
      load(word);
      open(word, word.c);
      return true;
    case Op::Match:
      registers_.reference(word.a);
      jumps(word, next);
      load(word);
      return true;
    case Op::MatchUnpack:
      jumps(word, next);
      load(word);
      open(word, none);
      return true;
    case Op::MatchReuse:
      jumps(word, next);
      load(word);
      open(word, word.a);
      return true;
    case Op::Reserve:
      demand(program_.layouts[word.b].kind != LayoutKind::Boxed, "a boxed value cannot be made");
      registers_.put(word.a,
                     {Holding::Memory, none, uint16_t(program_.layouts[word.b].fields.size())});
      return true;
    case Op::FreeToken:
      demand(registers_.at(word.a).holding == Holding::Memory, "a register holds no memory");
      registers_.clear(word.a);
      return true;
    default:
      return false;
    }
  }

  /// False when the code does not go on behind this instruction.
  bool step(const Word& word, size_t next) {
    switch (familyOf(Op(word.op))) {
    case Op::ReturnNew:
      takeParts(word);
      demandWhole();
      demand(!function_.result.isScalar(), "the result is no reference");
      registers_.demandNothingHeld();
      return false;
    case Op::Wrap:
      wrap(word);
      return true;
    case Op::ReturnField:
      returnField(word);
      return false;
    case Op::CallMove:
    case Op::CallLend:
    case Op::CallAddI32:
    case Op::CallAddI64:
    case Op::TailMove:
    case Op::TailLend:
    case Op::TailAddI32:
    case Op::TailAddI64:
      placeArgument(Op(word.op), code_[at_ + 1]);
      return call(word);
    case Op::Call:
    case Op::TailCall:
      return call(word);
    case Op::CallClosure:
    case Op::TailCallClosure:
      return callClosure(word);
    case Op::ReturnFlat:
      demand(!function_.flat.empty(), "the result is no tuple's fields");
      for (size_t i = 0; i < function_.flat.size(); ++i)
        registers_.takeAs(owned(function_.flat[i]), uint16_t(i));
      registers_.demandNothingHeld();
      return false;
    case Op::Return:
      demandWhole();
      registers_.takeAs(owned(function_.result), word.a);
      registers_.demandNothingHeld();
      return false;
    case Op::Kernel:
      demand(program_.sites[wide(word)].kernel != HostSite::noKernel, "a site has no kernel");
      return host(word);
    case Op::Host:
      return host(word);
    case Op::Jump:
      jumps(word, next);
      return false;
    case Op::SwitchTag:
      arms(word, next);
      return false;
    default:
      return object(word, next) || plain(word, next);
    }
  }

  std::span<const uint16_t> tail(size_t count) const {
    return {reinterpret_cast<const uint16_t*>(code_ + at_ + 1), count};
  }

  const std::vector<Rep>& fieldsOf(const Word& word) const {
    const auto& fields = program_.layouts[word.b].fields;
    size_t known = word.op - size_t(familyOf(Op(word.op)));
    demand(known == 0 || known == fields.size(), "an instruction is for another number of fields");
    return fields;
  }

  void make(const Word& word) {
    takeParts(word);
    registers_.put(word.a, {Holding::Owned});
  }

  /// The argument that a call puts into its place itself.
  void placeArgument(Op op, const Word& more) {
    if (fusesAdd(op)) {
      registers_.scalar(more.a);
      registers_.put(more.op, {Holding::Scalar});
    } else if (op == Op::CallLend || op == Op::TailLend) {
      registers_.lend(more.op, more.a);
    } else {
      registers_.moveTo(more.op, more.a);
    }
  }

  /// What a new object takes over.
  void takeParts(const Word& word) {
    const auto& fields = fieldsOf(word);
    demand(program_.layouts[word.b].kind != LayoutKind::Boxed, "a boxed value cannot be made");
    for (size_t i = 0; i < fields.size(); ++i)
      if (uint16_t reg = tail(fields.size())[i]; reg != none || familyOf(Op(word.op)) != Op::Wrap)
        registers_.takeAs(owned(fields[i]), reg);
    if (word.c != none) {
      RegisterState memory = registers_.at(word.c);
      demand(memory.holding == Holding::Memory && memory.field == fields.size(),
             "the memory is of another object");
      registers_.clear(word.c);
    }
  }

  /// Whatever the call ends with goes into the object, so it must be a reference.
  void wrap(const Word& word) {
    takeParts(word);
    const auto& fields = program_.layouts[word.b].fields;
    std::span<const uint16_t> parts = tail(fields.size());
    demand(std::ranges::count(parts, none) == 1 &&
               !fields[size_t(std::ranges::find(parts, none) - parts.begin())].isScalar(),
           "a wrapped call is no single reference in an object");
    demand(program_.layouts[word.b].kind != LayoutKind::Cell, "a cell is made around a call");
    demandWhole();
    demand(!function_.result.isScalar(), "the result is no reference");
  }

  void load(const Word& word) {
    const auto& fields = fieldsOf(word);
    registers_.reference(word.a);
    demand(program_.layouts[word.b].kind != LayoutKind::Cell, "a cell is taken apart");
    for (size_t i = 0; i < fields.size(); ++i)
      if (uint16_t reg = tail(fields.size())[i]; reg != none) {
        demand(reg != word.a, "an object is overwritten by its field");
        registers_.put(reg, fields[i].isScalar() ? RegisterState{Holding::Scalar}
                                                 : registers_.lent(word.a, uint16_t(i)));
      }
  }

  void open(const Word& word, uint16_t token) {
    // The heap keeps track of these itself.
    LayoutKind kind = program_.layouts[word.b].kind;
    demand(kind != LayoutKind::Boxed && kind != LayoutKind::Cell,
           "an object of this kind cannot be opened");
    const auto& fields = fieldsOf(word);
    for (size_t i = 0; i < fields.size(); ++i) {
      uint16_t reg = tail(fields.size())[i];
      if (fields[i].isScalar() || reg == none)
        continue;
      demand(registers_.at(reg) == RegisterState{Holding::Borrowed, word.a, uint16_t(i)},
             "a register does not hold this field");
      registers_.set(reg, {Holding::Owned});
    }
    registers_.take(word.a);
    if (token != none)
      registers_.put(token, {Holding::Memory, none, uint16_t(fields.size())});
  }

  void passArguments(uint16_t window, std::span<const Rep> parameters, bool isTail) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      auto reg = uint16_t(window + i);
      if (parameters[i].hold == Hold::Borrowed)
        demand(!isTail || registers_.isFromOutside(reg), "a tail call borrows from this call");
    }
    for (size_t i = 0; i < parameters.size(); ++i)
      registers_.takeAs(parameters[i], uint16_t(window + i));
  }

  bool finishCall(uint16_t window, Rep result, std::span<const Rep> flat, bool isTail) {
    if (isTail) {
      demand(owned(result) == owned(function_.result) && std::ranges::equal(flat, function_.flat),
             "a tail call ends with another result");
      registers_.demandNothingHeld();
      return false;
    }
    for (uint16_t reg; (reg = registers_.states().next(window)) != none;) {
      demand(!registers_.at(reg).mustStay(), "a call overwrites a reference");
      registers_.clear(reg);
    }
    if (flat.empty())
      registers_.put(window, stateOf(owned(result)));
    for (size_t i = 0; i < flat.size(); ++i)
      registers_.put(uint16_t(window + i), stateOf(owned(flat[i])));
    return true;
  }

  bool call(const Word& word) {
    const Function& callee = program_.functions[wide(word)];
    demand(!callee.isClosure, "a closure's code is called by name");
    bool isTail = instructionRow(Op(word.op)).a != OperandKind::Window;
    uint16_t window = isTail ? 0 : word.a;
    passArguments(window, callee.parameters, isTail);
    return finishCall(window, callee.result, callee.flat, isTail);
  }

  bool callClosure(const Word& word) {
    const Signature& signature = program_.signatures[word.c];
    demand(signature.parameters.size() == word.b,
           "the signature is of another number of arguments");
    bool isTail = Op(word.op) == Op::TailCallClosure;
    uint16_t window = isTail ? 0 : word.a, next = window;
    for (Rep parameter : signature.parameters)
      registers_.takeAs(owned(parameter), next++);
    registers_.take(next);
    return finishCall(window, signature.result, {}, isTail);
  }

  void demandWhole() const { demand(function_.flat.empty(), "the result is a tuple's fields"); }

  bool host(const Word& word) {
    const HostSite& site = program_.sites[wide(word)];
    for (size_t i = 0; i < site.operands.size(); ++i) {
      uint16_t reg = tail(site.operands.size())[i];
      site.operands[i].isScalar() ? registers_.scalar(reg) : registers_.reference(reg);
    }
    for (uint16_t operand : site.given)
      registers_.take(tail(site.operands.size())[operand]);
    if (site.hasResult)
      registers_.put(word.a, stateOf(owned(site.result)));
    return !site.neverReturns();
  }

  void arms(const Word& word, size_t next) {
    registers_.reference(word.a);
    jumps(word, next);
  }

  /// An instruction whose operands say all.
  bool plain(const Word& word, size_t next) {
    const InstructionRow& row = instructionRow(Op(word.op));
    if (row.hasWord)
      checkWord(word);
    read(row.a, word.a);
    read(row.b, word.b);
    if (!isWide(row.b))
      read(row.c, word.c);
    checkCell(word);
    if (row.a == OperandKind::Result)
      return end(Op(word.op));
    write(row.a, word.a);
    jumps(word, next);
    return true;
  }

  void returnField(const Word& word) {
    const auto& fields = program_.layouts[word.b].fields;
    registers_.reference(word.a);
    demand(word.c < fields.size() && fields[word.c].isScalar(), "a field is no scalar");
    end(Op::ReturnField);
  }

  /// A call ends with what an instruction makes.
  bool end(Op op) const {
    demandWhole();
    demand(function_.result.isScalar() == (op != Op::ReturnStatic), "the result is something else");
    registers_.demandNothingHeld();
    return false;
  }

  void read(OperandKind kind, uint16_t reg) {
    if (kind == OperandKind::In)
      registers_.scalar(reg);
    else if (kind == OperandKind::Ref)
      registers_.reference(reg);
    else if (kind == OperandKind::Taken)
      registers_.take(reg);
  }

  void write(OperandKind kind, uint16_t reg) {
    if (kind == OperandKind::Out)
      registers_.put(reg, {Holding::Scalar});
    else if (kind == OperandKind::OwnedOut)
      registers_.put(reg, {Holding::Owned});
    else if (kind == OperandKind::LentOut)
      registers_.put(reg, {Holding::Borrowed});
  }

  /// A cell is of one kind of content.
  void checkCell(const Word& word) const {
    bool isScalar = Op(word.op) == Op::ReadScalar || Op(word.op) == Op::WriteScalar;
    if (!isScalar && Op(word.op) != Op::ReadOwned && Op(word.op) != Op::WriteOwned)
      return;
    const Layout& layout = program_.layouts[word.c];
    demand(layout.kind == LayoutKind::Cell && layout.fields[0].isScalar() == isScalar,
           "a cell is of another kind");
  }

  void checkWord(const Word& word) {
    const Word& more = code_[at_ + 1];
    auto isType = [](uint16_t bits) { return unpacked(bits).isComputable() && bits >> 8 <= 4; };
    switch (Op(word.op)) {
    case Op::Choose:
      return registers_.scalar(more.op);
    case Op::Convert:
      return demand(isType(more.op) && isType(more.a), "there is no such element type");
    default:
      demand(more.op < runtime::scalarFunctionCount && isType(more.a) &&
                 canApply(ScalarFunction(more.op), unpacked(more.a)),
             "there is no such function of this type");
      registers_.scalar(more.b);
    }
  }

  using ScalarFunction = runtime::ScalarFunction;

  const Program& program_;
  const Function& function_;
  const Word* code_;
  size_t at_ = 0;
  CodeForm form_;
  /// The states with which places are reached that a jump leads to, until they are followed.
  runtime::List<std::unique_ptr<RegisterStates>> known_;
  RegisterRules registers_;
};

} // namespace

std::optional<Unsound> findUnsound(const Program& program) {
  try {
    verifyTables(program);
  } catch (const Refused& refused) {
    return Unsound{refused.problem};
  }
  for (const Function& function : program.functions) {
    FunctionVerifier verifier(program, function);
    try {
      verifier.run();
    } catch (const Refused& refused) {
      return Unsound{refused.problem, &function, verifier.place()};
    }
  }
  return std::nullopt;
}

std::optional<std::string> verify(const Program& program) {
  auto unsound = findUnsound(program);
  if (!unsound)
    return std::nullopt;
  if (!unsound->function)
    return unsound->problem;
  return fmt::format("function `{}`, at {}: {}", unsound->function->name, unsound->place,
                     unsound->problem);
}

} // namespace vm
