// Operators that are computed together, as functions that are marked `Primitive=1`:
//
//   %0 = add(%x, %b);            let %fused = fn (%p0: ..., %p1: ..., Primitive=1) -> ... {
//   tanh(%0)                       tanh(add(%p0, %p1))
//                                };
//                                %fused(%x, %b)
//
// That is Relay's own form, so the result is printed, read, checked and interpreted as any program;
// the machine calls each such function as one kernel (lang/calls/group.h).
#include "transform/analysis/placement.h"
#include "transform/fuse/groups.h"
#include "transform/passes.h"

#include "lang/ir/rewrite.h"

#include <algorithm>
#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

/// Rewrites the old code before it is copied: what is made here stands in it as if it had been
/// written there.
class Fuser : public Rewriter {
public:
  Fuser(const Module& from, Builder& into, const Groups& groups, const Typing& typing)
      : Rewriter(from, into), groups_(groups), typing_(typing), varCount_(from.varCount) {}

private:
  std::span<const Binding> bindingsOf(const Block& block) override {
    const std::vector<Group>* groups = groups_.of(block);
    if (!groups)
      return block.bindings;
    std::vector<const Group*> byRoot(block.bindings.size());
    std::vector<bool> isInside(block.bindings.size());
    for (const Group& group : *groups) {
      byRoot[group.members.back()] = &group;
      for (uint32_t member : group.members)
        isInside[member] = true;
    }
    std::vector<Binding> list;
    for (size_t i = 0; i < block.bindings.size(); ++i)
      if (byRoot[i])
        addGroup(block, *byRoot[i], list);
      else if (!isInside[i])
        list.push_back(block.bindings[i]);
    return arena_.copy(list);
  }

  /// The function of a group and its call.
  void addGroup(const Block& block, const Group& group, std::vector<Binding>& out) {
    const Binding& root = block.bindings[group.members.back()];
    SourceRange range = root.value->range;
    std::unordered_map<const Expr*, const Expr*> inside;
    std::vector<const Var*> parameters;
    std::vector<Operand> arguments;
    for (const Expr* operand : group.operands) {
      parameters.push_back(variable(fmt::format("p{}", parameters.size()), VarOrigin::Parameter,
                                    operand->range, typing_.of(*operand)));
      inside.emplace(operand, parameters.back());
      arguments.push_back({operand, range});
    }
    std::vector<Binding> bindings;
    for (uint32_t member : group.members)
      bindings.push_back(moved(block.bindings[member], inside));
    auto* body = arena_.make<Block>(arena_.copy(bindings), Operand{bindings.back().var, range});
    NamedAttribute mark{"Primitive", intAttribute(1, 32)};
    auto* function = arena_.make<Function>(Expr{ExprKind::Function, range}, 0u,
                                           std::span<const TypeParameter* const>(),
                                           arena_.copy(parameters), typing_.of(*root.var), body,
                                           arena_.copy(std::span<const NamedAttribute>(&mark, 1)));
    const Var* name = variable("fused", VarOrigin::Let, range);
    out.push_back({name, function, range});
    out.push_back({root.var,
                   arena_.make<Call>(Expr{ExprKind::Call, range}, Operand{name, range},
                                     arena_.copy(arguments)),
                   root.place});
  }

  /// The call of a member with what it is called with inside.
  Binding moved(const Binding& member, std::unordered_map<const Expr*, const Expr*>& inside) {
    const auto& call = *member.value->as<Call>();
    std::vector<Operand> arguments;
    for (Operand argument : call.arguments) {
      if (auto found = inside.find(argument.value); found != inside.end())
        argument.value = found->second;
      arguments.push_back(argument);
    }
    Call* own = arena_.make<Call>(call);
    own->arguments = arena_.copy(arguments);
    const Var* var = variable("", VarOrigin::Temporary, member.var->range);
    inside[member.var] = var;
    return {var, own, member.place};
  }

  const Var* variable(std::string_view name, VarOrigin origin, SourceRange range,
                      const Type* annotation = nullptr) {
    return arena_.make<Var>(Expr{ExprKind::Var, range}, arena_.copyText(name), origin, varCount_++,
                            annotation);
  }

  const Groups& groups_;
  const Typing& typing_;
  Arena arena_;
  uint32_t varCount_;
};

} // namespace

std::unique_ptr<Module> fuse(const Module& module, const PassContext& context) {
  Groups groups(module, context.typing);
  if (groups.isEmpty())
    return nullptr;
  auto fused = rewritten<Fuser>(module, context.operators, groups, context.typing);
  return place(*fused, context.operators);
}

} // namespace transform
