// Dimensions as arithmetic: as forms of kernels, as extents in expressions. This is the one walk
// that writes them out.
#pragma once

#include "lang/types/dim.h"

#include <optional>

namespace lang {

/// What a dimension is in an arithmetic, which has a type `Value`, `known(dim)`, which is null or
/// what `keep(dim, value)` kept, `open(dim)` for names, unknowns and `?`, and `number(n)`,
/// `add(a, b)`, `addNumber(a, n)`, `scaled(a, n)`, `multiply(a, b)`, `quotient(a, n)`, rounded
/// down. Recursion follows the form, whose depth is bounded.
template <typename Arithmetic>
typename Arithmetic::Value valueOf(const Dim* dim, Arithmetic& in);

template <typename Arithmetic>
typename Arithmetic::Value productOf(const Dim& dim, Arithmetic& in) {
  std::optional<typename Arithmetic::Value> product;
  for (const DimTerm& factor : dim.terms) {
    auto value = valueOf(factor.variable, in);
    for (int64_t i = 0; i < factor.coefficient; ++i)
      product = product ? in.multiply(*product, value) : value;
  }
  return *product;
}

template <typename Arithmetic>
typename Arithmetic::Value sumOf(const Dim& dim, Arithmetic& in) {
  std::optional<typename Arithmetic::Value> sum;
  for (const DimTerm& term : dim.terms) {
    auto value = valueOf(term.variable, in);
    if (term.coefficient != 1)
      value = in.scaled(value, term.coefficient);
    sum = sum ? in.add(*sum, value) : value;
  }
  return dim.value == 0 ? *sum : in.addNumber(*sum, dim.value);
}

template <typename Arithmetic>
typename Arithmetic::Value valueOf(const Dim* dim, Arithmetic& in) {
  if (const auto* known = in.known(dim))
    return *known;
  auto made = [&] {
    switch (dim->kind) {
    case DimKind::Constant:
      return in.number(dim->value);
    case DimKind::Product:
      return productOf(*dim, in);
    case DimKind::Quotient:
      return in.quotient(valueOf(dim->terms[0].variable, in), dim->terms[0].coefficient);
    case DimKind::Linear:
      return sumOf(*dim, in);
    default:
      return in.open(dim);
    }
  }();
  in.keep(dim, made);
  return made;
}

} // namespace lang
