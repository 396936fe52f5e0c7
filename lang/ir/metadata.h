// The objects of a text's metadata section: a table of generic nodes and tensors, as Relay's
// serialised object graph has it. Attributes refer to nodes that Baton does not interpret; the
// printer writes them back.
#pragma once

#include "runtime/tensor.h"

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace lang {

/// One object: its type, its fields as text, and what a container or a boxed value holds.
struct MetadataNode {
  std::string typeKey;
  std::vector<std::pair<std::string, std::string>> fields;
  std::vector<std::string> keys;
  std::vector<size_t> data;
  std::string repr;
};

/// All objects of a section. Node 0 is null; `roots` gives for each type key the numbers of the
/// nodes that `meta[KEY][i]` names; tensor fields are indices into `tensors`.
struct MetadataTable {
  std::deque<MetadataNode> nodes;
  std::map<std::string, std::vector<size_t>, std::less<>> roots;
  std::deque<runtime::Tensor> tensors;
};

} // namespace lang
