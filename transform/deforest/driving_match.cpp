// Matches on what driving knows: rows of patterns are looked at column by column, and what is known
// of a column leaves out rows. A column that is a call is driven first. What no term tells is asked
// at run time, by a match on one variable.
#include "transform/deforest/driving.h"

#include <algorithm>

namespace transform {

using namespace lang;

static bool isOpen(const Pattern& pattern) {
  return pattern.kind == PatternKind::Wildcard || pattern.kind == PatternKind::Var;
}

Atom Driving::choose(Choice choice, BlockBuilder& out, const Next& next) {
  Deeper deeper(depth_);
  countStep();
  if (choice.rows.empty())
    throw GaveUp();
  const Row& row = choice.rows.front();
  size_t column = 0;
  while (column < row.patterns.size() && isOpen(*row.patterns[column]))
    ++column;
  if (column == row.patterns.size())
    return take(choice, out, next);
  const Term* term = choice.columns[column];
  bool isCode = term->kind == TermKind::Call || term->kind == TermKind::Suspended;
  if (isCode)
    return drive(std::move(choice), column, out, next);
  if (term->kind == TermKind::Atom && row.patterns[column]->kind == PatternKind::Tuple) {
    Term tuple{TermKind::Tuple, term->type};
    for (uint32_t i = 0; i < term->type->parts.size(); ++i)
      tuple.parts.push_back(field(*term, i, term->type->parts[i], out));
    choice.columns[column] = facts_.keep(std::move(tuple));
    return choose(std::move(choice), out, next);
  }
  if (term->kind == TermKind::Atom && term->atom->kind != ExprKind::Constructor)
    return ask(choice, column, out, next);
  return decide(std::move(choice), column, out, next);
}

/// The arm of the first row, whose patterns hold for everything.
Atom Driving::take(const Choice& choice, BlockBuilder& out, const Next& next) {
  const Row& row = choice.rows.front();
  CodePlace place = choice.place;
  for (size_t i = 0; i < row.patterns.size(); ++i)
    if (row.patterns[i]->var)
      place.scope = bound(place.scope, *row.patterns[i]->var, choice.columns[i], out);
  return block(*row.arm->body, place, out, next, choice.entry);
}

/// A call with `by` in the place of one of its arguments, or null if that is none of them.
const Term* Driving::replaced(const Term* call, const Term* old, const Term* by) {
  if (!call)
    return nullptr;
  auto found = std::ranges::find(call->parts, old);
  if (found == call->parts.end())
    return nullptr;
  Term changed = *call;
  changed.parts[size_t(found - call->parts.begin())] = by;
  return facts_.keep(std::move(changed));
}

/// Looks into a column that is code, and goes on at each of its ends. An end that is a call, or a
/// variable, becomes the argument of the call whose match this is.
Atom Driving::drive(Choice choice, size_t column, BlockBuilder& out, const Next& next) {
  const Term* term = choice.columns[column];
  bool isArgument = choice.entry && std::ranges::count(choice.entry->parts, term) != 0;
  bool isDriven = term->kind == TermKind::Suspended || isArgument ||
                  !facts_.known.isRecursive({term->callee->function, term->callee, nullptr});
  if (choice.opaque.contains(term) || !isDriven) {
    const Term* value = held(term, out);
    choice.entry = replaced(choice.entry, term, value);
    choice.columns[column] = value;
    return choose(std::move(choice), out, next);
  }
  return force(term, out, [this, choice, column, term, next](const Term* end, BlockBuilder& at) {
    Choice rest = choice;
    rest.entry = replaced(choice.entry, term, end);
    rest.columns[column] = end;
    bool isUnknown = end->kind == TermKind::Call ||
                     (end->kind == TermKind::Atom && end->atom->kind != ExprKind::Constructor);
    if (isUnknown && rest.entry)
      return next(rest.entry, at);
    if (isUnknown)
      rest.opaque.insert(end);
    return choose(std::move(rest), at, next);
  });
}

/// Whether one row names what is in a column, and another one looks at what is inside of it.
bool Driving::isNamedAndOpened(const Choice& choice, size_t column) {
  auto names = [&](const Row& row) { return row.patterns[column]->var != nullptr; };
  auto opens = [&](const Row& row) {
    return !std::ranges::all_of(row.patterns[column]->parts,
                                [](const Pattern* part) { return isOpen(*part); });
  };
  return std::ranges::any_of(choice.rows, names) && std::ranges::any_of(choice.rows, opens);
}

/// Leaves out the rows that a constructor or a tuple does not fit, and opens the others. Code
/// inside of it that is looked at would run again in the whole, so then the parts are made first.
Atom Driving::decide(Choice choice, size_t column, BlockBuilder& out, const Next& next) {
  if (isNamedAndOpened(choice, column))
    choice.columns[column] = spread(choice.columns[column], 2, out);
  const Term* term = choice.columns[column];
  const Constructor* constructor =
      term->kind == TermKind::Atom ? term->atom->as<Constructor>() : term->constructor;
  bool isTuple = term->kind == TermKind::Tuple;
  if (!isTuple && (term->kind != TermKind::Build && term->kind != TermKind::Atom))
    throw GaveUp();
  saved_ += term->kind == TermKind::Build && !term->atom;
  const Pattern any{PatternKind::Wildcard, {}};
  const Pattern* wildcard = make_.arena.make<Pattern>(any);
  std::vector<Row> rows;
  for (Row& row : choice.rows) {
    const Pattern& pattern = *row.patterns[column];
    if (!isOpen(pattern) && !isTuple && pattern.constructor != constructor)
      continue;
    // What names the whole keeps its column.
    bool isNamed = pattern.var != nullptr;
    if (!isNamed)
      row.patterns[column] = wildcard;
    for (size_t i = 0; i < term->parts.size(); ++i)
      row.patterns.push_back(isOpen(pattern) ? wildcard : pattern.parts[i]);
    rows.push_back(std::move(row));
  }
  choice.rows = std::move(rows);
  choice.columns.insert(choice.columns.end(), term->parts.begin(), term->parts.end());
  return choose(std::move(choice), out, next);
}

/// A match at run time on a variable, with an arm for each constructor that some row asks for. What
/// told its type may be driven away, so the fields say theirs.
Atom Driving::ask(const Choice& choice, size_t column, BlockBuilder& out, const Next& next) {
  const Term* term = choice.columns[column];
  const TypeDefinition* definition = term->type ? term->type->definition : nullptr;
  if (!definition)
    throw GaveUp();
  std::vector<Arm> arms;
  bool isWhole = true;
  for (const Constructor* constructor : definition->constructors) {
    auto asks = [&](const Row& row) { return row.patterns[column]->constructor == constructor; };
    auto asking = std::ranges::find_if(choice.rows, asks);
    if (asking == choice.rows.end()) {
      isWhole = false;
      continue;
    }
    Term build{TermKind::Build, term->type, term->atom};
    build.constructor = constructor;
    std::vector<const Pattern*> parts;
    std::vector<const Type*> types = fieldTypes(*constructor, *term->type);
    for (size_t i = 0; i < constructor->fields.size(); ++i) {
      const Var* named = asking->patterns[column]->parts[i]->var;
      bool isUntold = term->isUntold && types[i] != constructor->fields[i];
      const Var* var =
          make_.var(VarOrigin::Pattern, named ? named->name : std::string_view("field"),
                    isUntold && !types[i]->hasUnknown ? types[i] : nullptr);
      parts.push_back(make_.varPattern(var));
      build.parts.push_back(atom(var, types[i]));
    }
    Choice inside = choice;
    inside.columns[column] = facts_.keep(std::move(build));
    BlockBuilder body(make_);
    Atom result = decide(std::move(inside), column, body, next);
    const Block* finished = body.finish(result);
    arms.push_back(make_.arm(make_.constructorPattern(*constructor, parts), finished));
  }
  if (!isWhole) {
    Choice others = choice;
    std::erase_if(others.rows, [&](const Row& row) { return !isOpen(*row.patterns[column]); });
    BlockBuilder body(make_);
    Atom result = choose(std::move(others), body, next);
    const Block* finished = body.finish(result);
    arms.push_back(make_.arm(make_.anyPattern(), finished));
  }
  return out.bind(make_.match(term->atom, arms));
}

} // namespace transform
