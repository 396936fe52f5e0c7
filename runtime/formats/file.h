// Whole files, and ranges of them, read and written with errors that name the path.
//
// Sizes of files may change while they are read: what counts is what a read returns. Devices and
// pipes are read to their end and written in place; only regular files are replaced by renaming.
#pragma once

#include "runtime/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace formats {

/// All bytes of the file; an error when it is missing, a directory, or above `mostBytes`.
runtime::Result<std::string> readFile(const std::string& path, uint64_t mostBytes);

/// All bytes of standard input, whatever it is: a socket cannot be opened again by its path.
runtime::Result<std::string> readStandardInput(uint64_t mostBytes);

/// Whether a regular file is there, which can be opened more than once.
bool isRegularFile(const std::string& path);

/// The size in bytes of a regular file.
runtime::Result<uint64_t> fileSize(const std::string& path);

/// The `length` bytes at `offset` of a regular file; an error when it ends before.
runtime::Result<std::string> readFileRange(const std::string& path, uint64_t offset,
                                           uint64_t length);

/// Writes `bytes` beside `path` and renames, so that `path` has its old or its new content, never
/// a part. A link is followed, and the permissions of an existing file are kept.
runtime::Result<runtime::Done> writeFile(const std::string& path, std::string_view bytes);

/// An error when `writeFile` could not write there as things are, to be asked before long work.
runtime::Result<runtime::Done> checkWritable(const std::string& path);

/// Removes the file beside its path that is being written, if any. For handlers of signals that end
/// the process.
void removePartialFile();

} // namespace formats
