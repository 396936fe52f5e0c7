// Literals, tensor literals and constants of the metadata section.
#include "parser/resolve/resolve_context.h"

#include "lang/ir/builder.h"
#include "lang/ir/open_number.h"
#include "runtime/short_names.h"

#include <algorithm>
#include <charconv>

namespace parser {

using lang::Constant;
using lang::Message;
using runtime::DType;

const Constant* scalarConstant(ResolveContext& context, lang::SourceRange range, DType dtype,
                               uint64_t bits) {
  return context.module.arena.make<Constant>(lang::Expr{lang::ExprKind::Constant, range},
                                             context.module.types.scalar(dtype), bits);
}

namespace {

/// The type and bits of a literal that is a single value; of an open number those of int64 or
/// float64.
struct LiteralValue {
  DType dtype;
  uint64_t bits;
  lang::OpenNumber open = lang::OpenNumber::None;

  lang::OpenElement element() const { return {open, bits}; }
};

std::optional<LiteralValue> literalValue(const surface::Expr* expr) {
  if (const auto* integer = surface::tryAs<surface::IntLiteral>(expr))
    return integer->dtype.bits > 0
               ? LiteralValue{integer->dtype, uint64_t(integer->value)}
               : LiteralValue{runtime::Int64, uint64_t(integer->value), lang::OpenNumber::Integer};
  if (const auto* boolean = surface::tryAs<surface::BoolLiteral>(expr))
    return LiteralValue{runtime::Bool, boolean->value};
  const auto* real = surface::tryAs<surface::FloatLiteral>(expr);
  if (!real)
    return std::nullopt;
  return real->dtype.bits > 0
             ? LiteralValue{real->dtype, lang::scalarBits(real->dtype, real->value)}
             : LiteralValue{runtime::Float64, std::bit_cast<uint64_t>(real->value),
                            lang::OpenNumber::Real};
}

const Constant* openConstant(ResolveContext& context, lang::SourceRange range,
                             lang::OpenNumber kind, uint64_t bits, const runtime::Tensor* tensor) {
  context.module.isOpen = true;
  return context.module.arena.make<Constant>(
      lang::Expr{lang::ExprKind::Constant, range},
      context.module.types.unknown(context.module.unknownCount++), bits, tensor, kind);
}

/// Collects the elements of a tensor literal; recursion is bounded by the reader's nesting limit.
class TensorLiteralReader {
public:
  explicit TensorLiteralReader(ResolveContext& context) : context_(context) {}

  const Constant* read(const surface::TensorLiteral& literal) {
    for (const surface::Expr* at = &literal; at->kind == surface::ExprKind::TensorLiteral;) {
      const auto& elements = surface::as<surface::TensorLiteral>(at).elements;
      shape_.push_back(int64_t(elements.size()));
      if (elements.empty())
        break;
      at = elements[0];
    }
    if (!checkRank(context_, "this literal", shape_.size(), literal.range) || !collect(literal, 0))
      return nullptr;
    if (!checkOpen())
      return nullptr;
    auto [dtype, open] = elementType();
    runtime::Tensor tensor(dtype, shape_);
    size_t width = tensor.dtype().bytes();
    for (size_t i = 0; i < values_.size(); ++i) {
      uint64_t bits = converted(values_[i], dtype);
      std::memcpy(tensor.bytes() + i * width, &bits, width);
    }
    context_.module.tensors.push_back(std::move(tensor));
    const runtime::Tensor& stored = context_.module.tensors.back();
    lang::TypeContext& types = context_.module.types;
    if (open != lang::OpenNumber::None)
      return openConstant(context_, literal.range, open, 0, &stored);
    return context_.module.arena.make<Constant>(lang::Expr{lang::ExprKind::Constant, literal.range},
                                                types.tensorOf(stored.shape(), stored.dtype()),
                                                uint64_t(0), &stored);
  }

private:
  bool ragged(const surface::Expr* expr, const lang::Words& what) {
    context_.diagnostics.report(Message::RaggedTensor, expr->range, what);
    return false;
  }

  bool collect(const surface::TensorLiteral& literal, size_t depth) {
    if (int64_t(literal.elements.size()) != shape_[depth])
      return ragged(&literal, fmt::format("this one has {} elements, the first one {}",
                                          literal.elements.size(), shape_[depth]));
    for (const surface::Expr* element : literal.elements)
      if (!collectElement(element, depth + 1))
        return false;
    return true;
  }

  bool collectElement(const surface::Expr* element, size_t depth) {
    if (const auto* nested = surface::tryAs<surface::TensorLiteral>(element))
      return depth < shape_.size() ? collect(*nested, depth)
                                   : ragged(element, "a row stands where there is a number before");
    auto value = literalValue(element);
    if (!value)
      return ragged(element, "this element is no literal");
    if (depth != shape_.size())
      return ragged(element, "a number stands where there is a row before");
    if (value->open == lang::OpenNumber::None) {
      if (dtype_ && *dtype_ != value->dtype)
        return ragged(element,
                      lang::words("this element is {}, the first one {}", value->dtype, *dtype_));
      dtype_ = value->dtype;
    } else {
      open_.push_back({element, *value});
    }
    values_.push_back(*value);
    return true;
  }

  /// Whether the type that some elements say has all the others.
  bool checkOpen() {
    for (const auto& [element, value] : open_) {
      if (!dtype_)
        break;
      bool isReal = value.open == lang::OpenNumber::Real;
      if (dtype_->isBool() || (isReal && !dtype_->isFloat()))
        return ragged(element, lang::words("this element is a {}number, another one {}",
                                           isReal ? "real " : "", *dtype_));
      if (lang::OpenElement open = value.element(); !lang::bitsIn(open, *dtype_)) {
        context_.diagnostics.report(Message::NumberOutOfRange, element->range, open.text(),
                                    *dtype_);
        return false;
      }
    }
    return true;
  }

  /// What the elements are: what one of them says, else open numbers.
  std::pair<DType, lang::OpenNumber> elementType() const {
    if (dtype_ || values_.empty())
      return {dtype_.value_or(runtime::Float32), lang::OpenNumber::None};
    auto isReal = [](const LiteralValue& value) { return value.open == lang::OpenNumber::Real; };
    return std::ranges::any_of(values_, isReal)
               ? std::pair(runtime::Float64, lang::OpenNumber::Real)
               : std::pair(runtime::Int64, lang::OpenNumber::Integer);
  }

  /// The bits of an open number in an element type; others have theirs.
  static uint64_t converted(const LiteralValue& value, DType dtype) {
    bool isItself = value.open == lang::OpenNumber::None || value.dtype == dtype;
    return isItself ? value.bits : *lang::bitsIn(value.element(), dtype);
  }

  ResolveContext& context_;
  runtime::Shape shape_;
  std::optional<DType> dtype_;
  std::vector<LiteralValue> values_;
  std::vector<std::pair<const surface::Expr*, LiteralValue>> open_;
};

} // namespace

bool isOfNumbers(const surface::TensorLiteral& literal) {
  return std::ranges::all_of(literal.elements, [](const surface::Expr* element) {
    const auto* nested = surface::tryAs<surface::TensorLiteral>(element);
    return nested ? isOfNumbers(*nested) : literalValue(element).has_value();
  });
}

const Constant* buildLiteral(ResolveContext& context, const surface::Expr* literal) {
  if (const auto* tensor = surface::tryAs<surface::TensorLiteral>(literal))
    return TensorLiteralReader(context).read(*tensor);
  LiteralValue value = *literalValue(literal);
  if (value.open != lang::OpenNumber::None)
    return openConstant(context, literal->range, value.open, value.bits, nullptr);
  return scalarConstant(context, literal->range, value.dtype, value.bits);
}

std::optional<size_t> findMetadata(ResolveContext& context, const surface::MetaReference& reference,
                                   lang::SourceRange range) {
  const auto& roots = context.module.metadata.roots;
  auto found = roots.find(reference.key);
  if (found != roots.end() && reference.index < found->second.size())
    return found->second[reference.index];
  auto& report =
      context.diagnostics.report(Message::UnknownMetadata, range, reference.key, reference.index);
  if (roots.empty())
    report.note("this text has no metadata section, or an empty one");
  else if (found != roots.end())
    report.note(fmt::format("there are {} objects of that kind", found->second.size()));
  return std::nullopt;
}

const Constant* buildMetaConstant(ResolveContext& context, const surface::MetaReference& reference,
                                  lang::SourceRange range) {
  auto number = findMetadata(context, reference, range);
  if (!number)
    return nullptr;
  auto [known, isNew] = context.relay.constants.try_emplace(*number, nullptr);
  if (!isNew)
    return known->second;
  const lang::MetadataNode& node = context.module.metadata.nodes[*number];
  size_t index = SIZE_MAX;
  for (const auto& [key, value] : node.fields)
    if (key == "data")
      std::from_chars(value.data(), value.data() + value.size(), index);
  if (node.typeKey != "relay.Constant" || index >= context.module.metadata.tensors.size()) {
    context.diagnostics.report(Message::UnusableMetadata, range, reference.key, reference.index,
                               "constant with a tensor");
    return nullptr;
  }
  const runtime::Tensor& tensor = context.module.metadata.tensors[index];
  known->second = context.module.arena.make<Constant>(
      lang::Expr{lang::ExprKind::Constant, range},
      context.module.types.tensorOf(tensor.shape(), tensor.dtype()), uint64_t(0), &tensor);
  return known->second;
}

} // namespace parser
