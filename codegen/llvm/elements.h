// Elements of buffers, for one place or for as many lanes as the loop around runs in: where they
// are, and what reads and writes them.
#pragma once

#include "codegen/llvm/functions.h"
#include "codegen/llvm/positions.h"
#include "lower/loops/nest.h"

#include <optional>
#include <vector>

namespace codegen {

/// Where the elements of a buffer are.
struct BufferPlace {
  std::string pointer = {};
  /// Each lane has elements of its own, side by side.
  bool isPerLane = false;
  /// The last dimension is long enough for whole vectors.
  bool isPadded = false;
};

/// What the code around a statement gives it.
struct Surroundings {
  FunctionText& text;
  loops::Nest& nest;
  Positions& positions;
  const sizes::Facts& facts;
  const std::vector<BufferPlace>& buffers;
  std::optional<Lanes> lanes;
  uint32_t vectorBytes;
  /// Where code goes that finds a fault.
  const std::string& faultLabel;
  /// Elements of no matter, for reads that do not count.
  const std::string& harmless;
};

/// Elements of a buffer for the lanes: those from one on, one for all, some that are so far apart,
/// or any.
struct Address {
  IrValue first;
  /// Elements between lanes; none where `each` has all places.
  std::optional<int64_t> stride = 0;
  std::optional<IrValue> each = {};
  /// Whether lanes that have no iteration may be touched too.
  bool isPadded = false;
};

class Elements {
public:
  /// What is around must outlive this.
  explicit Elements(const Surroundings& around) : around_(around), text_(around.text) {}

  /// A form, of each lane where it hangs on these.
  IrValue position(Form form);
  /// A condition for lanes that have an iteration alone.
  std::optional<IrValue> alsoActive(const std::optional<IrValue>& condition);

  /// Where a buffer has the elements at these places, of which some are among the values. Throws
  /// Unsupported.
  Address addressOf(uint32_t buffer, std::span<const loops::Place> places,
                    std::span<const std::optional<IrValue>> values);
  /// Elements at an address; where a condition is given, only those that fulfil it are touched, and
  /// others are anything.
  IrValue read(uint32_t buffer, const Address& address, std::optional<IrValue> condition);
  /// Throws Unsupported where several lanes store at one place.
  void write(uint32_t buffer, const Address& address, const IrValue& value);

private:
  uint32_t lanes() const { return around_.lanes ? around_.lanes->count : 1; }
  bool goesThroughPadded(uint32_t buffer, std::span<const loops::Place> places) const;
  Address byValues(Form flat, const IrValue& each, uint32_t buffer);
  Address byForm(Form flat, uint32_t buffer);
  IrValue pointer(uint32_t buffer, const IrValue& flat);
  IrValue eachOf(const Address& address);
  uint64_t bytesOf(uint32_t buffer) const { return around_.nest.buffers[buffer].dtype.bytes(); }
  IrValue readBy(uint32_t buffer, IrType type, const std::string& instruction);
  IrValue readNear(uint32_t buffer, const Address& address, IrType type,
                   const std::optional<IrValue>& condition);
  IrValue readOne(uint32_t buffer, const IrValue& flat, const std::optional<IrValue>& condition);

  const Surroundings& around_;
  FunctionText& text_;
};

} // namespace codegen
