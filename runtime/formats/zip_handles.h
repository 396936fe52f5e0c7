// Owners for libzip's handles, private to formats/. An archive is discarded, not closed: closing
// is what writes, and npz_write.cpp does it by hand.
#pragma once

#include <memory>
#include <string>

#include <zip.h>

namespace formats {

struct ZipDiscard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using ZipArchive = std::unique_ptr<zip_t, ZipDiscard>;

struct ZipFileClose {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using ZipFile = std::unique_ptr<zip_file_t, ZipFileClose>;

struct ZipSourceFree {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using ZipSource = std::unique_ptr<zip_source_t, ZipSourceFree>;

/// Where libzip's functions without an archive leave their problem.
struct ZipError {
  zip_error_t error;

  ZipError() { zip_error_init(&error); }
  ZipError(const ZipError&) = delete;
  ~ZipError() { zip_error_fini(&error); }
  std::string text() { return zip_error_strerror(&error); }
};

} // namespace formats
