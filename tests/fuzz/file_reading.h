// What must hold of every tensor file, good or bad; the fuzzer and the mutation test ask the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace testing {

/// What the bytes are read as. `Blob` is the base64 of a tensor, `Metadata` a whole section.
enum class FileKind : unsigned char { Npy, Npz, Safetensors, Blob, Metadata };
inline constexpr FileKind fileKinds[] = {FileKind::Npy, FileKind::Npz, FileKind::Safetensors,
                                         FileKind::Blob, FileKind::Metadata};

/// Reads the bytes. Empty when all is well, else the promise that was broken: a file is refused
/// with words, or its tensors have as many bytes as their shapes say, and written they read back
/// the same. Mistakes in the bytes are well.
std::string brokenPromise(FileKind kind, std::string_view bytes);

/// Good files of a kind, to start from.
std::vector<std::string> goodFiles(FileKind kind);

} // namespace testing
