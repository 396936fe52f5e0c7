// The elements of a .npy: byte order and memory order are turned into ours. The reordering works on
// words of the element's width, so it serves all element types alike.
#include "runtime/formats/npy.h"

#include "runtime/formats/file.h"
#include "runtime/formats/tensor_bytes.h"

#include <algorithm>

namespace formats {

using runtime::Done;
using runtime::guarded;
using runtime::Result;

namespace {

void swapElementBytes(runtime::Tensor& tensor) {
  size_t width = tensor.dtype().bytes();
  std::byte* bytes = tensor.bytes();
  for (size_t start = 0; start < tensor.byteSize(); start += width)
    std::reverse(bytes + start, bytes + start + width);
}

/// Copies `columnMajor`, whose first dimension is fastest, into the row-major `tensor`. `Word` is
/// any type of the element's width.
template <typename Word>
void reorder(const char* columnMajor, runtime::Tensor& tensor) {
  const runtime::Shape& shape = tensor.shape();
  size_t rank = shape.size();
  std::vector<int64_t> stride(rank), index(rank, 0);
  int64_t product = 1;
  for (size_t d = 0; d < rank; ++d) {
    stride[d] = product;
    product *= shape[d];
  }
  int64_t source = 0;
  for (Word& element : tensor.elements<Word>()) {
    std::memcpy(&element, columnMajor + size_t(source) * sizeof(Word), sizeof(Word));
    for (size_t d = rank; d-- > 0;) {
      source += stride[d];
      if (++index[d] < shape[d])
        break;
      source -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
}

void reorderElements(const char* columnMajor, runtime::Tensor& tensor) {
  switch (tensor.dtype().bytes()) {
  case 1:
    return reorder<uint8_t>(columnMajor, tensor);
  case 2:
    return reorder<uint16_t>(columnMajor, tensor);
  case 4:
    return reorder<uint32_t>(columnMajor, tensor);
  default:
    return reorder<uint64_t>(columnMajor, tensor);
  }
}

} // namespace

Result<runtime::Tensor> parseNpy(std::string_view bytes) {
  return guarded([&]() -> Result<runtime::Tensor> {
    auto header = parseNpyHeader(bytes);
    if (!header)
      return header.failure();
    std::string_view data = bytes.substr(header->dataStart);
    auto tensor = tensorFromBytes(header->dtype, header->shape, data);
    if (!tensor)
      return tensor.failure();
    // With elements, the extents' product was checked, so the strides cannot overflow.
    if (header->fortranOrder && tensor->size() > 0)
      reorderElements(data.data(), *tensor);
    if (header->bigEndian)
      swapElementBytes(*tensor);
    return tensor;
  });
}

Result<Done> writeNpy(const std::string& path, const runtime::Tensor& tensor) {
  return guarded([&]() -> Result<Done> {
    auto header = npyHeader(tensor.dtype(), tensor.shape());
    if (!header)
      return header.failure();
    return writeFile(path, *header + std::string(bytesOf(tensor)));
  });
}

} // namespace formats
