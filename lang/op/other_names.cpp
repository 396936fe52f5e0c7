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
    {"range", "arange(0, $, 1, dtype = i32)"},
    {"range", "list.range(0, $)"},
    {"reversed", "rev($)"},
    {"square", "$ ** 2"},
    {"reciprocal", "1 / $"},
    {"t", "$.T"},
    {"flatten", "reshape($, [-1])"},
    {"ravel", "reshape($, [-1])"},
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

const OperatorRow* ofTwo(const OperatorTable& operators, const OperatorRow& row) {
  std::vector<std::string_view> ours = formsElsewhere(fmt::format("{}(a, b)", row.name));
  return ours.empty() ? nullptr : operators.find(ours[0].substr(0, ours[0].find('(')));
}

bool isRelayInfix(std::string_view symbol) {
  constexpr std::string_view symbols[] = {"*", "/", "+", "-", "<", "<=", ">", ">=", "==", "!="};
  return std::ranges::find(symbols, symbol) != std::end(symbols);
}

} // namespace lang
