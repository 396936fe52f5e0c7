// The usefulness algorithm. Patterns are expanded by a column at a time; the work is bounded, since
// the problem is exponential in the worst case. Columns in which every pattern is a wildcard are
// passed over at once: a tuple may have thousands.
#include "typecheck/exhaustive.h"

#include <algorithm>
#include <fmt/format.h>

namespace typecheck {

using lang::Constructor;
using lang::Pattern;
using lang::PatternKind;

namespace {

/// Patterns that may be looked at.
constexpr size_t maximumWork = 50'000'000;

/// A row of patterns; null is a wildcard.
using Row = std::vector<const Pattern*>;

bool isWild(const Pattern* pattern) {
  return !pattern || pattern->kind == PatternKind::Wildcard || pattern->kind == PatternKind::Var;
}

class Usefulness {
public:
  /// A vector of values that matches `row` and no row of `rows`, as pattern texts; nothing when
  /// there is none.
  std::optional<std::vector<std::string>> find(const std::vector<Row>& rows, const Row& row) {
    work_ += (rows.size() + 1) * (row.size() + 1);
    if (gaveUp())
      return std::nullopt;
    if (size_t wild = wildColumns(rows, row))
      return findBehind(rows, row, wild);
    if (row.empty())
      return rows.empty() ? std::optional(std::vector<std::string>{}) : std::nullopt;
    if (!isWild(row[0]))
      return findWith(rows, row, row[0]);
    const Pattern* head = firstHead(rows);
    if (head->kind == PatternKind::Tuple)
      return findWith(rows, row, head);
    return findConstructors(rows, row, *head->constructor->definition);
  }

  bool gaveUp() const { return work_ > maximumWork; }

private:
  static const Pattern* firstHead(const std::vector<Row>& rows) {
    for (const Row& row : rows)
      if (!isWild(row[0]))
        return row[0];
    return nullptr;
  }

  /// The parts of a pattern in place of it, when it has the same head; wildcards for a wildcard.
  static std::optional<Row> specialise(const Row& row, const Constructor* constructor,
                                       size_t arity) {
    Row result(arity, nullptr);
    if (!isWild(row[0])) {
      if (row[0]->constructor != constructor || row[0]->parts.size() != arity)
        return std::nullopt;
      result.assign(row[0]->parts.begin(), row[0]->parts.end());
    }
    result.insert(result.end(), row.begin() + 1, row.end());
    return result;
  }

  std::optional<std::vector<std::string>> findUnder(const std::vector<Row>& rows, const Row& row,
                                                    const Constructor* constructor, size_t arity) {
    std::vector<Row> specialised;
    for (const Row& other : rows)
      if (auto kept = specialise(other, constructor, arity))
        specialised.push_back(std::move(*kept));
    auto own = specialise(row, constructor, arity);
    auto witness = own ? find(specialised, *own) : std::nullopt;
    if (!witness)
      return std::nullopt;
    std::vector<std::string> parts(witness->begin(), witness->begin() + ptrdiff_t(arity));
    witness->erase(witness->begin(), witness->begin() + ptrdiff_t(arity));
    std::string text = constructor ? std::string(constructor->name) : std::string();
    if (!constructor || arity > 0)
      text += fmt::format("({}{})", fmt::join(parts, ", "), !constructor && arity == 1 ? "," : "");
    witness->insert(witness->begin(), std::move(text));
    return witness;
  }

  std::optional<std::vector<std::string>> findWith(const std::vector<Row>& rows, const Row& row,
                                                   const Pattern* head) {
    return findUnder(rows, row, head->constructor, head->parts.size());
  }

  /// How many columns, from the first on, are nothing but wildcards.
  static size_t wildColumns(const std::vector<Row>& rows, const Row& row) {
    size_t count = 0;
    auto isWildHere = [&](const Row& other) { return isWild(other[count]); };
    while (count < row.size() && isWildHere(row) && std::ranges::all_of(rows, isWildHere))
      ++count;
    return count;
  }

  std::optional<std::vector<std::string>> findBehind(const std::vector<Row>& rows, const Row& row,
                                                     size_t columns) {
    std::vector<Row> rest;
    for (const Row& other : rows)
      rest.emplace_back(other.begin() + ptrdiff_t(columns), other.end());
    auto witness = find(rest, Row(row.begin() + ptrdiff_t(columns), row.end()));
    if (witness)
      witness->insert(witness->begin(), columns, "_");
    return witness;
  }

  std::optional<std::vector<std::string>> findConstructors(const std::vector<Row>& rows,
                                                           const Row& row,
                                                           const lang::TypeDefinition& definition) {
    for (const Constructor* constructor : definition.constructors)
      if (auto witness = findUnder(rows, row, constructor, constructor->fields.size()))
        return witness;
    return std::nullopt;
  }

  size_t work_ = 0;
};

} // namespace

MatchCoverage coverage(const lang::Match& match) {
  MatchCoverage result;
  Usefulness usefulness;
  std::vector<Row> rows;
  for (size_t i = 0; i < match.arms.size(); ++i) {
    Row row{match.arms[i].pattern};
    if (!usefulness.find(rows, row))
      result.useless.push_back(i);
    rows.push_back(std::move(row));
  }
  if (auto witness = usefulness.find(rows, Row{nullptr}))
    result.missing = witness->front();
  result.tooComplex = usefulness.gaveUp();
  return result;
}

} // namespace typecheck
