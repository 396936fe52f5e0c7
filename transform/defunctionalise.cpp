// Defunctionalisation (Reynolds, 1972): closures become data, and calls of them calls of one
// function for each type of functions, which matches on the data.
//
//   def @main(%n: int32) {                     type Fn1 { Fn1_1(int32), Fn1_2 }
//     let %f = fn (%x: int32) { %x + %n };     def @apply_1(%f: Fn1, %x: int32) -> int32 {
//     let %g = if (%n > 0) { %f }         =>     match (%f) {
//              else { @twice };                    Fn1_1(%n) => %x + %n,
//     %g(%n)                                       Fn1_2 => @twice(%x),
//   }                                            }
//                                              }
//                                              def @main(%n: int32) {
//                                                let %g = if (%n > 0) { Fn1_1(%n) } else { Fn1_2 };
//                                                @apply_1(%g, %n)
//                                              }
//
// Globals and constructors that are values are literals first, and generic definitions are copied
// for the types that they are used at. Data of one type hold all closures of a type of functions or
// none, so what stays is told by types: those that the entry takes or gives, that operators take or
// give, that fields of data types mention, that generic code is given, whose closures capture
// values of types that a definition of data could not name, or name them inside, and those with
// sizes that are not numbers. Where `?` lets functions of several types meet, everything stays.
#include "lang/copy.h"
#include "lang/rewrite.h"
#include "lang/walk.h"
#include "transform/constructor_functions.h"
#include "transform/passes.h"
#include "transform/placement.h"
#include "transform/type_parts.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

/// A literal as data: the fields are what it captures.
struct Closure {
  const Binding* binding;
  std::vector<const Var*> captured;
  const Constructor* constructor = nullptr;

  const Function& literal() const { return *static_cast<const Function*>(binding->value); }
};

/// What stands for the functions of one type.
struct Family {
  const Type* type;
  std::string name;
  TypeDefinition* definition;
  /// Stands for the function that applies them.
  Global* apply;
  std::vector<Closure*> closures = {};
};

void forEachFunctionType(const Type* root, const std::function<void(const Type*)>& visit) {
  std::vector<const Type*> stack{root};
  std::unordered_set<const Type*> seen;
  while (!stack.empty()) {
    const Type* type = stack.back();
    stack.pop_back();
    if (!type || !seen.insert(type).second)
      continue;
    if (type->kind == TypeKind::Function)
      visit(type);
    stack.insert(stack.end(), type->parts.begin(), type->parts.end());
    stack.push_back(type->result);
  }
}

/// Whether a definition of data can mention a type.
bool isClosed(const Type* type) {
  TypeNames names;
  names.add(type);
  bool isOpen = !type || type->hasUnknown || type->hasSymbol || type->hasAny;
  return !isOpen && names.parameters.empty();
}

/// Which types of functions become data, and which data.
class Families {
public:
  Families(Module& module, const Typing& typing, Entries entries)
      : module_(module), typing_(typing), free_(freeVariables(module)) {
    for (const TypeDefinition* definition : module.typeDefinitions) {
      names_.emplace(definition->name);
      for (const Constructor* constructor : definition->constructors) {
        names_.emplace(constructor->name);
        for (const Type* field : constructor->fields)
          keep(field);
      }
    }
    for (const Global* global : module.globals)
      names_.emplace(global->name);
    findKept(entries);
    findFamilies();
  }

  /// The family of a type, or null if its functions stay what they are.
  Family* of(const Type* type) {
    auto found = families_.find(type);
    return found == families_.end() ? nullptr : found->second;
  }
  const Closure* closure(const Binding& binding) const {
    auto found = closures_.find(binding.var);
    return found == closures_.end() ? nullptr : &found->second;
  }
  const std::vector<std::unique_ptr<Family>>& all() const { return all_; }
  /// The type with data in the place of functions.
  const Type* replaced(const Type* type) {
    if (!type)
      return nullptr;
    if (auto found = replaced_.find(type); found != replaced_.end())
      return found->second;
    std::vector<const Type*> parts;
    for (const Type* part : type->parts)
      parts.push_back(replaced(part));
    const Type* made = type;
    if (Family* family = of(type))
      made = module_.types.data(family->definition, {});
    else if (type->isTuple())
      made = module_.types.tuple(parts);
    else if (type->kind == TypeKind::Function)
      made = module_.types.function(parts, replaced(type->result), type->generics);
    else if (type->kind == TypeKind::Reference)
      made = module_.types.reference(parts[0]);
    else if (type->kind == TypeKind::Data)
      made = module_.types.data(type->definition, parts);
    return replaced_[type] = made;
  }

private:
  void keep(const Type* type) {
    if (!lookedAt_.insert(type).second)
      return;
    forEachFunctionType(type, [&](const Type* function) { kept_.insert(function); });
  }

  void findKept(Entries names) {
    std::vector<const Global*> entries = entriesOf(module_, names);
    for (const Global* global : module_.globals)
      if (global->function && (entries.empty() || std::ranges::count(entries, global) != 0)) {
        for (const Var* parameter : global->function->parameters)
          keep(typing_.of(*parameter));
        keep(typing_.result(*global->function));
      }
    walk(
        module_, [&](const Binding& binding) { findKept(binding); }, [](const Operand&) {});
  }

  void findKept(const Binding& binding) {
    const Type* type = typing_.of(*binding.var);
    if (const auto* literal = binding.value->as<Function>()) {
      std::optional<TypeNames> inside =
          declaredNames(*literal, [](const Type* declared) { return declared; });
      bool isPlain =
          literal->generics.empty() && inside->parameters.empty() && inside->dims.empty();
      for (const Var* var : free_.of[literal->number])
        isPlain &= var == binding.var || isClosed(typing_.of(*var));
      if (!isPlain)
        keep(type);
    }
    const auto* call = binding.value->as<Call>();
    if (!call)
      return;
    const auto* global = call->callee.value->as<Global>();
    bool isGeneric = global && (!global->function || !typing_.generics(*global->function).empty());
    if (!isGeneric && call->callee.value->kind != ExprKind::Operator)
      return;
    keep(type);
    for (const Operand& argument : call->arguments)
      keep(typing_.of(*argument.value));
  }

  /// Every type that the program mentions has its family before any is written.
  void findFamilies() {
    for (const Global* global : module_.globals)
      if (global->function) {
        note(typing_.result(*global->function));
        for (const Var* parameter : global->function->parameters)
          note(typing_.of(*parameter));
      }
    walk(
        module_,
        [&](const Binding& binding) {
          const Type* type = typing_.of(*binding.var);
          note(type);
          if (const auto* match = binding.value->as<Match>())
            for (const Arm& arm : match->arms)
              forEachPatternVar(*arm.pattern, [&](const Var& var) { note(typing_.of(var)); });
          const auto* literal = binding.value->as<Function>();
          Family* family = literal ? of(type) : nullptr;
          if (!family)
            return;
          for (const Var* var : free_.of[literal->number])
            note(typing_.of(*var));
          Closure& closure = closures_[binding.var];
          closure.binding = &binding;
          std::ranges::copy_if(free_.of[literal->number], std::back_inserter(closure.captured),
                               [&](const Var* var) { return var != binding.var; });
          family->closures.push_back(&closure);
        },
        [](const Operand&) {});
    for (const auto& family : all_)
      writeData(*family);
  }

  void note(const Type* type) {
    if (!noted_.insert(type).second)
      return;
    forEachFunctionType(type, [&](const Type* function) {
      if (families_.contains(function) || kept_.contains(function) || !isClosed(function) ||
          !function->generics.empty())
        return;
      std::string name = unique("Fn");
      auto* definition = module_.arena.make<TypeDefinition>();
      definition->name = module_.arena.copyText(name);
      auto* apply = module_.arena.make<Global>(Expr{ExprKind::Global, {}},
                                               module_.arena.copyText(unique("apply_")), 0u);
      all_.push_back(std::make_unique<Family>(Family{function, name, definition, apply}));
      families_[function] = all_.back().get();
    });
  }

  std::string unique(const std::string& stem) {
    std::string name;
    do
      name = fmt::format("{}{}", stem, ++counts_[stem]);
    while (!names_.insert(name).second);
    return name;
  }

  void writeData(Family& family) {
    std::vector<const Constructor*> constructors;
    for (Closure* closure : family.closures) {
      std::vector<const Type*> fields;
      for (const Var* var : closure->captured)
        fields.push_back(replaced(typing_.of(*var)));
      constructors.push_back(module_.arena.make<Constructor>(
          Expr{ExprKind::Constructor, {}}, module_.arena.copyText(unique(family.name + "_")),
          Types(module_.arena.copy(fields)), family.definition, uint32_t(constructors.size())));
      closure->constructor = constructors.back();
    }
    // Of a type whose functions nobody makes, nobody calls one either.
    if (constructors.empty())
      constructors.push_back(module_.arena.make<Constructor>(
          Expr{ExprKind::Constructor, {}}, module_.arena.copyText(unique(family.name + "_")),
          Types(), family.definition, 0u));
    family.definition->constructors = module_.arena.copy(constructors);
    module_.typeDefinitions.push_back(family.definition);
  }

  Module& module_;
  const Typing& typing_;
  FreeVariables free_;
  std::unordered_set<const Type*> kept_;
  /// By `keep` and by `note`; types are shared, and large ones are walked once.
  std::unordered_set<const Type*> lookedAt_, noted_;
  std::unordered_map<const Type*, Family*> families_;
  std::vector<std::unique_ptr<Family>> all_;
  std::unordered_map<const Var*, Closure> closures_;
  std::unordered_map<const Type*, const Type*> replaced_;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, size_t> counts_;
};

class Defunctionaliser : public Rewriter {
public:
  Defunctionaliser(const Module& from, Builder& into, const Typing& typing, Families& families)
      : Rewriter(from, into), typing_(typing), families_(families), varCount_(from.varCount),
        firstVar_(from.varCount) {
    for (const auto& family : families.all())
      applied_[family->apply] = nullptr;
  }

  /// Writes the functions that apply data, behind all others. One of a type whose functions nobody
  /// makes is written when something calls it, which may be another one.
  void addApplications() {
    std::unordered_set<const Family*> written;
    for (size_t before = SIZE_MAX; before != written.size();) {
      before = written.size();
      for (const auto& family : families_.all())
        if ((applied_[family->apply] || !family->closures.empty()) &&
            written.insert(family.get()).second)
          make.define(globalOf(*family->apply), function(*application(*family)));
    }
  }

private:
  std::span<const Binding> bindingsOf(const Block& block) override {
    std::vector<Binding> list;
    for (const Binding& binding : block.bindings)
      list.push_back({binding.var, changed(binding), binding.place});
    return arena_.copy(list);
  }

  const Expr* changed(const Binding& binding) {
    const Closure* closure = families_.closure(binding);
    if (closure && binding.value->kind == ExprKind::Function) {
      std::vector<Operand> fields;
      for (const Var* var : closure->captured)
        fields.push_back({var, binding.value->range});
      return arena_.make<Call>(Expr{ExprKind::Call, binding.value->range},
                               Operand{closure->constructor, binding.value->range},
                               std::span<const Operand>(arena_.copy(fields)));
    }
    const auto* call = binding.value->as<Call>();
    const auto* callee = call ? call->callee.value->as<Var>() : nullptr;
    Family* family = callee ? families_.of(typing_.of(*callee)) : nullptr;
    if (!family)
      return binding.value;
    std::vector<Operand> arguments{call->callee};
    arguments.insert(arguments.end(), call->arguments.begin(), call->arguments.end());
    Call* made = arena_.make<Call>(*call);
    made->callee.value = family->apply;
    made->arguments = arena_.copy(arguments);
    return made;
  }

  Var* parameter(const Type* type, std::string_view name, VarOrigin origin) {
    return arena_.make<Var>(Expr{ExprKind::Var, {}}, name.empty() ? "x" : name, origin, varCount_++,
                            type);
  }

  /// `fn (%f, arguments) { match (%f) { ... } }` in the words of the old module.
  const Function* application(const Family& family) {
    std::vector<const Var*> parameters{parameter(family.type, "f", VarOrigin::Parameter)};
    for (const Type* type : family.type->parts)
      parameters.push_back(parameter(type, "x", VarOrigin::Parameter));
    std::vector<Arm> arms;
    for (const Closure* closure : family.closures)
      arms.push_back({arena_.make<Pattern>(), armOf(*closure, parameters), {}});
    for (size_t i = 0; i < arms.size(); ++i)
      arms[i].pattern = patterns_[arms[i].body];
    if (arms.empty())
      arms.push_back(endless(family, parameters));
    const Var* value = parameter(nullptr, "v", VarOrigin::Temporary);
    const Match* match = arena_.make<Match>(Expr{ExprKind::Match, {}}, Operand{parameters[0], {}},
                                            false, std::span<const Arm>(arena_.copy(arms)));
    Function* made = arena_.make<Function>(Function{{ExprKind::Function, {}}});
    made->parameters = arena_.copy(parameters);
    made->resultAnnotation = family.type->result;
    std::vector<Binding> bindings{{value, match}};
    made->body =
        arena_.make<Block>(std::span<const Binding>(arena_.copy(bindings)), Operand{value, {}});
    return made;
  }

  /// The body of a literal, behind what its names are here.
  const Block* armOf(const Closure& closure, std::span<const Var* const> parameters) {
    const Function& literal = closure.literal();
    std::vector<Binding> list;
    std::vector<const Pattern*> parts;
    for (const Var* var : closure.captured) {
      const Var* field = parameter(nullptr, var->name, VarOrigin::Pattern);
      parts.push_back(arena_.make<Pattern>(Pattern{PatternKind::Var, {}, field}));
      list.push_back({var, field});
    }
    list.push_back({closure.binding->var, parameters[0]});
    for (size_t i = 0; i < literal.parameters.size(); ++i)
      list.push_back({literal.parameters[i], parameters[i + 1]});
    list.insert(list.end(), literal.body->bindings.begin(), literal.body->bindings.end());
    const Block* body =
        arena_.make<Block>(std::span<const Binding>(arena_.copy(list)), literal.body->result);
    patterns_[body] =
        arena_.make<Pattern>(Pattern{PatternKind::Constructor,
                                     {},
                                     nullptr,
                                     closure.constructor,
                                     std::span<const Pattern* const>(arena_.copy(parts))});
    return body;
  }

  /// An arm that nothing comes to: it calls the function itself.
  Arm endless(const Family& family, std::span<const Var* const> parameters) {
    std::vector<Operand> arguments;
    for (const Var* var : parameters)
      arguments.push_back({var, {}});
    const Call* again = arena_.make<Call>(Expr{ExprKind::Call, {}}, Operand{family.apply, {}},
                                          std::span<const Operand>(arena_.copy(arguments)));
    std::vector<Binding> bindings{{parameter(nullptr, "", VarOrigin::Temporary), again}};
    const Block* body = arena_.make<Block>(std::span<const Binding>(arena_.copy(bindings)),
                                           Operand{bindings[0].var, {}});
    return {arena_.make<Pattern>(Pattern{PatternKind::Wildcard, {}}), body, {}};
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    const auto* var = old.value->as<Var>();
    bool isName = var && var->number >= firstVar_ && old.var->number < firstVar_;
    return isName ? value : Rewriter::bind(old, value, out);
  }

  Atom atom(const Expr& old) override {
    const auto* global = old.as<Global>();
    return global && applied_.contains(global) ? globalOf(*global) : Rewriter::atom(old);
  }

  Global* globalOf(const Global& name) {
    Global*& global = applied_[&name];
    return global ? global : global = make.declare(name.name);
  }

  const Type* declared(const Var& old) override { return families_.replaced(old.annotation); }
  const Type* declaredResult(const Function& old) override {
    return families_.replaced(old.resultAnnotation);
  }

  Arena arena_;
  const Typing& typing_;
  Families& families_;
  uint32_t varCount_, firstVar_;
  std::unordered_map<const Global*, Global*> applied_;
  std::unordered_map<const Block*, const Pattern*> patterns_;
};

/// Whether functions of one type may be taken for those of another one.
bool meetsAny(const Module& module, const Typing& typing) {
  bool found = false;
  std::unordered_set<const Type*> seen;
  auto look = [&](const Type* type) {
    if (seen.insert(type).second)
      forEachFunctionType(type, [&](const Type* function) { found |= function->hasAny; });
  };
  walk(
      module, [&](const Binding& binding) { look(typing.of(*binding.var)); },
      [&](const Operand& operand) { look(typing.of(*operand.value)); });
  return found;
}

} // namespace

std::unique_ptr<Module> defunctionalise(const Module& module, const PassContext& context) {
  Diagnostics diagnostics;
  auto unchanged = [&] { return place(module, context.operators); };
  auto specialised = specialise(module, context);
  auto whole = withFunctionLiterals(*specialised, context.operators);
  Typing inferred = context.check(*whole, diagnostics);
  if (diagnostics.hasErrors())
    return unchanged();
  auto expanded = copyDeclared(*whole, inferred);
  Typing typing = context.check(*expanded, diagnostics);
  if (diagnostics.hasErrors() || meetsAny(*expanded, typing))
    return unchanged();
  Families families(*expanded, typing, context.entries);
  if (families.all().empty())
    return unchanged();
  Module copy(module.types);
  Builder make(copy, context.operators);
  Defunctionaliser rewriter(*expanded, make, typing, families);
  rewriter.module();
  rewriter.addApplications();
  auto made = place(copy, context.operators);
  context.check(*made, diagnostics);
  return diagnostics.hasErrors() ? unchanged() : std::move(made);
}

} // namespace transform
