// Nests as text. An operation that several others need gets a line and a name of its own in front
// of its statement, and so does one that would make a line too deep to read back.
#include "lower/loops/names.h"
#include "lower/loops/nest.h"

#include <fmt/format.h>

namespace loops {

namespace {

constexpr uint32_t deepestLine = 24;

/// By name its place: sizes, then loops as the text has them.
class Order {
public:
  explicit Order(const Nest& nest) : nest_(nest), places_(nest.table.nameCount(), none) {
    for (const Assumption& size : nest.sizes)
      add(size.size);
    loops(nest.body);
  }

  std::string text(Form form) const { return nest_.table.text(form, places_); }

private:
  void add(Name name) { places_[size_t(name)] = next_++; }

  void loops(const std::vector<Node>& body) {
    for (const Node& node : body) {
      if (const auto* loop = std::get_if<Loop>(&node.what))
        add(loop->variable);
      loops(node.body);
    }
  }

  const Nest& nest_;
  std::vector<uint32_t> places_;
  uint32_t next_ = 0;
};

class StatementWriter {
public:
  StatementWriter(const Nest& nest, const Order& order, const Statement& statement,
                  std::string indent)
      : nest_(nest), order_(order), statement_(statement), indent_(std::move(indent)) {
    choose();
  }

  std::string run() {
    std::string text;
    for (uint32_t i = 0; i < statement_.operations.size(); ++i)
      if (names_[i] != none)
        text += fmt::format("{}let %{} = {}\n", indent_, names_[i], written(i));
    text += indent_;
    for (size_t i = 0; i < statement_.stores.size(); ++i) {
      const Store& store = statement_.stores[i];
      text += fmt::format("{}{}[{}]", i > 0 ? ", " : "", nest_.buffers[store.buffer].name,
                          list(store.position));
    }
    text += fmt::format(" {}= ",
                        statement_.combiner ? std::string(combinerWord(*statement_.combiner)) : "");
    for (size_t i = 0; i < statement_.stores.size(); ++i)
      text += (i > 0 ? ", " : "") + use(statement_.stores[i].value);
    for (size_t i = 0; i < statement_.reduced.size(); ++i) {
      const Reduced& axis = statement_.reduced[i];
      text += fmt::format("{} {} : {}", i > 0 ? "," : " over", order_.text(axis.position),
                          order_.text(axis.extent));
    }
    return text + "\n";
  }

private:
  /// Chooses which operations have names.
  void choose() {
    size_t count = statement_.operations.size();
    std::vector<uint32_t> uses(count), depths(count);
    for (const Operation& operation : statement_.operations)
      forEachValue(operation, [&](uint32_t value) { ++uses[value]; });
    for (const Store& store : statement_.stores)
      ++uses[store.value];
    names_.assign(count, none);
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const Operation& operation = statement_.operations[i];
      uint32_t depth = 0;
      forEachValue(operation, [&](uint32_t value) {
        depth = std::max(depth, names_[value] == none ? depths[value] + 1 : 1);
      });
      depths[i] = depth;
      bool isSmall =
          operation.kind == OperationKind::Number || operation.kind == OperationKind::Position;
      if ((uses[i] > 1 && !isSmall) || depth >= deepestLine)
        names_[i] = next++;
    }
  }

  std::string use(uint32_t value) {
    return names_[value] != none ? fmt::format("%{}", names_[value]) : written(value);
  }

  std::string written(uint32_t value) {
    const Operation& operation = statement_.operations[value];
    std::string dtype = runtime::dtypeName(operation.dtype);
    switch (operation.kind) {
    case OperationKind::Number:
      return fmt::format("{}({})", dtype,
                         tensor::textOfNumber(operation.real, operation.integer, operation.dtype));
    case OperationKind::Position:
      return fmt::format("[{}]", order_.text(operation.position));
    case OperationKind::Load:
      return load(operation);
    case OperationKind::Cast:
      return fmt::format("{}({})", dtype, use(operation.operands[0]));
    case OperationKind::Apply:
      return apply(operation);
    }
    return "";
  }

  std::string load(const Operation& load) {
    std::string text = nest_.buffers[load.buffer].name + "[";
    for (size_t i = 0; i < load.places.size(); ++i) {
      const Place& place = load.places[i];
      text += fmt::format("{}{}{}", i > 0 ? ", " : "", place.isChecked ? "check " : "",
                          place.value == none ? order_.text(place.form)
                                              : fmt::format("at({})", use(place.value)));
    }
    if (!load.operands.empty())
      text += (load.places.empty() ? "else " : " else ") + use(load.operands[0]);
    return text + "]";
  }

  std::string apply(const Operation& apply) {
    DType derived =
        resultTypeOf(apply.function, statement_.operations[apply.operands.back()].dtype);
    bool isPlain = apply.dtype == derived && apply.function != ScalarFunction::Reinterpret;
    if (std::string_view sign = signOf(apply.function); !sign.empty() && isPlain)
      return fmt::format("{} {} {}", operand(apply.operands[0]), sign, operand(apply.operands[1]));
    std::string text = wordOf(apply.function);
    if (!isPlain)
      text += fmt::format("<{}>", runtime::dtypeName(apply.dtype));
    text += "(";
    for (size_t i = 0; i < apply.operands.size(); ++i)
      text += (i > 0 ? ", " : "") + use(apply.operands[i]);
    return text + ")";
  }

  /// As an operand of an operator.
  std::string operand(uint32_t value) {
    const Operation& operation = statement_.operations[value];
    bool isInfix = names_[value] == none && operation.kind == OperationKind::Apply &&
                   !signOf(operation.function).empty();
    return isInfix ? "(" + use(value) + ")" : use(value);
  }

  std::string list(const std::vector<Form>& forms) const {
    std::string text;
    for (size_t i = 0; i < forms.size(); ++i)
      text += (i > 0 ? ", " : "") + order_.text(forms[i]);
    return text;
  }

  const Nest& nest_;
  const Order& order_;
  const Statement& statement_;
  std::string indent_;
  std::vector<uint32_t> names_;
};

class Writer {
public:
  explicit Writer(const Nest& nest) : nest_(nest), order_(nest) {}

  std::string run() {
    std::string text = fmt::format("kernel {}(", nest_.name);
    text += buffers(Space::Input) + ") -> (" + buffers(Space::Output) + ")";
    text += fmt::format(" numbers {}\n", numbersWord(nest_.numbers));
    for (const Assumption& size : nest_.sizes) {
      const std::string& name = nest_.table.textOf(size.size);
      text += fmt::format("  size {}", name);
      if (size.least > 0)
        text += fmt::format(" >= {}", size.least);
      if (size.multiple > 1)
        text += fmt::format("{} {} % {} == 0", size.least > 0 ? "," : " :", name, size.multiple);
      text += "\n";
    }
    nodes(nest_.body, "  ", text);
    return text;
  }

private:
  std::string buffer(const Buffer& buffer) const {
    std::string extents;
    for (size_t i = 0; i < buffer.extents.size(); ++i)
      extents += (i > 0 ? ", " : "") + order_.text(buffer.extents[i]);
    return fmt::format("{}: {}[{}]", buffer.name, runtime::dtypeName(buffer.dtype), extents);
  }

  std::string buffers(Space space) const {
    std::string text;
    for (const Buffer& each : nest_.buffers)
      if (each.space == space)
        text += (text.empty() ? "" : ", ") + buffer(each);
    return text;
  }

  void nodes(const std::vector<Node>& body, const std::string& indent, std::string& text) {
    for (const Node& node : body) {
      if (const auto* loop = std::get_if<Loop>(&node.what))
        text += fmt::format("{}{} {} in {}\n", indent, runKindWord(loop->kind),
                            nest_.table.textOf(loop->variable), order_.text(loop->end));
      else if (const auto* condition = std::get_if<Condition>(&node.what))
        text += fmt::format("{}if {} < {}\n", indent, order_.text(condition->left),
                            order_.text(condition->right));
      else if (const auto* allocation = std::get_if<Allocation>(&node.what))
        text += fmt::format("{}alloc {}\n", indent, buffer(nest_.buffers[allocation->buffer]));
      else
        text += StatementWriter(nest_, order_, std::get<Statement>(node.what), indent).run();
      nodes(node.body, indent + "  ", text);
    }
  }

  const Nest& nest_;
  Order order_;
};

} // namespace

std::string textOf(const Nest& nest) {
  return Writer(nest).run();
}

} // namespace loops
