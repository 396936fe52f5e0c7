// Operators that need the shape of an operand alone are given a tensor of that shape that is there
// anyway.
//
//   let %y = multiply(%x, %w);                      let %y = multiply(%x, %w);
//   fn (%d: float32) {                         =>   fn (%d: float32) {
//     multiply(broadcast_to_like(%d, %y), %w)         multiply(broadcast_to_like(%d, %w), %w)
//   }                                               }
//
// A pull-back holds what it captures until the way back, and a loop makes one in each step; so a
// tensor whose elements nobody reads would be held for its shape, or be computed for it. Tensors of
// one type that has no `?` have one shape. Of a `?` nobody knows but for what the shape came from:
// the operand that an operator passes its extents on from.
#include "lang/calls/call_function.h"
#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "lang/op/shapes_of.h"
#include "lower/tensor/access.h"
#include "transform/analysis/old_code.h"
#include "transform/analysis/placement.h"
#include "transform/passes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

namespace transform {

using namespace lang;

namespace {

/// How many variables of a type are looked at for each use: the first ones and the last ones, since
/// there may be one for each line of the program.
constexpr size_t mostOfEach = 8;
/// How many calls a shape may come through.
constexpr size_t farthest = 8;

/// An operand of which a call needs the shape alone.
struct ShapeUse {
  const Binding* binding;
  size_t argument;
  const Var* var;
  size_t position;
  /// Where the code of the function literal around begins.
  size_t literal;
  /// Variables of the same shape that could stand there.
  std::vector<const Var*> others = {};
};

bool isOpen(const Type* type) {
  return type && type->isTensor() && (type->hasSymbol || type->hasAny);
}

/// What holding a variable until a use costs, least first.
enum class Cost : uint8_t { Nothing, WithinCall, UntilCalled };

/// What is found in one walk over each function. Positions count bindings, and the ends of blocks,
/// in the order of the text.
class ShapeUses {
public:
  ShapeUses(const Module& module, const Typing& typing) : typing_(typing) {
    for (const Global* global : module.globals)
      if (global->function)
        read(*global->function);
  }

  using Replacements = std::map<std::pair<const Var*, size_t>, const Var*>;

  /// By the variable that a call is bound to and the number of the operand.
  Replacements replacements() const {
    Replacements found;
    for (const ShapeUse& use : uses_)
      if (const Var* other = better(use))
        found[{use.binding->var, use.argument}] = other;
    return found;
  }

private:
  struct Frame {
    const Block* block;
    size_t literal;
    /// Of a function literal or a definition.
    bool isBody = false;
    /// Parameters, or variables of the pattern.
    std::vector<const Var*> starts = {};
    size_t next = 0;
    /// How much was visible around the block, once it is open.
    std::optional<size_t> around = {};
  };

  void read(const Function& function) {
    std::vector<Frame> frames;
    enter(function, frames);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (!frame.around)
        open(frame);
      else if (frame.next > 0)
        bind(*frame.block->bindings[frame.next - 1].var);
      if (frame.next == frame.block->bindings.size()) {
        close(frame);
        frames.pop_back();
        continue;
      }
      const Binding& binding = frame.block->bindings[frame.next++];
      const size_t literal = frame.literal, own = frames.size();
      ++position_;
      readUses(binding, literal);
      readParts(binding, literal, frames);
      std::reverse(frames.begin() + ptrdiff_t(own), frames.end());
    }
  }

  void open(Frame& frame) {
    frame.around = shown_.size();
    for (const Var* var : frame.starts)
      bind(*var);
  }

  void close(const Frame& frame) {
    ++position_;
    readAtom(*frame.block->result.value);
    for (; shown_.size() > *frame.around; shown_.pop_back())
      visible_[shown_.back()].pop_back();
    if (frame.isBody)
      ends_[frame.literal] = position_;
  }

  void enter(const Function& function, std::vector<Frame>& frames) {
    std::span<const Var* const> parameters = function.parameters;
    frames.push_back({function.body, ++position_, true, {parameters.begin(), parameters.end()}});
  }

  void readParts(const Binding& binding, size_t literal, std::vector<Frame>& frames) {
    if (const auto* function = binding.value->as<Function>())
      return enter(*function, frames);
    const auto* match = binding.value->as<Match>();
    size_t arm = 0;
    forEachBlock(*binding.value, [&](const Block& block) {
      Frame& frame = frames.emplace_back(Frame{&block, literal});
      if (match)
        forEachPatternVar(*match->arms[arm++].pattern,
                          [&](const Var& var) { frame.starts.push_back(&var); });
    });
  }

  void bind(const Var& var) {
    const Type* type = typing_.of(var);
    boundAt_[&var] = position_;
    visible_[type].push_back(&var);
    shown_.push_back(type);
  }

  void readAtom(const Expr& atom) {
    if (const auto* var = atom.as<Var>())
      reads_[var].push_back(position_);
  }

  void readUses(const Binding& binding, size_t literal) {
    definitions_[binding.var] = &binding;
    std::vector<bool> isOfShape = readsShapes(binding);
    if (binding.value->isAtom())
      readAtom(*binding.value);
    const auto* call = binding.value->as<Call>();
    if (call && !isOfShape.empty()) {
      for (size_t i = 0; i < isOfShape.size(); ++i)
        if (const Expr& argument = *call->arguments[i].value; !isOfShape[i])
          readAtom(argument);
        else if (const auto* var = argument.as<Var>())
          addUse({&binding, i, var, position_, literal});
    } else {
      forEachOperand(*binding.value, [&](const Operand& operand) { readAtom(*operand.value); });
    }
    forEachAttributeAtom(*binding.value, [&](const Expr& atom) { readAtom(atom); });
  }

  /// Of which operands a call needs the shape alone; empty where all are read as values.
  std::vector<bool> readsShapes(const Binding& binding) const {
    const auto* call = binding.value->as<Call>();
    if (!call || !tensorFunctionRow(*call))
      return {};
    auto isShown = [&](const Operand& argument) { return isOpen(typing_.of(*argument.value)); };
    if (std::ranges::none_of(call->arguments, isShown))
      return {};
    auto function = functionOfCall(*call, typing_.of(*binding.var), typing_);
    if (!function || function->inputCount != call->arguments.size())
      return {};
    std::vector<bool> isOfShape;
    std::vector<tensor::Reading> readings = tensor::readingsOf(*function);
    for (size_t i = 0; i < function->inputCount; ++i)
      isOfShape.push_back(isShown(call->arguments[i]) && readings[i].positions.empty() &&
                          !readings[i].isViewed && !readings[i].isWhole &&
                          std::ranges::count(function->results, i) == 0);
    return isOfShape;
  }

  void addUse(ShapeUse use) {
    const Type* type = typing_.of(*use.var);
    if (type->hasAny) {
      for (const Var* source = shapeSource(*use.var); source && use.others.size() < farthest;
           source = shapeSource(*source))
        use.others.push_back(source);
    } else {
      const std::vector<const Var*>& all = visible_[type];
      const size_t count = std::min(mostOfEach, all.size());
      auto isOther = [&](const Var* var) { return var != use.var; };
      auto others = std::back_inserter(use.others);
      std::ranges::copy_if(all.begin(), all.begin() + ptrdiff_t(count), others, isOther);
      std::ranges::copy_if(all.begin() + ptrdiff_t(std::max(count, all.size() - count)), all.end(),
                           others, isOther);
    }
    uses_.push_back(std::move(use));
  }

  /// The operand of the same type whose extents the call that gives a variable passes on.
  const Var* shapeSource(const Var& var) const {
    auto found = definitions_.find(&var);
    const auto* call = found == definitions_.end() ? nullptr : found->second->value->as<Call>();
    const OperatorRow* row = call ? tensorFunctionRow(*call) : nullptr;
    if (!row)
      return nullptr;
    std::vector<const Type*> types;
    for (const Operand& argument : call->arguments)
      types.push_back(typing_.of(*argument.value));
    if (!std::ranges::all_of(types, &Type::isTensor))
      return nullptr;
    auto shapes = shapesOf(*row, types, *call->attributes);
    size_t first = 0;
    for (size_t i = 0; shapes && i < types.size(); first += types[i++]->shape.size()) {
      auto own = std::span(shapes->operands).subspan(first, types[i]->shape.size());
      const auto* source = call->arguments[i].value->as<Var>();
      if (source && types[i] == typing_.of(var) && std::ranges::equal(shapes->results, own))
        return source;
    }
    return nullptr;
  }

  bool isReadWithin(const Var& var, size_t from, size_t end) const {
    auto reads = reads_.find(&var);
    if (reads == reads_.end())
      return false;
    auto next = std::ranges::lower_bound(reads->second, from);
    return next != reads->second.end() && *next < end;
  }

  bool isRead(const Var& var) const {
    return reads_.contains(&var) || !definitions_.contains(&var);
  }

  Cost costOf(const Var& var, const ShapeUse& use) const {
    const bool isCaptured = boundAt_.at(&var) < use.literal;
    if (isReadWithin(var, isCaptured ? use.literal : use.position + 1, ends_.at(use.literal) + 1))
      return Cost::Nothing;
    return isCaptured ? Cost::UntilCalled : Cost::WithinCall;
  }

  /// What costs less than the variable that is there, or the same if that is computed for nothing
  /// else.
  const Var* better(const ShapeUse& use) const {
    const Var* best = use.var;
    Cost least = costOf(*best, use);
    for (const Var* other : use.others) {
      Cost cost = costOf(*other, use);
      if (cost < least || (cost == least && !isRead(*best) && isRead(*other))) {
        best = other;
        least = cost;
      }
    }
    return best == use.var ? nullptr : best;
  }

  const Typing& typing_;
  size_t position_ = 0;
  std::vector<ShapeUse> uses_;
  std::unordered_map<const Var*, const Binding*> definitions_;
  std::unordered_map<const Var*, size_t> boundAt_;
  /// Where elements of a variable are read.
  std::unordered_map<const Var*, std::vector<size_t>> reads_;
  /// By where literals begin.
  std::unordered_map<size_t, size_t> ends_;
  /// In the blocks around, the variables of each type, and the types in their order.
  std::unordered_map<const Type*, std::vector<const Var*>> visible_;
  std::vector<const Type*> shown_;
};

class Giver : public Rewriter {
public:
  Giver(const Module& from, Builder& into, const ShapeUses::Replacements& others)
      : Rewriter(from, into), others_(others), old_(from) {}

private:
  std::span<const Binding> bindingsOf(const Block& block) override {
    return old_.bindings(block, [&](const Binding& binding, std::vector<Binding>&) -> const Expr* {
      auto next = others_.lower_bound({binding.var, 0});
      if (next == others_.end() || next->first.first != binding.var)
        return binding.value;
      Call* call = old_.arena.make<Call>(static_cast<const Call&>(*binding.value));
      std::vector<Operand> arguments(call->arguments.begin(), call->arguments.end());
      for (; next != others_.end() && next->first.first == binding.var; ++next)
        arguments[next->first.second].value = next->second;
      call->arguments = old_.arena.copy(arguments);
      return call;
    });
  }

  const ShapeUses::Replacements& others_;
  OldCode old_;
};

/// Whether a variable is a tensor of extents that only a run knows.
bool hasOpenShapes(const Module& module, const Typing& typing) {
  bool found = false;
  walk(
      module, [](const Binding&) {},
      [&](const Operand& operand) {
        const auto* var = operand.value->as<Var>();
        found = found || (var && isOpen(typing.of(*var)));
      });
  return found;
}

} // namespace

std::unique_ptr<Module> shapesAtHand(const Module& module, const PassContext& context) {
  if (!hasOpenShapes(module, context.typing))
    return nullptr;
  ShapeUses::Replacements others = ShapeUses(module, context.typing).replacements();
  if (others.empty())
    return nullptr;
  auto made = rewritten<Giver>(module, context.operators, others);
  return place(*made, context.operators);
}

} // namespace transform
