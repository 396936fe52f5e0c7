// Extents are found where a tensor is made, if a function would capture it for nothing else.
//
//   %y = fn (%d) {                              let %n = ndarray_size(%x);
//     %1 = ndarray_size(%x);            =>      %y = fn (%d) {
//     %d / cast(%1)                               %d / cast(%n)
//   }                                           }
//
// A pull-back waits with what it captures for the way back, and a loop makes one in each step: so
// the derivative of a mean over named sizes would hold a tensor a step where a number serves. It is
// found at once, as calls before the function would hold the tensor too, and is a let: a temporary
// would be read back inside of the function.
#include "lang/calls/call_function.h"
#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "transform/analysis/old_code.h"
#include "transform/analysis/placement.h"
#include "transform/passes.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace transform {

using namespace lang;

namespace {

/// Whether the elements of a tensor hang on the extents of operands alone.
bool readsExtentsOnly(const tensor::TensorFunction& function) {
  std::vector<const tensor::ScalarNode*> open;
  for (const tensor::Stage& stage : function.stages) {
    if (stage.kind != tensor::StageKind::Map)
      return false;
    open.push_back(stage.body);
  }
  while (!open.empty()) {
    const tensor::ScalarNode* node = open.back();
    open.pop_back();
    if (const auto* apply = node->as<tensor::ScalarApply>()) {
      if (tensor::scalarFunctionDivides(apply->function))
        return false;
      open.insert(open.end(), apply->operands.begin(), apply->operands.end());
    } else if (const auto* cast = node->as<tensor::ScalarCast>()) {
      open.push_back(cast->operand);
    } else if (node->kind == tensor::ScalarKind::Load || node->kind == tensor::ScalarKind::Reduce) {
      return false;
    }
  }
  return true;
}

/// A function literal, inside of another one or of a definition.
struct Literal {
  size_t outer = 0;
};

/// The uses of a variable that a literal captures.
struct Captured {
  size_t all = 0, ofExtents = 0;
};

/// Calls that find extents of what a literal captures, by where that is bound.
class ExtentCalls {
public:
  ExtentCalls(const Module& module, const Typing& typing) : typing_(typing) {
    for (const Global* global : module.globals)
      if (global->function)
        read(*global->function);
    for (const auto& [binding, literal] : candidates_)
      if (isWorthwhile(*binding, literal)) {
        move(*binding);
      }
  }

  bool isEmpty() const { return isMoved_.empty(); }
  /// Those of parameters of the function, or variables of the pattern, that a block is behind.
  std::span<const Binding* const> atStartOf(const Block& block) const {
    auto found = atStart_.find(&block);
    return found == atStart_.end() ? std::span<const Binding* const>() : found->second;
  }
  std::span<const Binding* const> behind(const Var& var) const {
    auto found = behind_.find(&var);
    return found == behind_.end() ? std::span<const Binding* const>() : found->second;
  }
  bool isMoved(const Var& var) const { return isMoved_.contains(&var); }

private:
  struct Part {
    const Block* block;
    size_t literal;
  };

  /// Literal 0 is none: the function itself.
  void read(const Function& function) {
    literals_.push_back({});
    const size_t root = literals_.size() - 1;
    std::vector<Part> parts{{function.body, root}};
    for (const Var* parameter : function.parameters)
      bindAtStart(*parameter, root, *function.body);
    // All variables are known before uses of them are looked at.
    for (size_t i = 0; i < parts.size(); ++i)
      for (const Binding& binding : parts[i].block->bindings)
        readBinding(binding, parts[i].literal, parts);
    for (const Part& part : parts) {
      for (const Binding& binding : part.block->bindings)
        readUses(binding, part.literal);
      use(*part.block->result.value, part.literal, /*isOfExtents=*/false);
    }
  }

  void readBinding(const Binding& binding, size_t literal, std::vector<Part>& parts) {
    literalOf_[binding.var] = literal;
    size_t inner = literal;
    if (const auto* function = binding.value->as<Function>()) {
      literals_.push_back({literal});
      inner = literals_.size() - 1;
      for (const Var* parameter : function->parameters)
        bindAtStart(*parameter, inner, *function->body);
    }
    if (const auto* match = binding.value->as<Match>())
      for (const Arm& arm : match->arms)
        forEachPatternVar(*arm.pattern,
                          [&](const Var& var) { bindAtStart(var, literal, *arm.body); });
    forEachBlock(*binding.value, [&](const Block& block) { parts.push_back({&block, inner}); });
  }

  void bindAtStart(const Var& var, size_t literal, const Block& block) {
    literalOf_[&var] = literal;
    startedBy_[&var] = &block;
  }

  void readUses(const Binding& binding, size_t literal) {
    const bool isOfExtents = findsExtents(binding);
    std::optional<size_t> capturing;
    forEachOperand(*binding.value, [&](const Operand& operand) {
      if (auto found = use(*operand.value, literal, isOfExtents))
        capturing = found;
    });
    forEachAttributeAtom(*binding.value,
                         [&](const Expr& atom) { use(atom, literal, /*isOfExtents=*/false); });
    if (isOfExtents && capturing)
      candidates_.emplace_back(&binding, *capturing);
  }

  /// Notes a use in a literal; gives the outermost literal that captures the variable, if one does.
  std::optional<size_t> use(const Expr& atom, size_t literal, bool isOfExtents) {
    const auto* var = atom.as<Var>();
    auto bound = literalOf_.find(var);
    if (bound == literalOf_.end() || bound->second == literal)
      return std::nullopt;
    while (literals_[literal].outer != bound->second)
      literal = literals_[literal].outer;
    Captured& captured = captured_[{literal, var}];
    ++captured.all;
    captured.ofExtents += isOfExtents;
    return literal;
  }

  /// Whether a call of one tensor gives few numbers that its extents decide.
  bool findsExtents(const Binding& binding) const {
    const auto* call = binding.value->as<Call>();
    const Type* type = typing_.of(*binding.var);
    if (!call || call->arguments.size() != 1 || !tensorFunctionRow(*call) || !type->isTensor() ||
        type->dtype.isFloat() || type->shape.size() > 1 || type->hasAny || type->hasSymbol)
      return false;
    auto function = functionOfCall(*call, type, typing_);
    return function && readsExtentsOnly(*function);
  }

  bool isWorthwhile(const Binding& binding, size_t literal) const {
    const auto& call = static_cast<const Call&>(*binding.value);
    auto found = captured_.find({literal, call.arguments[0].value->as<Var>()});
    return found != captured_.end() && found->second.all == found->second.ofExtents;
  }

  void move(const Binding& binding) {
    const auto* var = static_cast<const Call&>(*binding.value).arguments[0].value->as<Var>();
    auto started = startedBy_.find(var);
    (started == startedBy_.end() ? behind_[var] : atStart_[started->second]).push_back(&binding);
    isMoved_.insert(binding.var);
  }

  const Typing& typing_;
  std::vector<Literal> literals_;
  std::unordered_map<const Var*, size_t> literalOf_;
  std::map<std::pair<size_t, const Var*>, Captured> captured_;
  std::vector<std::pair<const Binding*, size_t>> candidates_;
  std::unordered_map<const Var*, const Block*> startedBy_;
  std::unordered_map<const Block*, std::vector<const Binding*>> atStart_;
  std::unordered_map<const Var*, std::vector<const Binding*>> behind_;
  std::unordered_set<const Var*> isMoved_;
};

class Keeper : public Rewriter {
public:
  Keeper(const Module& from, Builder& into, const ExtentCalls& calls)
      : Rewriter(from, into), calls_(calls), old_(from) {}

private:
  std::span<const Binding> bindingsOf(const Block& block) override {
    std::vector<Binding> list;
    add(calls_.atStartOf(block), list);
    for (const Binding& binding : block.bindings) {
      auto found = extents_.find(binding.var);
      const Expr* value = found == extents_.end() ? binding.value : found->second;
      list.push_back({binding.var, value, binding.place});
      add(calls_.behind(*binding.var), list);
    }
    return old_.arena.copy(list);
  }

  void add(std::span<const Binding* const> moved, std::vector<Binding>& list) {
    for (const Binding* each : moved) {
      const Var* extent = old_.variable("n", VarOrigin::Let, each->value->range);
      list.push_back({extent, each->value, each->place});
      extents_[each->var] = extent;
    }
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    return calls_.isMoved(*old.var) ? value : Rewriter::bind(old, value, out);
  }

  const ExtentCalls& calls_;
  OldCode old_;
  std::unordered_map<const Var*, const Expr*> extents_;
};

} // namespace

std::unique_ptr<Module> keepExtents(const Module& module, const PassContext& context) {
  ExtentCalls calls(module, context.typing);
  if (calls.isEmpty())
    return nullptr;
  auto made = rewritten<Keeper>(module, context.operators, calls);
  return place(*made, context.operators);
}

} // namespace transform
