// The code of values stands at the beginning of the function, where passes see of what parts
// parameters are. The module may be a copy of the one that the values are of.
#include "driver/fixed_code.h"

#include "driver/values/input_fit.h"
#include "lang/calls/run_value.h"
#include "lang/ir/fields.h"
#include "lang/ir/rewrite.h"

#include <algorithm>

namespace driver {

using lang::Atom;
using lang::Dim;
using lang::Type;
using runtime::Value;
using runtime::ValueKind;

namespace {

constexpr size_t mostFixedParts = 10'000;

class FixedRewriter : public lang::Rewriter {
public:
  FixedRewriter(const lang::Module& from, lang::Builder& into, const FixedValues& fixed)
      : Rewriter(from, into), from_(from), fixed_(fixed),
        entry_(*from.find(fixed.entry)->function) {
    for (size_t i = 0; i < entry_.parameters.size(); ++i)
      if (!fixed.values[i])
        kept_.push_back(entry_.parameters[i]);
    std::vector<const Type*> types;
    for (const lang::Var* parameter : entry_.parameters)
      types.push_back(parameter->annotation);
    for (const Dim* name : namesOfSizes(std::move(types)))
      if (auto size = fixed.sizes.find(lang::dimText(name)); size != fixed.sizes.end())
        sizes_[name] = make.types.constant(size->second);
  }

private:
  std::span<const lang::Var* const> parametersOf(const lang::Function& old) override {
    return &old == &entry_ ? std::span<const lang::Var* const>(kept_) : old.parameters;
  }

  void openBlock(const lang::Block& block, lang::BlockBuilder& out) override {
    if (&block != entry_.body)
      return;
    for (size_t i = 0; i < entry_.parameters.size(); ++i)
      if (fixed_.values[i])
        substitute(*entry_.parameters[i], code(out, entry_.parameters[i]->name, *fixed_.values[i]));
  }

  /// A tuple or what a constructor makes, and the code of its fields so far.
  struct Open {
    const Value* value;
    std::vector<Atom> fields = {};

    const Value& next() const { return value->fields()[fields.size()]; }
    bool isFull() const { return fields.size() == value->fields().size(); }
  };

  /// What stands for a value, of that name where it has parts.
  Atom code(lang::BlockBuilder& out, std::string_view name, const Value& root) {
    if (root.kind() == ValueKind::Tensor)
      return make.tensor(root.tensor());
    std::vector<Open> open{{&root}};
    for (;;) {
      Open& top = open.back();
      if (!top.isFull()) {
        const Value& next = top.next();
        if (next.kind() == ValueKind::Tensor)
          top.fields.push_back(make.tensor(next.tensor()));
        else
          open.push_back({&next});
        continue;
      }
      const lang::Expr* made = top.value->kind() == ValueKind::Tuple
                                   ? static_cast<const lang::Expr*>(make.tuple(top.fields))
                                   : make.call(constructorOf(*top.value), top.fields);
      open.pop_back();
      // A function inside may use it, so it stands in its place.
      if (open.empty())
        return out.let(name, made);
      open.back().fields.push_back(out.bind(made));
    }
  }

  /// The constructor of a value in the copy.
  Atom constructorOf(const Value& value) {
    const lang::Constructor& constructor = lang::constructorOf(value);
    auto definition = std::ranges::find(from_.typeDefinitions, constructor.definition->name,
                                        &lang::TypeDefinition::name);
    return atom(*(*definition)->constructors[constructor.index]);
  }

  const Type* declared(const lang::Var& old) override { return sized(old.annotation); }
  const Type* declaredResult(const lang::Function& old) override {
    return sized(old.resultAnnotation);
  }
  std::span<const lang::TypeParameter* const> declaredGenerics(const lang::Function& old) override {
    std::vector<const lang::TypeParameter*> kept;
    for (const lang::TypeParameter* generic : old.generics)
      if (generic->kind != lang::ParameterKind::Dimension ||
          !sizes_.contains(make.types.symbol(generic)))
        kept.push_back(generic);
    return kept.size() == old.generics.size() ? old.generics : make.arena.copy(kept);
  }

  const Type* sized(const Type* type) {
    if (!type || sizes_.empty() || !type->hasSymbol)
      return type;
    auto ofName = [&](const Dim* dim) {
      auto found = sizes_.find(dim);
      return found == sizes_.end() ? dim : found->second;
    };
    return lang::rebuilt(
        make.types, type, [](const Type* variable) { return variable; },
        [&](const Dim* dim) { return make.types.substitute(dim, ofName); });
  }

  const lang::Module& from_;
  const FixedValues& fixed_;
  const lang::Function& entry_;
  std::vector<const lang::Var*> kept_;
  std::unordered_map<const Dim*, const Dim*> sizes_;
};

} // namespace

bool isTooLargeForCode(const Value& value) {
  std::vector<const Value*> open{&value};
  for (size_t parts = 0; !open.empty(); ++parts) {
    if (parts >= mostFixedParts)
      return true;
    const Value& next = *open.back();
    open.pop_back();
    if (next.kind() != ValueKind::Tensor)
      for (const Value& field : next.fields())
        open.push_back(&field);
  }
  return false;
}

std::unique_ptr<lang::Module> withFixed(const lang::Module& module,
                                        const lang::OperatorTable& operators,
                                        const FixedValues& fixed) {
  return lang::rewritten<FixedRewriter>(module, operators, fixed);
}

} // namespace driver
