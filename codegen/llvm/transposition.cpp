// Rows are read, stages of shuffles make columns of them, columns are stored. Shuffles are those
// that processors have: pairs of elements within 16 bytes first, then every second of these.
//
// Squares that stick out read their last row again and store under masks, where there are any.
#include "codegen/llvm/transposition.h"

#include "codegen/llvm/counted_loop.h"
#include "lower/loops/edit.h"
#include "lower/sizes/slope.h"

#include <array>
#include <fmt/format.h>
#include <functional>

namespace codegen {

namespace {

using loops::Loop;
using loops::Operation;
using loops::OperationKind;
using loops::Statement;

constexpr uint32_t blockBytes = 16;

uint32_t sideOf(const loops::Nest& nest, uint32_t buffer, uint32_t vectorBytes) {
  return vectorBytes / uint32_t(nest.buffers[buffer].dtype.bytes());
}

/// The only statement in a loop that is the only node in a loop, where that copies an element.
const Statement* copyIn(const loops::Node& outer) {
  if (outer.body.size() != 1 || outer.body[0].body.size() != 1)
    return nullptr;
  const auto* inner = std::get_if<Loop>(&outer.body[0].what);
  const auto* statement = std::get_if<Statement>(&outer.body[0].body[0].what);
  if (!inner || inner->kind != loops::RunKind::Vector || !statement || statement->combiner ||
      statement->operations.size() != 1 || statement->operations[0].kind != OperationKind::Load)
    return nullptr;
  return statement;
}

/// Masks of a square that sticks out: lanes of what is read, and how many rows and columns there
/// are.
struct Edge {
  IrValue rows, columns;
};

class SquareWriter {
public:
  SquareWriter(const Surroundings& around, const Transposition& copy)
      : around_(around), text_(around.text), copy_(copy),
        side_(sideOf(around.nest, copy.from, around.vectorBytes)),
        type_{storedAs(around.nest.buffers[copy.from].dtype), side_} {}

  void write(const std::optional<Edge>& edge) {
    std::vector<IrValue> lines = readRows(edge);
    for (uint32_t apart = 1; apart < blockBytes / bytes(); apart *= 2)
      lines = inBlocks(lines, apart);
    for (uint32_t apart = blockBytes / bytes(); apart < side_; apart *= 2)
      lines = acrossBlocks(lines, apart);
    storeColumns(lines, edge);
  }

private:
  uint32_t bytes() const { return bitsOf(type_.element) / 8; }

  IrValue pointer(uint32_t buffer, const IrValue& first, const IrValue& line, Form apart) {
    IrValue step = around_.positions.value(apart, around_.facts);
    IrValue at = text_.binary("add nsw", first, text_.binary("mul nsw", line, step));
    return text_.add(at.type,
                     fmt::format("getelementptr {}, ptr {}, {}", textOf(IrType{type_.element}),
                                 around_.buffers[buffer].pointer, typed(at)));
  }

  IrValue firstLanes(const IrValue& count) {
    return text_.compare("icmp slt", FunctionText::counted(side_), text_.splat(count, side_));
  }

  std::vector<IrValue> readRows(const std::optional<Edge>& edge) {
    std::vector<IrValue> rows;
    IrValue first = around_.positions.value(copy_.read, around_.facts);
    for (uint32_t i = 0; i < side_; ++i) {
      IrValue row = FunctionText::whole({}, i);
      if (!edge) {
        IrValue from = pointer(copy_.from, first, row, copy_.rowsApart);
        rows.push_back(text_.addOnce(
            type_, fmt::format("load {}, ptr {}, align {}", textOf(type_), from.text, bytes())));
        continue;
      }
      IrValue last = text_.binary("sub nsw", edge->rows, FunctionText::whole({}, 1));
      std::array both{row, last};
      IrValue from =
          pointer(copy_.from, first, text_.intrinsic("llvm.umin", both), copy_.rowsApart);
      rows.push_back(text_.addOnce(
          type_, fmt::format("call {0} @llvm.masked.load.{1}.p0(ptr {2}, i32 {3}, {4}, {0} "
                             "zeroinitializer)",
                             textOf(type_), suffixOf(type_), from.text, bytes(),
                             typed(firstLanes(edge->columns)))));
    }
    return rows;
  }

  void storeColumns(const std::vector<IrValue>& columns, const std::optional<Edge>& edge) {
    IrValue first = around_.positions.value(copy_.written, around_.facts);
    for (uint32_t i = 0; i < side_; ++i) {
      IrValue column = FunctionText::whole({}, i);
      IrValue to = pointer(copy_.to, first, column, copy_.columnsApart);
      if (!edge) {
        text_.addLine(
            fmt::format("store {}, ptr {}, align {}", typed(columns[i]), to.text, bytes()));
        continue;
      }
      IrValue isThere = text_.compare("icmp ult", column, edge->columns);
      IrValue rows = text_.select(isThere, edge->rows, FunctionText::whole({}, 0));
      text_.addLine(fmt::format("call void @llvm.masked.store.{}.p0({}, ptr {}, i32 {}, {})",
                                suffixOf(type_), typed(columns[i]), to.text, bytes(),
                                typed(firstLanes(rows))));
    }
  }

  /// Lanes of two vectors, those of the second counted on.
  IrValue shuffled(const IrValue& a, const IrValue& b, const std::vector<uint32_t>& lanes) {
    std::string places;
    for (uint32_t lane : lanes)
      places += fmt::format("{}i32 {}", places.empty() ? "" : ", ", lane);
    return text_.add(type_, fmt::format("shufflevector {}, {}, <{} x i32> <{}>", typed(a), typed(b),
                                        side_, places));
  }

  /// Of each two lines that lie so far apart two new ones, of the lanes that `laneOf` says for the
  /// place of a lane, counted through both lines, and put where `placeOf` says.
  template <typename LaneOf, typename PlaceOf>
  std::vector<IrValue> paired(const std::vector<IrValue>& lines, uint32_t apart, LaneOf&& laneOf,
                              PlaceOf&& placeOf) {
    std::vector<IrValue> made(lines.size());
    for (uint32_t i = 0; i < side_; ++i) {
      if (i & apart)
        continue;
      for (uint32_t half = 0; half < 2; ++half) {
        std::vector<uint32_t> lanes;
        for (uint32_t lane = 0; lane < side_; ++lane)
          lanes.push_back(laneOf(lane, half));
        made[placeOf(i, half)] = shuffled(lines[i], lines[i + apart], lanes);
      }
    }
    return made;
  }

  /// In each 16 bytes, runs of lanes of lines so far apart by turns: the first halves, the second.
  std::vector<IrValue> inBlocks(const std::vector<IrValue>& lines, uint32_t apart) {
    uint32_t block = blockBytes / bytes();
    return paired(
        lines, apart,
        [&](uint32_t lane, uint32_t half) {
          uint32_t inside = lane % block, run = inside / apart;
          return run % 2 * side_ + lane - inside + half * block / 2 + run / 2 * apart +
                 inside % apart;
        },
        [&](uint32_t line, uint32_t half) { return placeOf(line, apart, half); });
  }

  /// Where the halves that lines give go: those of the first stage hold two columns each, which the
  /// second one takes apart.
  static uint32_t placeOf(uint32_t line, uint32_t apart, uint32_t half) {
    return apart == 1 ? line + half : line - (line % 2) + half + (line % 2) * 2;
  }

  /// Blocks of two lines so far apart: those at even places, those at odd ones.
  std::vector<IrValue> acrossBlocks(const std::vector<IrValue>& lines, uint32_t apart) {
    uint32_t block = blockBytes / bytes();
    return paired(
        lines, apart,
        [&](uint32_t lane, uint32_t isOdd) {
          return (lane / block * 2 + isOdd) * block + lane % block;
        },
        [&](uint32_t line, uint32_t isOdd) { return line + isOdd * apart; });
  }

  const Surroundings& around_;
  FunctionText& text_;
  const Transposition& copy_;
  uint32_t side_;
  IrType type_;
};

/// What is left of so many iterations of a loop before an end, from where it is.
IrValue leftOf(const Surroundings& around, const loops::Node& node, const IrValue& end,
               uint32_t most) {
  Form at = loops::variableForm(around.nest, std::get<Loop>(node.what).variable);
  IrValue left = around.text.binary("sub nsw", end, around.positions.value(at, around.facts));
  std::array both{left, FunctionText::whole({}, most)};
  return around.text.intrinsic("llvm.smin", both);
}

/// Some of the iterations of a loop from where it is.
void writeSome(const Surroundings& around, const loops::Node& node, const IrValue& count,
               const std::function<void()>& body) {
  Name variable = std::get<Loop>(node.what).variable;
  IrValue at = around.positions.value(loops::variableForm(around.nest, variable), around.facts);
  writeCountedLoop(around.text, around.positions, variable, at,
                   around.text.binary("add nsw", at, count), 1, body);
}

/// A square that sticks out. Processors without registers for masks copy its elements one by one:
/// what makes a mask would be kept in registers that others want.
void writeEdge(const Surroundings& around, const Transposition& copy, const Edge& edge) {
  constexpr uint32_t bytesWithMasks = 64;
  if (around.vectorBytes >= bytesWithMasks)
    return SquareWriter(around, copy).write(edge);
  writeSome(around, *copy.outer, edge.columns, [&] {
    writeSome(around, *copy.inner, edge.rows,
              [&] { writeStatement(around, std::get<Statement>(copy.inner->body[0].what)); });
  });
}

void writeAnySquare(const Surroundings& around, const Transposition& copy, uint32_t side,
                    const IrValue& outerEnd, const IrValue& innerEnd) {
  FunctionText& text = around.text;
  Edge edge{leftOf(around, *copy.inner, innerEnd, side),
            leftOf(around, *copy.outer, outerEnd, side)};
  IrValue all = FunctionText::whole({}, side);
  IrValue isWhole = text.logicalAnd(text.compare("icmp eq", edge.rows, all),
                                    text.compare("icmp eq", edge.columns, all));
  std::string whole = text.newLabel(), part = text.newLabel(), after = text.newLabel();
  text.branch(isWhole, whole, part);
  text.open(whole);
  SquareWriter(around, copy).write(std::nullopt);
  text.jump(after);
  text.open(part);
  writeEdge(around, copy, edge);
  text.jump(after);
  text.open(after);
}

} // namespace

std::optional<Transposition> transpositionOf(loops::Nest& nest, const loops::Node& loop,
                                             uint32_t vectorBytes) {
  const Statement* statement = copyIn(loop);
  if (!statement)
    return std::nullopt;
  const auto &outer = std::get<Loop>(loop.what), &inner = std::get<Loop>(loop.body[0].what);
  const Operation& load = statement->operations[0];
  const loops::Store& store = statement->stores[0];
  auto places = loops::sureForms(load);
  if (!places)
    return std::nullopt;
  sizes::Table& table = nest.table;
  Form read = loops::flatOf(nest, nest.buffers[load.buffer].extents, *places),
       written = loops::flatOf(nest, nest.buffers[store.buffer].extents, store.position);
  uint32_t side = sideOf(nest, load.buffer, vectorBytes);
  auto isLong = [&](const Loop& of) {
    return table.constantOf(of.end).value_or(side) * 2 > int64_t(side);
  };
  Form one = table.number(1);
  auto isAlong = [&](Form form, const Loop& of) {
    return sizes::slopeOf(table, form, of.variable) == one;
  };
  auto rowsApart = sizes::slopeOf(table, read, inner.variable);
  auto columnsApart = sizes::slopeOf(table, written, outer.variable);
  auto hangsOnThem = [&](Form form) {
    return table.mentions(form, outer.variable) || table.mentions(form, inner.variable);
  };
  size_t bytes = nest.buffers[load.buffer].dtype.bytes();
  if (!load.operands.empty() || bytes < 4 || side < 2 || !isLong(outer) || !isLong(inner) ||
      !isAlong(read, outer) || !isAlong(written, inner) || !rowsApart || !columnsApart ||
      hangsOnThem(*rowsApart) || hangsOnThem(*columnsApart) || hangsOnThem(inner.end) ||
      *rowsApart == one)
    return std::nullopt;
  return Transposition{&loop, &loop.body[0], load.buffer, store.buffer,
                       read,  written,       *rowsApart,  *columnsApart};
}

void writeTransposition(const Surroundings& around, const Transposition& copy, const IrValue& begin,
                        const IrValue& end) {
  uint32_t side = sideOf(around.nest, copy.from, around.vectorBytes);
  const auto &outer = std::get<Loop>(copy.outer->what), &inner = std::get<Loop>(copy.inner->what);
  sizes::Facts facts = around.facts;
  loops::enter(facts, around.nest.table, *copy.outer);
  loops::enter(facts, around.nest.table, *copy.inner);
  Surroundings inside{around.text,    around.nest, around.positions,   facts,
                      around.buffers, {},          around.vectorBytes, around.faultLabel,
                      around.harmless};
  IrValue innerEnd = around.positions.value(inner.end, around.facts);
  auto overInner = [&] {
    writeCountedLoop(around.text, around.positions, inner.variable, FunctionText::whole({}, 0),
                     innerEnd, side, [&] { writeAnySquare(inside, copy, side, end, innerEnd); });
  };
  writeCountedLoop(around.text, around.positions, outer.variable, begin, end, side, overInner);
}

} // namespace codegen
