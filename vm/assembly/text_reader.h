// The archive that reads what TextWriter writes. Parts come in the order in which they are listed;
// those that may be left out are empty, false or none without it.
#pragma once

#include "lang/source/utf8.h"
#include "vm/assembly/instructions.h"
#include "vm/assembly/numbers.h"
#include "vm/executable/expression_table.h"

#include <map>

namespace assembly {

using executable::fields;
using executable::isNumber;
using executable::namesOf;

class TextReader {
public:
  static constexpr bool isReader = true;

  TextReader(Tokens& tokens, executable::Executable& made) : tokens_(tokens), made_(made) {}

  template <typename T, typename... Rest>
  void operator()(const char* name, T& value, Rest&... rest) {
    if (!field(name, value))
      leaveOut(name, value);
    if constexpr (sizeof...(rest) > 0)
      (*this)(rest...);
  }
  template <typename... T>
  void implied(T&...) {}

  /// Where a function, or an instruction of one, is in the text.
  lang::SourceRange rangeOf(size_t function, size_t place) const;

private:
  /// Structs may be nested so deep.
  static constexpr size_t mostDepth = 1100;

  template <typename T>
  bool field(const char* name, T& value) {
    if (!tokens_.isGood())
      return true;
    if (!mayGoOn_ || !tokens_.accept(name))
      return false;
    tokens_.expect(":");
    get(value);
    mayGoOn_ = depth_ == 0 || tokens_.accept(",");
    return true;
  }

  template <typename T>
  void leaveOut(const char* name, T& value) {
    constexpr bool isPlain = std::is_same_v<T, bool> || std::is_same_v<T, int64_t> ||
                             std::is_same_v<T, double> || std::is_same_v<T, runtime::SourceRange>;
    if constexpr (std::is_same_v<T, uint16_t> || std::is_same_v<T, uint32_t>)
      value = T(-1);
    else if constexpr (
        isPlain || requires { value.clear(); } || requires { value.reset(); })
      value = T();
    else
      tokens_.failExpecting(fmt::format("`{}`", name));
  }

  template <typename T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>)
      getBool(value);
    else if constexpr (std::is_same_v<T, double>)
      getDouble(value);
    else if constexpr (isNumber<T>)
      getNumber(value);
    else if constexpr (std::is_enum_v<T>)
      value = T(nameIn(namesOf<T>));
    else
      getRecord([&] { fields(*this, value); });
  }
  template <typename Parts>
  void getRecord(Parts&& parts) {
    if (depth_ == mostDepth)
      tokens_.fail(lang::Message::NestingTooDeep, tokens_.peek().range, mostDepth);
    tokens_.expect("{");
    ++depth_;
    mayGoOn_ = true;
    if (tokens_.isGood())
      parts();
    --depth_;
    tokens_.expect("}");
  }
  template <typename T>
  void getNumber(T& value) {
    value = 0;
    constexpr bool mayBeNone = std::is_same_v<T, uint16_t> || std::is_same_v<T, uint32_t>;
    if (mayBeNone && tokens_.accept("none")) {
      value = T(-1);
      return;
    }
    Token token = tokens_.expect(TokenKind::Number, "a number");
    if (tokens_.isGood() && !readNumber(token.text, value))
      tokens_.fail(lang::Message::NumberOutOfRange, token.range, lang::printable(token.text),
                   numberTypeName<T>());
  }
  void getBool(bool& value);
  void getDouble(double& value);
  size_t nameIn(std::span<const std::string_view> names);
  void get(std::string& text) { text = tokens_.string(); }
  void get(runtime::DType& dtype);
  void get(vm::Rep& rep);
  void get(runtime::SourceRange& range);
  void get(tensor::TensorFunction& function);
  void get(vm::Layout& layout);
  void get(vm::Static& constant);
  void get(std::vector<vm::Function>& functions);
  void getFunction(std::map<uint32_t, vm::Function>& functions);
  void getTensor(vm::Static& constant);
  template <typename T>
  void get(std::optional<T>& value) {
    get(value.emplace());
  }
  template <typename T>
  void get(std::vector<T>& list) {
    getList([&] { get(list.emplace_back()); });
  }
  /// Items may say their numbers.
  template <typename Item>
  void getList(Item&& item) {
    tokens_.expect("[");
    for (uint32_t number = 0; tokens_.isGood() && !tokens_.accept("]"); ++number) {
      if (tokens_.isAt(TokenKind::Index)) {
        if (std::string wanted = fmt::format("#{}", number); tokens_.peek().text != wanted)
          tokens_.failExpecting(fmt::format("`{}`", wanted));
        tokens_.take();
      }
      item();
      if (!tokens_.accept(","))
        return tokens_.expect("]");
    }
  }

  Tokens& tokens_;
  executable::Executable& made_;
  size_t depth_ = 0;
  /// Whether another part may follow.
  bool mayGoOn_ = true;
  /// Where instructions stand, by function and place.
  std::map<std::pair<uint32_t, size_t>, lang::SourceRange> ranges_;
};

} // namespace assembly
