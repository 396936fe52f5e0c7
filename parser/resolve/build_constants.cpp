// Literals, tensor literals and constants of the metadata section.
#include "parser/resolve/resolve_context.h"

#include "runtime/half.h"

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

/// The type and bits of a literal that is a single value.
struct LiteralValue {
  DType dtype;
  uint64_t bits;
};

std::optional<LiteralValue> literalValue(const surface::Expr* expr) {
  if (const auto* integer = surface::tryAs<surface::IntLiteral>(expr))
    return LiteralValue{{runtime::DTypeCode::Int, integer->width}, uint64_t(integer->value)};
  if (const auto* boolean = surface::tryAs<surface::BoolLiteral>(expr))
    return LiteralValue{runtime::Bool, boolean->value};
  const auto* real = surface::tryAs<surface::FloatLiteral>(expr);
  if (!real)
    return std::nullopt;
  DType dtype{runtime::DTypeCode::Float, real->width};
  if (real->width == 64)
    return LiteralValue{dtype, std::bit_cast<uint64_t>(real->value)};
  if (real->width == 32)
    return LiteralValue{dtype, std::bit_cast<uint32_t>(float(real->value))};
  return LiteralValue{dtype, runtime::Half(runtime::floatRoundedToOdd(real->value)).bits};
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
    runtime::Tensor tensor(dtype_.value_or(runtime::Float32), shape_);
    size_t width = tensor.dtype().bytes();
    for (size_t i = 0; i < bits_.size(); ++i)
      std::memcpy(tensor.bytes() + i * width, &bits_[i], width);
    context_.module.tensors.push_back(std::move(tensor));
    const runtime::Tensor& stored = context_.module.tensors.back();
    return context_.module.arena.make<Constant>(
        lang::Expr{lang::ExprKind::Constant, literal.range},
        context_.module.types.tensorOf(stored.shape(), stored.dtype()), uint64_t(0), &stored);
  }

private:
  bool ragged(const surface::Expr* expr, std::string what) {
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
    if (dtype_ && *dtype_ != value->dtype)
      return ragged(element,
                    fmt::format("this element is {}, the first one {}",
                                runtime::dtypeName(value->dtype), runtime::dtypeName(*dtype_)));
    dtype_ = value->dtype;
    bits_.push_back(value->bits);
    return true;
  }

  ResolveContext& context_;
  runtime::Shape shape_;
  std::optional<DType> dtype_;
  std::vector<uint64_t> bits_;
};

} // namespace

const Constant* buildLiteral(ResolveContext& context, const surface::Expr* literal) {
  if (const auto* tensor = surface::tryAs<surface::TensorLiteral>(literal))
    return TensorLiteralReader(context).read(*tensor);
  LiteralValue value = *literalValue(literal);
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
  auto [known, isNew] = context.metadata.constants.try_emplace(*number, nullptr);
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
