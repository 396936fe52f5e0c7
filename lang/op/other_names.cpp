// Synonyms are asked for when something is wrong, so they need no index.
#include "lang/op/other_names.h"

#include "lang/op/op.h"

#include <algorithm>
#include <fmt/format.h>

namespace lang {

const OperatorRow* calledElsewhere(const OperatorTable& operators, std::string_view name) {
  for (const OperatorRow* row : operators.all())
    if (std::ranges::count(row->otherNames(), name) > 0)
      return row;
  return nullptr;
}

namespace {

/// A name of other libraries, and what is written here.
struct Form {
  std::string_view theirs, ours;
};

constexpr Form forms[] = {
    {"float", "cast($, dtype = f32)"},
    {"double", "cast($, dtype = f64)"},
    {"half", "cast($, dtype = f16)"},
    {"int", "cast($, dtype = i32)"},
    {"long", "cast($, dtype = i64)"},
    {"f16", "cast($, dtype = f16)"},
    {"f32", "cast($, dtype = f32)"},
    {"f64", "cast($, dtype = f64)"},
    {"i8", "cast($, dtype = i8)"},
    {"i32", "cast($, dtype = i32)"},
    {"i64", "cast($, dtype = i64)"},
    {"u8", "cast($, dtype = u8)"},
    {"bool", "cast($, dtype = bool)"},
    {"len", "size($, 0)"},
    {"len", "length($)"},
    {"range", "arange($)"},
    {"range", "list.range(0, $)"},
    {"reversed", "rev($)"},
    {"square", "$ ** 2"},
    {"reciprocal", "1 / $"},
    {"t", "$.T"},
    {"ravel", "reshape($, [-1])"},
    {"flatten", "reshape($, [-1])"},
    {"log1p", "log(1 + $)"},
    {"expm1", "exp($) - 1"},
    {"triu", "trilu($, 0, upper = true)"},
    {"tril", "trilu($, 0, upper = false)"},
    {"hstack", "concatenate($, axis = 1)"},
    {"vstack", "concatenate($, axis = 0)"},
    {"count_nonzero", "sum(cast($ != 0, dtype = i32))"},
    {"stack(xs)", "list.stack(xs)"},
    {"sum(xs)", "list.sum(xs)"},
    {"max(xs)", "list.max(xs)"},
    {"min(xs)", "list.min(xs)"},
    {"max(a, b)", "maximum(a, b)"},
    {"min(a, b)", "minimum(a, b)"},
    {"sum(a, b)", "add(a, b)"},
    {"prod(a, b)", "multiply(a, b)"},
};

} // namespace

std::vector<std::string_view> formsElsewhere(std::string_view name) {
  std::vector<std::string_view> found;
  for (const Form& form : forms)
    if (form.theirs == name)
      found.push_back(form.ours);
  return found;
}

namespace {

/// A call with that many arguments by position, and what it stands for: `$` is the next argument,
/// anything else a number, behind the name of an attribute where it has one. `number` is the
/// element type of numbers that are given.
struct ShortCall {
  std::string_view name;
  size_t count;
  std::string_view means;
};

constexpr ShortCall shortCalls[] = {
    {R"(arange)", 1, "0 $ 1 dtype=number"}, {R"(arange)", 2, "$ $ 1 dtype=number"},
    {R"(arange)", 3, "$ $ $ dtype=number"}, {R"(one_hot)", 1, "$ 1.0 0.0"},
    {R"(one_hot)", 2, "$ 1.0 0.0 depth=$"}, {R"(nn.pad)", 1, "$ 0"},
    {R"(nn.pad)", 2, "$ 0 pad_width=$"},
};

} // namespace

std::string_view shortCall(std::string_view name, size_t count) {
  for (const ShortCall& call : shortCalls)
    if (call.name == name && call.count == count)
      return call.means;
  return {};
}

const OperatorRow* ofTwo(const OperatorTable& operators, const OperatorRow& row) {
  std::vector<std::string_view> ours = formsElsewhere(fmt::format("{}(a, b)", row.name));
  return ours.empty() ? nullptr : operators.find(ours[0].substr(0, ours[0].find('(')));
}

bool isRelayInfix(std::string_view symbol) {
  constexpr std::string_view symbols[] = {"*", "/", "+", "-", "<", "<=", ">", ">=", "==", "!="};
  return std::ranges::find(symbols, symbol) != std::end(symbols);
}

} // namespace lang
