// Walks the tree; a loop in lanes is written as whole vectors and a rest.
//
// Small scratch of known size is room on the stack, and loops that go through it a few times are
// written out, so that LLVM keeps its elements in registers.
#include "codegen/llvm/module.h"

#include "codegen/llvm/counted_loop.h"
#include "codegen/llvm/groups.h"
#include "codegen/llvm/statement.h"
#include "codegen/llvm/transposition.h"
#include "lower/loops/edit.h"
#include "lower/loops/names.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <set>

namespace codegen {

namespace {

using loops::Allocation;
using loops::Condition;
using loops::Loop;
using loops::Nest;
using loops::Node;
using loops::RunKind;
using loops::Space;
using loops::Statement;

constexpr int64_t mostStackBytes = 16384;
/// Of scratch whose elements registers may hold.
constexpr int64_t mostRegisterBytes = 8192;
constexpr int64_t mostWrittenOut = 16;
/// Rows that are whole pages apart share a few lines of a cache.
constexpr int64_t pageBytes = 4096, lineBytes = 64;
constexpr size_t mostStatementsWrittenOut = 512;
/// Registers of so many bytes come with others for masks; else what makes a mask is kept in those
/// that tiles want.
constexpr uint32_t bytesWithMasks = 64;
/// Values that are worth joining side by side.
constexpr int64_t fewestJoined = 4;

bool isIn(const std::set<uint32_t>& buffers, uint32_t buffer) {
  return buffers.contains(buffer);
}

template <typename Visit>
void forEachStatement(const std::vector<Node>& body, Visit&& visit) {
  loops::forEachNode(body, [&](const Node& node) {
    if (const auto* statement = std::get_if<Statement>(&node.what))
      visit(*statement);
  });
}

/// Which buffers are allocated below.
std::set<uint32_t> allocatedIn(const std::vector<Node>& body) {
  std::set<uint32_t> found;
  loops::forEachNode(body, [&](const Node& node) {
    if (const auto* allocation = std::get_if<Allocation>(&node.what))
      found.insert(allocation->buffer);
  });
  return found;
}

/// Calls `visit` with each form in a place of a buffer: with null where the place is a value.
template <typename Visit>
void forEachPlace(const Statement& statement, Visit&& visit) {
  for (const loops::Operation& operation : statement.operations)
    for (const loops::Place& place : operation.places)
      visit(operation.buffer, place.value == loops::none ? &place.form : nullptr);
  for (const loops::Store& store : statement.stores)
    for (const Form& form : store.position)
      visit(store.buffer, &form);
}

class ModuleWriter {
public:
  ModuleWriter(const Nest& nest, const TargetModel& target)
      : made_{nest, {}, {}, {}}, nest_(made_.nest), target_(target), places_(nest.buffers.size()) {}

  NestModule write() {
    padScratch();
    placeWorkspaces();
    std::vector<const Node*> together;
    // The tree is that of the copy, whose table grows meanwhile.
    const std::vector<Node>& body = nest_.body;
    for (const Node& node : body) {
      if (std::holds_alternative<Allocation>(node.what))
        continue;
      const auto* loop = std::get_if<Loop>(&node.what);
      bool isParallel = loop && loop->kind == RunKind::Parallel;
      if (isParallel)
        writePart(std::exchange(together, {}));
      together.push_back(&node);
      if (isParallel)
        writePart(std::exchange(together, {}));
    }
    writePart(together);
    return std::move(made_);
  }

private:
  // Scratch.

  std::optional<int64_t> bytesOf(uint32_t buffer) {
    int64_t bytes = int64_t(nest_.buffers[buffer].dtype.bytes());
    for (Form extent : nest_.buffers[buffer].extents) {
      auto count = nest_.table.constantOf(extent);
      if (!count || *count < 0 || *count > mostStackBytes || bytes > mostStackBytes)
        return std::nullopt;
      bytes *= *count;
    }
    return bytes;
  }

  bool fitsOnStack(uint32_t buffer) {
    auto bytes = bytesOf(buffer);
    return bytes && *bytes <= mostStackBytes;
  }

  /// Scratch that is large, or that parts share, is the caller's.
  void placeWorkspaces() {
    size_t parts = std::ranges::count_if(nest_.body, [](const Node& node) {
      const auto* loop = std::get_if<Loop>(&node.what);
      return loop && loop->kind == RunKind::Parallel;
    });
    for (const Node& node : nest_.body) {
      const auto* loop = std::get_if<Loop>(&node.what);
      if (const auto* allocation = std::get_if<Allocation>(&node.what)) {
        if (parts > 0 || !fitsOnStack(allocation->buffer))
          addWorkspace(allocation->buffer, false);
        continue;
      }
      for (uint32_t buffer : allocatedIn(node.body))
        if (!fitsOnStack(buffer))
          addWorkspace(buffer, loop && loop->kind == RunKind::Parallel);
    }
  }

  void addWorkspace(uint32_t buffer, bool isPrivate) {
    Form elements = nest_.table.number(1);
    for (Form extent : nest_.buffers[buffer].extents)
      elements = nest_.table.product(elements, extent);
    for (Name name : nest_.table.namesIn(elements))
      if (std::ranges::none_of(nest_.sizes, [&](const auto& size) { return size.size == name; }))
        throw Unsupported{"scratch whose size hangs on a loop"};
    made_.workspaces.push_back({buffer, elements, isPrivate});
    workspaces_.insert(buffer);
  }

  // Parts.

  void writePart(const std::vector<const Node*>& nodes) {
    if (nodes.empty())
      return;
    text_ = FunctionText(target_.hasAvx512);
    positions_.emplace(text_, nest_.table);
    bindSizes();
    placeBuffers();
    harmless_ = text_.addStack(16, 16);
    fault_ = "fault";
    Part part{fmt::format("{}part{}", target_.prefix, made_.parts.size())};
    sizes::Facts facts = loops::factsOf(nest_);
    for (const Node* node : nodes) {
      const auto* loop = std::get_if<Loop>(&node->what);
      if (loop && loop->kind == RunKind::Parallel && !part.iterations) {
        part.iterations = loop->end;
        iterations(*node, facts, {"%begin", {}}, {"%end", {}});
      } else {
        writeNode(*node, facts);
      }
    }
    finishPart(part);
  }

  void finishPart(const Part& part) {
    std::string parameters, arguments;
    std::string loads;
    size_t slot = 0;
    auto add = [&](uint32_t buffer) {
      parameters += fmt::format("ptr noalias %p{}, ", buffer);
      arguments += fmt::format("ptr %p{}, ", buffer);
      loads += fmt::format("  %s{} = getelementptr ptr, ptr %buffers, i64 {}\n"
                           "  %p{} = load ptr, ptr %s{}, align 8\n",
                           buffer, slot, buffer, buffer);
      ++slot;
    };
    for (uint32_t i = 0; i < nest_.buffers.size(); ++i)
      if (nest_.buffers[i].space != Space::Scratch)
        add(i);
    for (const Workspace& workspace : made_.workspaces)
      add(workspace.buffer);
    made_.functions += fmt::format(
        "define internal i32 @{0}_body({1}ptr noalias %sizes, i64 %begin, i64 %end) noinline "
        "nounwind {7}{{\nentry:\n{2}{3}  ret i32 0\nfault:\n  ret i32 1\n}}\n"
        "define {6}i32 @{0}(ptr %buffers, ptr %sizes, i64 %begin, i64 %end) nounwind {7}{{\n{4}"
        "  %r = call i32 @{0}_body({5}ptr %sizes, i64 %begin, i64 %end)\n  ret i32 %r\n}}\n\n",
        part.symbol, parameters, text_.stack(), text_.body(), loads, arguments, target_.linkage,
        target_.attributes);
    made_.parts.push_back(part);
  }

  void bindSizes() {
    for (size_t i = 0; i < nest_.sizes.size(); ++i) {
      IrValue at = text_.add({}, fmt::format("getelementptr i64, ptr %sizes, i64 {}", i));
      positions_->bind(nest_.sizes[i].size,
                       text_.add({}, fmt::format("load i64, ptr {}, align 8", at.text)));
    }
  }

  void placeBuffers() {
    for (uint32_t i = 0; i < nest_.buffers.size(); ++i) {
      places_[i] = {};
      if (nest_.buffers[i].space != Space::Scratch || isIn(workspaces_, i))
        places_[i].pointer = fmt::format("%p{}", i);
    }
    // What is allocated outermost is here for all nodes of the part.
    for (const Node& node : nest_.body)
      if (const auto* allocation = std::get_if<Allocation>(&node.what))
        allocate(allocation->buffer);
  }

  // Nodes.

  void writeNodes(const std::vector<Node>& body, const sizes::Facts& facts) {
    for (const Node& node : body)
      writeNode(node, facts);
  }

  Surroundings around(const sizes::Facts& facts) {
    return {text_,  nest_,    *positions_, facts, places_, lanes_, target_.vectorBytes,
            fault_, harmless_};
  }

  void writeNode(const Node& node, const sizes::Facts& facts) {
    if (const auto* statement = std::get_if<Statement>(&node.what))
      return writeStatement(around(facts), *statement);
    if (const auto* allocation = std::get_if<Allocation>(&node.what))
      return allocate(allocation->buffer);
    if (std::holds_alternative<Condition>(node.what))
      return condition(node, facts);
    loop(node, facts);
  }

  void allocate(uint32_t buffer) {
    if (isIn(workspaces_, buffer)) {
      if (lanes_)
        throw Unsupported{"large scratch in lanes"};
      return;
    }
    uint32_t lanes = lanes_ ? lanes_->count : 1;
    int64_t bytes = *bytesOf(buffer) * lanes;
    places_[buffer] = {text_.addStack(uint64_t(std::max<int64_t>(bytes, 1)), 64), lanes > 1,
                       isIn(padded_, buffer)};
  }

  /// Buffers whose rows groups go along, so that one follows the other.
  std::set<uint32_t> buffersOfGroups() {
    std::set<uint32_t> found;
    loops::forEachNode(std::as_const(nest_.body), [&](const Node& node) {
      const auto* loop = std::get_if<Loop>(&node.what);
      if (!loop || loop->kind != RunKind::Grouped)
        return;
      forEachPlace(std::get<Statement>(node.body[0].what), [&](uint32_t buffer, const Form* form) {
        if (form && nest_.table.mentions(*form, loop->variable))
          found.insert(buffer);
      });
    });
    return found;
  }

  /// Makes rows of scratch as long as whole vectors, and rows of large scratch a line longer than
  /// pages, where nothing hangs on where they end.
  void padScratch() {
    std::set<uint32_t> kept = buffersOfGroups();
    forEachStatement(nest_.body, [&](const Statement& statement) {
      for (const loops::Operation& operation : statement.operations)
        if (!operation.operands.empty() ||
            std::ranges::any_of(operation.places, &loops::Place::isChecked))
          kept.insert(operation.buffer);
    });
    for (uint32_t i = 0; i < nest_.buffers.size(); ++i) {
      loops::Buffer& buffer = nest_.buffers[i];
      auto row =
          buffer.extents.empty() ? std::nullopt : nest_.table.constantOf(buffer.extents.back());
      if (buffer.space != Space::Scratch || !row || isIn(kept, i))
        continue;
      int64_t bytes = int64_t(buffer.dtype.bytes()), lanes = target_.vectorBytes / 4;
      if (fitsOnStack(i)) {
        buffer.extents.back() = nest_.table.number((*row + lanes - 1) / lanes * lanes);
        padded_.insert(i);
      } else if (buffer.extents.size() > 1 && *row * bytes % pageBytes == 0) {
        buffer.extents.back() = nest_.table.number(*row + lineBytes / bytes);
      }
    }
  }

  void condition(const Node& node, const sizes::Facts& facts) {
    const auto& condition = std::get<Condition>(node.what);
    IrValue left = positions_->value(condition.left, facts);
    IrValue right = positions_->value(condition.right, facts);
    std::string then = text_.newLabel(), end = text_.newLabel();
    text_.branch(text_.compare("icmp slt", left, right), then, end);
    text_.open(then);
    writeInside(node, facts);
    text_.jump(end);
    text_.open(end);
  }

  void writeInside(const Node& node, const sizes::Facts& facts) {
    sizes::Facts own = facts;
    loops::enter(own, nest_.table, node);
    writeNodes(node.body, own);
  }

  void loop(const Node& node, const sizes::Facts& facts) {
    const auto& loop = std::get<Loop>(node.what);
    auto count = nest_.table.constantOf(positions_->known(loop.end));
    if (loop.kind == RunKind::Grouped && writeGroup(around(facts), node, target_.wholeProducts))
      return;
    if (loop.kind == RunKind::Vector && !lanes_ && lanesOf(node) > 1 && runsInLanes(node))
      return vectorLoop(node, facts, count);
    if (count && !lanes_ && isReduction(node, *count))
      return lastLanes(node, facts, *count);
    if (!count && !lanes_ && target_.vectorBytes >= bytesWithMasks &&
        isReduction(node, fewestJoined))
      return maskedLanes(node, facts);
    if (count && isWrittenOut(node, *count)) {
      for (int64_t i = 0; i < *count; ++i) {
        positions_->fix(loop.variable, i);
        writeInside(node, facts);
        positions_->forget(loop.variable);
      }
      return;
    }
    iterations(node, facts, FunctionText::whole({}, 0), positions_->value(loop.end, facts));
  }

  void iterations(const Node& node, const sizes::Facts& facts, const IrValue& begin,
                  const IrValue& end) {
    if (!transposition(node, facts, begin, end))
      countedLoop(node, facts, begin, end, 1);
  }

  /// The iterations from one number on to before another, so many at once; those left over come
  /// after it.
  void countedLoop(const Node& node, const sizes::Facts& facts, const IrValue& begin,
                   const IrValue& end, uint32_t step) {
    writeCountedLoop(text_, *positions_, std::get<Loop>(node.what).variable, begin, end, step,
                     [&] { writeInside(node, facts); });
  }

  /// Writes a copy that turns its elements around, if a loop is one.
  bool transposition(const Node& node, const sizes::Facts& facts, const IrValue& begin,
                     const IrValue& end) {
    if (lanes_)
      return false;
    auto copy = transpositionOf(nest_, node, target_.vectorBytes);
    if (copy)
      writeTransposition(around(facts), *copy, begin, end);
    return copy.has_value();
  }

  size_t statementsIn(const Node& node) const {
    size_t count = std::holds_alternative<Statement>(node.what);
    for (const Node& each : node.body) {
      size_t times = 1;
      if (const auto* loop = std::get_if<Loop>(&each.what))
        if (auto number = nest_.table.constantOf(loop->end))
          times = loop->kind == RunKind::Unrolled ? size_t(*number) : 1;
      count += times * statementsIn(each);
    }
    return count;
  }

  /// Whether a loop goes through a dimension of scratch that may lie in registers.
  bool goesThroughRegisters(const Node& node) {
    Name variable = std::get<Loop>(node.what).variable;
    bool found = false;
    forEachStatement(node.body, [&](const Statement& statement) {
      forEachPlace(statement, [&](uint32_t buffer, const Form* form) {
        if (form && nest_.buffers[buffer].space == Space::Scratch && !isIn(workspaces_, buffer) &&
            nest_.table.nameOf(*form) == variable)
          found |= bytesOf(buffer).value_or(mostStackBytes) <= mostRegisterBytes;
      });
    });
    return found;
  }

  bool isWrittenOut(const Node& node, int64_t count) {
    const auto& loop = std::get<Loop>(node.what);
    if (size_t(count) * statementsIn(node) > mostStatementsWrittenOut)
      return false;
    if (loop.kind == RunKind::Unrolled || loop.kind == RunKind::Grouped)
      return true;
    return count <= mostWrittenOut && goesThroughRegisters(node);
  }

  // Lanes.

  /// Whether a few values are joined to one that may be joined in any order.
  bool isReduction(const Node& node, int64_t count) {
    const auto* statement =
        node.body.size() == 1 ? std::get_if<Statement>(&node.body[0].what) : nullptr;
    if (!statement || !statement->combiner || loops::findsPlace(*statement->combiner) ||
        nest_.numbers == loops::Numbers::Reference)
      return false;
    Name variable = std::get<Loop>(node.what).variable;
    bool isPlain = true;
    forEachPlace(*statement, [&](uint32_t, const Form* form) { isPlain &= form != nullptr; });
    for (Form form : statement->stores[0].position)
      isPlain &= !nest_.table.mentions(form, variable);
    return isPlain && count >= fewestJoined && count <= 4 * int64_t(lanesOf(node));
  }

  /// As many iterations at once as there are lanes; the last time those that are left.
  void maskedLanes(const Node& node, const sizes::Facts& facts) {
    const auto& loop = std::get<Loop>(node.what);
    uint32_t lanes = lanesOf(node);
    IrValue end = positions_->value(loop.end, facts);
    writeCountedLoop(
        text_, *positions_, loop.variable, FunctionText::whole({}, 0), end, lanes, [&] {
          IrValue at = positions_->value(loops::variableForm(nest_, loop.variable), facts);
          IrValue left = text_.binary("sub nsw", end, at);
          lanes_ = Lanes{
              loop.variable, lanes,
              text_.compare("icmp slt", FunctionText::counted(lanes), text_.splat(left, lanes))};
          writeInside(node, facts);
          lanes_.reset();
        });
  }

  /// All iterations at once, whether they fill their lanes or not.
  void lastLanes(const Node& node, const sizes::Facts& facts, int64_t count) {
    uint32_t lanes = std::bit_ceil(uint32_t(count));
    writtenOutLanes(node, facts, 0, count, lanes);
  }

  /// Whether nothing but the values of statements differs from lane to lane.
  bool runsInLanes(const Node& node) {
    Name variable = std::get<Loop>(node.what).variable;
    std::set<uint32_t> own = allocatedIn(node.body);
    bool runs =
        std::ranges::none_of(own, [&](uint32_t buffer) { return isIn(workspaces_, buffer); });
    loops::forEachNode(node.body, [&](const Node& each) {
      if (const auto* loop = std::get_if<Loop>(&each.what))
        runs &= !nest_.table.mentions(loop->end, variable);
      if (const auto* condition = std::get_if<Condition>(&each.what))
        runs &= !nest_.table.mentions(condition->left, variable) &&
                !nest_.table.mentions(condition->right, variable);
    });
    forEachStatement(node.body, [&](const Statement& statement) {
      forEachPlace(statement, [&](uint32_t buffer, const Form* form) {
        if (isIn(own, buffer))
          runs &= form && !nest_.table.mentions(*form, variable);
      });
    });
    return runs;
  }

  /// As many elements as fill a register, of the widest that the loop stores.
  uint32_t lanesOf(const Node& node) {
    size_t widest = 1;
    forEachStatement(node.body, [&](const Statement& statement) {
      for (const loops::Store& store : statement.stores)
        widest = std::max(widest, nest_.buffers[store.buffer].dtype.bytes());
    });
    return std::max<uint32_t>(1, target_.vectorBytes / uint32_t(std::max<size_t>(widest, 4)));
  }

  void vectorLoop(const Node& node, const sizes::Facts& facts, std::optional<int64_t> count) {
    const auto& loop = std::get<Loop>(node.what);
    uint32_t lanes = lanesOf(node);
    if (count && *count <= 4 * int64_t(lanes))
      return writtenOutLanes(node, facts, 0, *count, lanes);
    IrValue end = positions_->value(loop.end, facts);
    IrValue rest = text_.binary("and", end, FunctionText::whole({}, lanes - 1));
    IrValue whole = text_.binary("sub nsw", end, rest);
    lanes_ = Lanes{loop.variable, lanes};
    countedLoop(node, facts, FunctionText::whole({}, 0), whole, lanes);
    lanes_.reset();
    if (count)
      writtenOutLanes(node, facts, *count - *count % lanes, *count, lanes);
    else
      lastLanes(node, facts, whole, rest, lanes);
  }

  /// The iterations behind the last whole vector, if there are any.
  void lastLanes(const Node& node, const sizes::Facts& facts, const IrValue& first,
                 const IrValue& rest, uint32_t lanes) {
    Name variable = std::get<Loop>(node.what).variable;
    std::string some = text_.newLabel(), after = text_.newLabel();
    text_.branch(text_.compare("icmp ne", rest, FunctionText::whole({}, 0)), some, after);
    text_.open(some);
    IrValue mask =
        text_.compare("icmp slt", FunctionText::counted(lanes), text_.splat(rest, lanes));
    positions_->bind(variable, first);
    lanes_ = Lanes{variable, lanes, mask};
    writeInside(node, facts);
    lanes_.reset();
    positions_->forget(variable);
    text_.jump(after);
    text_.open(after);
  }

  static IrValue firstLanes(uint32_t count, uint32_t lanes) {
    std::string bits;
    for (uint32_t i = 0; i < lanes; ++i)
      bits += fmt::format("{}i1 {}", i == 0 ? "" : ", ", i < count);
    return {fmt::format("<{}>", bits), {Element::Bit, lanes}};
  }

  void writtenOutLanes(const Node& node, const sizes::Facts& facts, int64_t from, int64_t to,
                       uint32_t lanes) {
    Name variable = std::get<Loop>(node.what).variable;
    for (; from < to; from += lanes) {
      auto rest = uint32_t(std::min<int64_t>(lanes, to - from));
      uint32_t count = std::bit_ceil(rest);
      positions_->fix(variable, from);
      if (count > 1)
        lanes_ = Lanes{variable, count};
      if (count != rest)
        lanes_->mask = firstLanes(rest, count);
      writeInside(node, facts);
      lanes_.reset();
      positions_->forget(variable);
    }
  }

  NestModule made_;
  Nest& nest_;
  const TargetModel& target_;
  std::vector<BufferPlace> places_;
  std::set<uint32_t> workspaces_, padded_;
  FunctionText text_;
  std::optional<Positions> positions_;
  std::optional<Lanes> lanes_;
  std::string fault_, harmless_;
};

} // namespace

TargetModel targetOf(const Processor& processor) {
  return {.vectorBytes = processor.vectorBytes(),
          .wholeProducts = processor.wholeProducts(),
          .hasAvx512 = processor.vectorBytes() == 64 && processor.has("+avx512dq")};
}

runtime::Checked<NestModule> moduleOf(const Nest& nest, const TargetModel& target) {
  try {
    return ModuleWriter(nest, target).write();
  } catch (const Unsupported& unsupported) {
    return runtime::Problem{unsupported.what};
  }
}

} // namespace codegen
