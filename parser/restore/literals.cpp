// Constants: literals where there are some, else references into the metadata section.
#include "lang/print/literals.h"

#include "parser/restore/pieces.h"
#include "runtime/half.h"
#include "runtime/short_names.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace parser::restoring {

namespace {

/// Tensors of more elements stand in the metadata section.
constexpr int64_t mostElements = 64;

/// The number of the fewest digits that is rounded to the same float of `bits` bits.
double shortest(double value, int bits) {
  if (!std::isfinite(value) || bits == 64)
    return value;
  char buffer[64];
  for (int precision = 1; precision < 17; ++precision) {
    auto written =
        std::to_chars(buffer, std::end(buffer), value, std::chars_format::general, precision);
    double back = 0;
    std::from_chars(buffer, written.ptr, back);
    bool isSame = bits == 32 ? float(back) == float(value)
                             : runtime::Half(runtime::floatRoundedToOdd(back)).bits ==
                                   runtime::Half(runtime::floatRoundedToOdd(value)).bits;
    if (isSame)
      return back;
  }
  return value;
}

/// Elements of which there are literals that give them back.
bool hasLiterals(runtime::DType dtype) {
  return dtype.isBool() || (dtype.isFloat() && dtype.code == runtime::DTypeCode::Float) ||
         (dtype.code != runtime::DTypeCode::BFloat &&
          runtime::shortDTypeName(dtype) != runtime::dtypeName(dtype));
}

bool hasDefaultType(runtime::DType dtype) {
  return dtype == runtime::Int32 || dtype == runtime::Float32 || dtype.isBool();
}

int64_t integerOf(runtime::DType dtype, uint64_t bits) {
  int unused = 64 - dtype.bits;
  return dtype.isSigned() ? int64_t(bits << unused) >> unused : int64_t(bits << unused >> unused);
}

double realOf(runtime::DType dtype, uint64_t bits) {
  if (dtype == runtime::Float64)
    return std::bit_cast<double>(bits);
  if (dtype == runtime::Float32)
    return std::bit_cast<float>(uint32_t(bits));
  runtime::Half half;
  half.bits = uint16_t(bits);
  return float(half);
}

uint64_t bitsOf(const runtime::Tensor& tensor, int64_t index) {
  uint64_t bits = 0;
  size_t width = tensor.dtype().bytes();
  std::memcpy(&bits, tensor.bytes() + size_t(index) * width, std::min(width, sizeof(bits)));
  return bits;
}

bool isWritable(const lang::Constant& constant, uint32_t mentions) {
  if (lang::printing::constantLiteral(constant, 0))
    return true;
  runtime::DType dtype = constant.type->dtype;
  if (!hasLiterals(dtype) || mentions > 1)
    return false;
  if (!constant.tensor)
    return !dtype.isFloat();
  // Of floats all elements must have literals, which no NaN of odd bits has.
  int64_t size = constant.tensor->size();
  return size > 0 && size <= mostElements &&
         (!dtype.isFloat() || lang::printing::constantLiteral(constant, mostElements));
}

} // namespace

uint32_t widthOf(const surface::Expr* expr) {
  using enum surface::ExprKind;
  std::span<const surface::Expr* const> parts;
  if (expr->kind == TensorLiteral)
    parts = surface::as<surface::TensorLiteral>(expr).elements;
  else if (expr->kind == Name)
    return uint32_t(surface::as<surface::Name>(expr).name.size());
  else if (expr->kind == TextLiteral)
    return uint32_t(surface::as<surface::TextLiteral>(expr).text.size()) + 2;
  else
    return 4;
  uint32_t width = 2;
  for (const surface::Expr* part : parts)
    width += 2 + (part->kind == TensorLiteral ? 2 * widthOf(part) : 2);
  return width;
}

const surface::Expr* metaTree(lang::Arena& arena, std::string_view text) {
  auto* made = arena.make<surface::Meta>();
  made->kind = surface::ExprKind::Meta;
  size_t open = text.find('['), close = text.find(']');
  made->meta.key = arena.copyText(text.substr(open + 1, close - open - 1));
  std::from_chars(text.data() + close + 2, text.data() + text.size() - 1, made->meta.index);
  return made;
}

Piece PieceMaker::constant(const lang::Constant& constant, NumberType type) {
  const void* identity = constant.tensor ? static_cast<const void*>(constant.tensor) : &constant;
  auto mentions = shared_.mentions.find(identity);
  if (!isWritable(constant, mentions == shared_.mentions.end() ? 1 : mentions->second)) {
    std::string text = shared_.metadata.constant(constant);
    return {metaTree(arena_, text), uint32_t(text.size()), true};
  }
  if (constant.tensor && constant.tensor->rank() > 0)
    return tensorLiteral(constant, type);
  runtime::DType dtype = constant.type->dtype;
  uint64_t bits = constant.tensor ? bitsOf(*constant.tensor, 0) : constant.bits;
  return literal(dtype, bits, !canDoWithout(dtype, type));
}

bool PieceMaker::canDoWithout(runtime::DType dtype, NumberType type) const {
  bool isDefault = type == NumberType::Default && hasDefaultType(dtype) && !mixesNumbers_;
  return shared_.typing && (type == NumberType::Told || isDefault);
}

Piece PieceMaker::literal(runtime::DType dtype, uint64_t bits, bool hasSuffix) {
  if (dtype.isBool()) {
    auto* made = make<surface::BoolLiteral>();
    made->value = (bits & 1) != 0;
    return {made, 5, true};
  }
  runtime::DType written = hasSuffix ? dtype : runtime::DType{dtype.code, 0};
  if (dtype.isFloat()) {
    auto* made = make<surface::FloatLiteral>();
    made->value = shortest(realOf(dtype, bits), dtype.bits);
    made->dtype = written;
    return {made, hasSuffix ? 8u : 5u, true};
  }
  auto* made = make<surface::IntLiteral>();
  made->value = integerOf(dtype, bits);
  made->dtype = written;
  return {made, hasSuffix ? 5u : 2u, true};
}

/// The elements in brackets, those of each dimension in brackets of their own. The first one says
/// the element type of all.
Piece PieceMaker::tensorLiteral(const lang::Constant& constant, NumberType type) {
  const runtime::Tensor& tensor = *constant.tensor;
  bool hasSuffix = !canDoWithout(tensor.dtype(), type);
  std::vector<const surface::Expr*> parts;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint64_t bits = bitsOf(tensor, i);
    bool isLarge = tensor.dtype() == runtime::UInt64 && int64_t(bits) < 0;
    parts.push_back(literal(tensor.dtype(), bits, hasSuffix && (i == 0 || isLarge)).expr);
  }
  for (size_t axis = tensor.rank(); axis-- > 0;) {
    size_t extent = size_t(tensor.shape()[axis]);
    std::vector<const surface::Expr*> rows;
    for (size_t i = 0; i < parts.size(); i += extent) {
      auto* row = make<surface::TensorLiteral>();
      row->elements = arena_.copy(std::span(parts).subspan(i, extent));
      rows.push_back(row);
    }
    parts = std::move(rows);
  }
  return {parts[0], widthOf(parts[0]), tensor.size() < 8};
}

} // namespace parser::restoring
