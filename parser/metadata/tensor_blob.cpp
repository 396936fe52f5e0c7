// Every number of a record is checked against the bytes that are really there.
#include "parser/metadata/tensor_blob.h"

#include "parser/metadata/base64.h"
#include "runtime/limits.h"

#include <algorithm>
#include <fmt/format.h>

namespace parser {

using runtime::DType;
using runtime::DTypeCode;
using runtime::Tensor;

namespace {

constexpr uint64_t magic = 0xDD5E40F096B4A13F;

/// Little-endian numbers from a record. Past the end everything is zero and `isShort` is set.
class RecordReader {
public:
  explicit RecordReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  uint64_t number(size_t size) {
    if (bytes_.size() < size) {
      isShort_ = true;
      bytes_ = {};
      return 0;
    }
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
      value = value << 8 | uint64_t(bytes_[i]);
    bytes_ = bytes_.subspan(size);
    return value;
  }
  std::span<const std::byte> rest() const { return bytes_; }
  bool isShort() const { return isShort_; }

private:
  std::span<const std::byte> bytes_;
  bool isShort_ = false;
};

void append(std::vector<std::byte>& bytes, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; ++i)
    bytes.push_back(std::byte(value >> (8 * i) & 0xFF));
}

/// What is wrong with an element type, or nothing.
std::string checkDType(uint64_t code, uint64_t bits, uint64_t lanes) {
  bool known = code <= uint64_t(DTypeCode::BFloat) && code != uint64_t(DTypeCode::Handle);
  if (!known || bits == 0 || bits > 128 || lanes != 1)
    return fmt::format("element type with code {}, {} bits and {} lanes", code, bits, lanes);
  return {};
}

bool holdsOnlyBools(std::span<const std::byte> bytes) {
  for (std::byte byte : bytes)
    if (byte > std::byte(1))
      return false;
  return true;
}

} // namespace

std::variant<Tensor, std::string> decodeTensor(std::string_view base64) {
  auto bytes = decodeBase64(base64);
  if (!bytes)
    return "text that is not base64";
  RecordReader reader(*bytes);
  if (reader.number(8) != magic)
    return "record without the mark of a tensor";
  if (reader.number(8) != 0)
    return "record with a reserved field in use";
  [[maybe_unused]] uint64_t device = reader.number(8);
  uint64_t rank = reader.number(4);
  uint64_t code = reader.number(1), bits = reader.number(1), lanes = reader.number(2);
  if (reader.isShort() || rank > reader.rest().size() / 8)
    return "record that ends early";
  if (std::string problem = checkDType(code, bits, lanes); !problem.empty())
    return problem;
  if (rank > runtime::mostDimensions)
    return fmt::format("shape of more than {} dimensions", runtime::mostDimensions);
  runtime::Shape shape;
  for (uint64_t i = 0; i < rank; ++i)
    shape.push_back(int64_t(reader.number(8)));
  uint64_t byteCount = reader.number(8);
  if (reader.isShort())
    return "record that ends early";
  DType dtype{DTypeCode(code), uint8_t(bits), 1};
  auto elements = runtime::elementCount(shape);
  if (!elements)
    return "shape with a negative extent or too many elements";
  bool fits = uint64_t(*elements) <= reader.rest().size() / dtype.bytes();
  if (!fits || byteCount != uint64_t(*elements) * dtype.bytes() ||
      byteCount != reader.rest().size())
    return fmt::format("{} elements of {} in {} bytes of data, said to be {}", *elements,
                       runtime::dtypeName(dtype), reader.rest().size(), byteCount);
  if (dtype.isBool() && !holdsOnlyBools(reader.rest()))
    return "bool tensor with bytes other than 0 and 1";
  Tensor tensor(dtype, std::move(shape));
  std::copy(reader.rest().begin(), reader.rest().end(), tensor.bytes());
  return tensor;
}

std::string encodeTensor(const Tensor& tensor) {
  constexpr uint64_t cpu = 1;
  std::vector<std::byte> bytes;
  bytes.reserve(40 + 8 * tensor.rank() + tensor.byteSize());
  append(bytes, magic, 8);
  append(bytes, 0, 8);
  append(bytes, cpu, 4);
  append(bytes, 0, 4);
  append(bytes, tensor.rank(), 4);
  append(bytes, uint64_t(tensor.dtype().code), 1);
  append(bytes, tensor.dtype().bits, 1);
  append(bytes, tensor.dtype().lanes, 2);
  for (int64_t extent : tensor.shape())
    append(bytes, uint64_t(extent), 8);
  append(bytes, tensor.byteSize(), 8);
  bytes.insert(bytes.end(), tensor.bytes(), tensor.bytes() + tensor.byteSize());
  return encodeBase64(bytes);
}

} // namespace parser
