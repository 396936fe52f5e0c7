// One loop over the text, with a stack of the lists that are open.
#include "driver/values/input_literal.h"

#include "driver/values/tensor_text.h"
#include "runtime/element.h"
#include "runtime/formats/quote.h"
#include "runtime/formats/tensor_bytes.h"
#include "stdlib/value_calls.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace driver {

using runtime::Done;
using runtime::DType;
using runtime::Error;
using runtime::Notation;
using runtime::Result;

namespace {

constexpr std::string_view digits = "0123456789";
constexpr std::string_view blanks = " \t\r\n";

/// What follows a number: `f`, `f16`, `bf16`, `i64`, `u8`, or nothing. Floats take any, integers
/// no `f`.
bool isSuffix(std::string_view text, DType dtype) {
  if (text.empty())
    return true;
  if (text == "bf16")
    return dtype.isFloat();
  std::string_view width = text.substr(1);
  bool isWidth = width.empty() || width == "16" || width == "32" || width == "64";
  bool isWhole = text[0] == 'i' || (text[0] == 'u' && !width.empty());
  return (isWidth || (isWhole && width == "8")) && (isWhole || (text[0] == 'f' && dtype.isFloat()));
}

/// Reads lists and elements; `bytes` are the elements so far.
class LiteralReader {
public:
  LiteralReader(std::string_view text, DType dtype, Notation notation)
      : text_(text), dtype_(dtype), notation_(notation) {}

  Result<runtime::Tensor> read() {
    do {
      skipBlanks();
      if (auto good = counts_.empty() || peek() != ']' ? item() : Result<Done>(Done{}); !good)
        return good.failure();
      if (auto good = closeLists(); !good)
        return good.failure();
    } while (!counts_.empty());
    skipBlanks();
    if (at_ != text_.size())
      return unexpected();
    return formats::tensorFromBytes(dtype_, shape_, bytes_);
  }

private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skipBlanks() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }

  Error unexpected() const {
    std::string_view rest = text_.substr(at_);
    return Error{rest.empty() ? "the list is never closed"
                              : fmt::format("unexpected {}", formats::backquoted(rest))};
  }

  /// Opens lists, up to an element or an empty list.
  Result<Done> item() {
    while (peek() == '[') {
      if (counts_.size() == rank_ || counts_.size() == formats::largestRank)
        return Error{"a list stands where there is a number elsewhere"};
      counts_.push_back(0);
      if (shape_.size() < counts_.size())
        shape_.push_back(-1);
      ++at_;
      skipBlanks();
    }
    if (!counts_.empty() && peek() == ']')
      return Done{};
    if (rank_ == SIZE_MAX)
      rank_ = counts_.size();
    if (rank_ != counts_.size() || shape_.size() != rank_)
      return Error{"a number stands where there is a list elsewhere"};
    size_t end = std::min(text_.find_first_of(",[] \t\r\n", at_), text_.size());
    std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    if (!counts_.empty())
      ++counts_.back();
    return dtype_.isBool() ? boolean(word) : dtype_.isFloat() ? real(word) : whole(word);
  }

  /// Closes lists, up to the comma in front of the next item.
  Result<Done> closeLists() {
    while (!counts_.empty()) {
      skipBlanks();
      if (peek() == ',') {
        ++at_;
        return Done{};
      }
      if (peek() != ']')
        return unexpected();
      ++at_;
      int64_t& extent = shape_[counts_.size() - 1];
      if (extent >= 0 && extent != counts_.back())
        return Error{fmt::format("its lists differ in length: {} and {}", extent, counts_.back())};
      extent = counts_.back();
      counts_.pop_back();
      if (!counts_.empty())
        ++counts_.back();
    }
    return Done{};
  }

  Error noElement(std::string_view word) const {
    return Error{fmt::format("{} is no `{}`", formats::backquoted(word),
                             runtime::spelled(dtype_).in(notation_))};
  }

  /// Makes place for one more element.
  std::byte* grow() {
    bytes_.resize(bytes_.size() + dtype_.bytes());
    return reinterpret_cast<std::byte*>(bytes_.data() + bytes_.size() - dtype_.bytes());
  }

  Result<Done> boolean(std::string_view word) {
    bool isTrue = word == "True" || word == "true";
    if (!isTrue && word != "False" && word != "false")
      return noElement(word);
    runtime::writeWhole(dtype_, grow(), isTrue);
    return Done{};
  }

  Result<Done> real(std::string_view word) {
    double value = 0;
    auto end = std::from_chars(word.data(), word.data() + word.size(), value);
    if (end.ec == std::errc::invalid_argument ||
        !isSuffix(word.substr(size_t(end.ptr - word.data())), dtype_))
      return noElement(word);
    double rounded = runtime::rounded(dtype_, value);
    if (end.ec != std::errc() || (std::isinf(rounded) && !std::isinf(value)))
      return misfit(word);
    runtime::writeFloat(dtype_, grow(), rounded);
    return Done{};
  }

  Result<Done> whole(std::string_view word) {
    bool isNegative = word.starts_with('-');
    std::string_view number = word.substr(isNegative ? 1 : 0);
    uint64_t size = 0;
    auto end = std::from_chars(number.data(), number.data() + number.size(), size);
    if (end.ec == std::errc::invalid_argument ||
        !isSuffix(number.substr(size_t(end.ptr - number.data())), dtype_))
      return noElement(word);
    runtime::Wide value = isNegative ? -runtime::Wide(size) : runtime::Wide(size);
    int64_t stored = runtime::wrap(dtype_, uint64_t(value));
    if (end.ec != std::errc() || runtime::wideOf(dtype_, stored) != value)
      return misfit(word);
    runtime::writeWhole(dtype_, grow(), stored);
    return Done{};
  }

  Error misfit(std::string_view word) const {
    return Error{fmt::format("{} does not fit `{}`", formats::backquoted(word),
                             runtime::spelled(dtype_).in(notation_))};
  }

  std::string_view text_;
  DType dtype_;
  Notation notation_;
  size_t at_ = 0;
  /// Of each open list, how many items it has so far.
  std::vector<int64_t> counts_;
  /// The extents, -1 while no list of that depth was closed.
  runtime::Shape shape_;
  /// How deep elements stand; unknown before the first.
  size_t rank_ = SIZE_MAX;
  std::string bytes_;
};

Result<runtime::Tensor> listTensor(std::string_view text, DType dtype, Notation notation) {
  if (!dtype.isComputable())
    return Error{
        fmt::format("there are no literals for `{}`", runtime::spelled(dtype).in(notation))};
  return LiteralReader(text, dtype, notation).read();
}

/// The tensor with its elements converted as the language does it, where whole numbers wrap.
runtime::Tensor cast(const runtime::Tensor& tensor, DType to) {
  const DType from = tensor.dtype();
  runtime::Tensor result(to, tensor.shape());
  const std::byte* source = tensor.bytes();
  std::byte* target = result.bytes();
  for (int64_t i = 0; i < tensor.size(); ++i, source += from.bytes(), target += to.bytes())
    if (from.isFloat())
      runtime::writeFloat(to, target, runtime::rounded(to, runtime::readFloat(from, source)));
    else
      runtime::writeWhole(to, target,
                          runtime::wrap(to, uint64_t(runtime::readWhole(from, source))));
  return result;
}

Result<runtime::Tensor> callTensor(const stdlib::ValueCall& call, Notation notation) {
  if (!call.dtype.isComputable())
    return Error{
        fmt::format("there are no literals for `{}`", runtime::spelled(call.dtype).in(notation))};
  if (call.zeros && !runtime::elementCount(*call.zeros))
    return Error{"its extents are too large"};
  if (call.zeros)
    return runtime::guarded(
        [&]() -> Result<runtime::Tensor> { return runtime::Tensor(call.dtype, *call.zeros); });
  auto tensor = listTensor(call.value, literalType(call.dtype), notation);
  return tensor ? cast(*tensor, call.dtype) : tensor;
}

} // namespace

bool looksLiteral(std::string_view text) {
  if (text.empty())
    return false;
  if (stdlib::readValueCall(text))
    return true;
  if (text[0] == '.')
    return text.size() > 1 && digits.find(text[1]) != std::string_view::npos;
  if (text[0] == '[' || text[0] == '-' || digits.find(text[0]) != std::string_view::npos)
    return true;
  constexpr std::string_view words[] = {"True", "False", "true", "false",
                                        "inf",  "nan",   "inff", "nanf"};
  text = text.substr(0, text.find_last_not_of(digits) + 1);
  return std::ranges::find(words, text) != std::end(words);
}

Result<runtime::Tensor> literalTensor(std::string_view text, DType dtype, Notation notation) {
  if (auto call = stdlib::readValueCall(text))
    return callTensor(*call, notation);
  return listTensor(text, dtype, notation);
}

} // namespace driver
