// One loop over the shown positions; its state is an odometer, so the rank bounds nothing. The
// number of shown elements is bounded whatever the rank, by narrowing the edges.
#include "driver/tensor_text.h"

#include "interp/reference.h"
#include "runtime/half.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace driver {

namespace {

constexpr size_t lineWidth = 96;

/// `text` of a finite float, made to look like one.
std::string withPoint(std::string text) {
  return text.find_first_of(".enif") == std::string::npos ? text + ".0" : text;
}

/// The fewest digits that give a 16-bit float back.
template <typename Small>
std::string shortestSmall(Small value) {
  constexpr int enoughDigits = 5;
  float wide = float(value);
  for (int digits = 1; digits < enoughDigits; ++digits) {
    std::string text = fmt::format("{:.{}g}", wide, digits);
    if (Small(std::strtof(text.c_str(), nullptr)).bits == value.bits)
      return text;
  }
  return fmt::format("{:.{}g}", wide, enoughDigits);
}

template <typename T>
T elementAt(const runtime::Tensor& tensor, int64_t flat) {
  return tensor.elements<T>()[size_t(flat)];
}

std::string floatText(const runtime::Tensor& tensor, int64_t flat) {
  runtime::DType dtype = tensor.dtype();
  if (dtype.code == runtime::DTypeCode::BFloat)
    return withPoint(shortestSmall(elementAt<runtime::BHalf>(tensor, flat)));
  if (dtype.bits == 16)
    return withPoint(shortestSmall(elementAt<runtime::Half>(tensor, flat)));
  if (dtype.bits == 32)
    return withPoint(fmt::format("{}", elementAt<float>(tensor, flat)));
  return withPoint(fmt::format("{}", elementAt<double>(tensor, flat)));
}

std::string integerText(const runtime::Tensor& tensor, int64_t flat) {
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
    return isSigned ? std::to_string(elementAt<int64_t>(tensor, flat))
                    : std::to_string(elementAt<uint64_t>(tensor, flat));
  }
}

std::string elementText(const runtime::Value& value, int64_t flat) {
  if (value.exact())
    return withPoint(interp::realText(value, flat));
  const runtime::Tensor& tensor = value.tensor();
  if (!tensor.dtype().isComputable())
    return "?";
  if (tensor.dtype().isBool())
    return elementAt<uint8_t>(tensor, flat) ? "true" : "false";
  return tensor.dtype().isFloat() ? floatText(tensor, flat) : integerText(tensor, flat);
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

  std::string write() {
    if (tensor_.size() == 0)
      return "[]";
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
      texts_.push_back(elementText(value_, flat));
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

std::string tensorText(const runtime::Value& value, const TensorLayout& layout) {
  return TensorWriter(value, layout).write();
}

std::string tensorTypeText(runtime::DType dtype, const runtime::Shape& shape) {
  if (shape.empty())
    return runtime::dtypeName(dtype);
  return fmt::format("Tensor[({}), {}]", fmt::join(shape, ", "), runtime::dtypeName(dtype));
}

} // namespace driver
