// The section behind `#[metadata]`: a JSON document that lists objects, read and written.
//
// `root` is the number of a map from type key to array; `meta[KEY][i]` is element i of array KEY.
// `nodes` are the objects, number 0 is null. `b64ndarrays` are the tensors (tensor_blob.h). Fields
// of an object are text throughout; a reference is the number of a node as text, so what a field
// means depends on the type of its object.
#pragma once

#include "lang/print/print.h"
#include "lang/source/diagnostic.h"

#include <optional>

namespace parser {

/// Reads the section that lies at `section` of the file. Every lie is reported and makes the result
/// nothing. What comes back can be trusted this far: numbers in `data`, the tensor of a constant
/// and references in fields of well-known names are in range; along `data` there are no cycles, at
/// most 200 levels, and walking an object meets at most 16 times as many objects as there are, or
/// 65536.
std::optional<lang::MetadataTable> readMetadata(const lang::SourceFile& file,
                                                lang::SourceRange section,
                                                lang::Diagnostics& diagnostics);

/// The section without its `#[metadata]` line, laid out as TVM does. Nodes keep their numbers. Null
/// references that TVM's reader demands are added to objects of well-known types.
std::string writeMetadata(const lang::MetadataTable& table);

/// A printed text with its metadata section, when it needs one: a whole text to read back.
std::string wholeText(lang::Printed printed);

} // namespace parser
