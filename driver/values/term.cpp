// By an explicit stack. Lines end where they are long enough, so that editors show them.
#include "driver/values/term.h"

#include "driver/values/tensor_text.h"

#include <fmt/format.h>
#include <vector>

namespace driver {

using runtime::Done;
using runtime::Error;
using runtime::Result;
using runtime::Value;
using runtime::ValueKind;

namespace {

/// A tuple or constructor whose fields are being written.
struct Open {
  std::span<const Value> fields;
  bool isTuple;
  size_t next = 0;
};

class TermWriter {
public:
  TermWriter(std::string& out, const AppendLeaf& leaf) : out_(out), leaf_(leaf) {}

  Result<Done> write(const Value& value) {
    auto good = begin(value);
    while (good && !open_.empty()) {
      Open& top = open_.back();
      if (top.next == top.fields.size()) {
        out_ += top.isTuple && top.fields.size() == 1 ? ",)" : ")";
        open_.pop_back();
        continue;
      }
      if (top.next > 0)
        separate();
      good = begin(top.fields[top.next++]);
    }
    return good;
  }

private:
  void separate() {
    bool isLong = out_.size() - lineStart_ > lineWidth;
    out_ += isLong ? ",\n" : ", ";
    if (isLong)
      lineStart_ = out_.size();
  }

  Result<Done> begin(const Value& value) {
    if (++parts_ > mostParts)
      return tooManyParts(mostParts);
    const ValueKind kind = value.kind();
    if (kind == ValueKind::Tensor)
      return leaf_(out_, value);
    if (!unwritable(kind).empty())
      return unwritableError(kind);
    if (kind == ValueKind::Constructor)
      out_ += value.symbol().name;
    if (kind == ValueKind::Constructor && value.fields().empty())
      return Done{};
    out_ += '(';
    open_.push_back({value.fields(), kind == ValueKind::Tuple});
    return Done{};
  }

  std::string& out_;
  const AppendLeaf& leaf_;
  std::vector<Open> open_;
  size_t parts_ = 0;
  size_t lineStart_ = 0;
};

} // namespace

std::string_view unwritable(ValueKind kind) {
  constexpr std::string_view names[] = {
      "", "", "", "a function", "a reference", "an operator", "a constructor function"};
  return names[size_t(kind)];
}

Error unwritableError(ValueKind kind) {
  return Error{fmt::format("the result holds {}, which no file can hold", unwritable(kind))};
}

Error tooManyParts(size_t most) {
  return Error{fmt::format("the result has more than {} parts", most)};
}

Result<Done> appendValueText(std::string& out, const Value& value, const AppendLeaf& leaf) {
  return TermWriter(out, leaf).write(value);
}

} // namespace driver
