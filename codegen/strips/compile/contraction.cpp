// Roles of loops: summed, of one factor, or of both or none, which is a batch.
#include "codegen/strips/compile/contraction.h"

#include "codegen/strips/compile/factors.h"
#include "codegen/strips/compile/lanes.h"
#include "lower/elements/products.h"

#include <algorithm>

namespace strips {

namespace {

using loops::Loop;
using loops::Operation;
using loops::OperationKind;

class Compiler {
public:
  Compiler(Nest& nest, Emitter& emitter, StatementCompiler& statements,
           const ContractionNest& found, Sequence& sides)
      : nest_(nest), emitter_(emitter), statements_(statements), statement_(*found.statement),
        loops_(found.loops), sides_(sides) {}

  void run() {
    giveRoles();
    const Operation& product = statement_.operations[productOf(statement_)];
    const loops::Store& store = statement_.stores[0];
    Form flat = flatPlace(nest_, store), start = flat;
    for (const Loop& loop : loops_)
      start = nest_.table.replaced(start, {{loop.variable, nest_.table.number(0)}});
    Contraction made{.buffer = store.buffer,
                     .offset = emitter_.number(start),
                     .element = lower::elementOf(nest_.buffers[store.buffer].dtype),
                     .panel = lower::panelElement(lower::elementOf(product.dtype))};
    // Columns are what is in a row in the result.
    bool leftIsLast = !left_.empty() && (right_.empty() || left_.back() > right_.back());
    std::vector<size_t> rows = leftIsLast ? right_ : left_, columns = leftIsLast ? left_ : right_;
    uint32_t rowFactor = product.operands[leftIsLast ? 1 : 0];
    uint32_t columnFactor = product.operands[leftIsLast ? 0 : 1];
    bool rowsAlongSum = chooseLane(rows, rowFactor),
         columnsAlongSum = chooseLane(columns, columnFactor);
    std::vector<Name> variables;
    for (const Loop& loop : loops_)
      variables.push_back(loop.variable);
    // Numbers that axes hang on are made outside.
    for (size_t i = 0; i < loops_.size(); ++i)
      ends_.push_back(emitter_.number(loops_[i].end)), strides_.push_back(strideOf(i, flat));
    made.rows = side(rows, rowFactor, rowsAlongSum, made.panel, variables);
    made.columns = side(columns, columnFactor, columnsAlongSum, made.panel, variables);
    made.firstBatch = addAxes(batch_);
    made.batchCount = uint32_t(batch_.size());
    made.firstSummed = addAxes(summed_);
    made.summedCount = uint32_t(summed_.size());
    emitter_.program.contractions.push_back(made);
    emitter_.emit(
        {.code = Code::Contract, .a = uint32_t(emitter_.program.contractions.size() - 1)});
  }

private:
  void giveRoles() {
    FactorAxes axes(nest_, statement_);
    for (size_t i = 0; i < loops_.size(); ++i) {
      Name name = loops_[i].variable;
      bool isSummed = std::ranges::any_of(statement_.reduced, [&](const loops::Reduced& axis) {
        return nest_.table.mentions(axis.position, name);
      });
      bool left = axes.left.contains(name), right = axes.right.contains(name);
      (isSummed ? summed_ : left == right ? batch_ : left ? left_ : right_).push_back(i);
    }
  }

  uint32_t strideOf(size_t loop, Form flat) {
    auto stride = sizes::slopeOf(nest_.table, flat, loops_[loop].variable);
    return emitter_.number(*stride);
  }

  /// About how many nanoseconds an element takes when a factor is evaluated by strips along a loop.
  double costAlong(size_t loop, uint32_t factor) {
    constexpr double strip = 40, strided = 1.2, uneven = 4;
    auto extent = double(nest_.table.constantOf(loops_[loop].end).value_or(openExtent));
    double cost = strip / std::clamp(extent, 1.0, 512.0);
    for (uint32_t i = 0; i <= factor; ++i) {
      const Operation& operation = statement_.operations[i];
      if (operation.kind != OperationKind::Load)
        continue;
      auto stride = sizes::slopeOf(nest_.table, flatPlace(nest_, operation), loops_[loop].variable);
      auto number = stride ? nest_.table.constantOf(*stride) : std::nullopt;
      cost += !stride ? uneven : number == 0 || number == 1 ? 0 : strided;
    }
    return cost;
  }

  /// Puts the best axis for strips last; true when that is the last summed one.
  bool chooseLane(std::vector<size_t>& own, uint32_t factor) {
    if (own.empty())
      return true;
    auto best = std::ranges::min_element(own, {}, [&](size_t loop) {
      return costAlong(loop, factor) - (loop == own.back() ? 1e-3 : 0);
    });
    double cost = costAlong(*best, factor);
    std::rotate(best, best + 1, own.end());
    return costAlong(summed_.back(), factor) < cost;
  }

  uint32_t addAxes(const std::vector<size_t>& loops) {
    auto first = uint32_t(emitter_.program.axes.size());
    for (size_t loop : loops)
      emitter_.program.axes.push_back(
          {emitter_.variable(loops_[loop].variable), ends_[loop], strides_[loop]});
    return first;
  }

  Side side(const std::vector<size_t>& own, uint32_t factor, bool runsAlongSum, Element panel,
            const std::vector<Name>& variables) {
    emitter_.open(variables);
    StripLoop strip{.variable = loops_[runsAlongSum ? summed_.back() : own.back()].variable};
    strip.count = emitter_.freshNumber();
    strip.mostCount = emitter_.number(emitter_.lanes());
    strip.front = strip.inside = emitter_.depth();
    Side made{.axisCount = uint32_t(own.size()), .count = strip.count};
    made.root = statements_.compileStrip(statement_, factor, panel, strip);
    made.runsAlongSum = runsAlongSum;
    made.firstAxis = addAxes(own);
    made.begin = uint32_t(sides_.size());
    Sequence code = emitter_.close();
    sides_.insert(sides_.end(), code.begin(), code.end());
    made.end = uint32_t(sides_.size());
    return made;
  }

  Nest& nest_;
  Emitter& emitter_;
  StatementCompiler& statements_;
  const loops::Statement& statement_;
  const std::vector<Loop>& loops_;
  Sequence& sides_;
  /// By loop.
  std::vector<uint32_t> ends_, strides_;
  /// Loops by their roles.
  std::vector<size_t> batch_, left_, right_, summed_;
};

} // namespace

void compileContraction(Nest& nest, Emitter& emitter, StatementCompiler& statements,
                        const ContractionNest& found, Sequence& sides) {
  Compiler(nest, emitter, statements, found, sides).run();
}

} // namespace strips
