// Collects the objects that a printed text refers to by `meta[KEY][i]`.
//
// The fields of an object are text, and in general only its type tells which of them are numbers of
// other objects. So objects that come from the metadata of the module keep their numbers, together
// with all that they may refer to, and constants fill the places that are left: printing what was
// read gives a table of the same size again.
#pragma once

#include "lang/ir/module.h"

namespace lang::printing {

class MetadataCollector {
public:
  explicit MetadataCollector(const MetadataTable& source) : source_(source) {}

  /// The reference to a constant that has no literal.
  std::string constant(const Constant& constant);
  /// The reference to an object of the module's metadata.
  std::string object(const MetadataNode& node);

  bool isEmpty() const { return roots_.empty(); }
  /// The table of all that was referred to; its tensors share the buffers of the module's.
  MetadataTable table() const;

private:
  struct Root {
    std::string key;
    const MetadataNode* node = nullptr;
    const Constant* constant = nullptr;
  };
  std::string reference(const void* identity, Root root);

  const MetadataTable& source_;
  std::vector<Root> roots_;
  std::unordered_map<const void*, std::string> references_;
  std::unordered_map<std::string, size_t> counts_;
};

} // namespace lang::printing
