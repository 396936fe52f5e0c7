// All problems are collected, so that one run shows everything that is missing.
#include "driver/arguments.h"

#include "driver/input_convert.h"
#include "driver/input_literal.h"
#include "driver/tensor_text.h"
#include "driver/value_literal.h"
#include "formats/load.h"
#include "formats/quote.h"
#include "formats/random_fill.h"
#include "lang/edit_distance.h"
#include "lang/run_checks.h"
#include "lang/utf8.h"

#include <algorithm>
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
  ArgumentReader(const lang::Global& entry, const lang::Typing& typing, lang::TypeContext& types,
                 const RunOptions& options)
      : entry_(entry), parameters_(entry.function->parameters), typing_(typing), types_(types),
        options_(options), values_(parameters_.size()), given_(parameters_.size(), false),
        matcher_(table_, sizes_) {}

  Arguments read() {
    for (const std::string& dim : options_.dims)
      readDim(dim);
    for (const std::string& input : options_.inputs)
      if (!isWholeFile(input))
        readInput(input);
    const std::vector<bool> named = given_;
    for (const std::string& input : options_.inputs)
      if (isWholeFile(input))
        readFile(input, named);
    if (auto misfit = matcher_.finish())
      fail("{}", misfitOf(leaves_[*misfit]));
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
      fail("`@{}` needs inputs that are not given:{}\ngive each with --input NAME=PATH or "
           "NAME=LITERAL, or fill them with --random SEED",
           lang::printable(entry_.name), listed(missing));
    return {std::move(values_), std::move(problems_), std::move(notes_)};
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

  /// The named dimension of that name in the types of the parameters, or null.
  const lang::Dim* findDim(std::string_view name) const {
    std::unordered_set<const lang::Type*> seenTypes;
    std::vector<const lang::Type*> openTypes;
    for (const lang::Var* parameter : parameters_)
      openTypes.push_back(typing_.of(*parameter));
    std::unordered_set<const lang::Dim*> seen;
    std::vector<const lang::Dim*> open;
    while (!openTypes.empty()) {
      const lang::Type* type = openTypes.back();
      openTypes.pop_back();
      if (!type || !type->hasSymbol || !seenTypes.insert(type).second)
        continue;
      open.insert(open.end(), type->shape.begin(), type->shape.end());
      openTypes.insert(openTypes.end(), type->parts.begin(), type->parts.end());
      openTypes.push_back(type->result);
    }
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
    uint32_t form = declarations_.size(dim);
    if (sizes_.find(form))
      return fail("the dimension {} is given twice", formats::backquoted(name));
    sizes_.add(form, size, fromOption);
  }

  static bool isWholeFile(std::string_view input) {
    return input.find('=') == std::string_view::npos && formats::isKeyedFile(input);
  }

  void readInput(std::string_view input) {
    size_t equals = input.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == input.size())
      return fail(
          "--input takes NAME=PATH, NAME=LITERAL, or a .npz or .safetensors file alone, and "
          "this is {}",
          formats::backquoted(input));
    std::string_view name = input.substr(0, equals), value = input.substr(equals + 1);
    if (name.starts_with('%'))
      name.remove_prefix(1);
    auto found = std::ranges::find(parameters_, name, &lang::Var::name);
    if (found == parameters_.end())
      return failUnknown(name);
    size_t i = size_t(found - parameters_.begin());
    if (given_[i])
      return fail("the input {} is given twice", formats::backquoted(name));
    given_[i] = true;
    auto location = formats::splitKey(value);
    bool isFile = formats::isTensorFile(location.path);
    const lang::Type* type = typing_.of(*parameters_[i]);
    if (!isFile && isStructured(*type))
      readValue(i, value);
    else if (!isFile && looksLiteral(value))
      readLiteral(i, value);
    else if (isFile)
      readTensor(i, location);
    else
      fail("the input `{}`: {} is no literal of `{}` and no file: the name ends in none of .npy, "
           ".npz and .safetensors",
           parameterName(*parameters_[i]), formats::backquoted(value), lang::typeText(type));
  }

  void readLiteral(size_t i, std::string_view text) {
    const lang::Type* type = typing_.of(*parameters_[i]);
    auto tensor = literalTensor(text, type->isTensor() ? type->dtype : runtime::Int32);
    if (!tensor)
      return fail("the input `{}`: {}", parameterName(*parameters_[i]), tensor.failure().message);
    accept(i, std::move(*tensor));
  }

  void readValue(size_t i, std::string_view text) {
    auto value = valueLiteral(text, typing_.of(*parameters_[i]), types_,
                              [&](const lang::Type* type, const runtime::Tensor& tensor) {
                                return match({i, type, tensor});
                              });
    if (value)
      values_[i] = *std::move(value);
    else
      fail("the input `{}`: {}", parameterName(*parameters_[i]), value.failure().message);
  }

  void readTensor(size_t i, const formats::TensorLocation& location) {
    auto tensor = formats::loadTensor(location.path, location.key);
    if (!tensor)
      return fail("the input `{}`: {}", parameterName(*parameters_[i]), tensor.failure().message);
    const lang::Type* type = typing_.of(*parameters_[i]);
    runtime::DType from = tensor->dtype(), to = type->dtype;
    if (type->isTensor() && from != to && isConvertible(from, to)) {
      auto converted = convertedTensor(*tensor, to);
      if (!converted)
        return fail("the input `{}` is `{}`: {}", parameterName(*parameters_[i]),
                    runtime::dtypeName(from), converted.failure().message);
      tensor = std::move(converted);
      notes_.push_back(fmt::format("the input `{}` is converted from `{}` to `{}`",
                                   parameterName(*parameters_[i]), runtime::dtypeName(from),
                                   runtime::dtypeName(to)));
    }
    accept(i, std::move(*tensor));
  }

  /// Takes a tensor for a parameter if it fits.
  void accept(size_t i, runtime::Tensor tensor) {
    if (auto good = match({i, typing_.of(*parameters_[i]), tensor}); !good)
      return fail("{}", good.failure().message);
    values_[i] = runtime::tensorValue(std::move(tensor));
  }

  /// A tensor of an input, and what it must be.
  struct Leaf {
    size_t parameter;
    const lang::Type* type;
    runtime::Tensor tensor;
  };

  /// Compares a tensor with its type, and learns the sizes of names.
  runtime::Result<runtime::Done> match(Leaf leaf) {
    leaves_.push_back(std::move(leaf));
    const auto& [parameter, type, tensor] = leaves_.back();
    bool fits = type->isTensor() && matcher_.match(declarations_.type(*type), tensor.dtype(),
                                                   tensor.shape(), uint32_t(leaves_.size() - 1));
    return fits ? runtime::Result<runtime::Done>(runtime::Done{})
                : runtime::Error{misfitOf(leaves_.back())};
  }

  /// The key for a parameter: its name, or one that differs in letters that no name can have.
  static const std::string* keyFor(std::string_view name, const std::vector<std::string>& keys) {
    auto isLetter = [](char c) { return std::isalnum(uint8_t(c)) || c == '_' || c == '/'; };
    auto reads = [&](const std::string& key) {
      return std::ranges::equal(key, name, [&](char letter, char own) {
        return letter == own || (own == '_' && !isLetter(letter));
      });
    };
    auto found = std::ranges::find(keys, name);
    if (found == keys.end())
      found = std::ranges::find_if(keys, reads);
    return found == keys.end() ? nullptr : &*found;
  }

  /// Fills parameters by the keys of a file, except those that are given by `named` inputs.
  void readFile(const std::string& path, const std::vector<bool>& named) {
    auto keys = formats::loadKeys(path);
    if (!keys)
      return fail("{}", keys.failure().message);
    std::unordered_set<std::string_view> used;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const std::string* key = keyFor(parameters_[i]->name, *keys);
      if (!key)
        continue;
      used.insert(*key);
      if (named[i])
        continue;
      if (given_[i])
        fail("the input {} is given twice", formats::backquoted(parameters_[i]->name));
      else
        readTensor(i, {path, *key});
      given_[i] = true;
    }
    if (used.empty())
      return fail("{} has no tensor for a parameter of `@{}`; {}{}", formats::backquoted(path),
                  lang::printable(entry_.name), formats::listedKeys(*keys), ownParameters());
    std::vector<std::string> rest;
    std::ranges::copy_if(*keys, std::back_inserter(rest),
                         [&](const std::string& key) { return !used.contains(key); });
    if (!rest.empty())
      notes_.push_back(fmt::format("not every tensor in {} has a parameter; of the others, {}",
                                   formats::backquoted(path), formats::listedKeys(rest)));
  }

  std::string ownParameters() const {
    return parameters_.empty()
               ? fmt::format("; `@{}` has no parameters", lang::printable(entry_.name))
               : "; its parameters are:" + listed({parameters_.begin(), parameters_.end()});
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
    else
      advice = ownParameters();
    fail("{} is no parameter of `@{}`{}", formats::backquoted(name), lang::printable(entry_.name),
         advice);
  }

  std::string misfitOf(const Leaf& leaf) {
    const runtime::DType dtype = leaf.tensor.dtype();
    const runtime::Shape& shape = leaf.tensor.shape();
    const lang::Type& type = *leaf.type;
    const std::string name = parameterName(*parameters_[leaf.parameter]);
    bool isWhole = leaf.type == typing_.of(*parameters_[leaf.parameter]);
    auto place = [&](uint32_t source) {
      return source == fromOption
                 ? std::string("by --dim")
                 : fmt::format("in `{}`", parameterName(*parameters_[leaves_[source].parameter]));
    };
    std::string reasons;
    const checks::Declared declared = declarations_.type(type);
    if (auto dims = type.isTensor() ? checks::misfits(declared, dtype, shape, table_, sizes_)
                                    : std::nullopt)
      for (size_t dim : *dims)
        if (std::string text =
                checks::misfitText(declared.shape[dim], shape[dim], table_, sizes_, place);
            !text.empty())
          reasons += "; " + text;
    return fmt::format("{} is `{}`, but its input is `{}`{}",
                       isWhole ? fmt::format("parameter `{}`", name)
                               : fmt::format("a part of parameter `{}`", name),
                       lang::typeText(&type), tensorTypeText(dtype, shape), reasons);
  }

  void fill(size_t i) {
    uint64_t leaves = 0;
    if (auto value = filled(i, typing_.of(*parameters_[i]), leaves))
      values_[i] = std::move(*value);
  }

  /// A value of a type made of tensors and tuples of them; nothing after a report. Further leaves
  /// of a parameter get numbers that no parameter has.
  std::optional<runtime::Value> filled(size_t i, const lang::Type* type, uint64_t& leaves) {
    const lang::Var& parameter = *parameters_[i];
    if (type->isTuple()) {
      std::vector<runtime::Value> fields;
      for (const lang::Type* part : type->parts) {
        auto field = filled(i, part, leaves);
        if (!field)
          return std::nullopt;
        fields.push_back(std::move(*field));
      }
      return runtime::tupleValue(std::move(fields));
    }
    if (!type->isTensor()) {
      fail("parameter `{}` is `{}`, and only tensors and tuples of them can be filled; {}",
           parameterName(parameter), lang::typeText(typing_.of(parameter)),
           isStructured(*type)
               ? fmt::format("give it with --input {}=LITERAL", lang::printable(parameter.name))
               : "call a function that takes tensors and builds it, with --entry");
      return std::nullopt;
    }
    runtime::Shape shape;
    for (const lang::Dim* dim : type->shape) {
      auto size = checks::sizeOf(declarations_.size(dim), table_, sizes_);
      if (!size) {
        failOpen(parameter, dim);
        return std::nullopt;
      }
      shape.push_back(*size);
    }
    uint64_t number = i + (leaves++ << 32);
    auto tensor = formats::randomTensor(type->dtype, std::move(shape), *options_.seed, number);
    if (tensor)
      return runtime::tensorValue(std::move(*tensor));
    fail("parameter `{}` is `{}` and cannot be filled: {}", parameterName(parameter),
         lang::typeText(typing_.of(parameter)), tensor.failure().message);
    return std::nullopt;
  }

  void failOpen(const lang::Var& parameter, const lang::Dim* dim) {
    std::vector<std::string> ways;
    if (typing_.of(parameter)->isTensor())
      ways.push_back(fmt::format("it with --input {}=PATH", lang::printable(parameter.name)));
    if (auto name = nameMissing(dim))
      ways.push_back(fmt::format("the size of `{0}` with --dim {0}=SIZE", lang::dimText(name)));
    fail("parameter `{}` is `{}`, whose shape is open, so it cannot be filled{}{}",
         parameterName(parameter), lang::typeText(typing_.of(parameter)),
         ways.empty() ? "" : "; give ", fmt::join(ways, ", or "));
  }

  /// The only name without a size in a dimension; nothing if there are several.
  const lang::Dim* nameMissing(const lang::Dim* dim) {
    std::vector<const lang::Dim*> missing, open = {dim};
    while (!open.empty()) {
      const lang::Dim* part = open.back();
      open.pop_back();
      for (const lang::DimTerm& term : part->terms)
        open.push_back(term.variable);
      bool isOpen = part->terms.empty() && !part->isConstant() &&
                    !checks::sizeOf(declarations_.size(part), table_, sizes_);
      if (isOpen && std::ranges::find(missing, part) == missing.end())
        missing.push_back(part);
    }
    bool isNamed = missing.size() == 1 && missing[0]->kind == lang::DimKind::Symbol;
    return isNamed ? missing[0] : nullptr;
  }

  const lang::Global& entry_;
  std::span<const lang::Var* const> parameters_;
  const lang::Typing& typing_;
  lang::TypeContext& types_;
  const RunOptions& options_;
  std::vector<runtime::Value> values_;
  std::vector<bool> given_;
  checks::SizeTable table_;
  lang::Declarations declarations_{table_};
  checks::KnownSizes sizes_;
  checks::ShapeMatcher matcher_;
  std::vector<Leaf> leaves_;
  std::vector<std::string> problems_;
  std::vector<std::string> notes_;
};

} // namespace

Arguments readArguments(const lang::Global& entry, const lang::Typing& typing,
                        lang::TypeContext& types, const RunOptions& options) {
  return ArgumentReader(entry, typing, types, options).read();
}

} // namespace driver
