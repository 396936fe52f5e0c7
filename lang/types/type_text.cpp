// Types as text. The text of a type is written with a work list, since types may nest as deep as a
// program is long.
#include "lang/types/type_text.h"

#include "lang/types/repaired_names.h"

#include <algorithm>

namespace lang {

using printing::bareName;

namespace {

/// The form in brackets when it is a sum.
std::string factorText(const Dim* dim) {
  return dim->kind == DimKind::Linear ? "(" + dimText(dim) + ")" : dimText(dim);
}

/// `n`, `2 * n`, with the sign of the coefficient dropped.
std::string termText(const DimTerm& term) {
  std::string coefficient = std::to_string(term.coefficient);
  if (term.coefficient < 0)
    coefficient.erase(0, 1);
  if (coefficient == "1")
    return dimText(term.variable);
  bool needsBrackets = term.variable->kind == DimKind::Quotient;
  return coefficient + " * " +
         (needsBrackets ? "(" + dimText(term.variable) + ")" : dimText(term.variable));
}

/// `m * n * n`: factors by name.
std::string productText(const Dim& dim) {
  std::vector<std::string> factors;
  for (const DimTerm& factor : dim.terms)
    factors.insert(factors.end(), size_t(factor.coefficient),
                   factor.variable->kind == DimKind::Quotient ? "(" + dimText(factor.variable) + ")"
                                                              : dimText(factor.variable));
  std::ranges::sort(factors);
  std::string result = factors[0];
  for (size_t i = 1; i < factors.size(); ++i)
    result += " * " + factors[i];
  return result;
}

/// `2 * n + m - 1`: terms by name, those with a minus behind; `1 - n` when there are only such.
std::string linearText(const Dim& dim) {
  std::vector<std::pair<bool, std::string>> parts;
  for (const DimTerm& term : dim.terms)
    parts.emplace_back(term.coefficient < 0, termText(term));
  std::ranges::sort(parts);
  bool constantFirst = parts.empty() || parts.front().first;
  std::string result = constantFirst ? std::to_string(dim.value) : "";
  for (const auto& [isNegative, text] : parts) {
    if (!result.empty())
      result += isNegative ? " - " : " + ";
    result += text;
  }
  if (constantFirst || dim.value == 0)
    return result;
  std::string constant = std::to_string(dim.value);
  return result + (dim.value < 0 ? " - " + constant.substr(1) : " + " + constant);
}

/// What is left to write of a type: a type or a piece of text.
struct Piece {
  const Type* type;
  std::string_view text;
};

std::string genericsText(std::span<const TypeParameter* const> generics) {
  std::string result;
  for (const TypeParameter* generic : generics)
    result += (result.empty() ? "[" : ", ") + bareName(generic->name);
  return result.empty() ? result : result + "]";
}

/// Numbers from 2^31 on have 64 bits in any text.
std::string tensorText(const Type& type, Notation notation) {
  if (type.shape.empty())
    return runtime::spelled(type.dtype).in(notation);
  std::string extents;
  for (const Dim* dim : type.shape) {
    bool has64Bits = dim->isConstant() && (type.isWide || !isNarrowNumber(dim));
    extents += (extents.empty() ? "" : ", ") + dimText(dim) + (has64Bits ? "i64" : "");
  }
  return runtime::tensorText(type.dtype, extents, notation);
}

class TypeWriter {
public:
  explicit TypeWriter(Notation notation) : notation_(notation) {}

  std::string write(const Type* root) {
    pieces_.push_back({root, {}});
    while (!pieces_.empty()) {
      Piece piece = pieces_.back();
      pieces_.pop_back();
      if (piece.type)
        writeType(*piece.type);
      else
        out_ += piece.text;
      if (out_.size() > printing::longestTypeText)
        return out_ + "...";
    }
    return out_;
  }

private:
  /// Parts with commas between; they come out after what is scheduled later.
  void schedule(Types parts, std::string_view close) {
    pieces_.push_back({nullptr, close});
    for (size_t i = parts.size(); i-- > 0;) {
      pieces_.push_back({parts[i], {}});
      if (i > 0)
        pieces_.push_back({nullptr, ", "});
    }
  }

  void writeFunction(const Type& type) {
    out_ += "fn " + genericsText(type.generics) + "(";
    if (type.result)
      pieces_.push_back({type.result, {}});
    schedule(type.parts, ") -> ");
  }

  /// Without arguments, Relay alone has brackets.
  void writeData(const Type& type) {
    out_ += runtime::plainName(bareName(type.definition->name)).in(notation_);
    if (type.parts.empty() && notation_ == Notation::Baton)
      return;
    out_ += "[";
    schedule(type.parts, "]");
  }

  void writeType(const Type& type) {
    switch (type.kind) {
    case TypeKind::Tensor:
      out_ += tensorText(type, notation_);
      break;
    case TypeKind::Tuple:
      out_ += "(";
      schedule(type.parts, type.parts.size() == 1 ? ",)" : ")");
      break;
    case TypeKind::Function:
      writeFunction(type);
      break;
    case TypeKind::Reference:
      out_ += "ref(";
      schedule(type.parts, ")");
      break;
    case TypeKind::Variable:
      out_ += bareName(type.parameter->name);
      break;
    case TypeKind::Data:
      writeData(type);
      break;
    case TypeKind::Operator:
      out_ += "operator " + std::string(type.opName);
      break;
    case TypeKind::Dimension:
      out_ += dimText(type.shape[0]);
      break;
    case TypeKind::Unknown:
    case TypeKind::Error:
      out_ += "_";
    }
  }

  Notation notation_;
  std::string out_;
  std::vector<Piece> pieces_;
};

} // namespace

std::string dimText(const Dim* dim) {
  switch (dim->kind) {
  case DimKind::Constant:
    return std::to_string(dim->value);
  case DimKind::Any:
    return "?";
  case DimKind::Symbol:
    return bareName(dim->name);
  case DimKind::Unknown:
    return "_";
  case DimKind::Product:
    return productText(*dim);
  case DimKind::Quotient:
    return factorText(dim->terms[0].variable) + " / " + std::to_string(dim->terms[0].coefficient);
  case DimKind::Linear:
    break;
  }
  return linearText(*dim);
}

std::string shapeText(Dims shape) {
  std::string result = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    result += (i == 0 ? "" : ", ") + dimText(shape[i]);
  return result + ")";
}

std::string typeText(const Type* type, Notation notation) {
  return type ? TypeWriter(notation).write(type) : "_";
}

Words spelled(const Type* type) {
  return Words([type](Notation notation) { return typeText(type, notation); });
}

Words spelled(const Dim* dim) {
  return Words([dim](Notation) { return dimText(dim); });
}

namespace printing {

bool TypeFacts::isShown(const Type* type) {
  if (!type)
    return false;
  const Facts& facts = of(type);
  return facts.isKnown && facts.size <= longestTypeText;
}

const TypeFacts::Facts& TypeFacts::of(const Type* root) {
  if (auto known = facts_.find(root); known != facts_.end())
    return known->second;
  std::vector<const Type*> stack{root};
  auto visit = [&](const Type* part) {
    if (!facts_.contains(part))
      stack.push_back(part);
  };
  while (!stack.empty()) {
    const Type* type = stack.back();
    size_t before = stack.size();
    if (!facts_.contains(type)) {
      for (const Type* part : type->parts)
        visit(part);
      if (type->result)
        visit(type->result);
      if (stack.size() > before)
        continue;
      facts_.emplace(type, combine(*type));
    }
    stack.pop_back();
  }
  return facts_.at(root);
}

TypeFacts::Facts TypeFacts::combine(const Type& type) const {
  Facts facts;
  facts.size = genericsText(type.generics).size() + 8;
  facts.isKnown = !type.hasUnknown && type.kind != TypeKind::Error &&
                  type.kind != TypeKind::Unknown && type.kind != TypeKind::Operator;
  if (type.isTensor())
    facts.size += tensorText(type, Notation::Relay).size();
  if (type.definition)
    facts.size += type.definition->name.size();
  for (const Type* part : type.parts)
    add(facts, part);
  if (type.result)
    add(facts, type.result);
  return facts;
}

void TypeFacts::add(Facts& facts, const Type* part) const {
  const Facts& other = facts_.at(part);
  facts.size = std::min(facts.size + other.size + 2, longestTypeText + 1);
  facts.isKnown &= other.isKnown;
}

} // namespace printing

} // namespace lang
