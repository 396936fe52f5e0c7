// Recursion follows the form, whose depth is bounded.
#include "runtime/checks/sizes.h"

#include "runtime/checks/size_value.h"

#include <algorithm>
#include <fmt/format.h>

namespace checks {

namespace {

/// What a form is, where some names have sizes; nothing when it cannot be solved.
std::optional<Affine> affineOf(uint32_t place, const SizeTable& table, const KnownSizes& sizes) {
  if (table[place].kind == SizeKind::Name) {
    const KnownSizes::Known* known = sizes.find(place);
    return known ? Affine{Affine::noName, 0, known->size} : Affine{place, 1, 0};
  }
  auto termValue = [&](uint32_t term, Affine& value) {
    auto found = affineOf(term, table, sizes);
    value = found.value_or(Affine{});
    return found.has_value();
  };
  Affine value;
  return valueOf(table[place], termValue, value) ? std::optional(value) : std::nullopt;
}

/// The size of the name that makes the form `size`; nothing when there is none.
std::optional<int64_t> solve(const Affine& form, int64_t size) {
  int64_t rest = 0;
  if (__builtin_sub_overflow(size, form.offset, &rest) || rest == INT64_MIN ||
      rest % form.scale != 0 || rest / form.scale < 0)
    return std::nullopt;
  return rest / form.scale;
}

/// Gives the names in a form, without repeats.
void collectNames(uint32_t form, const SizeTable& table, runtime::List<uint32_t>& names) {
  if (table[form].kind == SizeKind::Name && std::ranges::count(names, form) == 0)
    names.push_back(form);
  for (const SizeTerm& term : table[form].terms)
    collectNames(term.size, table, names);
}

} // namespace

const KnownSizes::Known* KnownSizes::find(uint32_t name) const {
  auto at = std::ranges::lower_bound(known_, name, {}, &Known::name);
  return at != known_.end() && at->name == name ? &*at : nullptr;
}

void KnownSizes::add(uint32_t name, int64_t size, uint32_t source) {
  auto at = std::ranges::lower_bound(known_, name, {}, &Known::name);
  known_.insert(at, {name, size, source});
}

std::optional<int64_t> sizeOf(uint32_t form, const SizeTable& table, const KnownSizes& sizes) {
  auto value = affineOf(form, table, sizes);
  return value && value->isNumber() ? std::optional(value->offset) : std::nullopt;
}

Fit fitSize(uint32_t form, int64_t size, const SizeTable& table, const KnownSizes& sizes) {
  const Size& declared = table[form];
  if (declared.kind == SizeKind::Number)
    return declared.number == size ? Fit::Yes : Fit::No;
  if (declared.kind == SizeKind::Open)
    return Fit::Yes;
  auto value = affineOf(form, table, sizes);
  if (!value)
    return Fit::Open;
  bool fits = value->isNumber() ? value->offset == size : solve(*value, size).has_value();
  return fits ? Fit::Yes : Fit::No;
}

Fit ShapeMatcher::learn(const Waiting& question) {
  Fit fit = fitSize(question.form, question.size, table_, sizes_);
  if (fit != Fit::Yes || table_[question.form].kind < SizeKind::Name)
    return fit;
  if (auto form = affineOf(question.form, table_, sizes_); form && !form->isNumber())
    sizes_.add(form->name, *solve(*form, question.size), question.source);
  return fit;
}

bool ShapeMatcher::match(const Declared& declared, runtime::DType dtype,
                         std::span<const int64_t> shape, uint32_t source) {
  if (declared.dtype != dtype || declared.shape.size() != shape.size())
    return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    Waiting question{declared.shape[i], shape[i], source};
    Fit fit = learn(question);
    if (fit == Fit::No)
      return false;
    if (fit == Fit::Open)
      waiting_.push_back(question);
  }
  return true;
}

std::optional<uint32_t> ShapeMatcher::finish() {
  for (size_t before = waiting_.size() + 1; waiting_.size() < before;) {
    before = waiting_.size();
    runtime::List<Waiting> open;
    for (const Waiting& question : waiting_) {
      Fit fit = learn(question);
      if (fit == Fit::No)
        return question.source;
      if (fit == Fit::Open)
        open.push_back(question);
    }
    waiting_ = std::move(open);
  }
  return std::nullopt;
}

std::optional<std::vector<size_t>> misfits(const Declared& declared, runtime::DType dtype,
                                           std::span<const int64_t> shape, const SizeTable& table,
                                           const KnownSizes& sizes) {
  if (declared.dtype != dtype || declared.shape.size() != shape.size())
    return std::nullopt;
  std::vector<size_t> dims;
  for (size_t i = 0; i < shape.size(); ++i)
    if (fitSize(declared.shape[i], shape[i], table, sizes) == Fit::No)
      dims.push_back(i);
  return dims;
}

runtime::Words misfitWords(uint32_t form, int64_t size, const SizeTable& table,
                           const KnownSizes& sizes,
                           runtime::FunctionRef<runtime::Words(uint32_t source)> place) {
  using runtime::words;
  runtime::List<uint32_t> names;
  collectNames(form, table, names);
  if (names.empty())
    return {};
  std::vector<runtime::Words> parts, open;
  for (uint32_t name : names)
    if (const KnownSizes::Known* found = sizes.find(name))
      parts.push_back(words("`{}` is {} {}", table[name].text, found->size, place(found->source)));
    else
      open.push_back(fmt::format("`{}`", table[name].text));
  const Size& declared = table[form];
  const bool isKnown = !parts.empty();
  const runtime::Words known = runtime::joined(std::move(parts), " and ");
  if (!open.empty())
    return words("no size of {} makes `{}` {}{}", runtime::joined(std::move(open), " and "),
                 declared.text, size, isKnown ? words(", where {}", known) : "");
  if (declared.kind == SizeKind::Name)
    return words("{}, but here it is {}", known, size);
  auto value = sizeOf(form, table, sizes);
  return words("`{}` is {}, because {}, but here it is {}", declared.text,
               value ? fmt::format("{}", *value) : "too large", known, size);
}

} // namespace checks
