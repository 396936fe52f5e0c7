// The archive that writes a text: what vm/executable/fields.h lists, with names. Parts that are
// empty, false or none, and signed zeros of no meaning, are left out; a reader takes them for that.
#pragma once

#include "vm/assembly/lines.h"
#include "vm/assembly/numbers.h"
#include "vm/assembly/tokens.h"
#include "vm/executable/expression_table.h"

#include <bit>

namespace assembly {

using executable::fields;
using executable::isNumber;
using executable::namesOf;

/// Whether a number of this type may be none, which is the largest one.
template <typename T>
inline constexpr bool mayBeNone = std::is_same_v<T, uint16_t> || std::is_same_v<T, uint32_t>;

class TextWriter {
public:
  static constexpr bool isReader = false;

  explicit TextWriter(const executable::Executable& made) : made_(made) {}

  template <typename T, typename... Rest>
  void operator()(const char* name, const T& value, const Rest&... rest) {
    if (!isLeftOut(value))
      field(name, value);
    if constexpr (sizeof...(rest) > 0)
      (*this)(rest...);
  }
  template <typename... T>
  void implied(const T&...) {}

  Lines lines;

private:
  template <typename T>
  static bool isLeftOut(const T& value) {
    if constexpr (mayBeNone<T>)
      return value == T(-1);
    else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t>)
      return value == T();
    else if constexpr (std::is_same_v<T, double>)
      return std::bit_cast<uint64_t>(value) == 0;
    else
      return false;
  }
  template <typename T>
  static bool isLeftOut(const std::optional<T>& value) {
    return !value;
  }
  template <typename T>
  static bool isLeftOut(const std::vector<T>& list) {
    return list.empty();
  }
  static bool isLeftOut(const std::string& text) { return text.empty(); }
  static bool isLeftOut(runtime::SourceRange range) { return range == runtime::SourceRange(); }

  template <typename T>
  void field(const char* name, const T& value) {
    bool isTop = lines.depth() == 0;
    isTop ? lines.add("\n") : lines.item(false);
    lines.add(name);
    lines.add(": ");
    put(value);
    if (isTop)
      lines.endLine();
  }

  template <typename T>
  void put(const T& value) {
    if constexpr (std::is_same_v<T, bool>)
      lines.add(value ? "true" : "false");
    else if constexpr (std::is_same_v<T, double>)
      lines.add(elementText(runtime::Float64, reinterpret_cast<const std::byte*>(&value)));
    else if constexpr (mayBeNone<T>)
      lines.add(value == T(-1) ? "none" : fmt::format("{}", value));
    else if constexpr (isNumber<T>)
      lines.add(fmt::format("{}", value));
    else if constexpr (std::is_enum_v<T>)
      lines.add(namesOf<T>[size_t(value)]);
    else
      putRecord([&] { fields(*this, const_cast<T&>(value)); });
  }
  template <typename Parts>
  void putRecord(Parts&& parts) {
    lines.open('{');
    parts();
    lines.close('}');
  }
  void put(const std::string& text);
  void put(const runtime::DType& dtype);
  void put(const vm::Rep& rep);
  void put(const runtime::SourceRange& range);
  void put(const tensor::TensorFunction& function) { put(executable::tableOf(function)); }
  void put(const vm::Layout& layout);
  void put(const vm::Static& constant);
  void put(const std::vector<vm::Function>& functions);
  void putElements(const runtime::Tensor& tensor);
  void putCode(const vm::Function& function);
  template <typename T>
  void put(const std::optional<T>& value) {
    put(*value);
  }
  template <typename T>
  void put(const std::vector<T>& list) {
    lines.open('[', lines.depth() == 0);
    for (const auto& item : list) {
      lines.item(true);
      if constexpr (std::is_same_v<T, uint64_t>)
        lines.add(fmt::format("{:#x}", item));
      else
        put(item);
    }
    lines.close(']');
  }

  const executable::Executable& made_;
  /// The next of the places where code of another origin begins.
  size_t nextPlace_ = 0;
};

} // namespace assembly
