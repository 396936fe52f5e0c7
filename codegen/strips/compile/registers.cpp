// A register is needed from the first instruction that touches it to the last; in loops that do not
// make it themselves to the end of the loop.
#include "codegen/strips/compile/registers.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace strips {

namespace {

constexpr size_t cacheBytes = size_t(32) << 10, alignment = 64;

/// Calls `visit` with each register that an access needs.
void forEachRegister(Program& program, Access& access,
                     const std::function<void(uint32_t&)>& visit) {
  if (access.fill != none)
    visit(access.fill);
  for (uint32_t i = 0; i < access.placeCount; ++i)
    if (uint32_t& value = program.places[access.firstPlace + i].value; value != none)
      visit(value);
}

/// The operands of an instruction that are registers.
std::vector<uint32_t Instruction::*> registersOf(Code code) {
  using I = Instruction;
  switch (code) {
  case Code::Row:
  case Code::Load:
  case Code::Outside:
  case Code::Position:
  case Code::Number:
  case Code::Store:
    return {&I::out};
  case Code::Splat:
  case Code::Join:
  case Code::Reduce:
    return {&I::out, &I::a};
  case Code::StoreAt:
    return {&I::out, &I::b};
  case Code::AddProducts:
  case Code::Scan:
  case Code::AddScaled:
    return {&I::out, &I::a, &I::b};
  case Code::Apply:
  case Code::JoinPlaces:
    return {&I::out, &I::a, &I::b, &I::c};
  case Code::Check:
    return {&I::a, &I::b};
  default:
    return {};
  }
}

/// The access that an instruction looks at.
uint32_t accessOf(const Instruction& at) {
  return at.code == Code::Load || at.code == Code::Outside ? at.a
         : at.code == Code::Check                          ? at.c
                                                           : none;
}

struct Interval {
  uint32_t first = none, last = 0;
};

class Finisher {
public:
  Finisher(Emitter& emitter, uint32_t sidesBegin)
      : emitter_(emitter), program_(emitter.program), sidesBegin_(sidesBegin),
        intervals_(emitter.registers.size()), places_(emitter.registers.size(), none) {}

  void placeRegisters() {
    for (uint32_t pc = 0; pc < program_.code.size(); ++pc)
      touchAll(pc);
    extendOverLoops();
    for (uint32_t pc = 0; pc < sidesBegin_; ++pc)
      placeAt(pc);
    for (uint32_t i = 0; i < intervals_.size(); ++i)
      if (places_[i] == none && intervals_[i].first != none)
        places_[i] = freshPlace(emitter_.registers[i]);
    rename();
  }

  size_t bytesOfLane() const {
    size_t bytes = 0;
    for (const VirtualRegister& reg : placed_)
      if (reg.isStrip && !reg.isRow)
        bytes += lower::elementBytes(reg.element);
    return bytes;
  }

  size_t placeMemory(size_t lanes) {
    size_t bytes = 0;
    for (const VirtualRegister& reg : placed_) {
      size_t own = reg.isRow ? 0 : lower::elementBytes(reg.element) * (reg.isStrip ? lanes : 1);
      program_.registers.push_back({uint32_t(bytes), uint32_t(own)});
      bytes += (own + alignment - 1) / alignment * alignment;
    }
    return bytes;
  }

private:
  void touch(uint32_t reg, uint32_t pc) {
    if (reg == none)
      return;
    Interval& interval = intervals_[reg];
    interval.first = std::min(interval.first, pc);
    interval.last = std::max(interval.last, pc);
  }

  void touchAll(uint32_t pc) {
    const Instruction& at = program_.code[pc];
    if (at.code == Code::Contract) {
      // What code of the sides takes from outside is needed here.
      const Contraction& contraction = program_.contractions[at.a];
      for (const Side* side : {&contraction.rows, &contraction.columns})
        for (uint32_t i = side->begin; i < side->end; ++i)
          forEach(i, [&](uint32_t& reg) {
            if (intervals_[reg].first < sidesBegin_)
              touch(reg, pc);
          });
    }
    forEach(pc, [&](uint32_t& reg) { touch(reg, pc); });
  }

  /// Registers that instructions have as operands, and those of the accesses that they look at.
  void forEach(uint32_t pc, const std::function<void(uint32_t&)>& visit) {
    Instruction& at = program_.code[pc];
    forEachOperand(at, visit);
    if (uint32_t access = accessOf(at); access != none)
      forEachRegister(program_, program_.accesses[access], visit);
  }

  static void forEachOperand(Instruction& at, const std::function<void(uint32_t&)>& visit) {
    for (auto member : registersOf(at.code))
      if (at.*member != none)
        visit(at.*member);
  }

  void extendOverLoops() {
    for (uint32_t pc = 0; pc < sidesBegin_; ++pc) {
      const Instruction& at = program_.code[pc];
      if (at.code != Code::Next)
        continue;
      uint32_t loop = pc + uint32_t(at.target);
      for (Interval& interval : intervals_)
        if (interval.first < loop && interval.last > loop && interval.last < pc)
          interval.last = pc;
    }
  }

  static size_t kindOf(const VirtualRegister& reg) {
    size_t size = size_t(std::countr_zero(lower::elementBytes(reg.element)));
    return size * 8 + size_t(reg.isStrip) * 4 + size_t(reg.isRow) * 2 + size_t(reg.isLoaded);
  }

  uint32_t freshPlace(const VirtualRegister& reg) {
    placed_.push_back(reg);
    return uint32_t(placed_.size() - 1);
  }

  void release(uint32_t reg, uint32_t pc) {
    if (intervals_[reg].last != pc || isReleased_[reg])
      return;
    isReleased_[reg] = 1;
    free_[kindOf(emitter_.registers[reg])].push_back(places_[reg]);
  }

  void placeAt(uint32_t pc) {
    const Instruction& at = program_.code[pc];
    isReleased_.resize(intervals_.size());
    // A function may write where one of its operands is that nothing else needs.
    if (at.code == Code::Apply)
      for (uint32_t operand : {at.a, at.b, at.c})
        if (operand != none && operand != at.out)
          release(operand, pc);
    forEach(pc, [&](uint32_t& reg) {
      if (places_[reg] != none)
        return;
      std::vector<uint32_t>& free = free_[kindOf(emitter_.registers[reg])];
      if (free.empty()) {
        places_[reg] = freshPlace(emitter_.registers[reg]);
        return;
      }
      places_[reg] = free.back();
      free.pop_back();
    });
    forEach(pc, [&](uint32_t& reg) { release(reg, pc); });
    releaseEnded(pc);
  }

  /// Those whose last use is the end of a loop.
  void releaseEnded(uint32_t pc) {
    if (program_.code[pc].code != Code::Next && program_.code[pc].code != Code::Contract)
      return;
    for (uint32_t reg = 0; reg < intervals_.size(); ++reg)
      if (places_[reg] != none)
        release(reg, pc);
  }

  void rename() {
    auto place = [&](uint32_t& reg) { reg = places_[reg]; };
    for (Instruction& at : program_.code)
      forEachOperand(at, place);
    for (Access& access : program_.accesses)
      forEachRegister(program_, access, place);
    for (Contraction& contraction : program_.contractions)
      for (Side* side : {&contraction.rows, &contraction.columns})
        side->root = places_[side->root];
  }

  Emitter& emitter_;
  Program& program_;
  uint32_t sidesBegin_;
  std::vector<Interval> intervals_;
  /// By virtual register.
  std::vector<uint32_t> places_;
  std::vector<uint8_t> isReleased_;
  /// By place.
  std::vector<VirtualRegister> placed_;
  std::map<size_t, std::vector<uint32_t>> free_;
};

} // namespace

Program finished(Emitter emitter, uint32_t sidesBegin, std::span<const FixedScratch> scratch) {
  Finisher finisher(emitter, sidesBegin);
  finisher.placeRegisters();
  size_t ofLane = finisher.bytesOfLane();
  for (const FixedScratch& each : scratch)
    if (each.hasLanes)
      ofLane +=
          size_t(each.elements) * lower::elementBytes(emitter.program.buffers[each.buffer].element);
  size_t lanes = std::clamp(std::bit_floor(cacheBytes / std::max<size_t>(ofLane, 1)), size_t(64),
                            longestStrip);
  size_t bytes = finisher.placeMemory(lanes);
  for (const FixedScratch& each : scratch) {
    BufferInfo& buffer = emitter.program.buffers[each.buffer];
    size_t own =
        size_t(each.elements) * (each.hasLanes ? lanes : 1) * lower::elementBytes(buffer.element);
    buffer = {buffer.element, uint32_t(bytes), uint32_t(own)};
    bytes += (own + alignment - 1) / alignment * alignment;
  }
  emitter.program.memoryBytes = uint32_t(bytes);
  return emitter.take(uint32_t(lanes));
}

} // namespace strips
