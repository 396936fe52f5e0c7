// A name of a size means the same in all parameters, whatever it is that gives the size first.
#include "driver/values/input_fit.h"

#include "driver/values/input_convert.h"
#include "driver/values/tensor_text.h"
#include "lang/source/utf8.h"
#include "runtime/formats/quote.h"

#include <charconv>
#include <fmt/format.h>
#include <unordered_set>

namespace driver {

using runtime::Done;
using runtime::Error;
using runtime::Result;
using runtime::Tensor;

namespace {

// What gives sizes, beside tensors.
constexpr uint32_t fromOption = UINT32_MAX;
constexpr uint32_t assumed = UINT32_MAX - 1;

/// The input of a parameter, or a part of it with its path.
std::string inputText(const std::string& name, const ValueBuilder& part) {
  return part.depth() == 0 ? fmt::format("the input `{}`", name)
                           : fmt::format("`{}`, a part of the input `{}`,", part.path(), name);
}

} // namespace

std::string parameterName(const lang::Var& parameter, lang::Notation notation) {
  return runtime::localName(lang::printable(parameter.name)).in(notation);
}

Result<Done> InputFit::giveSize(std::string_view word) {
  size_t equals = std::min(word.find('='), word.size());
  std::string_view name = word.substr(0, equals), number = word.substr(equals);
  int64_t size = -1;
  auto end = std::from_chars(number.data() + !number.empty(), number.data() + number.size(), size);
  if (name.empty() || end.ec != std::errc() || end.ptr != number.data() + number.size() || size < 0)
    return Error{fmt::format("--dim takes NAME=SIZE, and this is {}", formats::backquoted(word))};
  const lang::Dim* dim = findDim(name);
  if (!dim)
    return Error{fmt::format("no parameter of `{}` has a dimension {}",
                             runtime::globalName(lang::printable(entry_.name)).in(notation_),
                             formats::backquoted(name))};
  uint32_t form = declarations_.size(dim);
  if (sizes_.find(form))
    return Error{fmt::format("the dimension {} is given twice", formats::backquoted(name))};
  sizes_.add(form, size, fromOption);
  return Done{};
}

std::vector<const lang::Dim*> namesOfSizes(std::vector<const lang::Type*> openTypes) {
  std::unordered_set<const lang::Type*> seenTypes;
  std::unordered_set<const lang::Dim*> seen;
  std::vector<const lang::Dim*> open, names;
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
    if (dim->kind == lang::DimKind::Symbol)
      names.push_back(dim);
    for (const lang::DimTerm& term : dim->terms)
      open.push_back(term.variable);
  }
  return names;
}

std::vector<const lang::Dim*> InputFit::names() const {
  std::vector<const lang::Type*> types;
  for (const lang::Var* parameter : parameters_)
    types.push_back(typing_.of(*parameter));
  return namesOfSizes(std::move(types));
}

/// The named dimension of that name in the types of the parameters, or null.
const lang::Dim* InputFit::findDim(std::string_view name) const {
  for (const lang::Dim* dim : names())
    if (lang::dimText(dim) == name)
      return dim;
  return nullptr;
}

Result<Tensor> InputFit::fit(size_t parameter, const ValueBuilder& part, Tensor tensor) {
  const lang::Type& type = *part.wanted();
  if (type.isTensor() && tensor.rank() == type.shape.size() && tensor.dtype() != type.dtype &&
      isConvertible(tensor.dtype(), type.dtype)) {
    auto fitting = converted(parameter, part, tensor);
    if (!fitting)
      return fitting;
    tensor = *std::move(fitting);
  }
  const Leaf leaf{parameter, &type, tensor.dtype(), tensor.shape()};
  if (type.hasSymbol)
    leaves_.push_back(leaf);
  const auto source = uint32_t(leaves_.size()) - 1;
  bool fits = type.isTensor() &&
              matcher_.match(declarations_.type(type), tensor.dtype(), tensor.shape(), source);
  return fits ? Result<Tensor>(std::move(tensor)) : Error{misfitOf(leaf, &part)};
}

Result<Tensor> InputFit::converted(size_t parameter, const ValueBuilder& part,
                                   const Tensor& tensor) {
  const runtime::DType to = part.wanted()->dtype;
  const std::string name = parameterName(*parameters_[parameter]);
  const std::string from = runtime::spelled(tensor.dtype()).in(notation_);
  auto converted = convertedTensor(tensor, to, notation_);
  if (!converted)
    return Error{
        fmt::format("{} is `{}`: {}", inputText(name, part), from, converted.failure().message)};
  std::string note =
      fmt::format("{} converted from `{}` to `{}`",
                  part.depth() == 0 ? fmt::format("the input `{}` is", name)
                                    : fmt::format("parts of the input `{}` are", name),
                  from, runtime::spelled(to).in(notation_));
  if (noted_.insert(note).second)
    notes_.push_back(std::move(note));
  return converted;
}

std::optional<std::string> InputFit::finish() {
  auto misfit = matcher_.finish();
  return misfit ? std::optional(misfitOf(leaves_[*misfit], nullptr)) : std::nullopt;
}

std::string InputFit::misfitOf(const Leaf& leaf, const ValueBuilder* part) {
  const lang::Type& type = *leaf.type;
  const std::string name = parameterName(*parameters_[leaf.parameter]);
  auto place = [&](uint32_t source) {
    return lang::Words(
        source < leaves_.size()
            ? fmt::format("in `{}`", parameterName(*parameters_[leaves_[source].parameter]))
            : std::string(source == fromOption ? "by --dim" : "in what was filled"));
  };
  std::string reasons;
  const checks::Declared declared = declarations_.type(type);
  if (auto dims = type.isTensor()
                      ? checks::misfits(declared, leaf.dtype, leaf.shape, table_, sizes_)
                      : std::nullopt)
    for (size_t dim : *dims)
      if (lang::Words words =
              checks::misfitWords(declared.shape[dim], leaf.shape[dim], table_, sizes_, place);
          !words.empty())
        reasons += "; " + words.in(notation_);
  if (type.isTensor() && leaf.dtype != type.dtype && !isConvertible(leaf.dtype, type.dtype))
    reasons += fmt::format("; elements of another kind are not converted, but numpy does it by "
                           "astype(\"{}\")",
                           runtime::dtypeName(type.dtype));
  bool isWhole = &type == typing_.of(*parameters_[leaf.parameter]);
  std::string where =
      part && part->depth() > 0 ? fmt::format("in `{}`, ", part->path()) : std::string();
  return fmt::format("{}{}parameter `{}` is `{}`, but its input is `{}`{}", where,
                     isWhole && where.empty() ? "" : "a part of ", name,
                     lang::typeText(&type, notation_),
                     tensorTypeText(leaf.dtype, leaf.shape, notation_), reasons);
}

std::optional<int64_t> InputFit::sizeOf(const lang::Dim* dim) {
  return checks::sizeOf(declarations_.size(dim), table_, sizes_);
}

const lang::Dim* InputFit::nameMissing(const lang::Dim* dim) {
  std::vector<const lang::Dim*> missing, open = {dim};
  while (!open.empty()) {
    const lang::Dim* part = open.back();
    open.pop_back();
    for (const lang::DimTerm& term : part->terms)
      open.push_back(term.variable);
    bool isOpen = part->terms.empty() && !part->isConstant() && !sizeOf(part);
    if (isOpen && std::ranges::find(missing, part) == missing.end())
      missing.push_back(part);
  }
  bool isNamed = missing.size() == 1 && missing[0]->kind == lang::DimKind::Symbol;
  return isNamed ? missing[0] : nullptr;
}

void InputFit::assume(const lang::Dim* name, int64_t size) {
  sizes_.add(declarations_.size(name), size, assumed);
}

} // namespace driver
