// Building the metadata table of a printed text.
#include "lang/print/metadata.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace lang::printing {

std::string MetadataCollector::reference(const void* identity, Root root) {
  auto [known, isNew] = references_.try_emplace(identity);
  if (isNew) {
    known->second = fmt::format("meta[{}][{}]", root.key, counts_[root.key]++);
    roots_.push_back(std::move(root));
  }
  return known->second;
}

std::string MetadataCollector::constant(const Constant& constant) {
  return reference(&constant, {.key = "relay.Constant", .constant = &constant});
}

std::string MetadataCollector::object(const MetadataNode& node) {
  return reference(&node, {.key = node.typeKey, .node = &node});
}

namespace {

/// True for fields that are plain numbers, whatever they look like.
bool isNumberField(const MetadataNode& node, std::string_view field) {
  static constexpr std::string_view names[] = {
      "device_type_int", "virtual_device_id", "dtype", "line", "end_line", "column", "end_column"};
  if (field == "value")
    return node.typeKey == "IntImm" || node.typeKey == "FloatImm";
  if (field == "kind")
    return node.typeKey == "IncompleteType" || node.typeKey == "TypeVar";
  return std::ranges::find(names, field) != std::end(names);
}

std::optional<size_t> readIndex(std::string_view text, size_t limit) {
  size_t index = 0;
  auto read = std::from_chars(text.data(), text.data() + text.size(), index);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || index >= limit)
    return std::nullopt;
  return index;
}

/// Makes the table: first what keeps its number, then the constants.
class TableBuilder {
public:
  TableBuilder(const MetadataTable& source, MetadataTable& table)
      : source_(source), table_(table), nodeUsed_{true} {
    table_.nodes.resize(1);
    for (size_t i = 0; i < source.nodes.size(); ++i)
      numbers_.emplace(&source.nodes[i], i);
  }

  /// Copies a node and all that it may refer to; its number.
  size_t copy(const MetadataNode* node) {
    size_t number = numbers_.at(node);
    std::vector<size_t> stack{number};
    while (!stack.empty()) {
      size_t next = stack.back();
      stack.pop_back();
      if (next < nodeUsed_.size() && nodeUsed_[next])
        continue;
      place(table_.nodes, nodeUsed_, next, source_.nodes[next]);
      follow(source_.nodes[next], stack);
    }
    return number;
  }

  size_t add(const Constant& constant) {
    const void* identity = constant.tensor ? static_cast<const void*>(constant.tensor) : &constant;
    auto [tensor, isNew] = tensors_.try_emplace(identity, 0);
    if (isNew) {
      tensor->second = firstFree(tensorUsed_, freeTensor_);
      place(table_.tensors, tensorUsed_, tensor->second, constantTensor(constant));
    }
    MetadataNode node;
    node.typeKey = "relay.Constant";
    node.fields = {{"data", std::to_string(tensor->second)},
                   {"virtual_device_", "0"},
                   {"span", "0"},
                   {"_checked_type_", "0"}};
    size_t number = firstFree(nodeUsed_, freeNode_);
    place(table_.nodes, nodeUsed_, number, node);
    return number;
  }

private:
  template <typename Items, typename Item>
  static void place(Items& items, std::vector<bool>& used, size_t number, const Item& item) {
    if (number >= items.size())
      items.resize(number + 1);
    if (number >= used.size())
      used.resize(number + 1);
    items[number] = item;
    used[number] = true;
  }

  static size_t firstFree(const std::vector<bool>& used, size_t& from) {
    while (from < used.size() && used[from])
      ++from;
    return from;
  }

  void follow(const MetadataNode& node, std::vector<size_t>& stack) {
    for (size_t number : node.data)
      if (number < source_.nodes.size())
        stack.push_back(number);
    for (const auto& [field, value] : node.fields) {
      if (node.typeKey == "relay.Constant" && field == "data") {
        if (auto tensor = readIndex(value, source_.tensors.size()))
          place(table_.tensors, tensorUsed_, *tensor, source_.tensors[*tensor]);
      } else if (!isNumberField(node, field)) {
        if (auto number = readIndex(value, source_.nodes.size()))
          stack.push_back(*number);
      }
    }
  }

  const MetadataTable& source_;
  MetadataTable& table_;
  std::unordered_map<const MetadataNode*, size_t> numbers_;
  std::unordered_map<const void*, size_t> tensors_;
  std::vector<bool> nodeUsed_, tensorUsed_;
  size_t freeNode_ = 0, freeTensor_ = 0;
};

} // namespace

MetadataTable MetadataCollector::table() const {
  MetadataTable table;
  if (roots_.empty())
    return table;
  TableBuilder builder(source_, table);
  std::vector<size_t> numbers(roots_.size());
  for (size_t i = 0; i < roots_.size(); ++i)
    if (roots_[i].node)
      numbers[i] = builder.copy(roots_[i].node);
  for (size_t i = 0; i < roots_.size(); ++i) {
    if (roots_[i].constant)
      numbers[i] = builder.add(*roots_[i].constant);
    table.roots[roots_[i].key].push_back(numbers[i]);
  }
  return table;
}

} // namespace lang::printing
