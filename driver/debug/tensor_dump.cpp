// A list of a million cells is a value of that depth, and each key would be longer than the last.
#include "driver/debug/tensor_dump.h"

#include "lang/source/utf8.h"
#include "runtime/formats/npy.h"
#include "runtime/formats/quote.h"

#include <fmt/format.h>

namespace driver {

using runtime::Value;
using runtime::ValueKind;

namespace {

/// Whether a .npz can have such a tensor; one that it cannot have shall not keep others from it.
bool isHeld(const runtime::Tensor& tensor) {
  return bool(formats::npyHeader(tensor.dtype(), tensor.shape()));
}

} // namespace

void TensorDump::add(const std::string& key, const Value& value) {
  constexpr size_t mostTensors = 1'000'000, deepest = 24;
  constexpr size_t mostBytes = size_t(4) << 30;
  struct Part {
    const Value* value;
    std::string key;
    size_t depth;
  };
  std::vector<Part> open{{&value, key, 0}};
  while (!open.empty()) {
    Part part = std::move(open.back());
    open.pop_back();
    ValueKind kind = part.value->kind();
    bool isTooMuch = tensors_.size() >= mostTensors || bytes_ >= mostBytes;
    if (kind == ValueKind::Tensor && !isTooMuch && isHeld(part.value->tensor())) {
      keep(part.key, part.value->tensor());
    } else if (part.depth == deepest || isTooMuch) {
      ++leftOut_;
    } else if (kind == ValueKind::Tuple || kind == ValueKind::Constructor) {
      for (size_t i = part.value->fields().size(); i-- > 0;)
        open.push_back(
            {&part.value->fields()[i], fmt::format("{}.{}", part.key, i), part.depth + 1});
    } else if (kind == ValueKind::Reference) {
      open.push_back({&part.value->content(), part.key + ".ref", part.depth + 1});
    } else {
      ++leftOut_;
    }
  }
}

void TensorDump::keep(const std::string& key, const runtime::Tensor& tensor) {
  bytes_ += tensor.byteSize();
  bool isNew = tensors_.emplace(key, tensor).second;
  while (!isNew)
    isNew = tensors_.emplace(fmt::format("{}#{}", key, ++repeats_[key] + 1), tensor).second;
}

runtime::Result<std::string> TensorDump::write(const std::string& path) const {
  if (!path.ends_with(".npz"))
    return runtime::Error{
        fmt::format("values go to .npz files, and {} is none", formats::backquoted(path))};
  if (auto written = formats::writeNpz(path, tensors_, formats::Compression::Stored); !written)
    return written.failure();
  std::string text = fmt::format("{} has {} tensor{}", lang::printable(path), tensors_.size(),
                                 tensors_.size() == 1 ? "" : "s");
  if (leftOut_ > 0)
    text += fmt::format("; {} left out: functions, element types that numpy has not, what lies "
                        "too deep in a value, and what is too much",
                        leftOut_ == 1 ? "1 other part is"
                                      : fmt::format("{} other parts are", leftOut_));
  return text;
}

} // namespace driver
