// The walk over the tree. What is inside of a loop is made first, then put behind the instruction
// that begins it.
#include "codegen/strips/compile/compile.h"

#include "codegen/strips/compile/contraction.h"
#include "codegen/strips/compile/inside.h"
#include "codegen/strips/compile/known_numbers.h"
#include "codegen/strips/compile/lanes.h"
#include "codegen/strips/compile/merge.h"
#include "codegen/strips/compile/registers.h"
#include "codegen/strips/compile/splits.h"
#include "codegen/strips/compile/statement.h"
#include "lower/loops/edit.h"

#include <algorithm>

namespace strips {

namespace {

using loops::Loop;
using loops::Node;
using loops::Statement;

/// Scratch of so many bytes is there from the start.
constexpr int64_t mostFixedBytes = 4096;

class TreeCompiler {
public:
  TreeCompiler(Nest& nest, std::set<uint32_t> contracted)
      : nest_(nest), emitter_(nest), statements_(nest, emitter_),
        contracted_(std::move(contracted)) {}

  Program run() {
    for (const loops::Buffer& buffer : nest_.buffers) {
      emitter_.program.buffers.push_back({lower::elementOf(buffer.dtype), 0, 0});
      emitter_.program.inputs += buffer.space == loops::Space::Input;
      emitter_.program.givenBuffers += buffer.space != loops::Space::Scratch;
    }
    strips_ = chooseLanes(nest_, nest_.body, contracted_).strips;
    nodes(nest_.body);
    Sequence code = emitter_.close();
    code.push_back({.code = Code::Stop});
    auto end = uint32_t(code.size());
    for (const Sequence* part : {&code, &sides_})
      for (const Instruction& instruction : *part)
        emitter_.program.code.push_back(instruction);
    for (Contraction& contraction : emitter_.program.contractions)
      for (Side* side : {&contraction.rows, &contraction.columns}) {
        side->begin += end;
        side->end += end;
      }
    return finished(std::move(emitter_), end, fixed_);
  }

private:
  void nodes(const std::vector<Node>& body) {
    for (const Node& node : body)
      if (auto contraction = contractionOf(node, contracted_))
        compileContraction(nest_, emitter_, statements_, *contraction, sides_);
      else if (const auto* loop = std::get_if<Loop>(&node.what))
        this->loop(*loop, node.body);
      else if (const auto* condition = std::get_if<loops::Condition>(&node.what))
        this->condition(*condition, node.body);
      else if (const auto* allocation = std::get_if<loops::Allocation>(&node.what))
        allocate(allocation->buffer);
      else
        statements_.compile(std::get<Statement>(node.what), strip_);
  }

  void condition(const loops::Condition& condition, const std::vector<Node>& body) {
    Instruction unless{.code = Code::Unless,
                       .a = emitter_.number(condition.left),
                       .b = emitter_.number(condition.right)};
    emitter_.open({});
    nodes(body);
    guard(unless, emitter_.close());
  }

  void guard(Instruction unless, const Sequence& code) {
    unless.target = int32_t(code.size() + 1);
    emitter_.emit(unless);
    emitter_.emit(code);
  }

  void loop(const Loop& loop, const std::vector<Node>& body) {
    if (!strip_ && strips_.contains(loop.variable))
      return stripLoop(loop, body);
    Instruction begin{.code = Code::Loop, .a = emitter_.number(loop.end)};
    bool isParallel = makeParallel(loop, body, begin);
    emitter_.open({loop.variable});
    begin.out = emitter_.variable(loop.variable);
    std::optional<size_t> around = parallelDepth_;
    if (isParallel)
      parallelDepth_ = emitter_.depth();
    nodes(body);
    parallelDepth_ = around;
    enclose(begin, emitter_.close());
  }

  void enclose(Instruction begin, const Sequence& code) {
    begin.target = int32_t(code.size() + 2);
    emitter_.emit(begin);
    emitter_.emit(code);
    begin.code = Code::Next;
    begin.target = -int32_t(code.size() + 1);
    emitter_.emit(begin);
  }

  /// Gives a loop that runs by threads an end of its own.
  bool makeParallel(const Loop& loop, const std::vector<Node>& body, Instruction& begin) {
    if (loop.kind != loops::RunKind::Parallel || strip_ || parallelDepth_)
      return false;
    uint32_t end = emitter_.freshNumber();
    emitter_.emit({.code = Code::Sum,
                   .out = end,
                   .a = begin.a,
                   .b = emitter_.constant(0),
                   .c = emitter_.constant(0)});
    begin.a = end;
    begin.flags = 1;
    begin.b = uint32_t(emitter_.program.parallelCosts.size());
    Node whole{loop, body};
    double iterations = double(nest_.table.constantOf(loop.end).value_or(openExtent));
    emitter_.program.parallelCosts.push_back(chooseLanes(nest_, {whole}, contracted_).cost /
                                             std::max(iterations, 1.0));
    return true;
  }

  void stripLoop(const Loop& loop, const std::vector<Node>& body) {
    sizes::Table& table = nest_.table;
    uint32_t end = emitter_.number(loop.end);
    Instruction begin{.code = Code::Loop, .a = end};
    emitter_.open({});
    StripLoop strip{.variable = loop.variable, .front = emitter_.depth()};
    bool isParallel = makeParallel(loop, body, begin);
    bool isKnown = emitter_.depthOf(end) == 0;
    strip.mostCount =
        emitter_.number(isKnown ? table.least(loop.end, emitter_.lanes()) : emitter_.lanes());
    emitter_.open({loop.variable});
    begin.out = emitter_.variable(loop.variable);
    begin.c = strip.count = emitter_.freshNumber();
    strip.inside = emitter_.depth();
    loops::forEachNode(body, [&](const Node& node) {
      if (const auto* allocation = std::get_if<loops::Allocation>(&node.what)) {
        strip.own.insert(allocation->buffer);
        strip.changed.insert(allocation->buffer);
      } else if (const auto* statement = std::get_if<Statement>(&node.what)) {
        for (const loops::Store& store : statement->stores)
          strip.changed.insert(store.buffer);
      }
    });
    std::optional<size_t> around = parallelDepth_;
    if (isParallel)
      parallelDepth_ = emitter_.depth();
    strip_ = &strip;
    nodes(body);
    strip_ = nullptr;
    parallelDepth_ = around;
    Sequence code = emitter_.close();
    enclose(begin, code);
    guard({.code = Code::Unless, .a = emitter_.constant(0), .b = end}, emitter_.close());
  }

  void allocate(uint32_t buffer) {
    sizes::Table& table = nest_.table;
    Form count = table.number(1);
    for (Form extent : nest_.buffers[buffer].extents)
      count = table.product(count, table.greatest(extent, table.number(0)));
    auto number = table.constantOf(count);
    Element element = emitter_.program.buffers[buffer].element;
    bool isOwn = strip_ && strip_->own.contains(buffer);
    if (isOwn || (number && *number * int64_t(lower::elementBytes(element)) <= mostFixedBytes)) {
      fixed_.push_back({buffer, number.value_or(0), isOwn});
      if (parallelDepth_)
        emitter_.emit(*parallelDepth_, {.code = Code::Allocate, .element = element, .out = buffer});
      return;
    }
    uint32_t elements = emitter_.count(nest_.buffers[buffer].extents);
    size_t depth = std::max(emitter_.depthOf(elements), parallelDepth_.value_or(0));
    emitter_.emit(depth,
                  {.code = Code::Allocate, .element = element, .out = buffer, .a = elements});
  }

  Nest& nest_;
  Emitter emitter_;
  StatementCompiler statements_;
  /// Buffers that contractions make, and the code of their factors.
  std::set<uint32_t> contracted_;
  Sequence sides_;
  std::set<Name> strips_;
  const StripLoop* strip_ = nullptr;
  /// The scope of the loop that runs by threads.
  std::optional<size_t> parallelDepth_;
  std::vector<FixedScratch> fixed_;
};

} // namespace

runtime::Checked<Program> programOf(loops::Nest nest) {
  try {
    splitLoops(nest);
    checkNoMore(nest);
    std::set<uint32_t> contracted = takeContractions(nest);
    checkOpenPlaces(nest);
    mergeLoops(nest);
    return withoutKnown(TreeCompiler(nest, std::move(contracted)).run());
  } catch (const NoProgram& without) {
    return runtime::Problem{without.problem};
  }
}

} // namespace strips
