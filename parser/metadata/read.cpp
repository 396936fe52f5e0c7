// Reading: JSON to a table, then the checks that later code relies on.
#include "parser/metadata/base64.h"
#include "parser/metadata/graph.h"
#include "parser/metadata/metadata.h"
#include "parser/metadata/tensor_blob.h"

#include <nlohmann/json.hpp>

namespace parser {

using lang::MetadataNode;
using lang::MetadataTable;
using Json = nlohmann::json;

namespace {

/// What is wrong, and where in the text when that is known.
struct Problem {
  std::string text;
  size_t offset = 0;
};

using Check = std::optional<Problem>;

template <typename... Args>
Check fail(fmt::format_string<Args...> text, Args&&... args) {
  return Problem{fmt::format(text, std::forward<Args>(args)...)};
}

/// The JSON library keeps a stack per level; this bounds it, and no real section nests deeper.
bool isTooDeep(std::string_view text) {
  constexpr size_t most = 16;
  size_t depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      if (++depth > most)
        return true;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return false;
}

/// A name or value of the text, short enough for a message.
std::string shown(std::string text) {
  constexpr size_t most = 40;
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

bool isIndex(const Json& value, size_t limit) {
  return value.is_number_unsigned() && value.get<uint64_t>() < limit;
}

Check readFields(const Json& fields, size_t number, MetadataNode& node) {
  if (!fields.is_object())
    return fail("`attrs` of node {} is no object", number);
  for (const auto& [name, value] : fields.items()) {
    if (!value.is_string())
      return fail("field `{}` of node {} is no string", shown(name), number);
    node.fields.emplace_back(name, value.get_ref<const std::string&>());
  }
  return std::nullopt;
}

Check readText(const Json& value, std::string_view member, size_t number, std::string& text) {
  if (!value.is_string())
    return fail("`{}` of node {} is no string", member, number);
  text = value.get_ref<const std::string&>();
  return std::nullopt;
}

Check readBytes(const Json& value, size_t number, MetadataNode& node) {
  auto bytes = value.is_string() ? decodeBase64(value.get_ref<const std::string&>()) : std::nullopt;
  if (!bytes)
    return fail("`repr_b64` of node {} is not base64", number);
  node.repr.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  return std::nullopt;
}

Check readKeys(const Json& keys, size_t number, MetadataNode& node) {
  if (!keys.is_array())
    return fail("`keys` of node {} is no array", number);
  for (const Json& key : keys) {
    if (!key.is_string())
      return fail("`keys` of node {} holds something other than strings", number);
    node.keys.push_back(key.get_ref<const std::string&>());
  }
  return std::nullopt;
}

Check readData(const Json& data, size_t number, size_t nodeCount, MetadataNode& node) {
  if (!data.is_array())
    return fail("`data` of node {} is no array", number);
  for (const Json& item : data) {
    if (!isIndex(item, nodeCount))
      return fail("node {} refers to node {}, of {} nodes", number, shown(item.dump()), nodeCount);
    node.data.push_back(item.get<size_t>());
  }
  return std::nullopt;
}

Check readNode(const Json& json, size_t number, size_t nodeCount, MetadataNode& node) {
  if (!json.is_object())
    return fail("node {} is no object", number);
  for (const auto& [member, value] : json.items()) {
    Check problem;
    if (member == "type_key")
      problem = readText(value, member, number, node.typeKey);
    else if (member == "attrs")
      problem = readFields(value, number, node);
    else if (member == "keys")
      problem = readKeys(value, number, node);
    else if (member == "data")
      problem = readData(value, number, nodeCount, node);
    else if (member == "repr_str")
      problem = readText(value, member, number, node.repr);
    else if (member == "repr_b64")
      problem = readBytes(value, number, node);
    else
      problem = fail("unknown member `{}` of node {}", shown(member), number);
    if (problem)
      return problem;
  }
  return std::nullopt;
}

Check readTensors(const Json& blobs, MetadataTable& table) {
  if (!blobs.is_array())
    return fail("`b64ndarrays` is no array");
  for (const Json& blob : blobs) {
    size_t number = table.tensors.size();
    if (!blob.is_string())
      return fail("tensor {} is no string", number);
    auto decoded = decodeTensor(blob.get_ref<const std::string&>());
    if (auto* problem = std::get_if<std::string>(&decoded))
      return fail("tensor {} is a {}", number, *problem);
    table.tensors.push_back(std::get<runtime::Tensor>(std::move(decoded)));
  }
  return std::nullopt;
}

Check readRoots(const Json& root, MetadataTable& table) {
  if (!isIndex(root, table.nodes.size()))
    return fail("`root` is {}, of {} nodes", shown(root.dump()), table.nodes.size());
  const MetadataNode& map = table.nodes[root.get<size_t>()];
  if (map.typeKey != "Map" || map.keys.size() != map.data.size())
    return fail("the root is no map from names to arrays");
  for (size_t i = 0; i < map.keys.size(); ++i) {
    const MetadataNode& array = table.nodes[map.data[i]];
    if (array.typeKey != "Array")
      return fail("`{}` is no array", shown(map.keys[i]));
    if (!table.roots.try_emplace(map.keys[i], array.data).second)
      return fail("`{}` stands twice in the root", shown(map.keys[i]));
  }
  return std::nullopt;
}

Check readDocument(const Json& document, MetadataTable& table) {
  if (!document.is_object() || !document.contains("root") || !document.contains("nodes"))
    return fail("no object with `root` and `nodes`");
  for (const auto& [member, value] : document.items())
    if (member != "root" && member != "nodes" && member != "b64ndarrays" && member != "attrs")
      return fail("unknown member `{}`", shown(member));
  const Json& nodes = document["nodes"];
  if (!nodes.is_array())
    return fail("`nodes` is no array");
  for (const Json& json : nodes) {
    MetadataNode& node = table.nodes.emplace_back();
    if (Check problem = readNode(json, table.nodes.size() - 1, nodes.size(), node))
      return problem;
  }
  if (document.contains("b64ndarrays"))
    if (Check problem = readTensors(document["b64ndarrays"], table))
      return problem;
  if (Check problem = readRoots(document["root"], table))
    return problem;
  if (std::string problem = checkMetadataGraph(table); !problem.empty())
    return Problem{problem};
  return std::nullopt;
}

Check readSection(std::string_view text, MetadataTable& table) {
  if (isTooDeep(text))
    return fail("deeply nested JSON");
  try {
    return readDocument(Json::parse(text), table);
  } catch (const Json::parse_error& error) {
    return Problem{"text that is no JSON", error.byte};
  } catch (const Json::exception&) {
    return fail("text that is no JSON");
  }
}

} // namespace

std::optional<MetadataTable> readMetadata(const lang::SourceFile& file, lang::SourceRange section,
                                          lang::Diagnostics& diagnostics) {
  std::string_view text =
      file.text().substr(section.begin - file.base(), section.end - section.begin);
  MetadataTable table;
  Check problem = readSection(text, table);
  if (!problem)
    return table;
  uint32_t offset = uint32_t(std::min(problem->offset, text.size()));
  uint32_t place = section.begin + (offset > 0 ? offset - 1 : 0);
  diagnostics.report(lang::Message::MalformedMetadata, {place, std::min(place + 1, section.end)},
                     problem->text);
  return std::nullopt;
}

} // namespace parser
