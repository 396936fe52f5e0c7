// Forms and what is proven of them, against every value of small names.
#include "lower/sizes/facts.h"
#include "tests/harness/random.h"

#include <catch2/catch.hpp>

using sizes::Answer;
using sizes::Facts;
using sizes::Form;
using sizes::Name;
using sizes::Table;

namespace {

constexpr int64_t largest = 6;

/// A form over these names.
Form drawForm(Table& table, const std::vector<Form>& names, harness::Random& random, int depth) {
  if (depth == 0)
    return random.chance(70) ? names[random.index(names.size())]
                             : table.number(random.integer(-4, 8));
  Form left = drawForm(table, names, random, depth - 1);
  Form right = drawForm(table, names, random, depth - 1);
  Form number = table.number(random.integer(1, 5));
  switch (random.integer(0, 7)) {
  case 0:
  case 1:
    return table.sum(left, right);
  case 2:
    return table.sum(left, right, -1);
  case 3:
    return table.product(left, random.chance(60) ? number : right);
  case 4:
    return table.quotient(left, number);
  case 5:
    return table.rest(left, number);
  case 6:
    return table.least(left, right);
  default:
    return table.greatest(left, right);
  }
}

} // namespace

TEST_CASE("forms that are made in other ways are one") {
  Table table;
  Form i = table.name("i"), n = table.name("n"), four = table.number(4);
  CHECK(table.sum(i, n) == table.sum(n, i));
  CHECK(table.sum(table.product(table.quotient(i, four), four), table.rest(i, four)) == i);
  CHECK(table.quotient(table.sum(table.product(i, four), table.number(3)), four) == i);
  CHECK(table.quotient(table.quotient(i, four), four) == table.quotient(i, table.number(16)));
  CHECK(table.quotient(table.product(i, n), n) == i);
  CHECK(table.text(table.rest(table.quotient(i, four), table.number(3))) == "i/4 % 3");
  CHECK(table.text(table.pieces(n, four)) == "(n + 3)/4");
}

TEST_CASE("what is proven holds for all values") {
  harness::Random random(7);
  size_t proven = 0, refuted = 0;
  for (int round = 0; round < 4000; ++round) {
    Table table;
    std::vector<Form> forms{table.name("n"), table.name("m"), table.name("i"), table.name("j")};
    Name n = *table.nameOf(forms[0]), i = *table.nameOf(forms[2]), j = *table.nameOf(forms[3]);
    Form end = drawForm(table, {forms[0], forms[1]}, random, 1);
    Form inner = drawForm(table, {forms[0], forms[2]}, random, 1);
    Form condition = drawForm(table, forms, random, 1);
    int64_t least = random.integer(0, 2), multiple = random.integer(1, 2);
    Facts facts(table);
    facts.assume(n, least, multiple);
    facts.enter(i, end);
    facts.enter(j, inner);
    facts.hold(condition);
    Form a = drawForm(table, forms, random, 2), b = drawForm(table, forms, random, 2);
    Answer answer = facts.isAtLeast(a, b);
    Form simple = facts.simplified(a);
    if (table.isTooLarge())
      continue;
    proven += answer == Answer::Yes;
    refuted += answer == Answer::No;
    INFO("n >= " << least << ", n % " << multiple << ", i in " << table.text(end) << ", j in "
                 << table.text(inner) << ", " << table.text(condition) << " >= 0: " << table.text(a)
                 << " against " << table.text(b) << ", simply " << table.text(simple));
    std::vector<int64_t> values(table.nameCount());
    auto valueOf = [&](Form form) { return *table.valueOf(form, values); };
    bool isRight = true;
    for (values[0] = 0; values[0] <= largest; ++values[0])
      for (values[1] = 0; values[1] <= largest; ++values[1])
        for (values[2] = 0; values[2] <= largest; ++values[2])
          for (values[3] = 0; values[3] <= largest; ++values[3]) {
            if (values[0] < least || values[0] % multiple != 0 || values[2] >= valueOf(end) ||
                values[3] >= valueOf(inner) || valueOf(condition) < 0)
              continue;
            bool holds = valueOf(a) >= valueOf(b);
            isRight &= answer == Answer::Open || holds == (answer == Answer::Yes);
            isRight &= valueOf(simple) == valueOf(a);
          }
    CHECK(isRight);
  }
  CHECK(proven > 400);
  CHECK(refuted > 300);
}

TEST_CASE("tiles lie inside of what they are tiles of") {
  Table table;
  Form n = table.name("n"), io = table.name("io"), ii = table.name("ii"), six = table.number(6);
  Form position = table.sum(table.product(io, six), ii);
  Facts facts(table);
  facts.enter(*table.nameOf(io), table.pieces(n, six));
  facts.enter(*table.nameOf(ii), six);
  CHECK(facts.isLess(position, n) == Answer::Open);
  facts.hold(table.sum(table.sum(n, position, -1), table.number(1), -1));
  CHECK(facts.isInside(position, n));

  Facts whole(table);
  whole.enter(*table.nameOf(io), table.quotient(n, six));
  whole.enter(*table.nameOf(ii), six);
  CHECK(whole.isInside(position, n));

  Facts multiple(table);
  multiple.assume(*table.nameOf(n), 0, 6);
  multiple.enter(*table.nameOf(io), table.pieces(n, six));
  multiple.enter(*table.nameOf(ii), six);
  CHECK(multiple.isInside(position, n));
}

TEST_CASE("numbers beyond 64 bits are said to be too large") {
  Table table;
  Form large = table.number(INT64_MAX);
  table.sum(large, table.number(1));
  CHECK(table.isTooLarge());
  Table other;
  Form i = other.name("i");
  CHECK(!other.valueOf(other.product(i, i), std::vector<int64_t>{INT64_MAX}));
  CHECK(!other.isTooLarge());
}

TEST_CASE("parts that forms share are gone through once") {
  Table table;
  const Facts facts(table);
  Form form = table.name("n");
  const Name n = *table.nameOf(form);
  int64_t expected = 5;
  // Written out, each has twice as much in it as the one before.
  for (int i = 0; i < 28; ++i) {
    form = table.sum(form, table.quotient(table.sum(form, table.number(2)), table.number(3)));
    expected += (expected + 2) / 3;
  }
  auto at = [&](Form each) {
    return table.constantOf(table.replaced(each, {{n, table.number(5)}}));
  };
  CHECK(at(form) == expected);
  CHECK(at(facts.simplified(form)) == expected);
  CHECK(!table.isTooLarge());
}

TEST_CASE("the lesser of two is told where they may be equal") {
  Table table;
  Facts facts(table);
  Form n = table.name("n"), one = table.number(1), before = table.sum(n, one, -1);
  facts.assume(*table.nameOf(n), 2, 1);
  CHECK(facts.simplified(table.least(one, before)) == one);
  CHECK(facts.simplified(table.least(before, one)) == one);
  CHECK(facts.simplified(table.greatest(one, before)) == before);
  CHECK(facts.simplified(table.greatest(before, one)) == before);
}

TEST_CASE("copies of a table make forms of their own") {
  Table table;
  Form n = table.name("n"), shared = table.sum(n, table.number(1));
  Table copy = table;
  // More than one piece of memory holds.
  for (int64_t i = 2; i < 200; ++i) {
    Form one = table.sum(n, table.number(i)), other = copy.product(n, copy.number(i));
    CHECK(one == other);
    CHECK(table.constantOf(table.sum(one, n, -1)) == i);
    CHECK(copy.quotient(other, n) == copy.number(i));
  }
  CHECK(table.text(shared) == "n + 1");
  CHECK(copy.text(shared) == "n + 1");
  CHECK(copy.name("m") == copy.name("m"));
  CHECK(!table.find("m"));
}

TEST_CASE("what is known at a place is asked for once") {
  Table table;
  Form n = table.name("n"), i = table.name("i"), four = table.number(4);
  auto ask = [&] {
    Facts facts(table);
    facts.assume(*table.nameOf(n), 1, 1);
    facts.enter(*table.nameOf(i), table.quotient(n, four));
    CHECK(facts.isInside(table.sum(table.product(i, four), table.number(3)), n));
    CHECK(facts.simplified(table.quotient(table.rest(i, four), four)) == table.number(0));
    return table.knowledge().answerCount();
  };
  size_t answers = ask();
  CHECK(answers > 0);
  CHECK(ask() == answers);
  Facts other(table);
  other.enter(*table.nameOf(i), n);
  CHECK(!other.isInside(table.sum(table.product(i, four), table.number(3)), n));
}

TEST_CASE("names are told apart where there are many") {
  Table table;
  std::vector<Form> names;
  for (int i = 0; i < 130; ++i)
    names.push_back(table.name("n" + std::to_string(i)));
  auto nameOf = [&](size_t i) { return *table.nameOf(names[i]); };
  Form form = table.sum(names[1], table.quotient(names[66], table.sum(names[2], names[3])));
  CHECK(table.namesIn(form) == std::vector{nameOf(1), nameOf(2), nameOf(3), nameOf(66)});
  for (size_t i : {1, 2, 3, 66})
    CHECK(table.mentions(form, nameOf(i)));
  for (size_t i : {0, 65, 67, 129})
    CHECK(!table.mentions(form, nameOf(i)));
  CHECK(table.replaced(form, {{nameOf(65), table.number(0)}}) == form);
}
