// Calls are proven one by one; a function's parameters need no look when all its calls are, and it
// is called by name only: that of a definition, or that of the let that it is the value of.
#include "lang/calls/proven_sizes.h"

#include "lang/ir/walk.h"
#include "lang/op/op.h"

#include <map>
#include <ranges>
#include <set>

namespace lang {

namespace {

/// Whether each value of type `given` is one of type `wanted`, by a rule for two extents. Only
/// tensors are compared, alone or in tuples; recursion follows the nesting of these, which
/// TypeContext bounds.
template <typename Rule>
bool fits(const Type* wanted, const Type* given, const Rule& rule) {
  if (!wanted->isTensor() && !wanted->isTuple())
    return true;
  if (!given || wanted->kind != given->kind)
    return false;
  if (wanted->isTuple())
    return std::ranges::equal(wanted->parts, given->parts,
                              [&](const Type* a, const Type* b) { return fits(a, b, rule); });
  return wanted->dtype == given->dtype && std::ranges::equal(wanted->shape, given->shape, rule);
}

/// Sizes of one definition for the names of another.
class Renaming {
public:
  explicit Renaming(TypeContext& types) : types_(types) {}

  /// Whether each value of type `given` is one of type `wanted`.
  bool proves(const Type* wanted, const Type* given) {
    return fits(wanted, given, [this](const Dim* a, const Dim* b) { return proves(a, b); });
  }
  /// Whether each value of type `given`, in which the names stand, is one of type `wanted`.
  bool isProvenBy(const Type* wanted, const Type* given) {
    return fits(wanted, given, [this](const Dim* a, const Dim* b) {
      return a->isAny() || (!b->isAny() && proves(b, a));
    });
  }
  /// From here on only names count that have a size.
  void complete() { isComplete_ = true; }

private:
  bool proves(const Dim* wanted, const Dim* given) {
    if (wanted->isAny() || wanted->kind == DimKind::Unknown)
      return true;
    if (given->isAny() || given->hasUnknown)
      return false;
    if (wanted->kind == DimKind::Symbol && !isComplete_)
      return sizes_.try_emplace(wanted, given).first->second == given;
    bool isKnown = true;
    const Dim* same = types_.substitute(wanted, [&](const Dim* name) {
      auto found = sizes_.find(name);
      isKnown = isKnown && found != sizes_.end();
      return found == sizes_.end() ? types_.any() : found->second;
    });
    return isKnown && same == given;
  }

  TypeContext& types_;
  bool isComplete_ = false;
  std::map<const Dim*, const Dim*> sizes_;
};

/// The same in one definition, where a name stands for itself.
bool fits(const Type* wanted, const Type* given) {
  return fits(wanted, given,
              [](const Dim* a, const Dim* b) { return a->isAny() || (a == b && !a->hasUnknown); });
}

/// Whether values of a type have parts that it does not compare when they come from outside.
bool holdsOpenParts(const Type* type) {
  return type->kind == TypeKind::Function ||
         (type->kind == TypeKind::Data && !type->parts.empty()) ||
         std::ranges::any_of(type->parts, holdsOpenParts);
}

/// What is found in the types of a program.
struct FoundSizes {
  /// A type that is not known, or has a `?`.
  bool areOpen = false;
  bool haveNames = false;
  /// Something whose sizes are compared with names only when it is there, so that a name may get
  /// its size from it: what values decide, and fields of constructors with names of their own.
  bool bindNames = false;

  void see(const Type* type) {
    areOpen |= !type || type->hasAny || type->hasUnknown;
    haveNames |= type && type->hasSymbol;
  }
  /// Whether values have the sizes that their types say.
  bool areClosed() const { return !areOpen && !(haveNames && bindNames); }
};

} // namespace

class ProvenSizes {
public:
  ProvenSizes(const Module& module, const Typing& typing, std::span<const Global* const> entries,
              Boundaries& boundaries)
      : module_(module), typing_(typing), entries_(entries), found_(boundaries),
        values_(module.varCount), needsLook_(module.functionCount) {
    for (const Global* entry : entries)
      needsLook_[entry->function->number] = true;
  }

  void run() {
    std::vector<const Function*> functions;
    for (const Global* global : module_.globals)
      if (global->function)
        functions.push_back(global->function);
    for (const Function* function : functions)
      forEachBinding(*function->body,
                     [&](const Binding& binding) { values_[binding.var->number] = binding.value; });
    const std::vector<const Function*> definitions = functions;
    findNamed(definitions, functions);
    for (const Function* function : definitions)
      readDefinition(*function);
    std::vector<const Function*> proven;
    for (const Function* function : functions)
      if (provesOwnResult(*function))
        proven.push_back(function);
    for (const Var* var : provenVars_)
      found_.vars_[var->number] = nullptr;
    for (const Function* function : proven)
      found_.functions_[function->number]->result = nullptr;
    // What is inside of others stands behind them, and goes first.
    for (const Function* function : functions | std::views::reverse)
      drop(*function);
  }

private:
  /// Appends the literals that are only called, by a name.
  void findNamed(const std::vector<const Function*>& definitions,
                 std::vector<const Function*>& functions) {
    std::vector<uint32_t> uses(module_.varCount), calls(module_.varCount);
    walk(
        module_,
        [&](const Binding& binding) {
          if (literalOf(*binding.value))
            ++calls[static_cast<const Call&>(*binding.value).callee.value->as<Var>()->number];
        },
        [&](const Operand& operand) {
          if (const auto* var = operand.value->as<Var>())
            ++uses[var->number];
        });
    for (const Function* definition : definitions)
      forEachBinding(*definition->body, [&](const Binding& binding) {
        const auto* literal = binding.value->as<Function>();
        uint32_t number = binding.var->number;
        if (literal && calls[number] > 0 && calls[number] == uses[number]) {
          named_.insert(literal);
          functions.push_back(literal);
        }
      });
  }

  /// The literal that a call of a variable calls, if it is known.
  const Function* literalOf(const Expr& value) const {
    const auto* call = value.as<Call>();
    const auto* var = call ? call->callee.value->as<Var>() : nullptr;
    const Expr* callee = var ? values_[var->number] : nullptr;
    return callee ? callee->as<Function>() : nullptr;
  }

  /// The function that a call calls by name, or null.
  const Function* calleeOf(const Expr& value) const {
    const auto* call = value.as<Call>();
    const Global* global = call ? call->callee.value->as<Global>() : nullptr;
    if (global)
      return global->function;
    const Function* literal = literalOf(value);
    return named_.contains(literal) ? literal : nullptr;
  }

  /// Calls `visit` for all bindings in a block and below.
  template <typename Visit>
  static void forEachBinding(const Block& block, Visit&& visit) {
    std::vector<const Block*> blocks{&block};
    while (!blocks.empty()) {
      const Block& next = *blocks.back();
      blocks.pop_back();
      for (const Binding& binding : next.bindings) {
        visit(binding);
        forEachBlock(*binding.value, [&](const Block& inner) { blocks.push_back(&inner); });
      }
    }
  }

  void readDefinition(const Function& function) {
    forEachBinding(*function.body, [&](const Binding& binding) {
      const auto* call = binding.value->as<Call>();
      const Global* callee = call ? call->callee.value->as<Global>() : nullptr;
      forEachOperand(*binding.value, [&](const Operand& operand) {
        if (!callee || &operand != &call->callee)
          escape(*operand.value);
      });
      escape(*binding.value);
      if (const auto* match = binding.value->as<Match>())
        for (const Arm& arm : match->arms)
          readPattern(*arm.pattern);
      if (call && provesFields(*call))
        found_.provenCalls_.insert(call);
      if (const Function* called = calleeOf(*binding.value))
        readCall(binding, *call, *called);
    });
    forEachResult(*function.body, [&](const Operand& result) { escape(*result.value); });
  }

  /// Whether a constructor that compares its fields is given what fits them.
  bool provesFields(const Call& call) const {
    const auto* constructor = call.callee.value->as<Constructor>();
    if (!constructor || !found_.isChecked(*constructor))
      return false;
    for (size_t i = 0; i < constructor->fields.size(); ++i) {
      const Type* field = constructor->fields[i];
      const Expr& given = *call.arguments[i].value;
      bool isCompared = field->isTensor() || field->isTuple();
      if (isCompared && (field->hasSymbol || !isDefinite(given) || !fits(field, typing_.of(given))))
        return false;
    }
    return true;
  }

  /// Whether no value can have another size than its type says: in the types of what runs all sizes
  /// are numbers, or names that the checker has proven, and nothing is handed in that is not
  /// compared as a whole.
  bool isClosedProgram() {
    if (isClosedProgram_)
      return *isClosedProgram_;
    FoundSizes sizes;
    for (const Global* entry : entries_)
      for (const Var* parameter : entry->function->parameters)
        sizes.areOpen |= !typing_.of(*parameter) || holdsOpenParts(typing_.of(*parameter));
    for (const TypeDefinition* type : module_.typeDefinitions)
      for (const Constructor* constructor : type->constructors)
        sizes.bindNames |= std::ranges::any_of(constructor->fields, &Type::hasSymbol);
    std::vector<const Global*> open(entries_.begin(), entries_.end());
    std::set<const Global*> seen(entries_.begin(), entries_.end());
    while (sizes.areClosed() && !open.empty()) {
      const Function& function = *open.back()->function;
      open.pop_back();
      readSizes(function, sizes, [&](const Global& global) {
        if (global.function && seen.insert(&global).second)
          open.push_back(&global);
      });
    }
    isClosedProgram_ = sizes.areClosed();
    return *isClosedProgram_;
  }

  template <typename Visit>
  void readSizes(const Function& root, FoundSizes& sizes, Visit&& visitGlobal) const {
    auto look = [&](const Var& var) { sizes.see(typing_.of(var)); };
    auto lookAtHead = [&](const Function& function) {
      sizes.see(typing_.result(function));
      for (const Var* parameter : function.parameters)
        look(*parameter);
    };
    lookAtHead(root);
    walk(
        *root.body,
        [&](const Binding& binding) {
          look(*binding.var);
          const auto* call = binding.value->as<Call>();
          const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
          sizes.bindNames |= op && op->row->shapeNeeds != ShapeNeeds::Shapes;
          if (const auto* function = binding.value->as<Function>())
            lookAtHead(*function);
          if (const auto* match = binding.value->as<Match>())
            for (const Arm& arm : match->arms)
              forEachPatternVar(*arm.pattern, look);
        },
        [&](const Operand& operand) {
          if (const auto* global = operand.value->as<Global>())
            visitGlobal(*global);
        });
  }

  /// The variables that a pattern has for fields of a known size: these were compared when the
  /// value was made, or are what the type of the value says.
  void readPattern(const Pattern& root) {
    struct Part {
      const Pattern* pattern;
      const Type* made;
    };
    std::vector<Part> open{{&root, nullptr}};
    while (!open.empty()) {
      auto [pattern, made] = open.back();
      open.pop_back();
      for (size_t i = 0; i < pattern->parts.size(); ++i)
        open.push_back({pattern->parts[i], pattern->constructor ? pattern->constructor->fields[i]
                                           : made && made->isTuple() ? made->parts[i]
                                                                     : nullptr});
      const Type* wanted = pattern->var ? found_.typeOf(*pattern->var) : nullptr;
      if (wanted && ((made && !made->hasSymbol && fits(wanted, made)) || isClosedProgram()))
        provenVars_.push_back(pattern->var);
    }
  }

  template <typename Visit>
  static void forEachResult(const Block& block, Visit&& visit) {
    std::vector<const Block*> blocks{&block};
    while (!blocks.empty()) {
      const Block& next = *blocks.back();
      blocks.pop_back();
      visit(next.result);
      for (const Binding& binding : next.bindings)
        forEachBlock(*binding.value, [&](const Block& inner) { blocks.push_back(&inner); });
    }
  }

  void escape(const Expr& atom) {
    if (const auto* global = atom.as<Global>(); global && global->function)
      needsLook_[global->function->number] = true;
  }

  void readCall(const Binding& binding, const Call& call, const Function& callee) {
    Renaming renaming(module_.types);
    if (!provesArguments(call, callee, renaming)) {
      needsLook_[callee.number] = true;
      return;
    }
    const Type* wanted = found_.typeOf(*binding.var);
    if (wanted && provesResult(callee, wanted, renaming))
      provenVars_.push_back(binding.var);
  }

  bool provesArguments(const Call& call, const Function& callee, Renaming& renaming) {
    if (call.arguments.size() != callee.parameters.size())
      return false;
    const FunctionChecks* checks = found_.of(callee);
    if (!checks)
      return true;
    return std::ranges::all_of(checks->parameters, [&](const FunctionChecks::Parameter& each) {
      const Expr& atom = *call.arguments[each.position].value;
      return isDefinite(atom) && renaming.proves(each.type, typing_.of(atom));
    });
  }

  /// Whether what a callee returns, which is of its own type, fits `wanted` too.
  bool provesResult(const Function& callee, const Type* wanted, Renaming& renaming) const {
    const FunctionChecks* checks = found_.of(callee);
    renaming.complete();
    return checks && checks->result && renaming.isProvenBy(wanted, checks->result);
  }

  /// Whether the values of all ends of a function fit what it declares.
  bool provesOwnResult(const Function& function) {
    const FunctionChecks* checks = found_.of(function);
    if (!checks || !checks->result)
      return false;
    std::vector<const Block*> ends{function.body};
    while (!ends.empty()) {
      const Expr& end = *ends.back()->result.value;
      ends.pop_back();
      const auto* var = end.as<Var>();
      const Expr* value = var && !found_.typeOf(*var) ? values_[var->number] : nullptr;
      bool isBranch = value && (value->as<If>() || value->as<Match>() || value->as<BlockExpr>());
      const Function* callee = value ? calleeOf(*value) : nullptr;
      if (isBranch)
        forEachBlock(*value, [&](const Block& inner) { ends.push_back(&inner); });
      else if (callee) {
        Renaming renaming(module_.types);
        if (!provesArguments(*value->as<Call>(), *callee, renaming) ||
            !provesResult(*callee, checks->result, renaming))
          return false;
      } else if (!isDefinite(end) || !fits(checks->result, typing_.of(end))) {
        return false;
      }
    }
    return true;
  }

  /// Whether something in a function is still compared with a type that has names, or may be.
  bool needsSizes(const Function& function, const FunctionChecks& checks) const {
    bool needs = checks.result && checks.result->hasSymbol;
    auto look = [&](const Var& var) {
      const Type* type = found_.typeOf(var);
      needs |= type && type->hasSymbol;
    };
    forEachBinding(*function.body, [&](const Binding& binding) {
      look(*binding.var);
      if (const auto* nested = binding.value->as<Function>())
        needs |= !named_.contains(nested) || found_.of(*nested);
      if (const auto* match = binding.value->as<Match>())
        for (const Arm& arm : match->arms)
          forEachPatternVar(*arm.pattern, look);
    });
    return needs;
  }

  void drop(const Function& function) {
    auto& checks = found_.functions_[function.number];
    if (!checks || (!checks->outer.empty() && !named_.contains(&function)))
      return;
    checks->keepsSizes =
        (checks->keepsSizes || !checks->outer.empty()) && needsSizes(function, *checks);
    if (!checks->requirements.empty() || checks->keepsSizes)
      return;
    if (!needsLook_[function.number])
      checks->parameters.clear();
    if (checks->parameters.empty())
      checks->outer.clear();
    if (!checks->result && checks->parameters.empty())
      checks = nullptr;
  }

  /// Whether a value is sure to fit the type of its variable: one that is compared, one that was
  /// handed in, or one that comes from such without a `?`.
  bool isDefinite(const Expr& atom) const {
    std::vector<const Expr*> left{&atom};
    while (!left.empty()) {
      const Expr* next = left.back();
      left.pop_back();
      const auto* var = next->as<Var>();
      const Expr* value = var && !found_.typeOf(*var) ? values_[var->number] : nullptr;
      if (!value)
        continue;
      if (const auto* call = value->as<Call>()) {
        if (!isDefiniteCall(*call))
          return false;
      } else if (value->as<Var>() || value->as<TupleExpr>() || value->as<Project>()) {
        if (value->as<Var>())
          left.push_back(value);
        forEachOperand(*value, [&](const Operand& operand) { left.push_back(operand.value); });
      } else if (!value->as<Constant>() && !value->as<Function>() && !value->as<RefNew>()) {
        return false;
      }
    }
    return true;
  }

  /// Whether what an operator gives has the sizes that its type tells: those that its relation
  /// answered for operands of which some sizes may be open.
  static bool isDefiniteCall(const Call& call) {
    const auto* op = call.callee.value->as<OperatorRef>();
    return op && op->row->action == Action::Compute && op->row->shapeNeeds == ShapeNeeds::Shapes;
  }

  const Module& module_;
  const Typing& typing_;
  std::span<const Global* const> entries_;
  Boundaries& found_;
  /// Per variable what it is bound to, or null.
  std::vector<const Expr*> values_;
  /// Per function whether its parameters must be compared.
  std::vector<bool> needsLook_;
  std::vector<const Var*> provenVars_;
  /// Literals that are only called, by a name.
  std::set<const Function*> named_;
  /// Known once it was asked for.
  std::optional<bool> isClosedProgram_;
};

void dropProvenChecks(const Module& module, const Typing& typing,
                      std::span<const Global* const> entries, Boundaries& boundaries) {
  ProvenSizes(module, typing, entries, boundaries).run();
}

} // namespace lang
