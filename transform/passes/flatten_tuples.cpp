// Tuples and records that functions only take apart come as their fields: arity raising, the worker
// of a worker/wrapper split (Peyton Jones and Launchbury, 1991) without the wrapper.
//
//   def @loop(%s: (int32, int32)) {             def @loop(%s_0: int32, %s_1: int32) {
//     if (%s.0 == 0) { %s.1 }             =>      if (%s_0 == 0) { %s_1 }
//     else { @loop((%s.0 - 1, %s.1 * 2)) }        else { @loop(%s_0 - 1, %s_1 * 2) }
//   }                                           }
//
// A parameter goes when every use projects it, matches it with a pattern that always fits, or hands
// it on to a parameter that goes. A record is a value of a data type with one constructor, so that
// a pattern of names always fits. A function that is a value, one with attributes, one of the
// prelude (which no text of the program has) and the entries keep theirs, and so do parameters that
// are compared with their types as values come in and are not proven to fit, since the words for
// what does not fit speak of the tuple.
#include "lang/calls/proven_sizes.h"
#include "lang/ir/fields.h"
#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "transform/analysis/old_code.h"
#include "transform/analysis/placement.h"
#include "transform/passes.h"

#include <algorithm>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

/// A tuple of more fields stays one, as does a list of more parameters.
constexpr size_t mostFields = 8, mostParameters = 32;

/// How many fields a tuple or a record has; none is anything else.
size_t fieldCount(const Type& type) {
  return isRecord(type)   ? type.definition->constructors[0]->fields.size()
         : type.isTuple() ? type.parts.size()
                          : 0;
}

/// Whether a pattern fits all values of its type: it has no constructor but those of records.
bool alwaysFits(const Pattern& root) {
  std::vector<const Pattern*> open{&root};
  while (!open.empty()) {
    const Pattern& pattern = *open.back();
    open.pop_back();
    if (pattern.constructor && pattern.constructor->definition->constructors.size() > 1)
      return false;
    std::ranges::copy(pattern.parts, std::back_inserter(open));
  }
  return true;
}

/// Globals that the program's text has.
std::span<const Global* const> ownGlobals(const Module& module) {
  return std::span(module.globals).subspan(module.preludeGlobals);
}

/// Which parameters go.
class FlatParameters {
public:
  FlatParameters(const Module& module, const Typing& typing, Entries names)
      : typing_(typing), boundaries_(module, typing), taken_(module.varCount),
        mentions_(module.varCount) {
    std::vector<const Global*> entries = entriesOf(module, names);
    dropProvenChecks(module, typing, entries, boundaries_);
    for (const Global* global : ownGlobals(module))
      if (!entries.empty() && std::ranges::count(entries, global) == 0 && global->function &&
          global->function->attributes.empty())
        addCandidates(*global);
    if (candidates_.empty())
      return;
    findUses(module);
    for (const auto& [parameter, fields] : candidates_)
      if (!isOnlyTaken(*parameter))
        lost_.push_back(parameter);
    dropLost();
  }

  bool isEmpty() const { return candidates_.empty(); }
  const Type* typeOf(const Expr& atom) const { return typing_.of(atom); }
  /// Whether a variable may be another name for a field.
  bool isPlain(const Var& var) const { return !var.annotation && !boundaries_.typeOf(var); }
  /// Whether the first arm of a match takes whatever comes apart.
  bool isOpening(const Match& match) const {
    const Pattern* first = match.arms.empty() ? nullptr : match.arms[0].pattern;
    return first && !first->parts.empty() && alwaysFits(*first) &&
           std::ranges::all_of(first->parts, [&](const Pattern* part) {
             return part->kind != PatternKind::Var || isPlain(*part->var);
           });
  }
  /// The fields of a tuple or a record that a value makes without comparing them; nothing for any
  /// other value.
  std::optional<std::span<const Operand>> madeOf(const Expr& value) const {
    if (const auto* tuple = value.as<TupleExpr>())
      return tuple->fields;
    const auto* call = value.as<Call>();
    const auto* constructor = call ? call->callee.value->as<Constructor>() : nullptr;
    if (!constructor || constructor->definition->constructors.size() > 1 ||
        boundaries_.comparesFields(*call))
      return std::nullopt;
    return call->arguments;
  }
  /// How many fields a parameter comes as, or 0 if it stays.
  size_t fields(const Var& parameter) const {
    auto found = candidates_.find(&parameter);
    return found == candidates_.end() ? 0 : found->second;
  }
  /// Whether all uses of a variable take it apart or hand it on to a parameter that does.
  bool isOnlyTaken(const Var& var) const {
    return mentions_[var.number] > 0 && taken_[var.number] == mentions_[var.number];
  }

private:
  void addCandidates(const Global& global) {
    const Function& function = *global.function;
    const FunctionChecks* checks = boundaries_.of(function);
    size_t count = function.parameters.size();
    for (uint32_t i = 0; i < function.parameters.size(); ++i) {
      const Var& parameter = *function.parameters[i];
      const Type* type = typing_.of(parameter);
      bool isCompared = checks && std::ranges::count(checks->parameters, i,
                                                     &FunctionChecks::Parameter::position) > 0;
      size_t fields = type ? fieldCount(*type) : 0;
      if (fields == 0 || fields > mostFields || isCompared || parameter.device ||
          count + fields > mostParameters)
        continue;
      count += fields;
      candidates_.emplace(&parameter, fields);
    }
  }

  void findUses(const Module& module) {
    const Expr* callee = nullptr;
    walk(
        module,
        [&](const Binding& binding) {
          forEachAttributeAtom(*binding.value, [&](const Expr& atom) { use(atom); });
          const auto* call = binding.value->as<Call>();
          callee = call && handsOn(*call) ? call->callee.value : nullptr;
          if (const auto* project = binding.value->as<Project>())
            take(*project->tuple.value);
          else if (const auto* match = binding.value->as<Match>(); match && isOpening(*match))
            take(*match->scrutinee.value);
        },
        [&](const Operand& operand) {
          // The callee is the first operand of its call.
          if (operand.value != callee)
            use(*operand.value);
          callee = nullptr;
        });
  }

  /// Notes the arguments for parameters that may go; false when the call is none of a global.
  bool handsOn(const Call& call) {
    const auto* global = call.callee.value->as<Global>();
    if (!global || !global->function || !call.named.empty() ||
        global->function->parameters.size() != call.arguments.size())
      return false;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const Var* parameter = global->function->parameters[i];
      const auto* var = call.arguments[i].value->as<Var>();
      if (var && candidates_.contains(parameter)) {
        take(*var);
        givers_[parameter].push_back(var);
      }
    }
    return true;
  }

  void take(const Expr& atom) {
    if (const auto* var = atom.as<Var>())
      ++taken_[var->number];
  }

  /// Any use; a global that is a value keeps its parameters.
  void use(const Expr& atom) {
    if (const auto* var = atom.as<Var>())
      ++mentions_[var->number];
    if (const auto* global = atom.as<Global>(); global && global->function)
      std::ranges::copy(global->function->parameters, std::back_inserter(lost_));
  }

  void dropLost() {
    while (!lost_.empty()) {
      const Var* parameter = lost_.back();
      lost_.pop_back();
      if (candidates_.erase(parameter) == 0)
        continue;
      for (const Var* giver : givers_[parameter]) {
        --taken_[giver->number];
        lost_.push_back(giver);
      }
    }
  }

  const Typing& typing_;
  Boundaries boundaries_;
  std::unordered_map<const Var*, size_t> candidates_;
  /// By Var::number: the uses of a variable that a parameter which goes may have, and all uses.
  std::vector<uint32_t> taken_, mentions_;
  /// By parameter: the variables that calls hand on to it.
  std::unordered_map<const Var*, std::vector<const Var*>> givers_;
  std::vector<const Var*> lost_;
};

class Flattener : public Rewriter {
public:
  Flattener(const Module& from, Builder& into, const FlatParameters& flat)
      : Rewriter(from, into), flat_(flat), types_(from.types), old_(from) {}

private:
  std::span<const Var* const> parametersOf(const Function& old) override {
    std::vector<const Var*> list;
    for (const Var* parameter : old.parameters)
      if (size_t count = flat_.fields(*parameter))
        std::ranges::copy(newParameters(*parameter, count), std::back_inserter(list));
      else
        list.push_back(parameter);
    return old_.arena.copy(list);
  }

  /// The parameters that come instead of one.
  std::vector<const Var*> newParameters(const Var& parameter, size_t count) {
    std::vector<const Var*> vars;
    std::vector<const Expr*>& atoms = fields_[&parameter];
    std::vector<const Type*> types(count, nullptr);
    if (parameter.annotation)
      types = declaredFields(*parameter.annotation);
    for (size_t i = 0; i < count; ++i) {
      vars.push_back(old_.variable(fmt::format("{}_{}", parameter.name, i), VarOrigin::Parameter,
                                   parameter.range, types[i]));
      atoms.push_back(vars.back());
    }
    return vars;
  }

  /// What the fields of a parameter declare. Names of sizes in a data type's definition mean any sizes
  /// at each use, and in a parameter they would be sizes that callers choose.
  std::vector<const Type*> declaredFields(const Type& declared) {
    if (declared.kind != TypeKind::Data)
      return fieldTypes(types_, declared);
    Constructor open = *declared.definition->constructors[0];
    std::unordered_map<const Dim*, const Dim*> sizes;
    auto openSize = [&](const Dim* name) {
      if (!name->isNamed())
        return name;
      const Dim*& size = sizes[name];
      return size ? size : size = types_.unknownDim(make.module.unknownDimCount++);
    };
    std::vector<const Type*> fields;
    for (const Type* field : open.fields)
      fields.push_back(rebuilt(
          types_, field, [](const Type* variable) { return variable; },
          [&](const Dim* dim) { return types_.substitute(dim, openSize); }));
    open.fields = fields;
    return fieldTypes(types_, open, declared);
  }

  std::span<const Binding> bindingsOf(const Block& block) override {
    return old_.bindings(block, [this](const Binding& binding, std::vector<Binding>& before) {
      return replaced(binding, before);
    });
  }

  /// The value of a binding, with what it needs before it in `out`.
  const Expr* replaced(const Binding& binding, std::vector<Binding>& out) {
    const Expr& value = *binding.value;
    if (auto fields = flat_.madeOf(value); fields && flat_.isPlain(*binding.var))
      noteFields(*binding.var, *fields);
    if (const auto* project = value.as<Project>())
      if (const auto* fields = fieldsOf(*project->tuple.value)) {
        if (flat_.isPlain(*binding.var))
          aliases_.insert(binding.var);
        return (*fields)[project->index];
      }
    if (const auto* match = value.as<Match>(); match && flat_.isOpening(*match))
      if (const auto* fields = fieldsOf(*match->scrutinee.value))
        return opened(*match, *fields);
    const auto* call = value.as<Call>();
    const auto* global = call ? call->callee.value->as<Global>() : nullptr;
    return global && global->function ? flatCall(*call, *global->function, out) : &value;
  }

  /// Of a variable that only stands for them.
  const std::vector<const Expr*>* fieldsOf(const Expr& atom) const {
    const auto* var = atom.as<Var>();
    auto found = var && flat_.isOnlyTaken(*var) ? fields_.find(var) : fields_.end();
    return found == fields_.end() ? nullptr : &found->second;
  }

  void noteFields(const Var& var, std::span<const Operand> operands) {
    std::vector<const Expr*>& fields = fields_[&var];
    for (const Operand& field : operands)
      fields.push_back(field.value);
  }

  /// The block of the arm, in which fields have the names of the pattern; those that it takes apart
  /// further are matched there.
  const Expr* opened(const Match& match, const std::vector<const Expr*>& fields) {
    const Arm& arm = match.arms[0];
    std::vector<Binding> bindings;
    const Block* body = arm.body;
    for (size_t i = fields.size(); i-- > 0;) {
      const Pattern* part = arm.pattern->parts[i];
      if (part->var) {
        bindings.push_back({part->var, fields[i], part->var->range});
        aliases_.insert(part->var);
      } else if (!part->parts.empty()) {
        body = matched({fields[i], part->range}, {part, body, arm.range});
      }
    }
    std::ranges::copy(body->bindings, std::back_inserter(bindings));
    const Block* block = old_.arena.make<Block>(old_.arena.copy(bindings), body->result);
    const Expr* made = old_.arena.make<BlockExpr>(Expr{ExprKind::Block, match.range}, block);
    opened_.insert(made);
    return made;
  }

  /// A block that is a match with one arm.
  const Block* matched(const Operand& scrutinee, const Arm& arm) {
    const Var* result = old_.variable({}, VarOrigin::Temporary, scrutinee.range);
    std::vector<Binding> bindings{{result, onlyArm(scrutinee, arm), scrutinee.range}};
    return old_.arena.make<Block>(old_.arena.copy(bindings), Operand{result, scrutinee.range});
  }

  const Match* onlyArm(const Operand& scrutinee, const Arm& arm) {
    return old_.arena.make<Match>(Expr{ExprKind::Match, scrutinee.range}, scrutinee,
                                  /*isPartial=*/false, old_.arena.copy(std::vector<Arm>{arm}));
  }

  /// A call with fields in the place of tuples.
  const Expr* flatCall(const Call& call, const Function& callee, std::vector<Binding>& out) {
    std::vector<Operand> arguments;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const Operand& argument = call.arguments[i];
      size_t count = i < callee.parameters.size() ? flat_.fields(*callee.parameters[i]) : size_t(0);
      if (count == 0)
        arguments.push_back(argument);
      else
        addFields(argument, count, arguments, out);
    }
    Call* made = old_.arena.make<Call>(call);
    made->arguments = old_.arena.copy(arguments);
    return made;
  }

  /// The fields of an argument: those of a parameter or of what is made in sight, or each taken out
  /// of it.
  void addFields(const Operand& argument, size_t count, std::vector<Operand>& arguments,
                 std::vector<Binding>& out) {
    const auto* var = argument.value->as<Var>();
    auto known = var ? fields_.find(var) : fields_.end();
    for (size_t i = 0; i < count; ++i) {
      if (known != fields_.end()) {
        arguments.push_back({known->second[i], argument.range});
        continue;
      }
      const Var* field = old_.variable({}, VarOrigin::Temporary, argument.range);
      out.push_back({field, takenOut(argument, uint32_t(i))});
      arguments.push_back({field, argument.range});
    }
  }

  /// A field of a tuple or a record.
  const Expr* takenOut(const Operand& whole, uint32_t field) {
    const Type* type = flat_.typeOf(*whole.value);
    if (!isRecord(*type))
      return old_.arena.make<Project>(Expr{ExprKind::Project, whole.range}, whole, field);
    const Constructor& constructor = *type->definition->constructors[0];
    std::vector<const Pattern*> parts(constructor.fields.size(),
                                      old_.arena.make<Pattern>(PatternKind::Wildcard, whole.range));
    const Var* var = old_.variable("f", VarOrigin::Pattern, whole.range);
    parts[field] = old_.arena.make<Pattern>(PatternKind::Var, whole.range, var);
    const auto* pattern = old_.arena.make<Pattern>(PatternKind::Constructor, whole.range, nullptr,
                                                   &constructor, old_.arena.copy(parts));
    const auto* body =
        old_.arena.make<Block>(std::span<const Binding>(), Operand{var, whole.range});
    return onlyArm(whole, {pattern, body, whole.range});
  }

  Fate enter(const Binding& binding) override {
    if (opened_.contains(binding.value))
      return Fate::Splice;
    // Nothing uses it in the new code, but a let would stay.
    bool isGone = flat_.madeOf(*binding.value) && fieldsOf(*binding.var);
    return isGone ? Fate::Drop : Fate::Copy;
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    return aliases_.contains(old.var) ? value : Rewriter::bind(old, value, out);
  }

  const FlatParameters& flat_;
  TypeContext& types_;
  OldCode old_;
  /// Of parameters that go and of what is made in sight.
  std::unordered_map<const Var*, std::vector<const Expr*>> fields_;
  /// Variables that only stand for fields.
  std::unordered_set<const Var*> aliases_;
  std::unordered_set<const Expr*> opened_;
};

/// Whether some function takes a tuple or a record, which is quick to see, and most have none.
bool takesFields(const Module& module, const Typing& typing) {
  auto hasFields = [&](const Var* parameter) {
    const Type* type = typing.of(*parameter);
    return type && fieldCount(*type) > 0;
  };
  return std::ranges::any_of(ownGlobals(module), [&](const Global* global) {
    return global->function && std::ranges::any_of(global->function->parameters, hasFields);
  });
}

} // namespace

std::unique_ptr<Module> flattenTuples(const Module& module, const PassContext& context) {
  if (!takesFields(module, context.typing))
    return nullptr;
  FlatParameters flat(module, context.typing, context.entries);
  if (flat.isEmpty())
    return nullptr;
  auto made = rewritten<Flattener>(module, context.operators, flat);
  return place(*made, context.operators, {.keepsFaults = true});
}

} // namespace transform
