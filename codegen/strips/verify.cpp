// Each number is made by loops, or by one instruction that is in no loop which goes by it; so every
// loop ends. Loops and conditions are nested, and the factors of contractions stand behind the rest.
#include "codegen/strips/verify.h"

#include "codegen/strips/run.h"
#include "lower/elements/products.h"
#include "runtime/refused.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace strips {

namespace {

using runtime::demand;

constexpr size_t mostNumbers = 1 << 20;
constexpr uint32_t mostMemory = 1 << 26;

/// What `out`, `a`, `b` and `c` of an instruction name: a number, register, buffer, access,
/// contraction; capital letters where there may be none.
std::string_view operandsOf(Code code) {
  switch (code) {
  case Code::Sum:
    return "nnnn";
  case Code::Quotient:
  case Code::Least:
  case Code::Greatest:
  case Code::Count:
    return "nnn ";
  case Code::Loop:
  case Code::Next:
    return "nn N";
  case Code::Unless:
    return " nn ";
  case Code::Allocate:
    return "bN  ";
  case Code::Row:
    return "rbn ";
  case Code::Load:
  case Code::Outside:
    return "rx  ";
  case Code::Position:
    return "rnn ";
  case Code::Number:
    return "rn  ";
  case Code::Splat:
  case Code::Join:
  case Code::Reduce:
    return "rr  ";
  case Code::Apply:
    return "rRRR";
  case Code::Store:
    return "rbnn";
  case Code::StoreAt:
    return "rbr ";
  case Code::Scan:
  case Code::AddProducts:
  case Code::AddScaled:
    return "rrr ";
  case Code::JoinPlaces:
    return "rrrr";
  case Code::Check:
    return " rRX";
  case Code::Contract:
    return " k  ";
  case Code::Stop:
    return "    ";
  }
  return "    ";
}

bool isStrip(Code code) {
  return code >= Code::Row && code <= Code::Check;
}

/// A number's instruction, if one instruction makes it, and the loops that go by it as a variable.
struct Makers {
  uint32_t maker = none;
  List<uint32_t> loops = {};

  static constexpr bool movesAsBytes = true;
  bool isMadeIn(uint32_t begin, uint32_t end) const {
    auto isIn = [&](uint32_t pc) { return pc > begin && pc < end; };
    return isIn(maker) || std::ranges::any_of(loops, isIn);
  }
};

class Verifier {
public:
  Verifier(const SizedProgram& sized, const tensor::TensorFunction& function)
      : sized_(sized), program_(sized.program), function_(function) {}

  void run() {
    interface();
    tables();
    for (const Contraction& contraction : program_.contractions)
      this->contraction(contraction);
    makers_.resize(program_.numbers.size());
    for (uint32_t pc = 0; pc < program_.code.size(); ++pc)
      instruction(pc);
    auto stop = std::ranges::find(program_.code, Code::Stop, &Instruction::code);
    demand(stop != program_.code.end(), "a kernel does not end");
    auto end = uint32_t(stop - program_.code.begin());
    control(0, end, false);
    for (const Contraction& contraction : program_.contractions)
      for (const Side* side : {&contraction.rows, &contraction.columns}) {
        demand(side->begin > end, "a kernel runs into a factor");
        control(side->begin, side->end, true);
        keepsNumbers(*side);
      }
  }

private:
  static void demandPlace(size_t place, size_t count) {
    demand(place < count, "a kernel is beyond its tables");
  }
  void demandNumber(uint32_t number) const { demandPlace(number, program_.numbers.size()); }
  void demandRegister(uint32_t number) const { demandPlace(number, program_.registers.size()); }
  static void demandRange(uint64_t first, uint64_t count, size_t size) {
    demand(first <= size && count <= size - first, "a kernel is beyond its tables");
  }

  void demandMemory(uint32_t offset, uint32_t bytes) const {
    demandRange(offset, bytes, program_.memoryBytes);
    demand(offset % alignof(int64_t) == 0, "a register of a kernel lies askew");
  }

  /// It takes and gives what the function does.
  void interface() {
    auto demandSame = [](bool isSame) { demand(isSame, "a kernel is that of another function"); };
    size_t extents = 0, inputs = function_.inputCount, results = function_.results.size();
    demandSame(sized_.inputRanks.size() == inputs && sized_.results.size() == results &&
               program_.inputs == inputs && program_.givenBuffers == inputs + results &&
               program_.buffers.size() >= program_.givenBuffers);
    for (size_t i = 0; i < inputs + results; ++i) {
      size_t tensor = i < inputs ? i : function_.results[i - inputs];
      const tensor::TensorInfo& info = function_.tensors[tensor];
      demandSame(program_.buffers[i].element == lower::elementOf(info.dtype));
      uint32_t rank = i < inputs ? sized_.inputRanks[i] : sized_.results[i - inputs].rank;
      demandSame(rank == info.shape.size());
      extents += rank;
      if (i >= inputs)
        result(uint32_t(i - inputs), info.dtype);
    }
    demandSame(sized_.pattern.size() == extents && sized_.leastSize >= 0);
    for (int64_t is : sized_.pattern)
      demandSame(is >= 0 || uint64_t(-1 - is) < program_.sizeCount);
  }

  void result(uint32_t number, runtime::DType type) {
    const ProgramResult& result = sized_.results[number];
    demand(result.type == type, "a result of a kernel is of another type");
    demandPlace(result.source.index,
                result.source.isInput ? function_.inputCount : size_t(number) + 1);
    for (uint32_t input : result.replaceable)
      demandPlace(input, function_.inputCount);
  }

  void tables() {
    demand(program_.numbers.size() <= mostNumbers && program_.sizeCount <= program_.numbers.size() &&
               program_.memoryBytes <= mostMemory && program_.stripLength >= 1 &&
               program_.stripLength <= longestStrip,
           "a kernel is too large");
    for (const RegisterInfo& info : program_.registers)
      demandMemory(info.offset, info.bytes);
    for (const BufferInfo& info : program_.buffers)
      if (info.offset != none || info.bytes != 0)
        demandMemory(info.offset, info.bytes);
    for (const KernelName& name : program_.kernels)
      demand(isDefined(name), "a function of a kernel is not defined");
    for (const Access& access : program_.accesses)
      this->access(access);
    for (const Place& place : program_.places)
      this->place(place);
    for (const Axis& axis : program_.axes)
      for (uint32_t number : {axis.variable, axis.end, axis.stride})
        demandNumber(number);
  }

  static bool isDefined(const KernelName& name) {
    bool isAdding = name.kind == KernelKind::AddLanes || name.kind == KernelKind::AddAll;
    if (isAdding && name.combiner >= lower::Combiner::ArgMaximum)
      return false;
    Kernel kernel = kernelOf(name);
    return name.kind == KernelKind::AddLanes ? kernel.addLanes != nullptr
           : name.kind == KernelKind::AddAll ? kernel.addAll != nullptr
                                             : kernel.apply != nullptr;
  }

  void access(const Access& access) {
    demandPlace(access.buffer, program_.buffers.size());
    demandNumber(access.offset);
    demandNumber(access.lane);
    if (access.fill != none)
      demandRegister(access.fill);
    demandRange(access.firstPlace, access.placeCount, program_.places.size());
  }

  void place(const Place& place) {
    demandNumber(place.extent);
    if (place.value != none) {
      demandRegister(place.value);
      demandNumber(place.stride);
    } else {
      demandNumber(place.position);
      demandNumber(place.lane);
    }
  }

  /// Whether sums over panels of a type can be stored as elements of another one.
  static bool isContracted(Element panel, Element element) {
    Element total = lower::tileLoopFor(panel).total;
    bool isCast = lower::castKernel(total, element) != nullptr;
    bool isAsWide = lower::elementBytes(total) == lower::elementBytes(element);
    return panel == lower::panelElement(panel) &&
           (isCast || (isAsWide && panel != Element::Float32));
  }

  void contraction(const Contraction& contraction) {
    demandPlace(contraction.buffer, program_.buffers.size());
    demandNumber(contraction.offset);
    demandRange(contraction.firstBatch, contraction.batchCount, program_.axes.size());
    demandRange(contraction.firstSummed, contraction.summedCount, program_.axes.size());
    demand(isContracted(contraction.panel, contraction.element), "a contraction is of no type");
    for (const Side* side : {&contraction.rows, &contraction.columns}) {
      demandRange(side->firstAxis, side->axisCount, program_.axes.size());
      demand((side->runsAlongSum ? contraction.summedCount : side->axisCount) > 0,
             "a factor of a contraction has no axis");
      demandNumber(side->count);
      demandRegister(side->root);
      demand(side->begin <= side->end && side->end <= program_.code.size(),
             "a factor is beyond the code");
    }
    axes(contraction);
  }

  /// What runs a contraction gives numbers to its axes, each to one, by others that stay.
  void axes(const Contraction& contraction) const {
    std::vector<uint32_t> set{contraction.rows.count, contraction.columns.count},
        kept{contraction.offset};
    auto add = [&](uint32_t first, uint32_t count) {
      for (uint32_t i = first; i < first + count; ++i) {
        set.push_back(program_.axes[i].variable);
        kept.insert(kept.end(), {program_.axes[i].end, program_.axes[i].stride});
      }
    };
    add(contraction.firstBatch, contraction.batchCount);
    add(contraction.firstSummed, contraction.summedCount);
    add(contraction.rows.firstAxis, contraction.rows.axisCount);
    add(contraction.columns.firstAxis, contraction.columns.axisCount);
    std::ranges::sort(set);
    bool isGood = std::ranges::adjacent_find(set) == set.end();
    for (uint32_t number : kept)
      isGood = isGood && !std::ranges::binary_search(set, number);
    demand(isGood, "axes of a contraction are mixed up");
  }

  void instruction(uint32_t pc) {
    const Instruction& at = program_.code[pc];
    std::string_view kinds = operandsOf(at.code);
    uint32_t operands[4] = {at.out, at.a, at.b, at.c};
    for (size_t i = 0; i < 4; ++i)
      operand(kinds[i], operands[i]);
    if (isStrip(at.code))
      demandNumber(at.count);
    if (at.code == Code::Apply || at.code == Code::Join || at.code == Code::Reduce)
      kernel(at);
    if (at.code <= Code::Count) {
      demand(makers_[at.out].maker == none && at.out >= program_.sizeCount,
             "a number of a kernel is made twice");
      makers_[at.out].maker = pc;
    }
    if (at.code == Code::Loop)
      for (uint32_t made : {at.out, at.c})
        if (made != none)
          makers_[made].loops.push_back(pc);
    if (at.code == Code::Loop && at.flags == 1)
      demandPlace(at.b, program_.parallelCosts.size());
  }

  void operand(char kind, uint32_t operand) const {
    switch (kind) {
    case 'N':
    case 'R':
    case 'X':
      if (operand != none)
        this->operand(char(kind - 'A' + 'a'), operand);
      break;
    case 'n':
      return demandNumber(operand);
    case 'r':
      return demandRegister(operand);
    case 'b':
      return demandPlace(operand, program_.buffers.size());
    case 'x':
      return demandPlace(operand, program_.accesses.size());
    case 'k':
      return demandPlace(operand, program_.contractions.size());
    default:
      break;
    }
  }

  void kernel(const Instruction& at) const {
    demandPlace(at.kernel, program_.kernels.size());
    const KernelName& name = program_.kernels[at.kernel];
    bool fits = at.code == Code::Join     ? name.kind == KernelKind::AddLanes
                : at.code == Code::Reduce ? name.kind == KernelKind::AddAll
                                          : name.kind <= KernelKind::Cast;
    size_t arity = name.kind == KernelKind::Apply ? runtime::scalarFunctionArity(name.function) : 1;
    uint32_t operands[3] = {at.a, at.b, at.c};
    for (size_t i = 0; i < arity && at.code == Code::Apply; ++i)
      fits &= operands[i] != none;
    demand(fits, "an instruction of a kernel has another function");
  }

  /// Loops and conditions from one instruction to another.
  void control(uint32_t begin, uint32_t end, bool isFactor) {
    struct Region {
      uint32_t begin, end;
    };
    List<Region> around;
    around.push_back({begin, end});
    for (uint32_t pc = begin; pc < end; ++pc) {
      while (pc >= around.back().end)
        around.pop_back();
      const Instruction& at = program_.code[pc];
      demand(!isFactor || (at.code != Code::Contract && at.code != Code::Stop && at.flags != 1),
             "a factor of a contraction does too much");
      if (at.code == Code::Next)
        demand(isEndOf(around.back().begin, pc), "a loop of a kernel ends elsewhere");
      if (at.code != Code::Loop && at.code != Code::Unless)
        continue;
      uint64_t last = uint64_t(pc) + uint64_t(uint32_t(at.target));
      demand(at.target >= 1 && last <= around.back().end, "a kernel leaves a loop");
      if (at.code == Code::Loop)
        loop(pc, uint32_t(last));
      around.push_back({pc, uint32_t(last)});
    }
  }

  bool isEndOf(uint32_t loop, uint32_t pc) const {
    const Instruction &begin = program_.code[loop], &next = program_.code[pc];
    return begin.code == Code::Loop && loop + uint32_t(begin.target) == pc + 1 &&
           next.target == -(begin.target - 1) && next.out == begin.out && next.a == begin.a &&
           next.c == begin.c;
  }

  void loop(uint32_t pc, uint32_t end) const {
    const Instruction& at = program_.code[pc];
    demand(at.target >= 2 && isEndOf(pc, end - 1), "a loop of a kernel has no end");
    bool isGood = at.out != at.a && at.out != at.c && at.a != at.c &&
                  at.out >= program_.sizeCount && makers_[at.out].maker == none &&
                  !makers_[at.out].isMadeIn(pc, end) && !makers_[at.a].isMadeIn(pc, end);
    if (at.c != none)
      isGood = isGood && makers_[at.c].maker == none && !makers_[at.c].isMadeIn(pc, end) &&
               at.c >= program_.sizeCount;
    demand(isGood, "a loop of a kernel may have no end");
  }

  /// What contractions go by is not made anew by the code of a factor.
  void keepsNumbers(const Side& side) const {
    auto isKept = [&](uint32_t number) {
      return number == none || side.begin == side.end ||
             !makers_[number].isMadeIn(side.begin - 1, side.end);
    };
    bool isGood = true;
    for (const Axis& axis : program_.axes)
      isGood = isGood && isKept(axis.variable) && isKept(axis.end) && isKept(axis.stride);
    for (const Contraction& contraction : program_.contractions)
      isGood = isGood && isKept(contraction.offset) && isKept(contraction.rows.count) &&
               isKept(contraction.columns.count);
    demand(isGood, "a factor of a contraction changes its axes");
  }

  const SizedProgram& sized_;
  const Program& program_;
  const tensor::TensorFunction& function_;
  List<Makers> makers_;
};

} // namespace

const char* problemOf(const SizedProgram& sized, const tensor::TensorFunction& function) {
  try {
    Verifier(sized, function).run();
    return nullptr;
  } catch (const runtime::Refused& refused) {
    return refused.problem;
  }
}

} // namespace strips
