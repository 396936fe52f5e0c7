// Elements and code grow with the text, so a text cannot ask for more memory than it is long.
#include "vm/assembly/text_reader.h"

namespace assembly {

using lang::Message;

void TextReader::getBool(bool& value) {
  value = tokens_.accept("true");
  if (!value)
    tokens_.expect("false");
}

void TextReader::getDouble(double& value) {
  Token token = tokens_.peek();
  if (!readElement(runtime::Float64, token.text, reinterpret_cast<std::byte*>(&value)))
    tokens_.failExpecting("a number");
  tokens_.take();
}

size_t TextReader::nameIn(std::span<const std::string_view> names) {
  constexpr size_t mostTold = 12;
  std::string wanted;
  for (size_t i = 0; i < names.size(); ++i) {
    if (tokens_.isAt(names[i])) {
      tokens_.take();
      return i;
    }
    wanted += fmt::format("{}`{}`", i == 0 ? "" : i + 1 == names.size() ? " or " : ", ", names[i]);
  }
  tokens_.failExpecting(names.size() > mostTold ? "the name of a scalar function" : wanted);
  return 0;
}

void TextReader::get(runtime::DType& dtype) {
  if (tokens_.isAt("{"))
    return getRecord([&] { fields(*this, dtype); });
  Token name = tokens_.expect(TokenKind::Name, "an element type");
  auto found = runtime::parseDType(name.text);
  if (tokens_.isGood() && !found)
    tokens_.fail(Message::UnknownDType, name.range, lang::printable(name.text));
  dtype = found.value_or(runtime::DType());
}

void TextReader::get(vm::Rep& rep) {
  if (tokens_.accept("owned"))
    rep = {vm::Hold::Owned};
  else if (tokens_.accept("borrowed"))
    rep = {vm::Hold::Borrowed};
  else {
    rep.hold = vm::Hold::Scalar;
    get(rep.dtype);
  }
}

void TextReader::get(runtime::SourceRange& range) {
  get(range.begin);
  tokens_.expect("..");
  get(range.end);
}

void TextReader::get(tensor::TensorFunction& function) {
  lang::SourceRange start = tokens_.peek().range;
  executable::FunctionTable table;
  get(table);
  if (!tokens_.isGood())
    return;
  try {
    function = executable::functionOf(table);
  } catch (const runtime::Refused& refused) {
    tokens_.fail(Message::RefusedCode, start, refused.problem);
  }
}

void TextReader::get(vm::Layout& layout) {
  getRecord([&] {
    std::string name;
    fields(*this, layout);
    (*this)("name", name);
    const std::string& kept = made_.names.emplace_front(std::move(name));
    layout.symbol = {&kept, kept};
  });
}

void TextReader::getTensor(vm::Static& constant) {
  runtime::DType dtype;
  runtime::Shape shape;
  (*this)("dtype", dtype, "shape", shape);
  Token name = tokens_.peek();
  tokens_.expect("elements");
  tokens_.expect(":");
  std::vector<std::byte> bytes;
  auto element = [&] {
    Token token = tokens_.take();
    bytes.resize(bytes.size() + dtype.bytes());
    std::byte* at = bytes.data() + bytes.size() - dtype.bytes();
    if (tokens_.isGood() && !readElement(dtype, token.text, at))
      tokens_.fail(Message::SyntaxError, token.range,
                   fmt::format("an element of {}", runtime::dtypeName(dtype)),
                   fmt::format("`{}`", lang::printable(token.text)));
  };
  getList(element);
  mayGoOn_ = tokens_.accept(",");
  auto count = runtime::elementCount(shape);
  size_t size = dtype.bytes();
  bool fits = size > 0 && count && bytes.size() / size == size_t(*count);
  if (tokens_.isGood() && !fits)
    tokens_.fail(Message::RefusedCode, name.range,
                 "a constant has not as many elements as its shape says");
  if (!tokens_.isGood())
    return;
  runtime::Tensor tensor(dtype, std::move(shape));
  if (!bytes.empty())
    std::memcpy(tensor.bytes(), bytes.data(), bytes.size());
  constant.value = runtime::tensorValue(std::move(tensor));
}

void TextReader::get(vm::Static& constant) {
  getRecord([&] {
    (*this)("layout", constant.layout);
    if (constant.layout == vm::boxedLayout)
      getTensor(constant);
  });
}

void TextReader::getFunction(std::map<uint32_t, vm::Function>& functions) {
  Token name = tokens_.take();
  uint32_t number = 0;
  bool isNew = readNumber(name.text.substr(1), number) && !functions.contains(number);
  if (!isNew) {
    tokens_.fail(Message::SyntaxError, name.range, "the number of a function of its own",
                 fmt::format("`{}`", lang::printable(name.text)));
    return;
  }
  vm::Function& function = functions[number];
  getRecord([&] { fields(*this, function); });
  std::vector<vm::Word>& code = made_.program.code;
  function.start = uint32_t(code.size());
  ranges_[{number, 0}] = name.range;
  CodeReader reader(tokens_, code);
  auto isInstruction = [&] {
    return tokens_.isAt(TokenKind::Number) ||
           (tokens_.isAt(TokenKind::Name) && findInstruction(tokens_.peek().text));
  };
  while (tokens_.isGood() && isInstruction()) {
    ranges_[{number, code.size() - function.start}] = tokens_.peek().range;
    auto start = uint32_t(code.size());
    reader.read();
    if (!tokens_.accept("from"))
      continue;
    Token origin = tokens_.expect(TokenKind::Index, "a number such as `#3`");
    vm::Place& place = made_.program.places.emplace_back(vm::Place{start, 0});
    if (tokens_.isGood() && !readNumber(origin.text.substr(1), place.origin))
      tokens_.fail(Message::NumberOutOfRange, origin.range, origin.text,
                   numberTypeName<uint32_t>());
  }
  reader.finish();
  function.size = uint32_t(code.size() - function.start);
}

void TextReader::get(std::vector<vm::Function>& functions) {
  std::map<uint32_t, vm::Function> byNumber;
  auto isFunction = [&] {
    return tokens_.isAt(TokenKind::Name) && tokens_.peek().text.size() > 1 &&
           tokens_.peek().text[0] == 'f' && std::isdigit(uint8_t(tokens_.peek().text[1]));
  };
  lang::SourceRange start = tokens_.peek().range;
  while (isFunction())
    getFunction(byNumber);
  if (tokens_.isGood() && !byNumber.empty() && byNumber.rbegin()->first != byNumber.size() - 1)
    tokens_.fail(Message::RefusedCode, start, "functions have not the numbers from 0 on");
  for (auto& [number, function] : byNumber)
    functions.push_back(std::move(function));
}

lang::SourceRange TextReader::rangeOf(size_t function, size_t place) const {
  auto behind = ranges_.upper_bound({uint32_t(function), place});
  return behind == ranges_.begin() ? lang::SourceRange() : std::prev(behind)->second;
}

} // namespace assembly
