// Matches: cases that are disjoint and cover everything, made by splitting the case that matches
// all; the last ones may be joined again into a wildcard.
#include "tests/harness/generator.h"

#include <algorithm>

namespace harness {

using namespace lang;

namespace {

/// A wildcard inside a pattern, and the type that it stands for.
struct Place {
  MatchPattern* pattern;
  const Type* type;
};

} // namespace

NodeId Generator::matchExpr(const Type* goal, int depth, bool pinned) {
  auto found = visible([](const Variable& variable) {
    return variable.type && (variable.type->kind == TypeKind::Data || variable.type->isTuple());
  });
  // What is being taken apart already, now and then: its arms share what they borrow.
  auto again = visible(
      [&](const Variable& variable) { return std::ranges::count(matched_, variable.name) > 0; });
  NodeId scrutinee = 0;
  if (!again.empty() && random_.chance(30)) {
    scrutinee = use(*random_.pick(again));
  } else if (!found.empty() && random_.chance(60)) {
    scrutinee = use(*random_.pick(found));
  } else {
    const Type* type = random_.chance(75)
                           ? randomData(2)
                           : types_.tuple(std::vector<const Type*>{randomType(1), randomData(1)});
    scrutinee = expr(type, depth - 1, false);
  }
  const Type* type = program_.node(scrutinee).type;
  Node node{NodeKind::Match, goal, {}, {scrutinee}};
  matched_.push_back(program_.node(scrutinee).text);
  for (MatchPattern& pattern : coveringPatterns(type)) {
    size_t mark = locals_.size();
    bindPattern(pattern, type);
    node.parts.push_back(block(goal, depth - 1, pinned));
    node.patterns.push_back(std::move(pattern));
    locals_.resize(mark);
  }
  matched_.pop_back();
  return program_.add(std::move(node));
}

/// The patterns one level deep that cover a type, each part a wildcard.
std::vector<MatchPattern> Generator::splitCases(const Type* type) {
  std::vector<MatchPattern> cases;
  if (type->isTuple()) {
    cases.push_back(
        {.kind = PatternKind::Tuple, .parts = std::vector<MatchPattern>(type->parts.size())});
    return cases;
  }
  for (const Constructor* constructor : type->definition->constructors)
    cases.push_back({.kind = PatternKind::Constructor,
                     .constructor = std::string(constructor->name),
                     .parts = std::vector<MatchPattern>(constructor->fields.size())});
  return cases;
}

std::vector<MatchPattern> Generator::coveringPatterns(const Type* type) {
  std::vector<MatchPattern> cases(1);
  for (int64_t rounds = random_.integer(1, 3); rounds > 0 && cases.size() < 6; --rounds) {
    size_t chosen = random_.index(cases.size());
    MatchPattern copy = cases[chosen];
    std::vector<Place> open, stack{{&copy, type}};
    while (!stack.empty()) {
      auto [pattern, its] = stack.back();
      stack.pop_back();
      if (pattern->kind == PatternKind::Wildcard && (its->isTuple() || its->kind == TypeKind::Data))
        open.push_back({pattern, its});
      for (size_t i = 0; i < pattern->parts.size(); ++i) {
        const Type* part = its->isTuple() ? its->parts[i] : nullptr;
        for (const Constructor* constructor :
             part ? std::span<const Constructor* const>{} : its->definition->constructors)
          if (constructor->name == pattern->constructor)
            part = fieldType(types_, *constructor, i, its);
        stack.push_back({&pattern->parts[i], part});
      }
    }
    if (open.empty())
      continue;
    Place place = random_.pick(open);
    std::vector<MatchPattern> refined;
    for (MatchPattern& piece : splitCases(place.type)) {
      *place.pattern = std::move(piece);
      refined.push_back(copy);
    }
    cases.erase(cases.begin() + ptrdiff_t(chosen));
    cases.insert(cases.begin() + ptrdiff_t(chosen), refined.begin(), refined.end());
  }
  if (cases.size() > 1 && random_.chance(30)) {
    cases.resize(random_.index(cases.size()));
    cases.emplace_back();
  }
  return cases;
}

/// Turns wildcards into variables here and there, and puts them into scope.
void Generator::bindPattern(MatchPattern& pattern, const Type* type) {
  if (pattern.kind == PatternKind::Wildcard && random_.chance(65)) {
    pattern.kind = PatternKind::Var;
    pattern.binder = {freshName("m"), type, random_.chance(20)};
    locals_.push_back({NodeKind::Local, pattern.binder.name, type});
  }
  for (size_t i = 0; i < pattern.parts.size(); ++i) {
    const Type* part = type->isTuple() ? type->parts[i] : nullptr;
    for (const Constructor* constructor :
         part ? std::span<const Constructor* const>{} : type->definition->constructors)
      if (constructor->name == pattern.constructor)
        part = fieldType(types_, *constructor, i, type);
    bindPattern(pattern.parts[i], part);
  }
}

} // namespace harness
