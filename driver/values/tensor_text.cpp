// One loop over the shown positions; its state is an odometer, so the rank bounds nothing. The
// number of shown elements is bounded whatever the rank, by narrowing the edges.
#include "driver/values/tensor_text.h"

#include "interp/reference.h"
#include "runtime/half.h"
#include "runtime/short_names.h"
#include "stdlib/value_calls.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace driver {

namespace {

/// `text` if it reads as a number that `isSame`, else the exact digits of `value`.
template <typename IsSame>
std::string orExact(std::string text, double value, IsSame&& isSame) {
  bool isRead = std::isnan(value) || isSame(std::strtod(text.c_str(), nullptr));
  return isRead ? text : fmt::format("{:.17g}", value);
}

/// The fewest digits that are read as a 16-bit float, of a small whole number all; `read` rounds as
/// whoever reads them.
template <typename Read>
std::string shortestSmall(float value, Read&& read) {
  constexpr int enoughDigits = 5;
  constexpr float mostWhole = 65536;
  bool isWhole = std::fabs(value) < mostWhole && std::trunc(value) == value;
  if (isWhole || !std::isfinite(value))
    return fmt::format("{}", value);
  for (int digits = 1; digits <= enoughDigits; ++digits) {
    double near = std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr);
    if (float(read(near)) == value)
      return fmt::format("{}", near);
  }
  return fmt::format("{:.17g}", value);
}

template <typename T>
T elementAt(const runtime::Tensor& tensor, int64_t flat) {
  return tensor.elements<T>()[size_t(flat)];
}

/// Digits that are read back as the same float, in the way of the lexer: by way of a double.
std::string floatText(const runtime::Tensor& tensor, int64_t flat) {
  runtime::DType dtype = tensor.dtype();
  if (dtype.code == runtime::DTypeCode::BFloat)
    return shortestSmall(float(elementAt<runtime::BHalf>(tensor, flat)),
                         [](double read) { return runtime::BHalf(float(read)); });
  if (dtype.bits == 16)
    return shortestSmall(float(elementAt<runtime::Half>(tensor, flat)), [](double read) {
      return runtime::Half(runtime::floatRoundedToOdd(read));
    });
  if (dtype.bits == 32) {
    float value = elementAt<float>(tensor, flat);
    return orExact(fmt::format("{}", value), value,
                   [&](double read) { return float(read) == value; });
  }
  return fmt::format("{}", elementAt<double>(tensor, flat));
}

std::string integerText(const runtime::Tensor& tensor, int64_t flat, bool isBare) {
  bool isSigned = tensor.dtype().isSigned();
  switch (tensor.dtype().bits) {
  case 8:
    return isSigned ? std::to_string(elementAt<int8_t>(tensor, flat))
                    : std::to_string(elementAt<uint8_t>(tensor, flat));
  case 16:
    return isSigned ? std::to_string(elementAt<int16_t>(tensor, flat))
                    : std::to_string(elementAt<uint16_t>(tensor, flat));
  case 32:
    return isSigned ? std::to_string(elementAt<int32_t>(tensor, flat))
                    : std::to_string(elementAt<uint32_t>(tensor, flat));
  default:
    // Relay's literals have no sign bit to spare, so the largest go by way of negative ones, which
    // wrap.
    return isSigned || !isBare ? std::to_string(elementAt<int64_t>(tensor, flat))
                               : std::to_string(elementAt<uint64_t>(tensor, flat));
  }
}

std::string suffixOf(runtime::DType literal) {
  if (literal.isBool() || literal == runtime::Int32)
    return "";
  std::string letter = literal.isFloat() ? "f" : "i";
  return literal.bits == 32 ? letter : letter + std::to_string(literal.bits);
}

/// In Baton's notation numbers have their own type unless it is the one that they have by
/// themselves, for which a real has a point, an exponent or letters.
std::string bareNumber(std::string digits, runtime::DType dtype) {
  if (dtype == runtime::Int32)
    return digits;
  if (dtype != runtime::Float32)
    return digits + runtime::shortDTypeName(dtype);
  bool isReal = digits.find_first_not_of("-0123456789") != std::string::npos;
  return isReal ? digits : digits + ".0";
}

std::string elementText(const runtime::Value& value, int64_t flat, bool isBare) {
  const runtime::Tensor& tensor = value.tensor();
  runtime::DType dtype = tensor.dtype();
  if (!dtype.isComputable())
    return "?";
  if (dtype.isBool() && !value.exact()) {
    bool isTrue = elementAt<uint8_t>(tensor, flat) != 0;
    return isBare ? (isTrue ? "true" : "false") : (isTrue ? "True" : "False");
  }
  std::string text = value.exact()     ? interp::realText(value, flat)
                     : dtype.isFloat() ? floatText(tensor, flat)
                                       : integerText(tensor, flat, isBare);
  if (text == "-nan")
    text = "nan";
  return isBare ? bareNumber(std::move(text), dtype) : text + suffixOf(literalType(dtype));
}

/// How many positions are shown at the front and at the back of a dimension that is cut.
struct Edge {
  int64_t front;
  int64_t back;
};

int64_t shownCount(int64_t extent, Edge edge) {
  return std::min(extent, edge.front + edge.back);
}

/// The widest edge that shows no more than about `most` elements.
Edge chooseEdge(const runtime::Tensor& tensor, int64_t most) {
  if (tensor.size() <= most)
    return {tensor.size(), 0};
  for (Edge edge : {Edge{3, 3}, Edge{2, 2}, Edge{1, 1}}) {
    int64_t count = 1;
    for (int64_t extent : tensor.shape())
      count = std::min(count * shownCount(extent, edge), most + 1);
    if (count <= most)
      return edge;
  }
  return {1, 0};
}

/// Walks the shown positions and writes them.
class TensorWriter {
public:
  TensorWriter(const runtime::Value& value, const TensorLayout& layout)
      : value_(value), tensor_(value.tensor()), layout_(layout),
        edge_(chooseEdge(tensor_, layout.mostElements)), at_(tensor_.rank(), 0) {}

  /// The elements as a literal.
  std::string write() {
    collect();
    out_ = std::string(tensor_.rank(), '[');
    for (const std::string& text : texts_) {
      out_ += std::string(layout_.isInline ? 0 : width_ - text.size(), ' ') + text;
      size_t closed = advance(&out_);
      if (closed < tensor_.rank())
        separate(tensor_.rank() - 1 - closed);
    }
    return std::move(out_);
  }

  /// Whether not every element is shown.
  bool isAbridged() const {
    for (size_t dim = 0; dim < tensor_.rank(); ++dim)
      if (isCut(dim))
        return true;
    return false;
  }

private:
  bool isCut(size_t dim) const { return tensor_.shape()[dim] > edge_.front + edge_.back; }

  void collect() {
    for (bool more = true; more; more = advance(nullptr) < tensor_.rank()) {
      int64_t flat = 0;
      for (size_t dim = 0; dim < tensor_.rank(); ++dim) {
        int64_t extent = tensor_.shape()[dim];
        bool isBack = isCut(dim) && at_[dim] >= edge_.front;
        flat = flat * extent + (isBack ? extent - edge_.back + at_[dim] - edge_.front : at_[dim]);
      }
      texts_.push_back(elementText(value_, flat, layout_.isBare));
      width_ = std::max(width_, texts_.back().size());
    }
  }

  /// Goes to the next position; returns how many dimensions ended, and closes their brackets.
  size_t advance(std::string* out) {
    size_t closed = 0;
    for (size_t dim = tensor_.rank(); dim-- > 0; ++closed) {
      if (++at_[dim] < shownCount(tensor_.shape()[dim], edge_))
        break;
      at_[dim] = 0;
      if (out)
        *out += isCut(dim) && edge_.back == 0 ? ", ...]" : "]";
    }
    return closed;
  }

  /// What stands between two positions that differ in `dim`, with the opened brackets.
  void separate(size_t dim) {
    bool isInner = dim + 1 == tensor_.rank();
    size_t inner = tensor_.rank() - 1 - dim;
    std::string lineBreak =
        std::string(std::min<size_t>(inner, 2), '\n') + std::string(dim + 1, ' ');
    if (isInner || layout_.isInline)
      lineBreak = " ";
    out_ += ',' + lineBreak;
    if (isCut(dim) && at_[dim] == edge_.front)
      out_ += "...," + lineBreak;
    out_ += std::string(inner, '[');
    size_t lineStart = out_.rfind('\n') + 1;
    if (isInner && !layout_.isInline && out_.size() - lineStart + width_ > lineWidth) {
      out_.pop_back();
      out_ += '\n' + std::string(tensor_.rank(), ' ');
    }
  }

  const runtime::Value& value_;
  const runtime::Tensor& tensor_;
  TensorLayout layout_;
  Edge edge_;
  std::vector<int64_t> at_;
  std::vector<std::string> texts_;
  size_t width_ = 0;
  std::string out_;
};

} // namespace

runtime::DType literalType(runtime::DType dtype) {
  if (dtype.code == runtime::DTypeCode::BFloat)
    return runtime::Float32;
  bool isNarrow = dtype.bits == 8 || (dtype.bits == 16 && !dtype.isSigned());
  if (dtype.isFloat() || dtype.isBool() || (dtype.isSigned() && !isNarrow))
    return dtype;
  return isNarrow ? runtime::Int32 : runtime::Int64;
}

std::string indented(std::string_view text, size_t columns) {
  std::string result, indentation(columns, ' ');
  for (char letter : text) {
    bool isBlank = result.ends_with('\n') && letter == '\n';
    if (result.ends_with('\n') && !isBlank)
      result += indentation;
    result += letter;
  }
  return result;
}

std::string tensorText(const runtime::Value& value, const TensorLayout& layout) {
  const runtime::Tensor& tensor = value.tensor();
  if (tensor.size() == 0)
    return layout.isBare ? fmt::format("zeros([{}], dtype = {})", fmt::join(tensor.shape(), ", "),
                                       runtime::shortDTypeName(tensor.dtype()))
                         : stdlib::zerosText(tensor.shape(), tensor.dtype());
  TensorWriter writer(value, layout);
  // In Baton's notation elements tell their type, and of a few one sees the shape.
  constexpr int64_t few = 16;
  bool isPlain = layout.isInline || (layout.isBare && tensor.size() <= few);
  bool hasComment = tensor.rank() > 0 && (!isPlain || writer.isAbridged());
  std::string text = writer.write();
  if (!layout.isBare && literalType(tensor.dtype()) != tensor.dtype())
    text = stdlib::castText(indented(text, stdlib::castText("", tensor.dtype()).find(',')),
                            tensor.dtype());
  if (hasComment)
    text += fmt::format(
        " /* {}{} */", layout.isBare ? "" : "ty=",
        tensorTypeText(tensor.dtype(), tensor.shape(),
                       layout.isBare ? runtime::Notation::Baton : runtime::Notation::Relay));
  return text;
}

std::string tensorTypeText(runtime::DType dtype, const runtime::Shape& shape,
                           runtime::Notation notation) {
  return shape.empty()
             ? runtime::spelled(dtype).in(notation)
             : runtime::tensorText(dtype, fmt::format("{}", fmt::join(shape, ", ")), notation);
}

} // namespace driver
