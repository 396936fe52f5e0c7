// Recursion follows the nesting of types and sizes, which readers and the checker bound.
#include "parser/restore/types.h"

#include "parser/surface/node_depth.h"
#include "runtime/short_names.h"

namespace parser::restoring {

namespace {

using surface::DimKind;

class DimTree {
public:
  explicit DimTree(lang::Arena& arena) : arena_(arena) {}

  const surface::Dim* of(const lang::Dim& dim) {
    switch (dim.kind) {
    case lang::DimKind::Constant:
      return number(dim.value);
    case lang::DimKind::Any:
      return arena_.make<surface::Dim>(DimKind::Any);
    case lang::DimKind::Unknown:
      return arena_.make<surface::Dim>(DimKind::Hole);
    case lang::DimKind::Symbol: {
      auto* made = arena_.make<surface::Dim>(DimKind::Named);
      made->name = arena_.copyText(dim.name);
      return made;
    }
    case lang::DimKind::Quotient:
      return operation(DimKind::Quotient, of(*dim.terms[0].variable),
                       number(dim.terms[0].coefficient));
    case lang::DimKind::Product:
      return product(dim);
    case lang::DimKind::Linear:
      break;
    }
    return sum(dim);
  }

private:
  const surface::Dim* number(int64_t value) {
    auto* made = arena_.make<surface::Dim>(DimKind::Integer);
    made->value = value;
    return made;
  }

  const surface::Dim* operation(DimKind kind, const surface::Dim* left, const surface::Dim* right) {
    auto* made = arena_.make<surface::Dim>(kind);
    made->left = left;
    made->right = right;
    return made;
  }

  const surface::Dim* product(const lang::Dim& dim) {
    const surface::Dim* made = nullptr;
    for (const lang::DimTerm& factor : dim.terms)
      for (int64_t i = 0; i < factor.coefficient; ++i) {
        const surface::Dim* next = of(*factor.variable);
        made = made ? operation(DimKind::Product, made, next) : next;
      }
    return made;
  }

  /// Summands that are taken away come last, since no size begins with a minus sign.
  const surface::Dim* sum(const lang::Dim& dim) {
    const surface::Dim* made = nullptr;
    for (bool isNegative : {false, true}) {
      for (const lang::DimTerm& term : dim.terms)
        if ((term.coefficient < 0) == isNegative)
          made = plus(made, isNegative, std::abs(term.coefficient), term.variable);
      if (dim.value != 0 && (dim.value < 0) == isNegative)
        made = plus(made, isNegative, std::abs(dim.value), nullptr);
    }
    return made;
  }

  /// `made`, plus or minus a number times a variable, or a number alone.
  const surface::Dim* plus(const surface::Dim* made, bool isNegative, int64_t times,
                           const lang::Dim* variable) {
    const surface::Dim* next = !variable    ? number(times)
                               : times == 1 ? of(*variable)
                                            : scaled(times, *variable);
    if (!made && !isNegative)
      return next;
    return operation(isNegative ? DimKind::Difference : DimKind::Sum, made ? made : number(0),
                     next);
  }

  const surface::Dim* scaled(int64_t times, const lang::Dim& variable) {
    return operation(DimKind::Product, number(times), of(variable));
  }

  lang::Arena& arena_;
};

class TypeTree {
public:
  explicit TypeTree(lang::Arena& arena) : arena_(arena) {}

  const surface::Type* of(const lang::Type& type) {
    switch (type.kind) {
    case lang::TypeKind::Tensor:
      return tensor(type);
    case lang::TypeKind::Tuple: {
      auto* made = newNode<surface::TupleType>(arena_, {});
      made->fields = all(type.parts);
      return made;
    }
    case lang::TypeKind::Function: {
      auto* made = newNode<surface::FunctionType>(arena_, {});
      made->generics = genericNames(arena_, type.generics);
      made->parameters = all(type.parts);
      made->result = of(*type.result);
      return made;
    }
    case lang::TypeKind::Reference: {
      auto* made = newNode<surface::RefType>(arena_, {});
      made->inner = of(*type.parts[0]);
      return made;
    }
    case lang::TypeKind::Variable:
      return named(type.parameter->name, {});
    case lang::TypeKind::Data:
      return named(type.definition->name, all(type.parts));
    case lang::TypeKind::Dimension:
      return size(*type.shape[0], false);
    default:
      return newNode<surface::HoleType>(arena_, {});
    }
  }

private:
  const surface::Type* named(std::string_view name,
                             std::span<const surface::Type* const> arguments) {
    auto* made = newNode<surface::NamedType>(arena_, {});
    made->name = arena_.copyText(name);
    made->arguments = arguments;
    return made;
  }

  std::span<const surface::Type* const> all(lang::Types types) {
    std::vector<const surface::Type*> made;
    for (const lang::Type* type : types)
      made.push_back(of(*type));
    return arena_.copy(made);
  }

  const surface::Type* size(const lang::Dim& dim, bool isWide) {
    auto* made = newNode<surface::SizeType>(arena_, {});
    auto* tree = arena_.make<surface::Dim>(*DimTree(arena_).of(dim));
    tree->is64 = isWide;
    made->dim = tree;
    return made;
  }

  /// That extents count in 64 bits is said by the first number among them.
  const surface::Type* tensor(const lang::Type& type) {
    std::vector<const surface::Type*> extents;
    bool isAwaited = type.isWide;
    for (const lang::Dim* dim : type.shape) {
      bool saysWide = isAwaited && lang::isNarrowNumber(dim);
      isAwaited &= !saysWide;
      extents.push_back(size(*dim, saysWide));
    }
    return named(runtime::shortDTypeName(type.dtype), arena_.copy(extents));
  }

  lang::Arena& arena_;
};

} // namespace

const surface::Type* typeTree(lang::Arena& arena, const lang::Type& type) {
  return TypeTree(arena).of(type);
}

std::span<const surface::Identifier>
genericNames(lang::Arena& arena, std::span<const lang::TypeParameter* const> generics) {
  std::vector<surface::Identifier> names;
  for (const lang::TypeParameter* generic : generics)
    names.push_back({arena.copyText(generic->name), {}});
  return arena.copy(names);
}

} // namespace parser::restoring
