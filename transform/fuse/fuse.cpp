// Operators that are computed together, as functions that are marked `Primitive=1`:
//
//   %0 = add(%x, %b);            let %fused = fn (%p0: ..., %p1: ..., Primitive=1) {
//   tanh(%0)                       tanh(add(%p0, %p1))
//                                };
//                                %fused(%x, %b)
//
// That is Relay's own form, so the result is printed, read, checked and interpreted as any program;
// the machine calls each such function as one kernel (lang/calls/group.h).
#include "transform/analysis/old_code.h"
#include "transform/analysis/placement.h"
#include "transform/fuse/groups.h"
#include "transform/passes.h"

#include "lang/ir/rewrite.h"

#include <algorithm>
#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

class Fuser : public Rewriter {
public:
  Fuser(const Module& from, Builder& into, const Groups& groups, const Typing& typing)
      : Rewriter(from, into), groups_(groups), typing_(typing), old_(from) {}

private:
  std::span<const Binding> bindingsOf(const Block& block) override {
    const BlockGroups* groups = groups_.of(block);
    if (!groups)
      return block.bindings;
    std::vector<Binding> list;
    for (uint32_t i = 0; i < block.bindings.size(); ++i) {
      if (groups->stays[i])
        list.push_back(block.bindings[i]);
      if (auto group = groups->byRoot.find(i); group != groups->byRoot.end())
        addGroup(block, group->second, list);
    }
    return old_.arena.copy(list);
  }

  /// The function of a group, its call, and what is taken out of the result.
  void addGroup(const Block& block, const Group& group, std::vector<Binding>& out) {
    const Binding& root = block.bindings[*group.members.rbegin()];
    SourceRange range = root.value->range;
    std::vector<Operand> arguments;
    for (const Expr* operand : group.operands)
      arguments.push_back({operand, range});
    const Var* name = old_.variable("fused", VarOrigin::Let, range);
    out.push_back({name, functionOf(block, group, range), range});
    const Call* call = old_.arena.make<Call>(Expr{ExprKind::Call, range}, Operand{name, range},
                                             old_.arena.copy(arguments));
    if (group.results.size() == 1) {
      out.push_back({root.var, call, root.place});
      return;
    }
    const Var* all = old_.variable("", VarOrigin::Temporary, range);
    out.push_back({all, call, range});
    uint32_t index = 0;
    for (uint32_t result : group.results) {
      const Binding& part = block.bindings[result];
      out.push_back({part.var,
                     old_.arena.make<Project>(Expr{ExprKind::Project, part.value->range},
                                              Operand{all, range}, index++),
                     part.place});
    }
  }

  const Function* functionOf(const Block& block, const Group& group, SourceRange range) {
    std::unordered_map<const Expr*, const Expr*> inside;
    std::vector<const Var*> parameters;
    for (const Expr* operand : group.operands) {
      parameters.push_back(old_.variable(fmt::format("p{}", parameters.size()),
                                         VarOrigin::Parameter, range, typing_.of(*operand)));
      inside.emplace(operand, parameters.back());
    }
    std::vector<Binding> bindings;
    for (uint32_t member : group.members)
      bindings.push_back(moved(block.bindings[member], inside));
    if (group.results.size() > 1) {
      std::vector<Operand> fields;
      for (uint32_t result : group.results)
        fields.push_back({inside.at(block.bindings[result].var), range});
      const Expr* tuple =
          old_.arena.make<TupleExpr>(Expr{ExprKind::Tuple, range}, old_.arena.copy(fields));
      bindings.push_back({old_.variable("", VarOrigin::Temporary, range), tuple, range});
    }
    auto* body =
        old_.arena.make<Block>(old_.arena.copy(bindings), Operand{bindings.back().var, range});
    NamedAttribute mark{"Primitive", intAttribute(1, 32)};
    return old_.arena.make<Function>(Expr{ExprKind::Function, range}, 0u,
                                     std::span<const TypeParameter* const>(),
                                     old_.arena.copy(parameters),
                                     /*resultAnnotation=*/nullptr, body,
                                     old_.arena.copy(std::span<const NamedAttribute>(&mark, 1)));
  }

  /// A member with what it is made of inside.
  Binding moved(const Binding& member, std::unordered_map<const Expr*, const Expr*>& inside) {
    auto within = [&](Operand operand) {
      if (auto found = inside.find(operand.value); found != inside.end())
        operand.value = found->second;
      return operand;
    };
    auto allWithin = [&](std::span<const Operand> operands) {
      std::vector<Operand> made;
      for (const Operand& operand : operands)
        made.push_back(within(operand));
      return old_.arena.copy(made);
    };
    Expr* value = nullptr;
    if (const auto* call = member.value->as<Call>()) {
      Call* own = old_.arena.make<Call>(*call);
      own->arguments = allWithin(call->arguments);
      value = own;
    } else if (const auto* tuple = member.value->as<TupleExpr>()) {
      TupleExpr* own = old_.arena.make<TupleExpr>(*tuple);
      own->fields = allWithin(tuple->fields);
      value = own;
    } else {
      Project* own = old_.arena.make<Project>(*member.value->as<Project>());
      own->tuple = within(own->tuple);
      value = own;
    }
    const Var* var = old_.variable("", VarOrigin::Temporary, member.var->range);
    inside[member.var] = var;
    return {var, value, member.place};
  }

  const Groups& groups_;
  const Typing& typing_;
  OldCode old_;
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
