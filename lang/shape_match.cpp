// A form is evaluated as `scale * name + offset`, which holds numbers (no name) and all that can be
// solved. Recursion follows the form, whose depth TypeContext bounds.
#include "lang/shape_match.h"

#include <algorithm>
#include <fmt/format.h>

namespace lang {

namespace {

struct Affine {
  const Dim* symbol = nullptr;
  int64_t scale = 0;
  int64_t offset = 0;
};

bool overflows(int64_t left, int64_t right, int64_t& sum) {
  return __builtin_add_overflow(left, right, &sum);
}

/// `left + factor * right`; nothing when two names meet or a number is too large.
std::optional<Affine> addScaled(const Affine& left, const Affine& right, int64_t factor) {
  Affine result{left.symbol ? left.symbol : right.symbol};
  int64_t scale = 0, offset = 0;
  if ((left.symbol && right.symbol && left.symbol != right.symbol) ||
      __builtin_mul_overflow(right.scale, factor, &scale) ||
      __builtin_mul_overflow(right.offset, factor, &offset) ||
      overflows(left.scale, scale, result.scale) || overflows(left.offset, offset, result.offset))
    return std::nullopt;
  if (result.scale == 0)
    result.symbol = nullptr;
  return result;
}

std::optional<Affine> multiply(const Affine& left, const Affine& right) {
  if (left.symbol && right.symbol)
    return std::nullopt;
  const Affine& number = left.symbol ? right : left;
  return addScaled({}, left.symbol ? left : right, number.offset);
}

std::optional<Affine> evaluate(const Dim* dim, const DimSizes& sizes);

std::optional<Affine> evaluateQuotient(const DimTerm& quotient, const DimSizes& sizes) {
  auto dividend = evaluate(quotient.variable, sizes);
  if (!dividend || dividend->symbol)
    return std::nullopt;
  int64_t down = dividend->offset % quotient.coefficient < 0 ? 1 : 0;
  return Affine{nullptr, 0, dividend->offset / quotient.coefficient - down};
}

std::optional<Affine> evaluateProduct(const Dim* dim, const DimSizes& sizes) {
  std::optional<Affine> result = Affine{nullptr, 0, 1};
  for (const DimTerm& factor : dim->terms)
    for (int64_t i = 0; result && i < factor.coefficient; ++i) {
      auto value = evaluate(factor.variable, sizes);
      result = value ? multiply(*result, *value) : std::nullopt;
    }
  return result;
}

std::optional<Affine> evaluate(const Dim* dim, const DimSizes& sizes) {
  switch (dim->kind) {
  case DimKind::Constant:
    return Affine{nullptr, 0, dim->value};
  case DimKind::Any:
  case DimKind::Unknown:
    return std::nullopt;
  case DimKind::Symbol: {
    const DimSizes::Known* known = sizes.find(dim);
    return known ? Affine{nullptr, 0, known->size} : Affine{dim, 1, 0};
  }
  case DimKind::Quotient:
    return evaluateQuotient(dim->terms[0], sizes);
  case DimKind::Product:
    return evaluateProduct(dim, sizes);
  case DimKind::Linear:
    break;
  }
  std::optional<Affine> result = Affine{nullptr, 0, dim->value};
  for (const DimTerm& term : dim->terms) {
    auto value = result ? evaluate(term.variable, sizes) : std::nullopt;
    result = value ? addScaled(*result, *value, term.coefficient) : std::nullopt;
  }
  return result;
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
void collectSymbols(const Dim* dim, std::vector<const Dim*>& symbols) {
  if (dim->kind == DimKind::Symbol && std::ranges::count(symbols, dim) == 0)
    symbols.push_back(dim);
  for (const DimTerm& term : dim->terms)
    collectSymbols(term.variable, symbols);
}

} // namespace

const DimSizes::Known* DimSizes::find(const Dim* symbol) const {
  auto serial = [](const Known& known) { return known.symbol->serial; };
  auto at = std::ranges::lower_bound(known_, symbol->serial, {}, serial);
  return at != known_.end() && at->symbol == symbol ? &*at : nullptr;
}

void DimSizes::add(const Dim* symbol, int64_t size, uint32_t source) {
  auto serial = [](const Known& known) { return known.symbol->serial; };
  auto at = std::ranges::lower_bound(known_, symbol->serial, {}, serial);
  known_.insert(at, {symbol, size, source});
}

std::optional<int64_t> sizeOf(const Dim* dim, const DimSizes& sizes) {
  auto form = evaluate(dim, sizes);
  return form && !form->symbol ? std::optional(form->offset) : std::nullopt;
}

Fit fitSize(const Dim* dim, int64_t size, const DimSizes& sizes) {
  if (dim->isConstant())
    return dim->value == size ? Fit::Yes : Fit::No;
  if (dim->isAny() || dim->kind == DimKind::Unknown)
    return Fit::Yes;
  auto form = evaluate(dim, sizes);
  if (!form)
    return Fit::Open;
  bool fits = form->symbol ? solve(*form, size).has_value() : form->offset == size;
  return fits ? Fit::Yes : Fit::No;
}

Fit ShapeMatcher::learn(const Waiting& question) {
  Fit fit = fitSize(question.dim, question.size, sizes_);
  if (fit != Fit::Yes || !question.dim->hasSymbol)
    return fit;
  if (auto form = evaluate(question.dim, sizes_); form && form->symbol)
    sizes_.add(form->symbol, *solve(*form, question.size), question.source);
  return fit;
}

bool ShapeMatcher::match(const Type& declared, runtime::DType dtype, std::span<const int64_t> shape,
                         uint32_t source) {
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
    std::vector<Waiting> open;
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

std::optional<std::vector<size_t>> misfits(const Type& declared, runtime::DType dtype,
                                           std::span<const int64_t> shape, const DimSizes& sizes) {
  if (declared.dtype != dtype || declared.shape.size() != shape.size())
    return std::nullopt;
  std::vector<size_t> dims;
  for (size_t i = 0; i < shape.size(); ++i)
    if (fitSize(declared.shape[i], shape[i], sizes) == Fit::No)
      dims.push_back(i);
  return dims;
}

std::string misfitText(const Dim* dim, int64_t size, const DimSizes& sizes,
                       const std::function<std::string(uint32_t source)>& place) {
  if (!dim->hasSymbol)
    return "";
  std::vector<const Dim*> symbols;
  collectSymbols(dim, symbols);
  std::string known, unknown;
  for (const Dim* symbol : symbols)
    if (const DimSizes::Known* found = sizes.find(symbol))
      known += fmt::format("{}`{}` is {} {}", known.empty() ? "" : " and ", dimText(symbol),
                           found->size, place(found->source));
    else
      unknown += fmt::format("{}`{}`", unknown.empty() ? "" : " and ", dimText(symbol));
  if (!unknown.empty())
    return fmt::format("no size of {} makes `{}` {}{}", unknown, dimText(dim), size,
                       known.empty() ? "" : ", where " + known);
  if (dim->kind == DimKind::Symbol)
    return fmt::format("{}, but here it is {}", known, size);
  auto value = sizeOf(dim, sizes);
  return fmt::format("`{}` is {}, because {}, but here it is {}", dimText(dim),
                     value ? std::to_string(*value) : "too large", known, size);
}

} // namespace lang
