// All problems are collected, so that one run shows everything that is missing.
#include "driver/arguments.h"

#include "driver/tensor_text.h"
#include "formats/load.h"
#include "formats/quote.h"
#include "formats/random_fill.h"
#include "lang/edit_distance.h"
#include "lang/utf8.h"

#include <fmt/format.h>
#include <unordered_map>

namespace driver {

namespace {

constexpr size_t mostListed = 30;

std::string parameterName(const lang::Var& parameter) {
  return "%" + lang::printable(parameter.name);
}

/// `%x` and its type, a line each.
std::string listed(const std::vector<const lang::Var*>& parameters) {
  std::string text;
  for (size_t i = 0; i < parameters.size() && i < mostListed; ++i)
    text += fmt::format("\n  {}: {}", parameterName(*parameters[i]),
                        lang::typeText(parameters[i]->type));
  if (parameters.size() > mostListed)
    text += fmt::format("\n  and {} more", parameters.size() - mostListed);
  return text;
}

/// Gives each parameter its value.
class ArgumentReader {
public:
  ArgumentReader(const lang::Global& entry, const RunOptions& options)
      : entry_(entry), parameters_(entry.function->parameters), options_(options),
        values_(parameters_.size()), given_(parameters_.size(), false) {}

  Arguments read() {
    for (const std::string& input : options_.inputs)
      readInput(input);
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
  template <typename... Args>
  void fail(fmt::format_string<Args...> text, Args&&... args) {
    problems_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  void set(size_t i, runtime::Tensor tensor) {
    interp::Precision precision{options_.precision};
    values_[i] = interp::tensorValue(interp::Array::fromTensor(std::move(tensor), precision));
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
      return fail("the input `{}`: {}", parameterName(**found), tensor.error().message);
    if (fits(**found, *tensor))
      set(i, std::move(*tensor));
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

  /// Compares a tensor with the parameter's type. A symbol stands for one extent in all parameters.
  bool fits(const lang::Var& parameter, const runtime::Tensor& tensor) {
    const lang::Type* type = parameter.type;
    bool good =
        type->isTensor() && type->dtype == tensor.dtype() && type->shape.size() == tensor.rank();
    for (size_t dim = 0; good && dim < tensor.rank(); ++dim) {
      const lang::Dim* wanted = type->shape[dim];
      int64_t extent = tensor.shape()[dim];
      if (wanted->isConstant())
        good = wanted->value == extent;
      else if (wanted->kind == lang::DimKind::Symbol)
        good = symbols_.emplace(wanted, extent).first->second == extent;
    }
    if (!good)
      fail("parameter `{}` is `{}`, but its input is `{}`", parameterName(parameter),
           lang::typeText(type), tensorTypeText(tensor.dtype(), tensor.shape()));
    return good;
  }

  void fill(size_t i) {
    const lang::Var& parameter = *parameters_[i];
    const lang::Type* type = parameter.type;
    if (!type->isTensor())
      return fail("parameter `{}` is `{}`, and only tensors can be filled or read from files; call "
                  "a function that takes tensors and builds it, with --entry",
                  parameterName(parameter), lang::typeText(type));
    runtime::Shape shape;
    for (const lang::Dim* dim : type->shape) {
      if (!dim->isConstant())
        return fail("parameter `{}` is `{}`, whose shape is open, so it cannot be filled; give it "
                    "with --input {}=PATH",
                    parameterName(parameter), lang::typeText(type),
                    lang::printable(parameter.name));
      shape.push_back(dim->value);
    }
    auto tensor = formats::randomTensor(type->dtype, std::move(shape), *options_.seed, i);
    if (!tensor)
      return fail("parameter `{}` is `{}` and cannot be filled: {}", parameterName(parameter),
                  lang::typeText(type), tensor.error().message);
    set(i, std::move(*tensor));
  }

  const lang::Global& entry_;
  std::span<const lang::Var* const> parameters_;
  const RunOptions& options_;
  std::vector<interp::Value> values_;
  std::vector<bool> given_;
  std::unordered_map<const lang::Dim*, int64_t> symbols_;
  std::vector<std::string> problems_;
};

} // namespace

Arguments readArguments(const lang::Global& entry, const RunOptions& options) {
  return ArgumentReader(entry, options).read();
}

} // namespace driver
