// One thread's part of a run: numbers, registers, scratch. A part of run.h.
//
// A thread that does some iterations of a loop begins with what the thread around it has computed:
// numbers are copied, registers and buffers lie where they lay until this thread makes its own.
#pragma once

#include "codegen/strips/run.h"
#include "runtime/pool.h"

#include <vector>

namespace strips {

template <typename T>
using Pooled = std::vector<T, runtime::PoolAllocator<T>>;

/// How many bytes may be read and written where registers and buffers of a foreign program are now.
struct Limits {
  Limits(const Program& program, std::span<const int64_t> given, int64_t most);

  /// A register is its own memory.
  void own(const Program& program, uint32_t number) {
    readable[number] = writable[number] = program.registers[number].bytes;
    widest[number] = alignof(int64_t);
  }

  /// Whether so many elements of so many bytes each may be read or written. Wider elements than
  /// those of the buffer that a register lies in could lie askew there.
  bool read(uint32_t number, int64_t count, int64_t bytes) const {
    return number == none || (readable[number] >= count * bytes && widest[number] >= bytes);
  }
  bool write(uint32_t number, int64_t count, int64_t bytes) const {
    return writable[number] >= count * bytes && widest[number] >= bytes;
  }
  /// Whether places of a buffer, the first one and the last, are in it.
  bool hold(uint32_t buffer, __int128 first, __int128 last, int64_t elementBytes) const;

  /// How many iterations of loops there may be from here on.
  int64_t iterations;
  List<int64_t> readable = {}, writable = {}, widest = {}, buffers = {};
};

class Thread {
public:
  /// At the start of a program. Throws std::bad_alloc.
  Thread(const LinkedProgram& linked, const Prepared& prepared, std::span<std::byte* const> buffers,
         std::span<const int64_t> bytes);
  /// For what these instructions do, on a thread of its own.
  Thread(const Thread& around, uint32_t from, uint32_t to);
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  /// Runs the instructions from one to another; false when there is a fault.
  bool run(uint32_t from, uint32_t to);

  /// What instructions make is in this thread's own registers from now on.
  void takeRegisters(uint32_t from, uint32_t to);
  void setNumber(uint32_t number, int64_t value) { numbers_[number] = value; }
  int64_t number(uint32_t number) const { return numbers_[number]; }
  /// A strip of so many bytes; zeros where a foreign program has none of such elements.
  const std::byte* registerAt(uint32_t number, size_t bytes, size_t elementBytes) const;
  std::byte* buffer(uint32_t number) const { return buffers_[number]; }
  const Program& program() const { return program_; }
  std::optional<runtime::Fault>& fault() { return fault_; }

private:
  void placeMemory();
  size_t tableBytes() const;

  bool begins(const Instruction& loop);
  bool runParallel(uint32_t pc, const Instruction& loop);
  void allocate(const Instruction& instruction);
  void compute(const Instruction& instruction);
  bool goesOn(const Instruction& next);
  bool runStrip(const Instruction& instruction);
  void reduce(const Instruction& instruction);
  void store(const Instruction& instruction);
  void load(const Instruction& instruction);
  void loadIndexed(const Access& access, std::byte* out, int64_t first, size_t low, size_t high,
                   size_t count);
  bool addSharedPlaces(const Access& access, int64_t& first) const;
  void boundLanes(const Access& access, size_t count, size_t& low, size_t& high) const;
  void outside(const Instruction& instruction);
  bool check(const Instruction& instruction);
  void describe(uint32_t access, size_t lane);

  // Of a foreign program, what is looked at before something is done.
  bool isSafe(const Instruction& instruction);
  bool isSafe(const Contraction& contraction);
  bool isSafeApply(const Instruction& instruction) const;
  bool isSafeJoin(const Instruction& instruction) const;
  bool isSafeStore(const Instruction& instruction) const;
  bool isSafeLoad(const Instruction& instruction);
  void limitRow(const Instruction& instruction);
  bool arePlacesReadable(uint32_t access, int64_t count) const;
  /// The fault of a program that is none.
  bool refuse();

  /// Inputs come first, and no program writes to them.
  bool isInput(uint32_t buffer) const { return buffer < program_.inputs; }
  bool hasStripOfPlaces(const Access& access) const;
  std::span<const Place> placesOf(const Access& access) const {
    return {program_.places.data() + access.firstPlace, access.placeCount};
  }
  int64_t valueAt(const Place& place, size_t lane) const {
    return reinterpret_cast<const int64_t*>(registers_[place.value])[place.isStrip ? lane : 0];
  }
  /// A register's own memory.
  std::byte* own(uint32_t number) const { return own_ + program_.registers[number].offset; }

  const LinkedProgram& linked_;
  const Program& program_;
  runtime::Block memory_;
  int64_t* numbers_;
  std::byte** registers_;
  std::byte** buffers_;
  std::byte* own_;
  /// Scratch that was allocated while it ran, by buffer.
  List<std::unique_ptr<runtime::Block>> allocated_;
  List<int64_t> allocatedBytes_;
  std::optional<Limits> limits_;
  std::optional<runtime::Fault> fault_;
};

/// Runs a contraction for all of its batches.
void contract(Thread& thread, const Contraction& contraction);

} // namespace strips
