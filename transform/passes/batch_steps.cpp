// Products of several elements of a list made at once, where a function goes over it step by step,
// so that weights are read once for all of these:
//
//   def @run(%xs: List[Tensor[(1, 256), float32]], %h, %w, %v) {
//     match (%xs) {
//       Nil => %h,
//       Cons(%x, %rest) => @run(%rest, tanh(nn.dense(%x, %w) + nn.dense(%h, %v)), %w, %v)
//     }
//   }
//
// gets an arm for lists of eight and more, with eight steps:
//
//       Cons(%x0, Cons(%x1, ... Cons(%x7, %rest))) => {
//         %y = split(nn.dense(concatenate((%x0, ..., %x7)), %w), indices_or_sections=8);
//         @run(%rest, tanh(%y.7 + nn.dense(... tanh(%y.0 + nn.dense(%h, %v)) ..., %v)), %w, %v)
//       }
//
// A product in a function that a step calls goes to the step first, as a parameter of a copy. All
// of it is quiet, so nobody sees what comes sooner than it did.
#include "lang/calls/call_function.h"
#include "lang/ir/copy.h"
#include "lang/ir/walk.h"
#include "transform/analysis/global_names.h"
#include "transform/analysis/known_functions.h"
#include "transform/analysis/list_steps.h"
#include "transform/analysis/placement.h"
#include "transform/analysis/quiet_code.h"
#include "transform/passes.h"

#include <algorithm>
#include <ranges>
#include <stdexcept>

namespace transform {

using namespace lang;

namespace {

/// So many rows are made at once.
constexpr int64_t rowsAtOnce = 8;
/// A step of more bindings is not written several times.
constexpr size_t mostBindings = 300;

using Substitutions = std::vector<Substitution>;

Atom substituted(const Substitutions& list, Atom atom) {
  auto found = std::ranges::find(list, atom, &Substitution::var);
  return found == list.end() ? atom : found->atom;
}

/// Appends copies of bindings to `out`, and to `names` what their variables became.
void appendCopies(Builder& make, std::span<const Binding> bindings, Substitutions& names,
                  std::vector<Binding>& out) {
  if (bindings.empty())
    return;
  const Block* copy = copyBlock(make, *make.block(bindings, bindings.back().var), names);
  for (size_t i = 0; i < bindings.size(); ++i)
    names.push_back({bindings[i].var, copy->bindings[i].var});
  out.insert(out.end(), copy->bindings.begin(), copy->bindings.end());
}

/// The function with another body in one arm of its match, or with one more arm before that.
void redefine(Builder& make, const ListSteps& steps, ListOf<Arm> stepArms) {
  std::vector<Arm> arms(steps.match->arms.begin(), steps.match->arms.end());
  auto place = arms.erase(arms.begin() + ptrdiff_t(steps.arm));
  arms.insert(place, stepArms.begin(), stepArms.end());
  const Function& old = steps.function();
  const Binding& only = old.body->bindings[0];
  Binding made{only.var, make.match(steps.match->scrutinee.value, arms), only.place};
  steps.global->function =
      make.function(old.parameters, make.block({made}, only.var), old.resultAnnotation);
}

/// Those of the bindings that `products` are made of, and they themselves.
std::vector<Binding> madeInto(std::span<const RowProduct> products,
                              std::span<const Binding> bindings) {
  std::unordered_set<const Expr*> needed;
  for (const RowProduct& product : products)
    needed.insert(bindings[product.binding].var);
  std::vector<Binding> found;
  for (size_t i = bindings.size(); i-- > 0;)
    if (needed.contains(bindings[i].var)) {
      found.insert(found.begin(), bindings[i]);
      if (bindings[i].value->isAtom())
        needed.insert(bindings[i].value);
      forEachOperand(*bindings[i].value,
                     [&](const Operand& operand) { needed.insert(operand.value); });
    }
  return found;
}

/// A function of these variables, whose body the bindings are.
const Global* outlined(Builder& make, const Typing& typing, std::string_view name,
                       std::span<const Var* const> given, std::span<const Binding> bindings,
                       Atom result, const Type* type = nullptr) {
  Substitutions names;
  std::vector<const Var*> parameters;
  for (const Var* var : given) {
    parameters.push_back(make.var(VarOrigin::Parameter, var->name, typing.of(*var)));
    names.push_back({var, parameters.back()});
  }
  const Block* body = copyBlock(make, *make.block(bindings, result), names);
  return make.define(name, make.function(parameters, body, type));
}

/// The products in the body of a function that a step calls.
struct CalleeProducts {
  const Global* callee = nullptr;
  std::vector<RowProduct> products = {};
};
CalleeProducts productsBehind(const Binding& binding, const ListSteps& steps,
                              const StepValues& values, const Typing& typing) {
  const auto* call = binding.value->as<Call>();
  const auto* callee = call ? call->callee.value->as<Global>() : nullptr;
  if (!callee || callee == steps.global || !callee->function ||
      callee->function->parameters.size() != call->arguments.size() ||
      !typing.generics(*callee->function).empty())
    return {};
  StepValues inside;
  for (size_t i = 0; i < call->arguments.size(); ++i)
    inside[callee->function->parameters[i]] = stepValueOf(*call->arguments[i].value, values);
  return {callee, rowProducts(callee->function->body->bindings, inside, typing)};
}

/// The functions whose steps make products that could be made at once.
std::vector<const Global*> findWithProducts(const Module& module, const Typing& typing) {
  std::vector<const Global*> found;
  QuietCode quiet(module, typing);
  UseCounts uses = countUses(module);
  for (const Global* global : module.globals) {
    auto steps = listStepsOf(*global, uses);
    if (!steps || bodySize(*global->function) > mostBindings || !quiet.isQuiet(*global))
      continue;
    StepValues values = stepValuesOf(*steps);
    bool hasProducts = !rowProducts(steps->before(), values, typing).empty() ||
                       std::ranges::any_of(steps->before(), [&](const Binding& binding) {
                         return !productsBehind(binding, *steps, values, typing).products.empty();
                       });
    if (hasProducts)
      found.push_back(global);
  }
  return found;
}

/// Moves the products of functions that a step calls to the step.
class ProductLift {
public:
  ProductLift(Builder& make, const Typing& typing, GlobalNames& names)
      : make_(make), typing_(typing), names_(names) {}

  void lift(const ListSteps& steps) {
    StepValues values = stepValuesOf(steps);
    rowProducts(steps.before(), values, typing_);
    std::vector<Binding> bindings;
    for (const Binding& binding : steps.before()) {
      CalleeProducts behind = productsBehind(binding, steps, values, typing_);
      if (behind.products.empty())
        bindings.push_back(binding);
      else
        liftFrom(*behind.callee, binding, behind.products, bindings);
    }
    const Arm& arm = steps.step();
    auto rest = arm.body->bindings.subspan(steps.call);
    bindings.insert(bindings.end(), rest.begin(), rest.end());
    redefine(make_, steps,
             {{arm.pattern, make_.block(bindings, arm.body->result.value), arm.range}});
  }

private:
  void liftFrom(const Global& callee, const Binding& site, std::span<const RowProduct> products,
                std::vector<Binding>& out) {
    const Call& call = static_cast<const Call&>(*site.value);
    const Function& function = *callee.function;
    std::span<const Binding> body = function.body->bindings;
    Substitutions names;
    for (size_t i = 0; i < call.arguments.size(); ++i)
      names.push_back({function.parameters[i], call.arguments[i].value});
    appendCopies(make_, madeInto(products, body), names, out);
    std::vector<Operand> arguments(call.arguments.begin(), call.arguments.end());
    for (const RowProduct& product : products)
      arguments.push_back({substituted(names, body[product.binding].var), call.range});
    Call* made = make_.arena.make<Call>(call);
    made->callee.value = without(callee, products);
    made->arguments = make_.arena.copy(arguments);
    out.push_back({site.var, made, site.place});
  }

  /// The function that is given its products.
  const Global* without(const Global& global, std::span<const RowProduct> products) {
    const Function& function = *global.function;
    std::vector<const Var*> given(function.parameters.begin(), function.parameters.end());
    std::vector<Binding> rest(function.body->bindings.begin(), function.body->bindings.end());
    for (const RowProduct& product : products) {
      given.push_back(function.body->bindings[product.binding].var);
      std::erase_if(rest, [&](const Binding& binding) { return binding.var == given.back(); });
    }
    return outlined(make_, typing_, names_.fresh(global.name), given, rest,
                    function.body->result.value, typing_.result(function));
  }

  Builder& make_;
  const Typing& typing_;
  GlobalNames& names_;
};

/// Writes the arm of several steps.
class SeveralSteps {
public:
  SeveralSteps(Builder& make, const ListSteps& steps, const Typing& typing,
               const RowsAtOnce& operators, GlobalNames& globals)
      : make_(make), steps_(steps), typing_(typing), operators_(operators), globals_(globals),
        values_(stepValuesOf(steps)), products_(rowProducts(steps.before(), values_, typing)) {}

  /// The arm goes before that of one step, which `one` is.
  void write(const Arm& one) {
    if (products_.empty())
      throw std::logic_error("a product is gone that was moved to a step");
    int64_t most = std::ranges::max_element(products_, {}, &RowProduct::rows)->rows;
    names_.resize(size_t(rowsAtOnce / most));
    make_.range = steps_.step().range;
    const Pattern* pattern = patternOfAll();
    for (Substitutions& names : names_)
      makeAhead(names);
    for (const RowProduct& product : products_)
      makeAtOnce(product);
    Atom result = makeSteps();
    redefine(make_, steps_, {make_.arm(pattern, make_.block(bindings_, result)), one});
  }

private:
  /// Gives the fields of all elements names.
  const Pattern* patternOfAll() {
    const Pattern& step = *steps_.step().pattern;
    auto fresh = [&](const Var& var) {
      return make_.var(VarOrigin::Pattern, var.name, var.annotation);
    };
    const Var& rest = *step.parts[steps_.rest]->var;
    const Var* newRest = fresh(rest);
    names_.back().push_back({&rest, newRest});
    const Pattern* inner = make_.varPattern(newRest);
    for (Substitutions& names : std::views::reverse(names_)) {
      std::vector<const Pattern*> parts;
      for (size_t i = 0; i < step.parts.size(); ++i) {
        const Var* old = step.parts[i]->var;
        const Var* var = i == steps_.rest || !old ? nullptr : fresh(*old);
        if (var)
          names.push_back({old, var});
        parts.push_back(i == steps_.rest ? inner
                        : var            ? make_.varPattern(var)
                                         : make_.anyPattern());
      }
      inner = make_.constructorPattern(*step.constructor, parts);
    }
    return inner;
  }

  bool isProduct(const Binding& binding) const {
    return std::ranges::any_of(products_, [&](const RowProduct& product) {
      return steps_.before()[product.binding].var == binding.var;
    });
  }

  /// What an element alone decides, and in the first step what all share.
  void makeAhead(Substitutions& names) {
    std::vector<Binding> ahead;
    for (const Binding& binding : steps_.before()) {
      StepValue kind = stepValueOf(*binding.var, values_);
      bool isFirst = &names == &names_.front();
      if (kind == StepValue::OfElement || (kind == StepValue::Shared && isFirst))
        ahead.push_back(binding);
      else if (kind == StepValue::Shared)
        names.push_back({binding.var, substituted(names_.front(), binding.var)});
    }
    appendCopies(make_, ahead, names, bindings_);
  }

  void makeAtOnce(const RowProduct& product) {
    const Binding& old = steps_.before()[product.binding];
    const Call& call = static_cast<const Call&>(*old.value);
    BlockBuilder out(make_);
    std::vector<Atom> rows;
    for (const Substitutions& names : names_)
      rows.push_back(substituted(names, call.arguments[product.operand].value));
    std::vector<Operand> arguments;
    for (const Operand& argument : call.arguments)
      arguments.push_back({substituted(names_.front(), argument.value), argument.range});
    arguments[product.operand].value = operators_.join(out, rows);
    Call* made = make_.arena.make<Call>(call);
    made->arguments = make_.arena.copy(arguments);
    std::vector<Atom> parts = operators_.split(out, out.bind(made), rows.size());
    for (size_t i = 0; i < parts.size(); ++i)
      names_[i].push_back({old.var, parts[i]});
    bindings_.insert(bindings_.end(), out.bindings().begin(), out.bindings().end());
  }

  /// What is left of a step, up to its call. What computes is a function of its own, so that its
  /// kernels are made once.
  std::vector<Binding> ownOfStep() {
    std::vector<Binding> own;
    std::vector<const Var*> given;
    auto mayBeGiven = [&](const Var* var) {
      if (var)
        given.push_back(var);
    };
    std::ranges::for_each(steps_.function().parameters, mayBeGiven);
    for (const Pattern* part : steps_.step().pattern->parts)
      mayBeGiven(part->var);
    bool computes = false;
    for (const Binding& binding : steps_.before()) {
      bool isOwn = stepValueOf(*binding.var, values_) == StepValue::Own && !isProduct(binding);
      computes |= isOwn && tensorFunctionRow(*binding.value);
      isOwn ? own.push_back(binding) : mayBeGiven(binding.var);
    }
    return computes ? called(own, given) : own;
  }

  /// A call of a function whose body the bindings are, and the parts of its result.
  std::vector<Binding> called(std::span<const Binding> body, std::span<const Var* const> given) {
    std::unordered_set<const Expr*> inside, behind;
    forEachAtom(*make_.block(body, body.back().var),
                [&](const Expr& atom) { inside.insert(&atom); });
    auto rest = steps_.step().body->bindings.subspan(steps_.call);
    forEachAtom(*make_.block(rest, steps_.step().body->result.value),
                [&](const Expr& atom) { behind.insert(&atom); });
    std::vector<const Var*> used;
    std::vector<Atom> results;
    std::ranges::copy_if(given, std::back_inserter(used),
                         [&](const Var* var) { return inside.contains(var); });
    for (const Binding& binding : body)
      if (behind.contains(binding.var))
        results.push_back(binding.var);
    BlockBuilder of(make_);
    for (const Binding& binding : body)
      of.append(binding);
    const bool isOne = results.size() == 1;
    Atom result = isOne ? results[0] : of.tuple(results);
    const Global* made =
        outlined(make_, typing_, globals_.fresh(std::string(steps_.global->name) + "_step"), used,
                 of.bindings(), result);
    BlockBuilder out(make_);
    Atom whole = isOne ? results[0] : make_.var(VarOrigin::Let);
    out.bind(whole->as<Var>(), make_.call(made, std::vector<Atom>(used.begin(), used.end())));
    for (size_t i = 0; i < results.size() && !isOne; ++i)
      out.bind(results[i]->as<Var>(), make_.project(whole, uint32_t(i)));
    return out.bindings();
  }

  /// One step after the other up to its call, and then what comes behind the calls; the result.
  Atom makeSteps() {
    const Function& function = steps_.function();
    const std::vector<Binding> own = ownOfStep();
    for (size_t step = 0; step < names_.size(); ++step) {
      if (step > 0)
        for (size_t i = 0; i < function.parameters.size(); ++i)
          names_[step].push_back({function.parameters[i],
                                  substituted(names_[step - 1], steps_.next().arguments[i].value)});
      appendCopies(make_, own, names_[step], bindings_);
    }
    const Block& body = *steps_.step().body;
    Atom result = nullptr;
    for (Substitutions& names : std::views::reverse(names_)) {
      if (result)
        names.push_back({body.bindings[steps_.call].var, result});
      appendCopies(make_, body.bindings.subspan(steps_.call + (result ? 1 : 0)), names, bindings_);
      result = substituted(names, body.result.value);
    }
    return result;
  }

  Builder& make_;
  const ListSteps& steps_;
  const Typing& typing_;
  const RowsAtOnce& operators_;
  GlobalNames& globals_;
  StepValues values_;
  std::vector<RowProduct> products_;
  /// By step, what the names of the step that was written became.
  std::vector<Substitutions> names_;
  std::vector<Binding> bindings_;
};

} // namespace

std::unique_ptr<Module> batchSteps(const Module& module, const PassContext& context) {
  if (!context.rowsAtOnce.join || findWithProducts(module, context.typing).empty())
    return nullptr;
  auto made = copyDeclared(module, context.typing);
  auto checked = [&] {
    Diagnostics diagnostics;
    Typing typing = context.check(*made, diagnostics);
    if (diagnostics.hasErrors())
      throw std::logic_error("batch-steps gives an ill-typed module: " +
                             diagnostics.all().front().text.plain());
    return typing;
  };
  Builder make(*made, context.operators);
  GlobalNames names(*made);
  Typing typing = checked();
  auto found = findWithProducts(*made, typing);
  UseCounts uses = countUses(*made);
  std::vector<Arm> oneStep;
  for (const Global* global : found) {
    ListSteps steps = *listStepsOf(*global, uses);
    oneStep.push_back(steps.step());
    ProductLift(make, typing, names).lift(steps);
  }
  typing = checked();
  uses = countUses(*made);
  for (size_t i = 0; i < found.size(); ++i)
    SeveralSteps(make, *listStepsOf(*found[i], uses), typing, context.rowsAtOnce, names)
        .write(oneStep[i]);
  return place(*made, context.operators, {.keepsFaults = true});
}

} // namespace transform
