// Names of dimensions become words.
#include "lang/calls/kernel_nest.h"

#include "lang/types/dim_value.h"
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

  // What valueOf() asks of an arithmetic.

  using Value = Form;

  const Form* known(const Dim* dim) const {
    auto found = names_.find(dim);
    return found == names_.end() ? nullptr : &found->second;
  }
  /// What Relay lets stand for anything, and each `?`, is a size of its own wherever it stands.
  void keep(const Dim* dim, Form form) {
    if (!dim->isAny() && !dim->hasForeign)
      names_.emplace(dim, form);
  }
  Form open(const Dim* dim) { return fresh(dim->name.empty() ? "some" : dim->name); }
  Form number(int64_t value) { return nest_.table.number(value); }
  Form add(Form a, Form b) { return nest_.table.sum(a, b); }
  Form addNumber(Form a, int64_t value) { return add(a, number(value)); }
  Form multiply(Form a, Form b) { return nest_.table.product(a, b); }
  Form scaled(Form a, int64_t value) { return multiply(a, number(value)); }
  Form quotient(Form a, int64_t value) { return nest_.table.quotient(a, number(value)); }

private:
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
      buffer.extents.push_back(valueOf(dim, sizes));
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
