// Coverage by one walk over the decisions that a compiled match would make: at each step a row that
// asks for little is looked at, and the values are told apart at a place that it constrains. A row
// that is met without constraints is reached; where no row is left, a case is missing. Rows hold
// what they still ask for and nothing else, so places where a row asks for nothing cost nothing,
// and situations that were met before are not walked again. The problem is exponential in the worst
// case; the work is bounded.
#include "typecheck/exhaustive.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace typecheck {

using lang::Constructor;
using lang::Pattern;
using lang::PatternKind;

namespace {

constexpr size_t mostMissing = MatchCoverage::mostMissing;

/// Constraints that may be looked at.
constexpr size_t maximumWork = 10'000'000;

/// A place inside of the matched value: the value itself, or a part of what is at another place.
using Place = uint32_t;

/// That the value at a place must be built by the constructor of the pattern.
struct Constraint {
  Place place;
  const Pattern* pattern;
};

/// An arm, and what it asks for beyond what is known of the value.
struct Row {
  size_t arm;
  std::vector<Constraint> constraints;
};

/// A decision that was made, and those before it. Constructors that no row names at the place are
/// one decision; as many of them are kept as are told.
struct Decision {
  const Decision* before;
  Place place;
  std::vector<const Constructor*> constructors;
};

/// The rows that a value may still fall into, first to last, by what is known of it.
struct Situation {
  std::vector<Row> rows;
  const Decision* known;
};

class CoverageSearch {
public:
  explicit CoverageSearch(const lang::Match& match) : reached_(match.arms.size()) {
    Situation all{{}, nullptr};
    for (size_t i = 0; i < match.arms.size(); ++i) {
      reached_[i] = match.arms[i].pattern->isGuarded;
      if (reached_[i])
        continue;
      Row row{i, {}};
      constrain(row, 0, match.arms[i].pattern);
      add(all.rows, std::move(row));
    }
    open_.push_back(std::move(all));
  }

  MatchCoverage run() {
    MatchCoverage result;
    while (!open_.empty() && work_ <= maximumWork) {
      Situation next = std::move(open_.back());
      open_.pop_back();
      if (next.rows.empty()) {
        addMissing(result, next.known);
      } else if (next.rows[0].constraints.empty()) {
        reached_[next.rows[0].arm] = true;
      } else if (isNew(next)) {
        divide(std::move(next));
      }
    }
    for (size_t arm = 0; arm < reached_.size(); ++arm)
      if (!reached_[arm])
        result.useless.push_back(arm);
    result.tooComplex = work_ > maximumWork;
    return result;
  }

private:
  Place part(Place whole, const Constructor* constructor, size_t index) {
    return parts_.try_emplace({whole, constructor, index}, Place(parts_.size() + 1)).first->second;
  }

  /// Adds what a pattern asks for; a tuple asks for what its parts do.
  void constrain(Row& row, Place place, const Pattern* pattern) {
    std::vector<Constraint> stack{{place, pattern}};
    while (!stack.empty()) {
      Constraint at = stack.back();
      stack.pop_back();
      ++work_;
      if (at.pattern->kind == PatternKind::Constructor)
        row.constraints.push_back(at);
      if (at.pattern->kind != PatternKind::Tuple)
        continue;
      tuples_.try_emplace(at.place, at.pattern->parts.size());
      for (size_t i = at.pattern->parts.size(); i-- > 0;)
        stack.push_back({part(at.place, nullptr, i), at.pattern->parts[i]});
    }
  }

  /// Adds a row unless one before it takes every value.
  void add(std::vector<Row>& rows, Row row) {
    work_ += row.constraints.size() + 1;
    if (rows.empty() || !rows.back().constraints.empty())
      rows.push_back(std::move(row));
  }

  bool isNew(const Situation& situation) {
    std::u32string key;
    auto append = [&](const void* pointer) {
      auto bits = reinterpret_cast<uintptr_t>(pointer);
      key += {char32_t(bits), char32_t(bits >> 32)};
    };
    for (const Row& row : situation.rows) {
      append(nullptr);
      key += char32_t(row.arm);
      for (const Constraint& constraint : row.constraints)
        append(constraint.pattern);
    }
    return met_.insert(std::move(key)).second;
  }

  /// Of the places that the row with the fewest constraints asks for, the one that most rows do.
  static Place placeToDivide(const std::vector<Row>& rows) {
    auto length = [](const Row& row) {
      return row.constraints.empty() ? SIZE_MAX : row.constraints.size();
    };
    const Row& shortest = *std::ranges::min_element(rows, {}, length);
    std::unordered_map<Place, size_t> uses;
    for (const Constraint& constraint : shortest.constraints)
      uses.emplace(constraint.place, 0);
    for (const Row& row : rows)
      for (const Constraint& constraint : row.constraints)
        if (auto use = uses.find(constraint.place); use != uses.end())
          ++use->second;
    auto count = [&](const Constraint& constraint) { return uses.at(constraint.place); };
    return std::ranges::max_element(shortest.constraints, {}, count)->place;
  }

  /// Tells the values apart by their constructor at one place; constructors that no row names there
  /// are one case.
  void divide(Situation situation) {
    Place place = placeToDivide(situation.rows);
    auto isThere = [place](const Constraint& constraint) { return constraint.place == place; };
    std::unordered_map<const Constructor*, size_t> cases;
    std::vector<std::pair<const Constructor*, std::vector<Row>>> divided;
    std::vector<Row> others;
    const lang::TypeDefinition* definition = nullptr;
    size_t othersWork = 0;
    for (Row& row : situation.rows) {
      if (work_ > maximumWork)
        return;
      auto here = std::ranges::find_if(row.constraints, isThere);
      if (here == row.constraints.end()) {
        for (auto& [constructor, rows] : divided)
          add(rows, row);
        othersWork += row.constraints.size() + 1;
        add(others, std::move(row));
        continue;
      }
      const Constructor* constructor = here->pattern->constructor;
      definition = constructor->definition;
      auto [at, isNewCase] = cases.try_emplace(constructor, divided.size());
      if (isNewCase) {
        work_ += othersWork;
        divided.emplace_back(constructor, others);
      }
      std::vector<Row>& rows = divided[at->second].second;
      add(rows, refined(row, size_t(here - row.constraints.begin())));
    }
    schedule(*definition, cases, divided, std::move(others), {situation.known, place, {}});
  }

  /// The row with a constraint replaced by those on the parts.
  Row refined(const Row& row, size_t index) {
    Constraint whole = row.constraints[index];
    Row result{row.arm, {row.constraints.begin(), row.constraints.begin() + ptrdiff_t(index)}};
    const Pattern& pattern = *whole.pattern;
    for (size_t i = 0; i < pattern.parts.size(); ++i)
      constrain(result, part(whole.place, pattern.constructor, i), pattern.parts[i]);
    result.constraints.insert(result.constraints.end(),
                              row.constraints.begin() + ptrdiff_t(index) + 1,
                              row.constraints.end());
    return result;
  }

  /// Opens the cases so that they are walked in the order of the definition.
  void schedule(const lang::TypeDefinition& definition,
                const std::unordered_map<const Constructor*, size_t>& cases,
                std::vector<std::pair<const Constructor*, std::vector<Row>>>& divided,
                std::vector<Row> others, Decision decision) {
    const auto& constructors = definition.constructors;
    std::vector<const Constructor*> unnamed;
    size_t otherPlace = constructors.size();
    for (size_t i = 0; i < constructors.size() && unnamed.size() <= mostMissing; ++i)
      if (!cases.contains(constructors[i])) {
        otherPlace = std::min(otherPlace, i);
        unnamed.push_back(constructors[i]);
      }
    auto open = [&](std::vector<const Constructor*> chosen, std::vector<Row> rows) {
      decision.constructors = std::move(chosen);
      decisions_.push_back(decision);
      open_.push_back({std::move(rows), &decisions_.back()});
    };
    std::vector<std::pair<size_t, size_t>> order;
    for (size_t i = 0; i < divided.size(); ++i)
      order.emplace_back(placeIn(definition, divided[i].first), i);
    std::ranges::sort(order, std::greater());
    bool hasOther = !unnamed.empty();
    for (auto [where, number] : order) {
      if (hasOther && where < otherPlace) {
        open(unnamed, std::move(others));
        hasOther = false;
      }
      open({divided[number].first}, std::move(divided[number].second));
    }
    if (hasOther)
      open(unnamed, std::move(others));
  }

  size_t placeIn(const lang::TypeDefinition& definition, const Constructor* constructor) {
    auto [known, isNewDefinition] = places_.try_emplace(&definition);
    if (isNewDefinition)
      for (const Constructor* each : definition.constructors)
        known->second.emplace(each, known->second.size());
    return known->second.at(constructor);
  }

  /// Adds the values that decisions describe, as patterns: one for each choice of constructors.
  void addMissing(MatchCoverage& result, const Decision* known) {
    if (result.hasMoreMissing)
      return;
    std::vector<const Decision*> decisions;
    for (; known; known = known->before)
      decisions.push_back(known);
    std::ranges::reverse(decisions);
    std::vector<size_t> choice(decisions.size());
    for (bool hasNext = true; hasNext && !result.hasMoreMissing;) {
      std::unordered_map<Place, const Constructor*> chosen;
      for (size_t i = 0; i < decisions.size(); ++i)
        chosen.emplace(decisions[i]->place, decisions[i]->constructors[choice[i]]);
      if (result.missing.size() < mostMissing)
        result.missing.push_back(runtime::either(textAt(0, chosen, lang::Notation::Relay),
                                                 textAt(0, chosen, lang::Notation::Baton)));
      else
        result.hasMoreMissing = true;
      hasNext = false;
      for (size_t i = choice.size(); i-- > 0 && !hasNext;) {
        hasNext = ++choice[i] < decisions[i]->constructors.size();
        choice[i] = hasNext ? choice[i] : 0;
      }
    }
  }

  /// Recursion follows patterns, whose nesting the reader bounds.
  std::string textAt(Place place, const std::unordered_map<Place, const Constructor*>& chosen,
                     lang::Notation notation) {
    auto choice = chosen.find(place);
    const Constructor* constructor = choice == chosen.end() ? nullptr : choice->second;
    auto tuple = tuples_.find(place);
    if (!constructor && tuple == tuples_.end())
      return "_";
    size_t count = constructor ? constructor->fields.size() : tuple->second;
    std::string text = constructor ? lang::plainName(constructor->name).in(notation) : "";
    for (size_t i = 0; i < count; ++i)
      text += (i == 0 ? "(" : ", ") + textAt(part(place, constructor, i), chosen, notation);
    bool isPair = constructor || count != 1;
    return text + (!isPair ? ",)" : count > 0 ? ")" : constructor ? "" : "()");
  }

  std::vector<bool> reached_;
  std::vector<Situation> open_;
  std::deque<Decision> decisions_;
  std::map<std::tuple<Place, const Constructor*, size_t>, Place> parts_;
  /// Places that hold tuples, and how many parts these have.
  std::unordered_map<Place, size_t> tuples_;
  /// The places of constructors in their definitions.
  std::unordered_map<const lang::TypeDefinition*, std::unordered_map<const Constructor*, size_t>>
      places_;
  std::unordered_set<std::u32string> met_;
  size_t work_ = 0;
};

} // namespace

MatchCoverage coverage(const lang::Match& match) {
  return CoverageSearch(match).run();
}

} // namespace typecheck
