// Reading: the usual algorithm with a stack of operators and one of values, where a value is a sum
// of digits. Divisions split the sum into what lies above and below the divisor.
#include "stdlib/ops/shapes/index_map.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace stdlib {

using lang::Position;
using lang::Scalar;
using runtime::Checked;
using runtime::Problem;

namespace {

/// No sum of a sane map has more parts; it bounds the time that reading takes.
constexpr size_t mostTerms = 256;

/// A number, and digits times their scales.
struct Sum {
  int64_t base = 0;
  IndexTerms terms = {};

  bool isNumber() const { return terms.empty(); }
};

const Problem notEven{"its index map is no rearrangement: the divisions of an index do not come "
                      "out even"};
const Problem tooLarge{"the numbers of its index map are too large"};

Checked<Sum> scaled(Sum sum, int64_t factor) {
  if (factor == 0)
    return Sum{};
  bool overflows = __builtin_mul_overflow(sum.base, factor, &sum.base);
  for (IndexTerm& term : sum.terms)
    overflows |= __builtin_mul_overflow(term.scale, factor, &term.scale);
  if (overflows)
    return tooLarge;
  return sum;
}

Checked<Sum> added(Sum left, const Sum& right) {
  if (__builtin_add_overflow(left.base, right.base, &left.base) ||
      left.terms.size() + right.terms.size() > mostTerms)
    return tooLarge;
  left.terms.insert(left.terms.end(), right.terms.begin(), right.terms.end());
  return left;
}

/// By falling scales, and those of one scale by falling extents, since one of extent 1 is inside.
void sortTerms(IndexTerms& terms) {
  auto rank = [](const IndexTerm& term) {
    return std::pair(term.scale, term.digit.extent.value_or(INT64_MAX));
  };
  std::ranges::sort(terms, std::greater(), rank);
}

/// A sum divided by a positive number.
struct Division {
  Sum quotient;
  Sum remainder;
};

/// Puts a term that lies on both sides of the divisor in two, the lower digit in the remainder.
bool cut(const IndexTerm& term, int64_t divisor, Division& division) {
  const IndexDigit& digit = term.digit;
  int64_t base = divisor / term.scale, above;
  bool isEven = divisor % term.scale == 0 && digit.extent.value_or(0) % base == 0;
  if (!isEven || __builtin_mul_overflow(digit.divisor, base, &above))
    return false;
  division.remainder.terms.push_back({{digit.input, digit.divisor, base}, term.scale});
  auto extent = digit.extent ? std::optional(*digit.extent / base) : std::nullopt;
  division.quotient.terms.push_back({{digit.input, above, extent}, 1});
  return true;
}

/// A sum of sorted terms.
Checked<Division> divide(const Sum& sum, int64_t divisor) {
  if (sum.isNumber()) {
    int64_t remainder = sum.base % divisor;
    bool isNegative = remainder < 0;
    return Division{{sum.base / divisor - isNegative}, {remainder + (isNegative ? divisor : 0)}};
  }
  if (sum.base % divisor != 0)
    return notEven;
  Division division{{sum.base / divisor}, {}};
  for (const IndexTerm& term : sum.terms) {
    int64_t past = 0;
    // The first term reaches the divisor, or else the quotient would always be 0: that is padding.
    bool isBelow =
        &term != sum.terms.data() && term.digit.extent.value_or(0) > 0 && term.scale > 0 &&
        !__builtin_mul_overflow(term.scale, *term.digit.extent, &past) && past <= divisor;
    if (term.scale % divisor == 0)
      division.quotient.terms.push_back({term.digit, term.scale / divisor});
    else if (isBelow)
      division.remainder.terms.push_back(term);
    else if (term.scale < 0 || !cut(term, divisor, division))
      return notEven;
  }
  // What is below must not carry over.
  int64_t most = 0;
  for (const IndexTerm& term : division.remainder.terms) {
    int64_t part = term.scale * (*term.digit.extent - 1);
    if (part >= divisor - most)
      return notEven;
    most += part;
  }
  return division;
}

/// The extent of an index that takes each value below it, without gaps between its terms. What is
/// inside is nothing when the first term leaves it open.
std::optional<std::optional<int64_t>> extentOf(const Sum& index) {
  int64_t scale = 1;
  bool isOpen = false;
  for (auto term = index.terms.rbegin(); term != index.terms.rend(); ++term) {
    if (isOpen || term->scale != scale)
      return std::nullopt;
    isOpen = !term->digit.extent;
    if (!isOpen && __builtin_mul_overflow(scale, *term->digit.extent, &scale))
      return std::nullopt;
  }
  if (index.base != 0)
    return std::nullopt;
  return isOpen ? std::optional<int64_t>() : scale;
}

/// Whether sums become one index when they are divided: those that do not come out even otherwise,
/// or, since all that stands in one place must agree, every one.
enum class Fusing : uint8_t { WhereNeeded, Everywhere };

/// A sum of sorted terms as one index, whose digits are others than those of its terms.
std::optional<Sum> fuse(Sum sum, IndexMap& map) {
  auto extent = extentOf(sum);
  if (!extent || sum.terms.size() < 2)
    return std::nullopt;
  auto known = std::ranges::find(map.fused, sum.terms);
  size_t input = map.inputs + size_t(known - map.fused.begin());
  if (known == map.fused.end())
    map.fused.push_back(std::move(sum.terms));
  return Sum{0, {{{input, 1, *extent}}}};
}

Checked<Division> divide(Sum sum, int64_t divisor, Fusing fusing, IndexMap& map) {
  if (divisor <= 0)
    return Problem{"its index map divides by what is no positive number"};
  sortTerms(sum.terms);
  auto division = divide(sum, divisor);
  if (division && fusing == Fusing::WhereNeeded)
    return division;
  auto fused = fuse(sum, map);
  return fused ? divide(*fused, divisor) : division;
}

enum class Sign : uint8_t { Plus, Minus, Times, Over, Modulo, Open };

int strengthOf(Sign sign) {
  return sign == Sign::Open ? 0 : sign == Sign::Plus || sign == Sign::Minus ? 1 : 2;
}

Checked<Sum> combined(Sign sign, const Sum& left, const Sum& right, Fusing fusing, IndexMap& map) {
  if (sign == Sign::Plus)
    return added(left, right);
  if (sign == Sign::Minus) {
    auto negative = scaled(right, -1);
    return negative ? added(left, *negative) : negative;
  }
  if (sign == Sign::Times && left.isNumber())
    return scaled(right, left.base);
  if (!right.isNumber())
    return Problem{"its index map multiplies indices, or divides by one"};
  if (sign == Sign::Times)
    return scaled(left, right.base);
  auto division = divide(left, right.base, fusing, map);
  if (!division)
    return division.failure();
  return sign == Sign::Over ? division->quotient : division->remainder;
}

bool isNamePart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string_view trimmed(std::string_view text) {
  size_t begin = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

/// The parts of a list.
std::vector<std::string_view> listed(std::string_view text) {
  std::vector<std::string_view> parts;
  if (trimmed(text).empty())
    return parts;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

/// The two sides of a map.
struct MapText {
  std::vector<std::string_view> from;
  std::vector<std::string_view> to;
};

Checked<MapText> readMapText(std::string_view text) {
  size_t arrow = text.find("->");
  if (arrow == std::string_view::npos)
    return Problem{"`index_map` must be a `tir.IndexMap` of the metadata, or a text such as "
                   "`i, j -> j, i // 4, i % 4`"};
  MapText map{listed(text.substr(0, arrow)), listed(text.substr(arrow + 2))};
  for (std::string_view name : map.from)
    if (name.empty() || !std::ranges::all_of(name, isNamePart) ||
        std::ranges::count(map.from, name) > 1)
      return Problem{fmt::format("`{}` is no name for an index of `index_map`", name)};
  return map;
}

/// Reads one index of the result.
class IndexReader {
public:
  IndexReader(std::string_view text, const std::vector<std::string_view>& names,
              std::span<const std::optional<int64_t>> extents, Fusing fusing, IndexMap& map)
      : text_(text), rest_(text), names_(names), extents_(extents), fusing_(fusing), map_(map) {}

  Checked<Sum> read() {
    while (skipBlanks(), !rest_.empty())
      if (auto problem = wantsValue_ ? readOperand() : readOperator())
        return *problem;
    if (wantsValue_)
      return malformed();
    while (!signs_.empty()) {
      if (signs_.back() == Sign::Open)
        return malformed();
      if (auto problem = reduce())
        return *problem;
    }
    return values_.back();
  }

private:
  using Found = std::optional<Problem>;

  Problem malformed() const {
    return Problem{fmt::format("`{}` is no index of `index_map`", text_.substr(0, 80))};
  }

  void skipBlanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }

  bool takes(std::string_view token) {
    bool isHere = rest_.starts_with(token);
    rest_.remove_prefix(isHere ? token.size() : 0);
    return isHere;
  }

  Found readOperand() {
    if (takes("(")) {
      signs_.push_back(Sign::Open);
      return std::nullopt;
    }
    size_t size = rest_.starts_with('-') ? 1 : 0;
    while (size < rest_.size() && isNamePart(rest_[size]))
      ++size;
    std::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    wantsValue_ = false;
    if (auto name = std::ranges::find(names_, word); name != names_.end()) {
      size_t input = size_t(name - names_.begin());
      values_.push_back({0, {{{input, 1, extents_[input]}}}});
      return std::nullopt;
    }
    int64_t number = 0;
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (word.empty() || error != std::errc{} || end != word.data() + word.size())
      return malformed();
    values_.push_back({number});
    return std::nullopt;
  }

  Found readOperator() {
    if (takes(")")) {
      while (!signs_.empty() && signs_.back() != Sign::Open)
        if (Found problem = reduce())
          return problem;
      if (signs_.empty())
        return malformed();
      signs_.pop_back();
      return std::nullopt;
    }
    static constexpr std::pair<std::string_view, Sign> signs[] = {{"+", Sign::Plus},
                                                                  {"-", Sign::Minus},
                                                                  {"*", Sign::Times},
                                                                  {"//", Sign::Over},
                                                                  {"%", Sign::Modulo}};
    for (auto [token, sign] : signs)
      if (takes(token)) {
        while (!signs_.empty() && strengthOf(signs_.back()) >= strengthOf(sign))
          if (Found problem = reduce())
            return problem;
        signs_.push_back(sign);
        wantsValue_ = true;
        return std::nullopt;
      }
    return malformed();
  }

  /// Applies the operator on top to the two values on top.
  Found reduce() {
    Sum right = std::move(values_.back());
    values_.pop_back();
    auto result = combined(signs_.back(), values_.back(), right, fusing_, map_);
    signs_.pop_back();
    if (!result)
      return result.failure();
    values_.back() = std::move(*result);
    return std::nullopt;
  }

  std::string_view text_;
  std::string_view rest_;
  const std::vector<std::string_view>& names_;
  std::span<const std::optional<int64_t>> extents_;
  Fusing fusing_;
  IndexMap& map_;
  std::vector<Sum> values_;
  std::vector<Sign> signs_;
  bool wantsValue_ = true;
};

/// Whether the digits of an index of the source make it up, each once.
bool isWhole(std::vector<IndexDigit> digits, std::optional<int64_t> extent) {
  std::ranges::sort(digits, {}, &IndexDigit::divisor);
  int64_t divisor = 1;
  bool isOpen = false;
  for (const IndexDigit& digit : digits) {
    if (isOpen || digit.divisor != divisor)
      return false;
    isOpen = !digit.extent;
    if (!isOpen && __builtin_mul_overflow(divisor, *digit.extent, &divisor))
      return false;
  }
  return extent ? !isOpen && divisor == *extent : isOpen;
}

/// The digits of each index of the source and each fused one.
std::vector<std::vector<IndexDigit>> digitsOf(const IndexMap& map) {
  std::vector<std::vector<IndexDigit>> digits(map.inputs + map.fused.size());
  for (const auto* indices : {&map.outputs, &map.fused})
    for (const IndexTerms& terms : *indices)
      for (const IndexTerm& term : terms)
        digits[term.digit.input].push_back(term.digit);
  return digits;
}

/// The extent of the index that terms make up.
std::optional<int64_t> extentOf(const IndexTerms& terms) {
  auto first = terms.front();
  return first.digit.extent ? std::optional(*first.digit.extent * first.scale) : std::nullopt;
}

Checked<IndexMap> readParts(const MapText& text, std::span<const std::optional<int64_t>> extents,
                            Fusing fusing) {
  IndexMap map{extents.size()};
  for (std::string_view part : text.to) {
    auto index = IndexReader(part, text.from, extents, fusing, map).read();
    if (!index)
      return index.failure();
    sortTerms(index->terms);
    if (!extentOf(*index))
      return Problem{fmt::format("its index map is no rearrangement: the index `{}` leaves out "
                                 "places, or meets one twice",
                                 part.substr(0, 80))};
    map.outputs.push_back(std::move(index->terms));
  }
  auto digits = digitsOf(map);
  for (size_t i = 0; i < digits.size(); ++i)
    if (!isWhole(digits[i], i < map.inputs ? extents[i] : extentOf(map.fused[i - map.inputs])))
      return Problem{"its index map is no rearrangement: what becomes of an index does not make it "
                     "up again"};
  return map;
}

/// Adds the digits that stand in an index to what they are part of.
void addDigits(const IndexTerms& terms, const Scalar& index, Position& source) {
  for (const IndexTerm& term : terms) {
    Scalar digit = floorDivide(index, term.scale);
    if (&term != terms.data())
      digit = floorMod(digit, *term.digit.extent);
    Scalar& whole = source[term.digit.input];
    whole = whole + digit * double(term.digit.divisor);
  }
}

} // namespace

std::vector<int64_t> divisorsOf(const IndexMap& map) {
  std::vector<int64_t> divisors;
  for (const auto& digits : digitsOf(map)) {
    divisors.push_back(1);
    for (const IndexDigit& digit : digits)
      divisors.back() = std::max(divisors.back(), digit.divisor);
  }
  return divisors;
}

Checked<IndexMapRanks> indexMapRanks(std::string_view text) {
  auto map = readMapText(text);
  if (!map)
    return map.failure();
  return IndexMapRanks{map->from.size(), map->to.size()};
}

Checked<IndexMap> readIndexMap(std::string_view text,
                               std::span<const std::optional<int64_t>> extents) {
  auto parts = readMapText(text);
  if (!parts)
    return parts.failure();
  auto map = readParts(*parts, extents, Fusing::WhereNeeded);
  return map ? map : readParts(*parts, extents, Fusing::Everywhere);
}

Position sourcePosition(const IndexMap& map, const Position& at, const Scalar& zero) {
  Position source(map.inputs + map.fused.size(), zero);
  for (size_t i = 0; i < at.size(); ++i)
    addDigits(map.outputs[i], at[i], source);
  for (size_t i = map.fused.size(); i-- > 0;)
    addDigits(map.fused[i], Scalar(source[map.inputs + i]), source);
  source.resize(map.inputs);
  return source;
}

} // namespace stdlib
