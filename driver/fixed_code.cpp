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

  /// What stands for a value. What has parts gets the name, and stands in its place, as functions
  /// inside may use it.
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
      Atom made = partOf(out, name, top);
      open.pop_back();
      if (open.empty())
        return made;
      open.back().fields.push_back(made);
    }
  }

  Atom partOf(lang::BlockBuilder& out, std::string_view name, const Open& open) {
    if (open.value->kind() == ValueKind::Tuple) {
      Atom made = out.let(name, make.tuple(open.fields));
      known_[made] = {nullptr, open.fields};
      return made;
    }
    const lang::Constructor& constructor = constructorOf(*open.value);
    Atom made = out.let(name, make.call(atom(constructor), open.fields));
    known_[made] = {&constructor, open.fields};
    return made;
  }

  /// The constructor of a value in the old module.
  const lang::Constructor& constructorOf(const Value& value) {
    const lang::Constructor& constructor = lang::constructorOf(value);
    auto definition = std::ranges::find(from_.typeDefinitions, constructor.definition->name,
                                        &lang::TypeDefinition::name);
    return *(*definition)->constructors[constructor.index];
  }

  // Matches and fields of what is known are known too.

  lang::Fate enter(const lang::Binding& binding) override {
    const auto* match = binding.value->as<lang::Match>();
    arm_ = match ? knownArm(*match) : nullptr;
    // What a temporary does is not done where nothing needs it.
    const bool isQuiet = arm_ && std::ranges::none_of(arm_->bindings, &lang::Binding::isLet);
    return arm_ && (binding.isLet() || isQuiet) ? lang::Fate::Splice : lang::Fate::Copy;
  }

  const lang::Block& spliced(const lang::Binding&, lang::BlockBuilder&) override {
    for (const auto& [var, atom] : bound_)
      substitute(*var, atom);
    return *arm_;
  }

  Atom bind(const lang::Binding& old, const lang::Expr* value, lang::BlockBuilder& out) override {
    if (!old.var->annotation) {
      if (known_.contains(value) || value->kind == lang::ExprKind::Constant)
        return value;
      const auto* field = value->as<lang::Project>();
      if (auto tuple = field ? known_.find(field->tuple.value) : known_.end();
          tuple != known_.end())
        return tuple->second.fields[field->index];
    }
    return Rewriter::bind(old, value, out);
  }

  /// The body of the arm that a known value takes, or null; `bound_` is what its variables are.
  const lang::Block* knownArm(const lang::Match& match) {
    for (const lang::Arm& arm : match.arms) {
      bound_.clear();
      auto fits = this->fits(*arm.pattern, atom(*match.scrutinee.value));
      if (!fits)
        return nullptr;
      if (*fits)
        return arm.body;
    }
    return nullptr;
  }

  /// Whether a pattern fits; nothing where that is not known, or what it declares may not hold.
  std::optional<bool> fits(const lang::Pattern& root, Atom value) {
    std::vector<std::pair<const lang::Pattern*, Atom>> open{{&root, value}};
    while (!open.empty()) {
      auto [pattern, part] = open.back();
      open.pop_back();
      if (pattern->isGuarded || (pattern->var && pattern->var->annotation))
        return std::nullopt;
      if (pattern->var)
        bound_.emplace_back(pattern->var, part);
      if (pattern->kind == lang::PatternKind::Wildcard || pattern->kind == lang::PatternKind::Var)
        continue;
      auto known = known_.find(part);
      if (known == known_.end())
        return std::nullopt;
      if (known->second.constructor != pattern->constructor)
        return false;
      for (size_t i = 0; i < pattern->parts.size(); ++i)
        open.emplace_back(pattern->parts[i], known->second.fields[i]);
    }
    return true;
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

  /// What stands for a value with parts: its constructor in the old module, or null of a tuple, and
  /// what stands for its fields.
  struct Known {
    const lang::Constructor* constructor;
    std::vector<Atom> fields;
  };
  std::unordered_map<const lang::Expr*, Known> known_;
  const lang::Block* arm_ = nullptr;
  std::vector<std::pair<const lang::Var*, Atom>> bound_;
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
