// Forms of dimensions are written out by recursion, whose depth the checker bounds.
#include "lang/calls/kernel_nest.h"

#include "lower/loops/build.h"
#include "lower/loops/names.h"

#include <cctype>
#include <fmt/format.h>
#include <unordered_map>

namespace lang {

using loops::Form;

namespace {

/// A name with letters, digits and `_` alone.
std::string wordOf(std::string_view name) {
  std::string word;
  for (char letter : name)
    word += std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
  return word.empty() || std::isdigit(static_cast<unsigned char>(word[0])) ? "_" + word : word;
}

class Sizes {
public:
  explicit Sizes(loops::Nest& nest) : nest_(nest) {}

  Form of(const Dim* dim) {
    sizes::Table& table = nest_.table;
    switch (dim->kind) {
    case DimKind::Constant:
      return table.number(dim->value);
    case DimKind::Any:
      return fresh("some");
    case DimKind::Symbol:
    case DimKind::Unknown:
      return named(dim);
    case DimKind::Quotient:
      return table.quotient(of(dim->terms[0].variable), table.number(dim->terms[0].coefficient));
    case DimKind::Product: {
      Form form = table.number(1);
      for (const DimTerm& factor : dim->terms)
        for (int64_t i = 0; i < factor.coefficient; ++i)
          form = table.product(form, of(factor.variable));
      return form;
    }
    case DimKind::Linear: {
      Form form = table.number(dim->value);
      for (const DimTerm& term : dim->terms)
        form = table.sum(form, of(term.variable), term.coefficient);
      return form;
    }
    }
    return table.number(0);
  }

private:
  Form named(const Dim* dim) {
    if (dim->hasForeign)
      return fresh(dim->name);
    auto [known, isNew] = names_.try_emplace(dim);
    if (isNew)
      known->second = fresh(dim->name.empty() ? "some" : dim->name);
    return known->second;
  }

  Form fresh(std::string_view base) {
    std::string word = wordOf(base), name = word;
    for (size_t i = 1; nest_.table.find(name) || loops::isReserved(name); ++i)
      name = fmt::format("{}{}", word, i);
    Form form = nest_.table.name(name);
    nest_.sizes.push_back({*nest_.table.nameOf(form)});
    return form;
  }

  loops::Nest& nest_;
  std::unordered_map<const Dim*, Form> names_;
};

void addBuffers(loops::Nest& nest, Sizes& sizes, std::span<const NamedTensor> tensors,
                loops::Space space) {
  for (const NamedTensor& tensor : tensors) {
    std::string word = wordOf(tensor.name), name = word;
    for (size_t i = 1;
         std::ranges::find(nest.buffers, name, &loops::Buffer::name) != nest.buffers.end(); ++i)
      name = fmt::format("{}{}", word, i);
    loops::Buffer buffer{name, tensor.type->dtype, {}, space};
    for (const Dim* dim : tensor.type->shape)
      buffer.extents.push_back(sizes.of(dim));
    nest.buffers.push_back(std::move(buffer));
  }
}

} // namespace

runtime::Checked<loops::Nest> kernelNest(std::string name, const tensor::TensorFunction& function,
                                         std::span<const NamedTensor> inputs,
                                         std::span<const NamedTensor> results) {
  loops::Nest nest{.name = wordOf(name)};
  Sizes sizes(nest);
  addBuffers(nest, sizes, inputs, loops::Space::Input);
  addBuffers(nest, sizes, results, loops::Space::Output);
  return loops::nestOf(function, std::move(nest));
}

} // namespace lang
