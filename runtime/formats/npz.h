// numpy's .npz: a zip archive of .npy members. The key of a tensor is its member's name without
// `.npy`; members of other names are no tensors and are passed over.
//
// What the archive claims about a member is checked against the bytes it has: deflate expands at
// most 1032-fold, so a small file cannot ask for much memory.
#pragma once

#include "runtime/formats/keyed_file.h"
#include "runtime/formats/tensor_bytes.h"

namespace formats {

enum class Compression { Stored, Deflate };

/// The keys in the archive in memory, in its order.
runtime::Result<std::vector<std::string>> parseNpzKeys(std::string_view bytes);

/// The tensor `key` of the archive in memory; the error lists the keys there are.
runtime::Result<runtime::Tensor> parseNpz(std::string_view bytes, std::string_view key);

/// The archive in memory, which must outlive what is given.
OpenedFile openNpzBytes(std::string_view bytes);

/// The archive at `path`, of which only the members that are asked for are read.
OpenedFile openNpz(const std::string& path);

/// The bytes of an archive of `tensors`; the same tensors always give the same bytes.
runtime::Result<std::string> npzBytes(const TensorMap& tensors, Compression compression);

/// Writes an archive of `tensors` to `path`.
runtime::Result<runtime::Done> writeNpz(const std::string& path, const TensorMap& tensors,
                                        Compression compression);

} // namespace formats
