// Each stage is a chain of levels: what is outside of all its loops, what is inside of the first
// one, and so on. A sum stands at the level of the innermost loop that it needs, in front of what
// goes deeper; its own loops are levels of a chain that branches off there.
#include "lower/loops/build.h"

#include "lower/loops/build_values.h"
#include "lower/loops/edit.h"
#include "lower/loops/names.h"
#include "lower/tensor/guard.h"
#include "lower/tensor/walk.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <unordered_set>

namespace loops {

namespace {

using sizes::Facts;
using tensor::LoopAxis;
using tensor::ScalarNode;
using tensor::ScalarReduce;
using tensor::Stage;

/// Nodes inside of a loop; the outermost level has none.
struct Level {
  uint32_t axis = none;
  std::optional<Loop> loop = {};
  Facts facts;
  std::vector<Node> nodes = {};
  /// The accumulators of sums that stand here.
  std::unordered_map<const ScalarReduce*, uint32_t> sums = {};
};

using Chain = std::vector<Level*>;

/// Thrown at a sum that may fail where it is not needed.
struct UncertainSum {};

class Builder {
public:
  /// Whether nothing in a sum fails where it is not needed (lower/tensor/guard.h).
  enum class Sums : uint8_t { Plain, Guarded };

  Builder(const tensor::TensorFunction& function, Nest nest, Sums sums)
      : function_(function), nest_(std::move(nest)), sums_(sums) {
    extents_.buffers.assign(function.tensors.size(), none);
    for (uint32_t i = 0; i < function.inputCount; ++i)
      extents_.buffers[i] = i;
  }

  Nest run() {
    std::vector<std::pair<uint32_t, uint32_t>> copies;
    for (size_t i = 0; i < function_.results.size(); ++i) {
      uint32_t result = function_.results[i], buffer = uint32_t(function_.inputCount + i);
      if (extents_.buffers[result] == none)
        extents_.buffers[result] = buffer;
      else
        copies.emplace_back(extents_.buffers[result], buffer);
    }
    for (size_t i = 0; i < function_.stages.size(); ++i)
      stage(function_.stages[i], uint32_t(function_.inputCount + i));
    for (auto [from, to] : copies)
      copy(from, to);
    simplify(nest_);
    if (nest_.table.isTooLarge())
      throw NoNest{"its sizes and positions are too long"};
    return std::move(nest_);
  }

private:
  std::string freshName(std::string_view base) {
    std::string name(base);
    for (size_t i = 1; nest_.table.find(name) || isReserved(name); ++i)
      name = fmt::format("{}{}", base, i);
    return name;
  }

  Form extentOf(const ScalarNode* node, const Facts& facts) {
    auto form = formOf(extents_, facts, node);
    if (!form)
      throw NoNest{"an extent in it is no form over its sizes"};
    return *form;
  }

  uint32_t addScratch(std::string_view base, DType dtype, std::vector<Form> extents) {
    std::string name;
    for (size_t i = 0; name.empty() ||
                       std::ranges::find(nest_.buffers, name, &Buffer::name) != nest_.buffers.end();
         ++i)
      name = fmt::format("{}{}", base, i);
    nest_.buffers.push_back({name, dtype, std::move(extents), Space::Scratch});
    return uint32_t(nest_.buffers.size() - 1);
  }

  /// The buffer of a stage's tensor, allocated here if it is no result.
  uint32_t targetOf(uint32_t tensor, std::vector<Form> extents) {
    uint32_t& buffer = extents_.buffers[tensor];
    if (buffer == none) {
      buffer = addScratch("t", function_.tensors[tensor].dtype, std::move(extents));
      nest_.body.push_back({Allocation{buffer}});
    }
    return buffer;
  }

  std::vector<Form> shapeOf(uint32_t tensor, const Facts& facts) {
    if (uint32_t buffer = extents_.buffers[tensor]; buffer != none)
      return nest_.buffers[buffer].extents;
    std::vector<Form> shape;
    for (const ScalarNode* extent : function_.tensors[tensor].shape)
      shape.push_back(extentOf(extent, facts));
    return shape;
  }

  /// A loop inside of a chain.
  Level under(const Level& outer, Form end, std::string_view base) {
    Form variable = nest_.table.name(freshName(base));
    Level level{.loop = Loop{*nest_.table.nameOf(variable), end}, .facts = outer.facts};
    level.facts.enter(level.loop->variable, end);
    return level;
  }

  Form variableOf(const Level& level) { return nest_.table.name(level.loop->variable); }

  /// Puts the levels behind `from` into each other, and the outermost of them into that one.
  static void close(Level& from, std::vector<Level>& levels) {
    for (size_t i = levels.size(); i-- > 0;) {
      Level& outer = i == 0 ? from : levels[i - 1];
      outer.nodes.push_back({*levels[i].loop, std::move(levels[i].nodes)});
    }
  }

  std::vector<Level> levelsOver(const Level& outer, const std::vector<Form>& extents) {
    constexpr std::array bases{"i", "j", "k", "l"};
    std::vector<Level> levels;
    levels.reserve(extents.size());
    for (size_t i = 0; i < extents.size(); ++i)
      levels.push_back(
          under(i == 0 ? outer : levels[i - 1], extents[i], bases[std::min(i, bases.size() - 1)]));
    return levels;
  }

  void stage(const Stage& stage, uint32_t tensor) {
    Level top{.facts = factsOf(nest_)};
    std::vector<Form> extents = shapeOf(tensor, top.facts);
    if (stage.kind == tensor::StageKind::Scan)
      return scan(stage, tensor, extents);
    uint32_t target = targetOf(tensor, extents);
    std::vector<Level> levels = levelsOver(top, extents);
    Chain chain{&top};
    std::vector<Form> position;
    for (size_t i = 0; i < levels.size(); ++i) {
      chain.push_back(&levels[i]);
      position.push_back(variableOf(levels[i]));
      if (stage.kind == tensor::StageKind::Map) {
        levels[i].axis = stage.axes[i].number;
        extents_.axes[levels[i].axis] = position.back();
      }
    }
    ValueBuilder values = builderAt(chain);
    uint32_t value = stage.kind == tensor::StageKind::Map
                         ? mapValue(values, stage.body)
                         : reshaped(values, chain, stage.source, position, extents);
    chain.back()->nodes.push_back(
        {Statement{values.take(), std::nullopt, {{target, position, value}}, {}}});
    close(top, levels);
    nest_.body.insert(nest_.body.end(), std::make_move_iterator(top.nodes.begin()),
                      std::make_move_iterator(top.nodes.end()));
  }

  uint32_t mapValue(ValueBuilder& values, const ScalarNode* body) {
    if (sums_ == Sums::Plain)
      findCertain(body);
    return values.value(body);
  }

  ValueBuilder builderAt(const Chain& chain) {
    return {extents_, chain.back()->facts,
            [this, chain](ValueBuilder& builder, const ScalarReduce& reduce) {
              return sum(builder, chain, reduce);
            }};
  }

  // Sums.

  /// Notes the sums that each element needs, whatever the values are.
  void findCertain(const ScalarNode* root) {
    std::vector<const ScalarNode*> stack{root};
    while (!stack.empty()) {
      const ScalarNode* node = stack.back();
      stack.pop_back();
      if (!certain_.insert(node).second)
        continue;
      const auto* apply = node->as<tensor::ScalarApply>();
      const auto* load = node->as<tensor::ScalarLoad>();
      tensor::forEachOperand(*node, [&](const ScalarNode* operand) {
        bool isChoice =
            apply && apply->function == ScalarFunction::Select && operand != apply->operands[0];
        if (!isChoice && !(load && operand == load->outside))
          stack.push_back(operand);
      });
    }
  }

  /// The innermost place in a chain whose loop an expression needs.
  static size_t placeFor(const Chain& chain, const ScalarNode* root) {
    std::unordered_set<uint32_t> axes;
    tensor::forEachNode(root, [&](const ScalarNode& node) {
      if (const auto* index = node.as<tensor::ScalarIndex>())
        axes.insert(index->axis);
    });
    size_t place = chain.size() - 1;
    while (place > 0 && !axes.contains(chain[place]->axis))
      --place;
    return place;
  }

  /// The value of a sum, read from its accumulator.
  uint32_t sum(ValueBuilder& builder, const Chain& chain, const ScalarReduce& reduce) {
    if (chain.size() > deepestNesting)
      throw NoNest{"its sums are nested too deep"};
    uint32_t accumulator = none;
    for (const Level* level : chain)
      if (auto found = level->sums.find(&reduce); found != level->sums.end())
        accumulator = found->second;
    if (accumulator == none)
      accumulator = accumulate(chain, placeFor(chain, &reduce), reduce);
    uint32_t value = builder.add({.kind = OperationKind::Load,
                                  .dtype = nest_.buffers[accumulator].dtype,
                                  .buffer = accumulator});
    return narrowed(builder, value, reduce.combiner, reduce.dtype);
  }

  /// What was joined as the type of the tensor. Sums wrap, so one of bools is whether it is odd.
  static uint32_t narrowed(ValueBuilder& values, uint32_t value, Combiner combiner, DType dtype) {
    if (dtype.isBool() && combiner == Combiner::Sum)
      value = values.add({.kind = OperationKind::Apply,
                          .dtype = runtime::Int64,
                          .function = ScalarFunction::BitAnd,
                          .operands = {value, values.number(runtime::Int64, 0, 1)}});
    return values.cast(value, dtype);
  }

  uint32_t accumulate(const Chain& chain, size_t place, const ScalarReduce& reduce) {
    Chain own(chain.begin(), chain.begin() + ptrdiff_t(place) + 1);
    std::vector<Form> extents;
    for (const LoopAxis& axis : reduce.axes)
      extents.push_back(extentOf(axis.extent, own.back()->facts));
    std::vector<Level> levels;
    levels.reserve(extents.size());
    std::vector<Reduced> reduced;
    for (size_t i = 0; i < extents.size(); ++i) {
      levels.push_back(under(*own.back(), extents[i], "r"));
      levels[i].axis = reduce.axes[i].number;
      extents_.axes[levels[i].axis] = variableOf(levels[i]);
      reduced.push_back({variableOf(levels[i]), extents[i]});
      own.push_back(&levels[i]);
    }
    ValueBuilder values = builderAt(own);
    uint32_t value = values.value(reduce.body);
    bool isInnermost = place + 1 == chain.size();
    if (mayFail(values.operations())) {
      // What may fail is done where it is needed, no further out.
      if (!isInnermost)
        return accumulate(chain, chain.size() - 1, reduce);
      if (sums_ == Sums::Plain && !certain_.contains(&reduce))
        throw UncertainSum();
    }
    uint32_t accumulator = start(*chain[place], reduce, values.typeOf(value));
    Statement join = joined(values, reduce, accumulator, value, reduced);
    own.back()->nodes.push_back({std::move(join)});
    close(*chain[place], levels);
    chain[place]->sums[&reduce] = accumulator;
    return accumulator;
  }

  /// Of what type sums are added up.
  static DType accumulatorType(const ScalarReduce& reduce, DType value) {
    switch (reduce.combiner) {
    case Combiner::Sum:
    case Combiner::Product:
      return value.isFloat() ? runtime::Float64 : runtime::Int64;
    case Combiner::All:
    case Combiner::Any:
      return runtime::Bool;
    default:
      return findsPlace(reduce.combiner) ? runtime::Int64 : value;
    }
  }

  /// Allocates accumulators and gives them what they have before anything is joined.
  uint32_t start(Level& level, const ScalarReduce& reduce, DType value) {
    uint32_t accumulator = addScratch("a", accumulatorType(reduce, value), {});
    bool isPlace = findsPlace(reduce.combiner);
    startOne(level, accumulator, isPlace ? Combiner::Sum : reduce.combiner);
    if (isPlace) {
      uint32_t best = addScratch("a", value, {});
      startOne(level, best, reduce.combiner);
      bests_[accumulator] = best;
    }
    return accumulator;
  }

  void startOne(Level& level, uint32_t buffer, Combiner combiner) {
    DType dtype = nest_.buffers[buffer].dtype;
    ValueBuilder values(extents_, level.facts, {});
    uint32_t value = identity(values, dtype, combiner);
    level.nodes.push_back({Allocation{buffer}});
    level.nodes.push_back({Statement{values.take(), std::nullopt, {{buffer, {}, value}}, {}}});
  }

  static uint32_t identity(ValueBuilder& values, DType dtype, Combiner combiner) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    uint64_t ones = ~uint64_t(0) >> (64 - dtype.bits);
    switch (combiner) {
    case Combiner::Product:
    case Combiner::All:
      return values.number(dtype, 1, 1);
    case Combiner::Maximum:
    case Combiner::ArgMaximum:
    case Combiner::ArgMaximumLast:
      return values.number(dtype, -infinity, dtype.isSigned() ? -int64_t(ones >> 1) - 1 : 0);
    case Combiner::Minimum:
    case Combiner::ArgMinimum:
    case Combiner::ArgMinimumLast:
      return values.number(dtype, infinity, int64_t(dtype.isSigned() ? ones >> 1 : ones));
    default:
      return values.number(dtype, 0, 0);
    }
  }

  Statement joined(ValueBuilder& values, const ScalarReduce& reduce, uint32_t accumulator,
                   uint32_t value, std::vector<Reduced> reduced) {
    Statement join{{}, reduce.combiner, {}, std::move(reduced)};
    if (findsPlace(reduce.combiner)) {
      Form place = nest_.table.number(0);
      for (const Reduced& axis : join.reduced)
        place = nest_.table.sum(nest_.table.product(place, axis.extent), axis.position);
      join.stores = {{accumulator, {}, values.position(place)},
                     {bests_.at(accumulator), {}, value}};
    } else {
      join.stores = {{accumulator, {}, values.cast(value, nest_.buffers[accumulator].dtype)}};
    }
    join.operations = values.take();
    return join;
  }

  // Stages that are no maps.

  /// The element of a tensor that has the same place in row-major order.
  uint32_t reshaped(ValueBuilder& values, const Chain& chain, uint32_t tensor,
                    const std::vector<Form>& position, const std::vector<Form>& extents) {
    sizes::Table& table = nest_.table;
    const Facts& facts = chain.back()->facts;
    Form linear = flatOf(nest_, extents, position);
    uint32_t source = extents_.buffers[tensor];
    const std::vector<Form> from = nest_.buffers[source].extents;
    Operation load{
        .kind = OperationKind::Load, .dtype = nest_.buffers[source].dtype, .buffer = source};
    load.places.resize(from.size());
    Form stride = table.number(1);
    for (size_t i = from.size(); i-- > 0;) {
      Form place = table.quotient(linear, stride);
      if (i > 0)
        place = table.rest(place, from[i]);
      load.places[i] = values.placeAt(facts.simplified(place), from[i]);
      stride = table.product(stride, from[i]);
    }
    return values.add(std::move(load));
  }

  /// Of what type elements so far are added up: whole numbers wrap, so large ones are as wide as
  /// what is made of them.
  static DType runningType(DType dtype) {
    bool isOwn = dtype.isInteger() && dtype.bytes() >= 4;
    return isOwn ? dtype : dtype.isFloat() ? runtime::Float64 : runtime::Int64;
  }

  /// What is there of a buffer one step before a position, or the value that nothing has.
  uint32_t before(ValueBuilder& values, const Stage& stage, uint32_t buffer,
                  std::vector<Form> position) {
    bool isSum = stage.combiner == Combiner::Sum;
    DType dtype = nest_.buffers[buffer].dtype;
    position[stage.axis] = nest_.table.sum(position[stage.axis], nest_.table.number(-1));
    return values.add({.kind = OperationKind::Load,
                       .dtype = dtype,
                       .buffer = buffer,
                       .places = placesOf(position),
                       .operands = {values.number(dtype, isSum ? 0 : 1, isSum ? 0 : 1)}});
  }

  /// Sums so far, each from the one before it; where that is in a wider type, then as the type of
  /// the tensor.
  void scan(const Stage& stage, uint32_t tensor, const std::vector<Form>& extents) {
    uint32_t source = extents_.buffers[stage.source], target = targetOf(tensor, extents);
    DType dtype = nest_.buffers[source].dtype, wide = runningType(dtype);
    bool isOwn = wide == dtype;
    uint32_t sums = isOwn ? target : addScratch("t", wide, extents);
    if (!isOwn)
      nest_.body.push_back({Allocation{sums}});
    ScalarFunction function =
        stage.combiner == Combiner::Sum ? ScalarFunction::Add : ScalarFunction::Multiply;
    elementwise(sums, extents, [&](ValueBuilder& values, const std::vector<Form>& position) {
      uint32_t last = before(values, stage, sums, position);
      uint32_t next = isOwn && stage.exclusive
                          ? before(values, stage, source, position)
                          : values.add({.kind = OperationKind::Load,
                                        .dtype = dtype,
                                        .buffer = source,
                                        .places = placesIn(values, source, position)});
      return values.add({.kind = OperationKind::Apply,
                         .dtype = wide,
                         .function = function,
                         .operands = {last, values.cast(next, wide)}});
    });
    if (isOwn)
      return;
    elementwise(target, extents, [&](ValueBuilder& values, const std::vector<Form>& position) {
      uint32_t value = stage.exclusive ? before(values, stage, sums, position)
                                       : values.add({.kind = OperationKind::Load,
                                                     .dtype = wide,
                                                     .buffer = sums,
                                                     .places = placesOf(position)});
      return narrowed(values, value, stage.combiner, dtype);
    });
  }

  void copy(uint32_t from, uint32_t to) {
    elementwise(to, nest_.buffers[to].extents,
                [&](ValueBuilder& values, const std::vector<Form>& position) {
                  return values.add({.kind = OperationKind::Load,
                                     .dtype = nest_.buffers[from].dtype,
                                     .buffer = from,
                                     .places = placesIn(values, from, position)});
                });
  }

  std::vector<Place> placesIn(const ValueBuilder& values, uint32_t buffer,
                              const std::vector<Form>& position) const {
    std::vector<Place> places;
    for (size_t i = 0; i < position.size(); ++i)
      places.push_back(values.placeAt(position[i], nest_.buffers[buffer].extents[i]));
    return places;
  }

  static std::vector<Place> placesOf(const std::vector<Form>& position) {
    std::vector<Place> places;
    for (Form form : position)
      places.push_back({form});
    return places;
  }

  template <typename Value>
  void elementwise(uint32_t target, const std::vector<Form>& extents, Value&& value) {
    Level top{.facts = factsOf(nest_)};
    std::vector<Level> levels = levelsOver(top, extents);
    std::vector<Form> position;
    for (const Level& level : levels)
      position.push_back(variableOf(level));
    Level& inner = levels.empty() ? top : levels.back();
    ValueBuilder values(extents_, inner.facts, {});
    uint32_t made = value(values, position);
    inner.nodes.push_back({Statement{values.take(), std::nullopt, {{target, position, made}}, {}}});
    close(top, levels);
    nest_.body.push_back(std::move(top.nodes.back()));
  }

  const tensor::TensorFunction& function_;
  Nest nest_;
  Sums sums_;
  Extents extents_{function_, nest_, {}, {}};
  /// By the accumulator of a place, that of the extreme value.
  std::unordered_map<uint32_t, uint32_t> bests_;
  std::unordered_set<const ScalarNode*> certain_;
};

} // namespace

runtime::Checked<Nest> nestOf(const tensor::TensorFunction& function, Nest start) {
  try {
    try {
      return Builder(function, start, Builder::Sums::Plain).run();
    } catch (const UncertainSum&) {
      return Builder(tensor::withGuardedSums(function), std::move(start), Builder::Sums::Guarded)
          .run();
    }
  } catch (const NoNest& without) {
    return runtime::Problem{without.problem};
  }
}

} // namespace loops
