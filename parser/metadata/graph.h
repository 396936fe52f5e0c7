// Checks on the objects of a metadata section as a graph, and what is known of their fields.
#pragma once

#include "lang/ir/metadata.h"

#include <span>
#include <string_view>

namespace parser {

/// What is wrong with the references between nodes; empty when all is well. See readMetadata().
std::string checkMetadataGraph(const lang::MetadataTable& table);

/// The reference fields that TVM's reader demands of an object of this type.
std::span<const std::string_view> demandedReferences(std::string_view typeKey);

} // namespace parser
