// Parameters that always get the same, and parts of results that are always the same: the first one
// is used in the place of the others, which passes can then leave out.
//
//   def @f(%x, %a, %b) -> (float32, float32) {      def @f(%x, %a, %b) -> (float32, float32) {
//     let %r = @f(%x, %a, %b);                        let %r = @f(%x, %a, %b);
//     (%r.0 * %a, %r.1 * %b)                  =>      (%r.0 * %a, %r.0 * %a)
//   }                                               }
//   @f(1f, 2f, 2f)                                  @f(1f, 2f, 2f)
//
// Of a function that calls itself this can only be seen by taking it for granted, so the pass
// begins with all that have one type, writes the program as if they were equal, shares what is
// computed twice, and looks whether they are. What is not goes into classes of its own, until all
// that is taken for granted follows from itself; then it is true of each call, for it is of all
// calls that end before.
//
// Derivatives of derivatives are full of such parts: a function over a number and its tangent gives
// one tangent for each order, which the order before has too.
#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "transform/analysis/known_functions.h"
#include "transform/analysis/old_code.h"
#include "transform/analysis/placement.h"
#include "transform/analysis/same_bits.h"
#include "transform/differentiate/pending_derivatives.h"
#include "transform/passes.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <unordered_set>

namespace transform {

using namespace lang;

namespace {

/// Results with more parts are left alone, and so is what is not settled after so many rounds.
constexpr size_t mostParts = 1024, mostRounds = 32;

/// Fields one in the other.
using Path = std::vector<uint32_t>;

/// A part of what an atom is.
using Part = std::pair<const Expr*, Path>;

/// The parameters and the parts of the result of one function, with the one that stands for each.
struct Classes {
  std::vector<size_t> parameters = {};
  /// In order.
  std::vector<Path> paths = {};
  std::vector<size_t> parts = {};

  /// The part that stands for the one at a path; the path itself where it leads to no part.
  const Path& representative(const Path& path) const {
    auto found = std::ranges::lower_bound(paths, path);
    bool isPart = found != paths.end() && *found == path;
    return isPart ? paths[parts[size_t(found - paths.begin())]] : path;
  }
};

/// By name, since each round has a module of its own.
using AllClasses = std::map<std::string, Classes, std::less<>>;

bool isTrivial(const std::vector<size_t>& classes) {
  for (size_t i = 0; i < classes.size(); ++i)
    if (classes[i] != i)
      return false;
  return true;
}

/// Splits classes by what is known of their members.
template <typename Known>
bool split(std::vector<size_t>& classes, const std::vector<Known>& known) {
  std::map<std::pair<size_t, Known>, size_t> firsts;
  bool isSplit = false;
  for (size_t i = 0; i < classes.size(); ++i) {
    size_t first = firsts.try_emplace({classes[i], known[i]}, i).first->second;
    isSplit |= first != classes[i];
    classes[i] = first;
  }
  return isSplit;
}

void addPaths(const Type* root, std::vector<Path>& paths, std::vector<const Type*>& types) {
  std::vector<std::pair<const Type*, Path>> open{{root, {}}};
  while (!open.empty() && paths.size() <= mostParts) {
    auto [type, path] = std::move(open.back());
    open.pop_back();
    if (!type->isTuple()) {
      paths.push_back(std::move(path));
      types.push_back(type);
      continue;
    }
    for (size_t i = type->parts.size(); i-- > 0;) {
      open.emplace_back(type->parts[i], path);
      open.back().second.push_back(uint32_t(i));
    }
  }
}

/// All of one type in one class.
std::vector<size_t> byType(const std::vector<const Type*>& types) {
  std::vector<size_t> classes(types.size());
  std::vector<const void*> known(types.begin(), types.end());
  split(classes, known);
  return classes;
}

const Global* calledGlobal(const Expr& value) {
  const auto* call = value.as<Call>();
  return call && call->named.empty() ? call->callee.value->as<Global>() : nullptr;
}

/// Functions that call themselves and are only called.
AllClasses candidates(const Module& module, const PassContext& context) {
  auto called = onlyCalled(module, entriesOf(module, context.entries));
  AllClasses found;
  for (const Global* global : module.globals) {
    if (!called.contains(global) || !callsItself(*global))
      continue;
    Classes classes;
    std::vector<const Type*> parameters, parts;
    for (const Var* parameter : global->function->parameters)
      parameters.push_back(context.typing.of(*parameter));
    addPaths(context.typing.result(*global->function), classes.paths, parts);
    classes.parameters = byType(parameters);
    classes.parts = byType(parts);
    bool isSmall = parts.size() <= mostParts && parameters.size() <= mostParts;
    if (isSmall && !(isTrivial(classes.parameters) && isTrivial(classes.parts)))
      found.emplace(global->name, std::move(classes));
  }
  return found;
}

/// Null where nothing is taken for granted of a function.
const Classes* classesOf(const Global& global, const AllClasses& all) {
  auto found = all.find(global.name);
  return found == all.end() ? nullptr : &found->second;
}

/// Numbers the parts of atoms of a module: two that have one number are equal, if all is that is
/// taken for granted.
class PartNumbers {
public:
  PartNumbers(const Module& module, const AllClasses& all) : all_(all) {
    walk(
        module, [&](const Binding& binding) { values_[binding.var] = binding.value; },
        [](const Operand&) {});
  }

  size_t of(const Expr& atom, const Path& path) {
    const Part wanted{&atom, path};
    std::vector<Part> open{wanted};
    while (!open.empty()) {
      const Part part = open.back();
      const size_t before = open.size();
      const std::vector<Part> sources = sourcesOf(part);
      if (!numbers_.contains(part))
        std::ranges::copy_if(sources, std::back_inserter(open),
                             [&](const Part& source) { return !numbers_.contains(source); });
      if (open.size() > before)
        continue;
      open.pop_back();
      numbers_.try_emplace(part, numberFrom(part, sources));
    }
    return numbers_.at(wanted);
  }

private:
  /// What a part and the numbers of its sources tell of it.
  using Facts = std::pair<Part, std::vector<size_t>>;

  const Expr* valueOf(const Expr& atom) const {
    auto found = values_.find(atom.as<Var>());
    return found == values_.end() ? nullptr : found->second;
  }

  static bool isBranch(const Expr* value) {
    return value && (value->kind == ExprKind::If || value->kind == ExprKind::Match ||
                     value->kind == ExprKind::Block);
  }

  /// The parts that a part comes from: those at the ends of a branch, or the one that it is.
  std::vector<Part> sourcesOf(const Part& part) const {
    const auto& [atom, path] = part;
    const Expr* value = valueOf(*atom);
    std::vector<Part> sources;
    if (isBranch(value))
      forEachBlock(*value,
                   [&](const Block& block) { sources.emplace_back(block.result.value, path); });
    else if (value && value->isAtom())
      sources.emplace_back(value, path);
    else if (const auto* tuple = value ? value->as<TupleExpr>() : nullptr; tuple && !path.empty())
      sources.emplace_back(tuple->fields[path[0]].value, Path(path.begin() + 1, path.end()));
    else if (const auto* project = value ? value->as<Project>() : nullptr) {
      sources.emplace_back(project->tuple.value, path);
      sources[0].second.insert(sources[0].second.begin(), project->index);
    }
    return sources;
  }

  size_t numberFrom(const Part& part, const std::vector<Part>& sources) {
    const auto& [atom, path] = part;
    const Expr* value = valueOf(*atom);
    if (!isBranch(value) && !sources.empty())
      return numbers_.at(sources[0]);
    // Parts of one branch that are equal at all ends are equal.
    Facts facts{{atom, isBranch(value) ? Path() : path}, {}};
    for (const Part& source : sources)
      facts.second.push_back(numbers_.at(source));
    if (const auto* constant = atom->as<Constant>())
      facts.first.first = *constants_.insert(constant).first;
    const Global* callee = value ? calledGlobal(*value) : nullptr;
    if (const Classes* classes = callee ? classesOf(*callee, all_) : nullptr)
      facts.first.second = classes->representative(path);
    return byFacts_.try_emplace(std::move(facts), byFacts_.size()).first->second;
  }

  const AllClasses& all_;
  std::unordered_map<const Expr*, const Expr*> values_;
  std::unordered_set<const Constant*, SameBits, SameBits> constants_;
  std::map<Part, size_t> numbers_;
  std::map<Facts, size_t> byFacts_;
};

/// Whether some classes had to be split by what a module says, in which they were taken for equal.
bool splitAll(const Module& module, AllClasses& all) {
  PartNumbers numbers(module, all);
  std::map<std::string_view, std::vector<std::vector<size_t>>> arguments;
  walk(
      module,
      [&](const Binding& binding) {
        const Global* callee = calledGlobal(*binding.value);
        const Classes* classes = callee ? classesOf(*callee, all) : nullptr;
        if (!classes)
          return;
        auto& known = arguments[callee->name];
        known.resize(classes->parameters.size());
        for (size_t i = 0; i < known.size(); ++i)
          known[i].push_back(numbers.of(*binding.value->as<Call>()->arguments[i].value, {}));
      },
      [](const Operand&) {});
  bool isSplit = false;
  AllClasses next = all;
  for (auto& [name, classes] : next) {
    const Function& function = *module.find(name)->function;
    std::vector<size_t> results;
    for (const Path& path : classes.paths)
      results.push_back(numbers.of(*function.body->result.value, path));
    isSplit |= split(classes.parts, results);
    if (auto known = arguments.find(name); known != arguments.end())
      isSplit |= split(classes.parameters, known->second);
  }
  all = std::move(next);
  return isSplit;
}

/// Writes the first of each class in the place of the others.
class Merger : public Rewriter {
public:
  Merger(const Module& from, Builder& into, const AllClasses& all)
      : Rewriter(from, into), all_(all), old_(from) {
    for (const Global* global : from.globals)
      if (const Classes* classes = global->function ? classesOf(*global, all_) : nullptr)
        for (size_t i = 0; i < classes->parameters.size(); ++i)
          first_[global->function->parameters[i]] =
              global->function->parameters[classes->parameters[i]];
  }

private:
  /// A part of what a call gave.
  struct CallPart {
    const Var* call;
    const Classes* classes;
    Path path;
  };

  Atom atom(const Expr& old) override {
    auto found = first_.find(&old);
    return Rewriter::atom(found == first_.end() ? old : *found->second);
  }

  std::span<const Binding> bindingsOf(const Block& block) override {
    return old_.bindings(block, [this](const Binding& binding, std::vector<Binding>& before) {
      return replaced(binding, before);
    });
  }

  const Expr* replaced(const Binding& binding, std::vector<Binding>& out) {
    if (const Global* callee = calledGlobal(*binding.value))
      if (const Classes* classes = classesOf(*callee, all_))
        partOf_[binding.var] = {binding.var, classes, {}};
    const auto* project = binding.value->as<Project>();
    auto found = project ? partOf_.find(project->tuple.value) : partOf_.end();
    if (found == partOf_.end())
      return binding.value;
    CallPart part = found->second;
    part.path.push_back(project->index);
    partOf_[binding.var] = part;
    const Path& path = part.classes->representative(part.path);
    return path == part.path ? binding.value : partAt(*part.call, path, binding.place, out);
  }

  /// The part at a path of a variable.
  const Expr* partAt(const Var& whole, const Path& path, SourceRange range,
                     std::vector<Binding>& out) {
    const Var* at = &whole;
    const Expr* value = at;
    for (size_t i = 0; i < path.size(); ++i) {
      if (i > 0) {
        at = old_.variable({}, VarOrigin::Temporary, range);
        out.push_back({at, value, range});
      }
      value = old_.arena.make<Project>(Expr{ExprKind::Project, range}, Operand{at, range}, path[i]);
    }
    return value;
  }

  const AllClasses& all_;
  OldCode old_;
  std::unordered_map<const Expr*, const Var*> first_;
  std::unordered_map<const Expr*, CallPart> partOf_;
};

std::unique_ptr<Module> merged(const Module& module, const PassContext& context,
                               const AllClasses& all) {
  auto made = rewritten<Merger>(module, context.operators, all);
  return place(*made, context.operators);
}

/// A module in which what is computed twice is computed once.
std::unique_ptr<Module> sharedIn(const Module& module, const PassContext& context) {
  Diagnostics diagnostics;
  Typing typing = context.check(module, diagnostics);
  if (diagnostics.hasErrors())
    throw std::logic_error("equal values are ill-typed: " +
                           diagnostics.all().front().text.plain());
  return findPass("common-subexpressions")
      ->run(module, {context.operators, typing, context.check, context.findings});
}

} // namespace

std::unique_ptr<Module> equalValues(const Module& module, const PassContext& context) {
  AllClasses all = candidates(module, context);
  for (size_t round = 0; round < mostRounds; ++round) {
    std::erase_if(all, [](const auto& each) {
      return isTrivial(each.second.parameters) && isTrivial(each.second.parts);
    });
    if (all.empty())
      return nullptr;
    auto made = merged(module, context, all);
    if (!splitAll(*sharedIn(*made, context), all))
      return made;
  }
  return nullptr;
}

} // namespace transform
