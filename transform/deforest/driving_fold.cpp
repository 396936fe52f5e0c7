// Configurations: calls whose arguments are known up to the names of variables. Each has one
// residual function, whose parameters are those variables.
#include "transform/analysis/type_parts.h"
#include "transform/deforest/driving.h"

#include <algorithm>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

/// Functions for one chain, how deep closures hold others, work on a whole module, and how long
/// names are.
constexpr size_t mostResiduals = 24, deepestClosure = 5, mostWork = 100'000, longestName = 60;

/// Whether an atom is a function that is known.
bool isKnownFunction(const Term& term) {
  const auto* constructor = term.atom->as<Constructor>();
  return term.atom->kind == ExprKind::Global || (constructor && !constructor->fields.empty());
}

bool holdsCall(const Term& term) {
  return term.kind == TermKind::Call ||
         (term.kind != TermKind::Suspended &&
          std::ranges::any_of(term.parts, [](const Term* part) { return holdsCall(*part); }));
}

/// Whether a call with this argument can be written better than as a call.
bool tellsMore(const Term& term) {
  if (term.kind == TermKind::Atom)
    return isKnownFunction(term);
  return term.kind != TermKind::Tuple ||
         std::ranges::any_of(term.parts, [](const Term* part) { return tellsMore(*part); });
}

size_t nest(const Term& term) {
  size_t most = 0;
  for (const Term* part : term.parts)
    most = std::max(most, nest(*part));
  return most + (term.kind == TermKind::Call);
}

} // namespace

struct Driving::Configuration {
  std::string key = {};
  std::vector<Atom> arguments = {};
  std::vector<const Var*> parameters = {};
  TypeNames names = {};

  std::vector<const TypeParameter*> generics() const {
    std::vector<const TypeParameter*> list(names.parameters.begin(), names.parameters.end());
    std::ranges::sort(list, {}, &TypeParameter::name);
    return list;
  }
};

/// A term without code that is not looked at: what calls of residual functions are given.
const Term* Driving::settled(const Term* term, bool mayStay, size_t level, BlockBuilder& out) {
  countStep();
  term = opened(term, out);
  switch (term->kind) {
  case TermKind::Atom:
  case TermKind::Closure:
    return term;
  case TermKind::Call:
    if (mayStay && level < deepestNest_ && term->type->kind == TypeKind::Data)
      return settledCall(*term, level + 1, out);
    break;
  case TermKind::Build:
    if (term->atom || !mayStay || level >= deepestNest_ || !holdsCall(*term))
      break;
    [[fallthrough]];
  case TermKind::Tuple: {
    Term whole = *term;
    for (const Term*& part : whole.parts)
      part = settled(part, mayStay, level + 1, out);
    return facts_.keep(std::move(whole));
  }
  case TermKind::Suspended:
    break;
  }
  return atom(made(term, out), term->type);
}

const Term* Driving::settledCall(const Term& call, size_t level, BlockBuilder& out) {
  Term whole = call;
  for (size_t i = 0; i < whole.parts.size(); ++i)
    whole.parts[i] = settled(whole.parts[i], facts_.isTakenApart(*call.callee, i), level, out);
  return facts_.keep(std::move(whole));
}

/// A call in the code that is written: of a residual function, if more than atoms is known.
Atom Driving::madeCall(const Term& call, BlockBuilder& out) {
  Deeper deeper(depth_);
  const Term* whole = settledCall(call, 0, out);
  bool isMore = std::ranges::any_of(whole->parts, [](auto* part) { return tellsMore(*part); });
  if (isMore)
    return out.bind(foldedCall(*whole));
  std::vector<Atom> arguments;
  for (const Term* part : whole->parts)
    arguments.push_back(made(part, out));
  return out.call(call.callee, arguments);
}

/// The term with parameters in the place of its atoms, and what tells it from others.
const Term* Driving::abstracted(const Term* term, Configuration& of, size_t level) {
  countStep();
  if (!term->type || level > deepestClosure + deepestNest_)
    throw GaveUp();
  const void* type = term->type;
  of.names.add(term->type);
  Term whole = *term;
  auto parts = [&] {
    of.key += '(';
    for (const Term*& part : whole.parts)
      part = abstracted(part, of, level + 1);
    of.key += ')';
  };
  switch (term->kind) {
  case TermKind::Atom: {
    if (isKnownFunction(*term)) {
      of.key += fmt::format("f{}:{};", static_cast<const void*>(term->atom), type);
      return term;
    }
    size_t slot = size_t(std::ranges::find(of.arguments, term->atom) - of.arguments.begin());
    of.key += fmt::format("#{}:{};", slot, type);
    if (slot == of.arguments.size()) {
      const auto* named = term->atom->as<Var>();
      bool isNamed = named && !named->name.empty();
      of.arguments.push_back(term->atom);
      of.parameters.push_back(make_.var(VarOrigin::Parameter,
                                        isNamed ? named->name : std::string_view("v"), term->type));
    }
    return atom(of.parameters[slot], term->type);
  }
  case TermKind::Build:
    of.key += fmt::format("b{}:{}", static_cast<const void*>(term->constructor), type);
    whole.atom = nullptr;
    parts();
    break;
  case TermKind::Tuple:
    of.key += 't';
    parts();
    break;
  case TermKind::Call:
    of.key += fmt::format("c{}:{}[{}]", term->callee->number, type, term->place.types->key());
    parts();
    break;
  case TermKind::Closure: {
    of.key += fmt::format("l{}[{}](", term->literal().number, term->place.types->key());
    whole.place.scope = nullptr;
    for (const Var* var : facts_.captured(term->literal())) {
      const Term* value = abstracted(lookUp(*var, term->place), of, level + 1);
      whole.place.scope = &scopes_.emplace_back(Scope{whole.place.scope, var, value});
    }
    of.key += ')';
    break;
  }
  case TermKind::Suspended:
    throw GaveUp();
  }
  return facts_.keep(std::move(whole));
}

std::string Driving::name(const Term& call) {
  std::string text;
  std::vector<const Term*> stack{&call};
  while (!stack.empty() && text.size() < longestName) {
    const Term* top = stack.back();
    stack.pop_back();
    if (top->kind == TermKind::Call)
      text += (text.empty() ? "" : "_") + std::string(top->callee->name);
    if (top->kind != TermKind::Closure)
      stack.insert(stack.end(), top->parts.rbegin(), top->parts.rend());
  }
  std::string unique = text;
  for (size_t& count = nameCounts_[text]; !names_.insert(unique).second;)
    unique = fmt::format("{}_{}", text, ++count);
  return unique;
}

/// A call of the residual function of a configuration, which is asked for if there is none yet.
const Call* Driving::foldedCall(const Term& whole) {
  Configuration of;
  const Term* call = abstracted(&whole, of, 0);
  auto [found, isNew] = byKey_.try_emplace(of.key, residuals_.size());
  if (isNew) {
    if (residuals_.size() - firstResidual_ >= mostResiduals)
      throw GaveUp();
    auto* global = make_.arena.make<Global>(Expr{ExprKind::Global, make_.range},
                                            make_.arena.copyText(name(whole)), uint32_t(0));
    residuals_.push_back({global, call, std::move(of.parameters), of.generics()});
  }
  return make_.call(residuals_[found->second].name, of.arguments);
}

void Driving::write(size_t number) {
  const Residual residual = residuals_[number];
  BlockBuilder body(make_);
  Atom result = unfold(*residual.call, body,
                       [&](const Term* value, BlockBuilder& end) { return made(value, end); });
  const Function* function = make_.function(residual.parameters, body.finish(result),
                                            residual.call->type, residual.generics);
  // No call could tell a type that only the code inside mentions.
  if (!declaredNames(*function, [](const Type* type) { return type; })->parameters.empty())
    throw GaveUp();
  residuals_[number].function = function;
}

/// Whether all code that a term may run is quiet, and nothing that it is given hides other code.
bool Driving::isQuiet(const Term& term, size_t level) {
  auto isInside = [&](const Term* part) { return isQuiet(*part, level + 1); };
  countStep();
  if (level > deepestClosure + deepestNest_)
    return false;
  if (term.kind == TermKind::Closure)
    return term.literal().generics.empty() && facts_.quiet.isQuiet(term.literal()) &&
           std::ranges::all_of(facts_.captured(term.literal()),
                               [&](const Var* var) { return isInside(lookUp(*var, term.place)); });
  if (term.kind == TermKind::Call)
    return facts_.quiet.isQuiet(*term.callee) && std::ranges::all_of(term.parts, isInside);
  if (const auto* global = term.atom->as<Global>())
    return facts_.quiet.isQuiet(*global);
  return term.atom->kind != ExprKind::Operator &&
         (isKnownFunction(term) || facts_.quiet.isPlain(term.type));
}

const Call* Driving::fused(const Term& call) {
  deepestNest_ = nest(call);
  if (work_ > mostWork)
    return nullptr;
  steps_ = saved_ = 0;
  firstResidual_ = residuals_.size();
  const Call* made = nullptr;
  try {
    if (!isQuiet(call, 0))
      throw GaveUp();
    made = foldedCall(call);
    for (size_t i = firstResidual_; i < residuals_.size(); ++i)
      write(i);
    if (firstResidual_ < residuals_.size() && saved_ == 0)
      throw GaveUp();
  } catch (const GaveUp&) {
    for (size_t i = firstResidual_; i < residuals_.size(); ++i)
      names_.erase(std::string(residuals_[i].name->name));
    std::erase_if(byKey_, [&](const auto& entry) { return entry.second >= firstResidual_; });
    residuals_.resize(firstResidual_);
    made = nullptr;
  }
  work_ += steps_;
  return made;
}

} // namespace transform
