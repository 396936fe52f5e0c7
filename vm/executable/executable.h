// Compiled programs as files: what `baton compile` writes and every machine can run.
//
// vm/executable/ is the form of such files; it ships with the machine and knows nothing of the
// language. Start here, then fields.h, which says once for reading and writing what stands in a
// file. A file is a header of 64 bytes, the program, and the elements of its constants, each at a
// multiple of 64, so that they can be used where the file is mapped. Numbers are little-endian.
#pragma once

#include "runtime/result.h"
#include "vm/machine/program.h"

#include <forward_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace executable {

/// How objects of the interface are made: the layout, and of each field its form by number.
struct ObjectForm {
  uint16_t layout = 0;
  std::vector<uint32_t> fields = {};
  /// Of a constructor: what its fields must be, by number.
  uint32_t check = checks::none;
};

/// What values of a type of the interface are, and how they are kept. Other: they cannot be handed
/// in.
struct Form {
  enum class Kind : uint8_t { Other, Tensor, Tuple, Data };

  Kind kind = Kind::Other;
  vm::Rep rep;
  /// Of a tuple one, of a data type one for each constructor.
  std::vector<ObjectForm> objects = {};
};

/// A parameter or the result of an entry.
struct Port {
  std::string name;
  /// As people write it.
  std::string type;
  checks::Declared declared;
  /// Whether the program says so, and where.
  bool isDeclared = false;
  runtime::SourceRange range;
  /// Of a parameter, by number.
  uint32_t form = 0;
};

/// A function that is called from outside: which one stands in the program.
struct Entry {
  std::string name;
  std::vector<Port> parameters;
  Port result;
};

/// Texts of which a program tells places; of each only the lines that are told of.
struct SourceText {
  std::string name;
  std::string text;
};

/// What is known of a layout beyond the machine: the data type of a constructor, and the names of
/// its fields, if they have any.
struct LayoutName {
  uint16_t layout = 0;
  std::string dataType;
  std::vector<std::string> fieldNames = {};
};

/// An operator that only the language can apply: the site, and the function of the module
/// `language` that calls it.
struct LanguageSite {
  uint32_t site = 0;
  std::string function;
};

/// Machine code of a nest for a processor, and the kernels that it computes for the sizes of their
/// first strip programs. It is code of whoever wrote the file: nobody looks it over, so nobody runs
/// it who was not told to (machine_code.h).
struct MachineCode {
  /// `x86-64-v3` (codegen/image/levels.h).
  std::string target;
  std::vector<uint32_t> kernels;
  /// As codegen::bytesOf() writes it.
  std::string bytes;
};

struct Executable {
  vm::Program program;
  /// One for each of the program's, at least one.
  std::vector<Entry> entries;
  std::vector<Form> forms;
  /// Whether scalars lie in tensors, not in registers.
  bool boxesScalars = false;
  std::vector<LayoutName> dataTypes;
  /// A module in the text format: the data types of the interface, what entries take and give,
  /// and the functions of language sites.
  std::string language;
  std::vector<LanguageSite> languageSites;
  std::vector<SourceText> sources;
  std::vector<MachineCode> machineCode = {};
  /// The names that the program's layouts point into.
  std::forward_list<std::string> names;
};

/// The bytes of a file. Constants must be tensors.
std::vector<std::byte> write(const Executable& executable);

/// The executable in the bytes of a file, which a verifier has accepted; constants are used where
/// they lie, so they keep the bytes.
runtime::Result<std::unique_ptr<Executable>> read(std::shared_ptr<const std::byte[]> bytes,
                                                  size_t size);

/// The same of bytes that may be anywhere, and go away.
runtime::Result<std::unique_ptr<Executable>> readCopy(std::span<const std::byte> bytes);

/// The same of a file, which is mapped.
runtime::Result<std::unique_ptr<Executable>> load(const std::string& path);

/// Makes the checksum of a file right; for who changes its bytes on purpose.
void seal(std::vector<std::byte>& bytes);

/// Whether bytes begin as such a file does.
bool isExecutable(std::span<const std::byte> start);

/// The notation of the text that a place is in, Relay's for no place.
runtime::Notation notationOf(const Executable& executable, runtime::SourceRange range);

/// `model.rly:3:7`, or empty for no place.
std::string placeText(const Executable& executable, runtime::SourceRange range);

} // namespace executable
