// A circle of calls has no end of types if one of them puts a type parameter into a larger type.
#include "transform/analysis/endless_instances.h"

#include "lang/ir/walk.h"
#include "transform/analysis/instance.h"
#include "transform/analysis/type_parts.h"

namespace transform {

using namespace lang;

namespace {

/// Calls of globals in a body.
void forEachGlobalCall(const Global& global,
                       const std::function<void(const Call&, const Global&)>& visit) {
  if (!global.function)
    return;
  walk(
      *global.function->body,
      [&](const Binding& binding) {
        const auto* call = binding.value->as<Call>();
        const auto* callee = call ? call->callee.value->as<Global>() : nullptr;
        if (callee && callee->function &&
            callee->function->parameters.size() == call->arguments.size())
          visit(*call, *callee);
      },
      [](const Operand&) {});
}

std::vector<const Global*> reached(const Global& from) {
  std::vector<const Global*> found{&from};
  std::unordered_set<const Global*> seen{&from};
  for (size_t i = 0; i < found.size(); ++i)
    forEachGlobalCall(*found[i], [&](const Call&, const Global& callee) {
      if (seen.insert(&callee).second)
        found.push_back(&callee);
    });
  return found;
}

std::optional<GrowingCall> growth(const Call& call, const Global& callee, TypeContext& types,
                                  const Typing& typing) {
  const Function& function = *callee.function;
  Instance instance(types);
  instance.open(typing.generics(function), false);
  for (size_t i = 0; i < call.arguments.size(); ++i)
    instance.match(typing.of(*function.parameters[i]), typing.of(*call.arguments[i].value));
  for (const TypeParameter* parameter : typing.generics(function)) {
    const Type* type = instance.of(parameter);
    TypeNames names;
    names.add(type);
    if (type && type->kind != TypeKind::Variable && !names.parameters.empty())
      return GrowingCall{&call, &callee, parameter, type};
  }
  return std::nullopt;
}

} // namespace

std::optional<GrowingCall> growingCall(const Global& global, TypeContext& types,
                                       const Typing& typing) {
  std::optional<GrowingCall> found;
  for (const Global* each : reached(global))
    forEachGlobalCall(*each, [&](const Call& call, const Global& callee) {
      std::optional<GrowingCall> more = found ? std::nullopt : growth(call, callee, types, typing);
      if (more && std::ranges::count(reached(callee), each) > 0)
        found = more;
    });
  return found;
}

} // namespace transform
