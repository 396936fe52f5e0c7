// Values of any type as JSON.
//
// Tensors are `{"dtype": ..., "shape": [...], "data": [...]}` with their elements in one list,
// tuples `{"tuple": [...]}`, values of data types `{"con": NAME, "fields": [...]}`. Who writes JSON
// by hand may say less, since the type is known: numbers and lists of them for tensors, lists for
// tuples and for data types such as List.
#pragma once

#include "driver/values/builder.h"
#include "runtime/formats/json_cursor.h"

namespace driver {

/// Appends the JSON of a value.
runtime::Result<runtime::Done> appendJson(std::string& out, const runtime::Value& value);

/// Reads what the builder wants.
runtime::Result<runtime::Done> readJson(formats::JsonCursor json, ValueBuilder& builder,
                                        const AcceptTensor& accept);

/// The part of a value, or of an object of values, that a path such as `out.0.1` leads to: names of
/// members and numbers of fields. Nothing when it leads nowhere.
std::optional<formats::JsonCursor> findJson(formats::JsonCursor json, std::string_view path);

} // namespace driver
