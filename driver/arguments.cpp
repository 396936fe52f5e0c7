// All problems are collected, so that one run shows everything that is missing.
#include "driver/arguments.h"

#include "driver/tensor_text.h"
#include "formats/load.h"
#include "formats/quote.h"
#include "formats/random_fill.h"
#include "lang/edit_distance.h"
#include "lang/shape_match.h"
#include "lang/utf8.h"

#include <charconv>
#include <fmt/format.h>
#include <unordered_set>

namespace driver {

namespace {

constexpr size_t mostListed = 30;
/// The source of sizes that --dim gives.
constexpr uint32_t fromOption = UINT32_MAX;

std::string parameterName(const lang::Var& parameter) {
  return "%" + lang::printable(parameter.name);
}

/// Gives each parameter its value.
class ArgumentReader {
public:
  ArgumentReader(const lang::Global& entry, const lang::Typing& typing, const RunOptions& options)
      : entry_(entry), parameters_(entry.function->parameters), typing_(typing), options_(options),
        values_(parameters_.size()), given_(parameters_.size(), false), matcher_(sizes_) {}

  Arguments read() {
    for (const std::string& dim : options_.dims)
      readDim(dim);
    for (const std::string& input : options_.inputs)
      readInput(input);
    if (auto misfit = matcher_.finish())
      failFit(*misfit, values_[*misfit].tensor().dtype(), values_[*misfit].tensor().shape());
    std::vector<const lang::Var*> missing;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (given_[i])
        continue;
      if (options_.seed)
        fill(i);
      else
        missing.push_back(parameters_[i]);
    }
    if (!missing.empty())
      fail("`@{}` needs inputs that are not given:{}\ngive each with --input NAME=PATH, or fill "
           "them with --random SEED",
           lang::printable(entry_.name), listed(missing));
    return {std::move(values_), std::move(problems_)};
  }

private:
  /// `%x` and its type, a line each.
  std::string listed(const std::vector<const lang::Var*>& parameters) const {
    std::string text;
    for (size_t i = 0; i < parameters.size() && i < mostListed; ++i)
      text += fmt::format("\n  {}: {}", parameterName(*parameters[i]),
                          lang::typeText(typing_.of(*parameters[i])));
    if (parameters.size() > mostListed)
      text += fmt::format("\n  and {} more", parameters.size() - mostListed);
    return text;
  }

  template <typename... Args>
  void fail(fmt::format_string<Args...> text, Args&&... args) {
    problems_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  void set(size_t i, runtime::Tensor tensor) {
    values_[i] = runtime::tensorValue(std::move(tensor));
  }

  /// The named dimension of that name in the types of the parameters, or null.
  const lang::Dim* findDim(std::string_view name) const {
    std::unordered_set<const lang::Dim*> seen;
    std::vector<const lang::Dim*> open;
    for (const lang::Var* parameter : parameters_)
      if (const lang::Type* type = typing_.of(*parameter); type->isTensor())
        open.insert(open.end(), type->shape.begin(), type->shape.end());
    while (!open.empty()) {
      const lang::Dim* dim = open.back();
      open.pop_back();
      if (!dim->hasSymbol || !seen.insert(dim).second)
        continue;
      if (dim->kind == lang::DimKind::Symbol && lang::dimText(dim) == name)
        return dim;
      for (const lang::DimTerm& term : dim->terms)
        open.push_back(term.variable);
    }
    return nullptr;
  }

  void readDim(std::string_view word) {
    size_t equals = std::min(word.find('='), word.size());
    std::string_view name = word.substr(0, equals), number = word.substr(equals);
    int64_t size = -1;
    auto end =
        std::from_chars(number.data() + !number.empty(), number.data() + number.size(), size);
    if (name.empty() || end.ec != std::errc() || end.ptr != number.data() + number.size() ||
        size < 0)
      return fail("--dim takes NAME=SIZE, and this is {}", formats::backquoted(word));
    const lang::Dim* dim = findDim(name);
    if (!dim)
      return fail("no parameter of `@{}` has a dimension {}", lang::printable(entry_.name),
                  formats::backquoted(name));
    if (sizes_.find(dim))
      return fail("the dimension {} is given twice", formats::backquoted(name));
    sizes_.add(dim, size, fromOption);
  }

  void readInput(std::string_view input) {
    size_t equals = input.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == input.size())
      return fail("--input takes NAME=PATH, and this is {}", formats::backquoted(input));
    std::string_view name = input.substr(0, equals);
    if (name.starts_with('%'))
      name.remove_prefix(1);
    auto named = [&](const lang::Var* parameter) { return parameter->name == name; };
    auto found = std::find_if(parameters_.begin(), parameters_.end(), named);
    if (found == parameters_.end())
      return failUnknown(name);
    size_t i = size_t(found - parameters_.begin());
    if (given_[i])
      return fail("the input {} is given twice", formats::backquoted(name));
    given_[i] = true;
    auto location = formats::splitKey(input.substr(equals + 1));
    auto tensor = formats::loadTensor(location.path, location.key);
    if (!tensor)
      return fail("the input `{}`: {}", parameterName(**found), tensor.failure().message);
    const lang::Type* type = typing_.of(**found);
    if (type->isTensor() && matcher_.match(*type, tensor->dtype(), tensor->shape(), uint32_t(i)))
      set(i, std::move(*tensor));
    else
      failFit(i, tensor->dtype(), tensor->shape());
  }

  void failUnknown(std::string_view name) {
    std::vector<std::string_view> names;
    for (const lang::Var* parameter : parameters_)
      names.push_back(parameter->name);
    auto similar = lang::similarNames(name, names);
    std::string advice;
    // Any name of one letter is one change away from any other.
    if (!similar.empty() && name.size() > 1)
      advice = fmt::format("; did you mean {}?", formats::backquoted(similar[0]));
    else if (parameters_.empty())
      advice = ", which has none";
    else
      advice = "; its parameters are:" + listed({parameters_.begin(), parameters_.end()});
    fail("{} is no parameter of `@{}`{}", formats::backquoted(name), lang::printable(entry_.name),
         advice);
  }

  void failFit(size_t i, runtime::DType dtype, const runtime::Shape& shape) {
    const lang::Type& type = *typing_.of(*parameters_[i]);
    auto place = [&](uint32_t source) {
      return source == fromOption ? std::string("by --dim")
                                  : fmt::format("in `{}`", parameterName(*parameters_[source]));
    };
    std::string reasons;
    if (auto dims = type.isTensor() ? lang::misfits(type, dtype, shape, sizes_) : std::nullopt)
      for (size_t dim : *dims)
        if (std::string text = lang::misfitText(type.shape[dim], shape[dim], sizes_, place);
            !text.empty())
          reasons += "; " + text;
    fail("parameter `{}` is `{}`, but its input is `{}`{}", parameterName(*parameters_[i]),
         lang::typeText(&type), tensorTypeText(dtype, shape), reasons);
  }

  void fill(size_t i) {
    const lang::Var& parameter = *parameters_[i];
    const lang::Type* type = typing_.of(parameter);
    if (!type->isTensor())
      return fail("parameter `{}` is `{}`, and only tensors can be filled or read from files; call "
                  "a function that takes tensors and builds it, with --entry",
                  parameterName(parameter), lang::typeText(type));
    runtime::Shape shape;
    for (const lang::Dim* dim : type->shape) {
      auto size = lang::sizeOf(dim, sizes_);
      if (!size)
        return failOpen(parameter, *dim);
      shape.push_back(*size);
    }
    auto tensor = formats::randomTensor(type->dtype, std::move(shape), *options_.seed, i);
    if (!tensor)
      return fail("parameter `{}` is `{}` and cannot be filled: {}", parameterName(parameter),
                  lang::typeText(type), tensor.failure().message);
    set(i, std::move(*tensor));
  }

  void failOpen(const lang::Var& parameter, const lang::Dim& dim) {
    std::string other;
    if (dim.kind == lang::DimKind::Symbol)
      other = fmt::format(", or the size of `{0}` with --dim {0}=SIZE", lang::dimText(&dim));
    fail("parameter `{}` is `{}`, whose shape is open, so it cannot be filled; give it with "
         "--input {}=PATH{}",
         parameterName(parameter), lang::typeText(typing_.of(parameter)),
         lang::printable(parameter.name), other);
  }

  const lang::Global& entry_;
  std::span<const lang::Var* const> parameters_;
  const lang::Typing& typing_;
  const RunOptions& options_;
  std::vector<runtime::Value> values_;
  std::vector<bool> given_;
  lang::DimSizes sizes_;
  lang::ShapeMatcher matcher_;
  std::vector<std::string> problems_;
};

} // namespace

Arguments readArguments(const lang::Global& entry, const lang::Typing& typing,
                        const RunOptions& options) {
  return ArgumentReader(entry, typing, options).read();
}

} // namespace driver
