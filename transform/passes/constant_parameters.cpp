// Parameters that get the same tensor in every call: the function uses the tensor itself, which
// kernels can then be made for.
//
//   def @layer(%x: Tensor[(1, 2), float32], %w: Tensor[(4, 2), float32]) { nn.dense(%x, %w) }
//   ... @layer(%a, meta[Constant][0]) ... @layer(%b, meta[Constant][0]) ...
//
// That holds of all calls of a function that is only called, be it by itself with its own parameter
// or by another such function. The parameters stay, and nothing uses them. Numbers are not looked
// at: the machine has them at hand.
#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "transform/analysis/known_functions.h"
#include "transform/analysis/placement.h"
#include "transform/analysis/same_bits.h"
#include "transform/passes.h"

#include <algorithm>
#include <unordered_map>

namespace transform {

using namespace lang;

namespace {

/// What the calls that were looked at give a parameter.
struct Given {
  const Type* type = nullptr;
  const Constant* constant = nullptr;
  bool varies = false;
  /// Parameters that get what this one is.
  std::vector<const Var*> passedTo = {};
};

class ConstantParameters {
public:
  ConstantParameters(const Module& module, const Typing& typing,
                     std::span<const Global* const> entries) {
    findFunctions(module, typing, entries);
    walk(
        module, [&](const Binding& binding) { look(binding); }, [](const Operand&) {});
    while (!open_.empty()) {
      const Var* parameter = open_.back();
      open_.pop_back();
      const Given given = given_.at(parameter);
      for (const Var* other : given.passedTo)
        take(*other, given);
    }
  }

  bool isEmpty() const {
    return std::ranges::none_of(given_, [&](const auto& each) { return of(*each.first); });
  }

  /// The constant that a parameter is, or null.
  const Constant* of(const Expr& atom) const {
    const auto* var = atom.as<Var>();
    auto found = var ? given_.find(var) : given_.end();
    return found == given_.end() || found->second.varies ? nullptr : found->second.constant;
  }

private:
  static const Call* callOf(const Expr& value) {
    const auto* call = value.as<Call>();
    const auto* global = call ? call->callee.value->as<Global>() : nullptr;
    bool fits =
        global && global->function && global->function->parameters.size() == call->arguments.size();
    return fits ? call : nullptr;
  }

  /// The functions that are only called, and those of their parameters that are of one size.
  void findFunctions(const Module& module, const Typing& typing,
                     std::span<const Global* const> entries) {
    for (const Global* global : onlyCalled(module, entries))
      for (const Var* parameter : global->function->parameters)
        if (const Type* type = typing.of(*parameter); type && type->isTensor())
          given_[parameter].type = type;
  }

  void look(const Binding& binding) {
    if (const auto* constant = binding.value->as<Constant>())
      bound_[binding.var] = constant;
    const Call* call = callOf(*binding.value);
    if (!call)
      return;
    auto parameters = call->callee.value->as<Global>()->function->parameters;
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Expr& argument = *call->arguments[i].value;
      auto from = given_.find(argument.as<Var>());
      if (!given_.contains(parameters[i]) || &argument == parameters[i])
        continue;
      if (from != given_.end())
        from->second.passedTo.push_back(parameters[i]);
      else
        take(*parameters[i], givenBy(argument));
    }
  }

  Given givenBy(const Expr& argument) const {
    auto found = bound_.find(&argument);
    const auto* constant = found == bound_.end() ? argument.as<Constant>() : found->second;
    return {.constant = constant, .varies = !constant || !constant->tensor};
  }

  /// Takes one more call into account.
  void take(const Var& parameter, const Given& more) {
    Given& known = given_.at(&parameter);
    bool isNews = more.varies || !known.constant;
    // A size that a function calls by a name is a number where its constant stands.
    bool varies = more.varies || known.type != more.constant->type ||
                  (known.constant && !isSame(known.constant, more.constant));
    if (known.varies || (!isNews && !varies))
      return;
    known.varies = varies;
    known.constant = more.constant;
    open_.push_back(&parameter);
  }

  static bool isSame(const Constant* a, const Constant* b) {
    return a->tensor == b->tensor || SameBits()(a, b);
  }

  std::unordered_map<const Expr*, const Constant*> bound_;
  std::unordered_map<const Var*, Given> given_;
  /// Those of which what they give changed.
  std::vector<const Var*> open_;
};

class Substituter : public Rewriter {
public:
  Substituter(const Module& from, Builder& into, const ConstantParameters& constants)
      : Rewriter(from, into), constants_(constants) {}

private:
  Atom atom(const Expr& old) override {
    const Constant* constant = constants_.of(old);
    return Rewriter::atom(constant ? *constant : old);
  }

  const ConstantParameters& constants_;
};

} // namespace

std::unique_ptr<Module> constantParameters(const Module& module, const PassContext& context) {
  auto entries = entriesOf(module, context.entries);
  // Where nothing is known to be the entry, everything may be called from outside.
  if (entries.empty() || writesTensors(module))
    return nullptr;
  ConstantParameters constants(module, context.typing, entries);
  if (constants.isEmpty())
    return nullptr;
  auto made = rewritten<Substituter>(module, context.operators, constants);
  return place(*made, context.operators, {.keepsFaults = true});
}

} // namespace transform
