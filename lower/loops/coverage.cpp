// Digits are loops to begin with; conditions and quotients put others in their place, until every
// coordinate is a plain sum.
#include "lower/loops/coverage.h"

#include <algorithm>
#include <fmt/format.h>

namespace loops {

namespace {

using sizes::Atom;
using sizes::AtomKind;
using sizes::AtomParts;
using sizes::Facts;
using sizes::Sum;
using sizes::Table;
using sizes::Term;

/// A variable that takes 0 .. end - 1, and the loops that it stands for.
struct Digit {
  Name variable;
  Form end;
  std::vector<size_t> loops;
};

class Coverage {
public:
  Coverage(Table& table, const Facts& facts, std::vector<Form> coordinates)
      : table_(table), facts_(facts), coordinates_(std::move(coordinates)) {}

  void addLoop(const Loop& loop, size_t place) {
    if (loop.end == table_.number(1))
      return replace({{loop.variable, table_.number(0)}});
    digits_.push_back({loop.variable, loop.end, {place}});
    facts_.enter(loop.variable, loop.end);
  }

  void addCondition(const Condition& condition) { conditions_.push_back(condition); }

  std::optional<std::vector<Span>> run() {
    while (splitMerged()) {
    }
    for (auto condition = conditions_.rbegin(); condition != conditions_.rend(); ++condition)
      if (!cut(condition->left, condition->right))
        return std::nullopt;
    std::vector<Span> spans;
    for (Form coordinate : coordinates_) {
      auto span = spanOf(coordinate);
      if (!span)
        return std::nullopt;
      spans.push_back(*std::move(span));
    }
    // What no coordinate has would go through the same points again.
    return digits_.empty() ? std::optional(std::move(spans)) : std::nullopt;
  }

private:
  Form formOf(Name name) { return table_.name(name); }

  /// The coefficient of a variable in a form that is linear in it.
  Form slopeOf(Form form, Name variable) {
    Form one = table_.replaced(form, {{variable, table_.number(1)}});
    Form zero = table_.replaced(form, {{variable, table_.number(0)}});
    return table_.sum(one, zero, -1);
  }

  bool isOfDigit(Form form) {
    return std::ranges::any_of(
        digits_, [&](const Digit& digit) { return table_.mentions(form, digit.variable); });
  }

  /// Puts m*u + w in place of a variable f that occurs as f/m; false where there is none.
  bool splitMerged() {
    for (Form coordinate : coordinates_)
      for (const Term& term : Sum(table_.sumOf(coordinate)).terms)
        for (Atom factor : term.factors) {
          const AtomParts parts = table_.partsOf(factor);
          auto variable =
              parts.kind == AtomKind::Quotient ? table_.nameOf(parts.left) : std::nullopt;
          auto digit = std::ranges::find_if(
              digits_, [&](const Digit& each) { return variable && each.variable == *variable; });
          if (digit != digits_.end() && split(size_t(digit - digits_.begin()), parts.right))
            return true;
        }
    return false;
  }

  bool split(size_t place, Form divisor) {
    Digit digit = digits_[place];
    Form count = table_.quotient(digit.end, divisor);
    if (table_.product(count, divisor) != digit.end)
      return false;
    Digit outer = fresh(count, digit.loops), inner = fresh(divisor, digit.loops);
    Form by = table_.sum(table_.product(formOf(outer.variable), divisor), formOf(inner.variable));
    digits_.erase(digits_.begin() + ptrdiff_t(place));
    digits_.insert(digits_.end(), {outer, inner});
    replace({{digit.variable, by}});
    return true;
  }

  Digit fresh(Form end, std::vector<size_t> loops) {
    // Names that count from nothing on, so that what is proven of them is known the next time.
    Name name = *table_.nameOf(table_.name(fmt::format("{}''", made_++)));
    facts_.enter(name, end);
    return {name, end, std::move(loops)};
  }

  void replace(const std::map<Name, Form>& names) {
    for (Form& coordinate : coordinates_)
      coordinate = facts_.simplified(table_.replaced(coordinate, names));
    for (Condition& condition : conditions_) {
      condition.left = facts_.simplified(table_.replaced(condition.left, names));
      condition.right = facts_.simplified(table_.replaced(condition.right, names));
    }
  }

  /// Makes one digit of those in a condition, which takes less than all of them would.
  bool cut(Form left, Form right) {
    if (isOfDigit(right))
      return false;
    if (!isOfDigit(left))
      return facts_.isLess(left, right) == sizes::Answer::Yes;
    std::vector<Digit> before = digits_;
    auto span = spanOf(left);
    if (!span)
      return false;
    Form end = facts_.proves(span->end, right) ? right : table_.least(span->end, right);
    Digit made = fresh(table_.sum(end, span->begin, -1), span->digits);
    // The variables that are one digit now, in terms of the whole and of the others.
    Form whole = table_.sum(left, span->begin, -1);
    std::vector<Name> gone;
    for (const Digit& digit : before)
      if (std::ranges::find(digits_, digit.variable, &Digit::variable) == digits_.end())
        gone.push_back(digit.variable);
    auto unit = std::ranges::find_if(
        gone, [&](Name name) { return slopeOf(whole, name) == table_.number(1); });
    if (unit == gone.end())
      return false;
    Form others = table_.sum(whole, formOf(*unit), -1);
    Form by = table_.sum(formOf(made.variable), others, -1);
    digits_.push_back(made);
    replace({{*unit, by}});
    auto hasGone = [&](Form form) {
      return std::ranges::any_of(gone, [&](Name name) { return table_.mentions(form, name); });
    };
    return std::ranges::none_of(coordinates_, hasGone) &&
           std::ranges::none_of(conditions_, [&](const Condition& condition) {
             return condition.left != left && hasGone(condition.left);
           });
  }

  /// The values of a sum of digits, which are used up.
  std::optional<Span> spanOf(Form form) {
    std::vector<std::pair<size_t, Form>> left;
    Form begin = form;
    for (size_t i = 0; i < digits_.size(); ++i)
      if (table_.mentions(form, digits_[i].variable)) {
        Form slope = slopeOf(form, digits_[i].variable);
        begin = table_.replaced(begin, {{digits_[i].variable, table_.number(0)}});
        left.emplace_back(i, slope);
      }
    Form stride = table_.number(1), remade = begin;
    std::vector<size_t> used;
    while (!left.empty()) {
      auto next = std::ranges::find_if(
          left, [&](const auto& each) { return facts_.areSame(each.second, stride); });
      if (next == left.end())
        return std::nullopt;
      const Digit& digit = digits_[next->first];
      remade = table_.sum(remade, table_.product(next->second, formOf(digit.variable)));
      stride = table_.product(stride, digit.end);
      used.push_back(next->first);
      left.erase(next);
    }
    if (remade != form)
      return std::nullopt;
    Span span{begin, table_.sum(begin, stride), {}};
    for (size_t place : used)
      span.digits.insert(span.digits.begin(), digits_[place].loops.begin(),
                         digits_[place].loops.end());
    std::ranges::sort(used);
    for (size_t i = used.size(); i-- > 0;)
      digits_.erase(digits_.begin() + ptrdiff_t(used[i]));
    return span;
  }

  Table& table_;
  Facts facts_;
  std::vector<Form> coordinates_;
  std::vector<Digit> digits_;
  std::vector<Condition> conditions_;
  /// How many digits there were besides loops.
  size_t made_ = 0;
};

} // namespace

std::optional<std::vector<Span>> spansOf(Table& table, const Facts& facts,
                                         const std::vector<const Node*>& around,
                                         const std::vector<Form>& coordinates) {
  Coverage coverage(table, facts, coordinates);
  for (size_t i = 0; i < around.size(); ++i)
    if (const auto* loop = std::get_if<Loop>(&around[i]->what))
      coverage.addLoop(*loop, i);
    else if (const auto* condition = std::get_if<Condition>(&around[i]->what))
      coverage.addCondition(*condition);
  return coverage.run();
}

} // namespace loops
