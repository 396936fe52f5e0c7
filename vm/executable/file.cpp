// The header, the parts in their order, and what is looked at before anybody uses them.
#include "vm/executable/fields.h"
#include "vm/machine/native.h"
#include "vm/machine/operands.h"
#include "vm/machine/verify.h"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace executable {

using runtime::demand;
using runtime::Error;
using runtime::Result;

namespace {

/// The first byte is in no text, and line ends show whether somebody changed them.
constexpr char magic[8] = {'\x89', 'B', 'V', 'M', '\r', '\n', '\x1a', '\n'};
constexpr uint32_t formatVersion = 10;
constexpr size_t alignment = 64;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t reserved;
  /// Of the table of instructions.
  uint64_t instructions;
  /// Of the program, from the end of the header on, and of constants, from the next multiple of 64.
  uint64_t programBytes;
  uint64_t constantBytes;
  /// Of all bytes behind the header.
  uint64_t checksum;
  uint64_t unused[2];
};
static_assert(sizeof(Header) == 64);

/// A sum that changes with each bit and with their order: eight bytes at a time are multiplied in.
class Checksum {
public:
  void add(std::span<const std::byte> bytes) {
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
      uint64_t word;
      std::memcpy(&word, bytes.data(), 8);
      add(word);
    }
    uint64_t rest = bytes.size();
    for (std::byte byte : bytes)
      rest = rest << 8 | uint64_t(byte);
    add(rest);
  }
  uint64_t sum() const { return sum_ ^ sum_ >> 29; }

private:
  void add(uint64_t word) {
    sum_ = (sum_ ^ word) * 0x9e3779b97f4a7c15;
    sum_ ^= sum_ >> 32;
  }
  uint64_t sum_ = 0x243f6a8885a308d3;
};

/// An object of the program; a tensor has its elements among the constants.
struct StaticEntry {
  uint16_t layout = 0;
  runtime::DType dtype;
  std::vector<int64_t> shape;
  uint64_t offset = 0;
};

template <typename Archive>
void fields(Archive& archive, StaticEntry& entry) {
  archive(entry.layout, entry.dtype, entry.shape, entry.offset);
}

size_t padded(size_t size) {
  return (size + alignment - 1) / alignment * alignment;
}

void pad(std::vector<std::byte>& bytes) {
  bytes.resize(padded(bytes.size()));
}

std::vector<StaticEntry> writeStatics(const vm::Program& program,
                                      std::vector<std::byte>& constants) {
  std::vector<StaticEntry> entries;
  for (const vm::Static& each : program.statics) {
    StaticEntry entry{.layout = each.layout, .dtype = {}, .shape = {}};
    if (each.layout == vm::boxedLayout) {
      const runtime::Tensor& tensor = each.value.tensor();
      entry.dtype = tensor.dtype();
      entry.shape = tensor.shape();
      pad(constants);
      entry.offset = constants.size();
      constants.insert(constants.end(), tensor.bytes(), tensor.bytes() + tensor.byteSize());
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// What `read` takes apart: the bytes, and what says that they live.
struct Bytes {
  std::shared_ptr<const std::byte[]> owner;
  std::span<const std::byte> program, constants;
};

Bytes open(std::shared_ptr<const std::byte[]> bytes, size_t size) {
  Header header;
  std::span<const std::byte> all(bytes.get(), size);
  demand(isExecutable(all), "it is no compiled program");
  demand(size >= sizeof header, "it ends too early");
  std::memcpy(&header, all.data(), sizeof header);
  demand(header.version == formatVersion && header.instructions == vm::instructionSum(),
         "another version of Baton wrote it; compile the program again");
  auto rest = all.subspan(sizeof header);
  size_t start = header.programBytes <= rest.size() ? padded(header.programBytes) : SIZE_MAX;
  demand(start <= rest.size() && header.constantBytes == rest.size() - start,
         "it is longer or shorter than it says");
  Checksum sum;
  sum.add(rest);
  demand(sum.sum() == header.checksum, "its checksum is wrong: the file is damaged");
  return Bytes{std::move(bytes), rest.first(header.programBytes), rest.subspan(start)};
}

using Owner = std::shared_ptr<const std::byte[]>;

/// Puts the tensors of a program where the file has them.
void readStatics(const std::vector<StaticEntry>& entries, const Bytes& bytes,
                 vm::Program& program) {
  for (const StaticEntry& entry : entries) {
    vm::Static made{entry.layout};
    if (entry.layout == vm::boxedLayout) {
      auto count = runtime::elementCount(entry.shape);
      size_t elementBytes = entry.dtype.bytes();
      bool fits = count && elementBytes > 0 && entry.offset % alignment == 0 &&
                  entry.offset <= bytes.constants.size() &&
                  size_t(*count) <= (bytes.constants.size() - entry.offset) / elementBytes;
      demand(fits, "a constant lies outside the file");
      auto owner = std::make_unique<Owner>(bytes.owner);
      runtime::Tensor tensor = runtime::Tensor::over(
          entry.dtype, entry.shape, const_cast<std::byte*>(bytes.constants.data()) + entry.offset,
          [](void* held) { delete static_cast<Owner*>(held); }, owner.get());
      owner.release();
      made.value = runtime::tensorValue(std::move(tensor));
    }
    program.statics.push_back(std::move(made));
  }
}

/// Gives layouts their names; a definition is told from others by where its name lies.
void nameLayouts(Executable& made, std::vector<std::string>& names) {
  demand(names.size() == made.program.layouts.size(), "its layouts have not one name each");
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = made.names.emplace_front(std::move(names[i]));
    made.program.layouts[i].symbol = {&name, name};
  }
}

/// What is handed in goes by the declared type and by the form at once. Recursion follows the type.
void verifyAgreement(const checks::Declared& declared, uint32_t number, const Executable& made) {
  using Kind = checks::Declared::Kind;
  demand(number < made.forms.size(), "a form of the interface is beyond its table");
  const Form& form = made.forms[number];
  demand((declared.kind == Kind::Tensor) == (form.kind == Form::Kind::Tensor) &&
             (declared.kind == Kind::Tuple) == (form.kind == Form::Kind::Tuple),
         "the interface takes something else than its types say");
  if (form.rep.isScalar())
    demand(declared.shape.empty() && declared.dtype == form.rep.dtype,
           "a scalar of the interface is none");
  if (declared.kind != Kind::Tuple)
    return;
  const std::vector<uint32_t>& fields = form.objects[0].fields;
  demand(fields.size() == declared.parts.size(), "a tuple of the interface has other fields");
  for (size_t i = 0; i < fields.size(); ++i)
    verifyAgreement(declared.parts[i], fields[i], made);
}

/// Objects are of such a layout, whose fields are kept as their forms say.
void verifyObject(const ObjectForm& object, vm::LayoutKind kind, const Executable& made) {
  bool isGood = object.layout < made.program.layouts.size();
  const vm::Layout& layout = made.program.layouts[isGood ? object.layout : 0];
  isGood = isGood && layout.kind == kind && layout.fields.size() == object.fields.size();
  for (size_t i = 0; isGood && i < object.fields.size(); ++i)
    isGood = object.fields[i] < made.forms.size() &&
             made.forms[object.fields[i]].rep == layout.fields[i];
  demand(isGood, "an object of the interface has no such layout");
}

void verifyForm(const Form& form, const Executable& made) {
  using Kind = Form::Kind;
  demand(form.kind == Kind::Tuple ? form.objects.size() == 1
                                  : form.kind == Kind::Data || form.objects.empty(),
         "what is no tuple has fields");
  demand(!form.rep.isScalar() || form.kind == Kind::Tensor, "a scalar of the interface is none");
  vm::LayoutKind kind = form.kind == Kind::Tuple ? vm::LayoutKind::Tuple : vm::LayoutKind::Data;
  for (const ObjectForm& object : form.objects)
    verifyObject(object, kind, made);
}

/// What fields of constructors must be agrees with their forms, which were verified.
void verifyChecks(const Form& form, const Executable& made) {
  const auto& checks = made.program.checks.fields;
  for (const ObjectForm& object : form.objects) {
    if (form.kind != Form::Kind::Data)
      continue;
    demand(object.check < checks.size() &&
               checks[object.check].fields.size() == object.fields.size(),
           "a constructor of the interface has other fields");
    for (size_t i = 0; i < object.fields.size(); ++i)
      verifyAgreement(checks[object.check].fields[i], object.fields[i], made);
  }
}

/// Whoever calls a function goes by its ports.
void verifyEntry(const Entry& entry, const vm::Function& function, const Executable& made) {
  auto demandType = [&](const checks::Declared& type) {
    const char* problem = problemOf(type, made.program.checks.sizes);
    demand(!problem, problem);
  };
  auto demandSame = [](bool isSame) {
    demand(isSame, "the interface is that of another function");
  };
  demandSame(entry.parameters.size() == function.parameters.size());
  for (size_t i = 0; i < entry.parameters.size(); ++i) {
    const Port& port = entry.parameters[i];
    demandType(port.declared);
    verifyAgreement(port.declared, port.form, made);
    vm::Rep rep = made.forms[port.form].rep;
    demandSame(rep.isScalar() == function.parameters[i].isScalar() &&
               (!rep.isScalar() || rep == function.parameters[i]));
  }
  demandType(entry.result.declared);
}

void verifyInterface(const Executable& made) {
  demand(!made.entries.empty() && made.entries.size() == made.program.entries.size(),
         "its entries have not one name each");
  for (const Form& form : made.forms)
    verifyForm(form, made);
  for (const Form& form : made.forms)
    verifyChecks(form, made);
  for (size_t i = 0; i < made.entries.size(); ++i)
    verifyEntry(made.entries[i], made.program.functions[made.program.entries[i]], made);
  for (const LayoutName& name : made.dataTypes) {
    demand(name.layout < made.program.layouts.size() &&
               made.program.layouts[name.layout].kind == vm::LayoutKind::Data,
           "the data type of something else is told");
    const size_t fields = made.program.layouts[name.layout].fields.size();
    demand(name.fieldNames.empty() || name.fieldNames.size() == fields,
           "the names of other fields are told");
  }
  for (const MachineCode& code : made.machineCode)
    for (uint32_t kernel : code.kernels)
      demand(kernel < made.program.kernels.size() && !made.program.kernels[kernel].programs.empty(),
             "machine code is for a kernel that there is not");
  for (const LanguageSite& site : made.languageSites)
    demand(site.site < made.program.sites.size() &&
               made.program.sites[site.site].kind == vm::SiteKind::Language,
           "the operator of something else is told");
}

} // namespace

bool isExecutable(std::span<const std::byte> start) {
  return start.size() >= sizeof magic && std::memcmp(start.data(), magic, sizeof magic) == 0;
}

std::vector<std::byte> write(const Executable& executable) {
  Writer writer;
  std::vector<std::byte> constants;
  std::vector<std::string> names;
  for (const vm::Layout& layout : executable.program.layouts)
    names.emplace_back(layout.symbol.name);
  writer(executable, names, writeStatics(executable.program, constants));
  Header header{};
  std::memcpy(header.magic, magic, sizeof magic);
  header.version = formatVersion;
  header.instructions = vm::instructionSum();
  header.programBytes = writer.bytes.size();
  header.constantBytes = constants.size();
  pad(writer.bytes);
  writer.raw(constants);
  auto start = std::as_bytes(std::span(&header, 1));
  writer.bytes.insert(writer.bytes.begin(), start.begin(), start.end());
  seal(writer.bytes);
  return std::move(writer.bytes);
}

void seal(std::vector<std::byte>& bytes) {
  Checksum sum;
  sum.add(std::span(bytes).subspan(sizeof(Header)));
  uint64_t number = sum.sum();
  std::memcpy(bytes.data() + offsetof(Header, checksum), &number, sizeof number);
}

Result<std::unique_ptr<Executable>> read(std::shared_ptr<const std::byte[]> owner, size_t size) {
  try {
    Bytes bytes = open(std::move(owner), size);
    auto made = std::make_unique<Executable>();
    // A program begins with a layout, and the file has it too: lists are read into what has no
    // memory yet.
    made->program.layouts = std::vector<vm::Layout>();
    Reader reader(bytes.program);
    std::vector<std::string> names;
    std::vector<StaticEntry> statics;
    reader(*made, names, statics);
    demand(reader.left() == 0, "there is more than the program in it");
    nameLayouts(*made, names);
    readStatics(statics, bytes, made->program);
    if (auto problem = vm::findNatives(made->program))
      return Error{*std::move(problem)};
    if (auto problem = vm::verify(made->program))
      return Error{*std::move(problem)};
    verifyInterface(*made);
    return made;
  } catch (const runtime::Refused& refused) {
    return Error{refused.problem};
  }
}

// Constants lie at multiples of the alignment in the file, and have to in memory.
Result<std::unique_ptr<Executable>> readCopy(std::span<const std::byte> bytes) {
  constexpr std::align_val_t aligned{alignment};
  auto* memory = static_cast<std::byte*>(::operator new(bytes.size(), aligned));
  std::shared_ptr<const std::byte[]> copy(
      memory, [](const std::byte* at) { ::operator delete(const_cast<std::byte*>(at), aligned); });
  std::ranges::copy(bytes, memory);
  return read(std::move(copy), bytes.size());
}

Result<std::unique_ptr<Executable>> load(const std::string& path) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat about {};
  bool isOpen = file >= 0 && fstat(file, &about) == 0;
  auto size = size_t(about.st_size);
  // An empty file cannot be mapped, and is none of ours.
  bool isOurs = isOpen && size > 0 && S_ISREG(about.st_mode);
  void* mapped = isOurs ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  const char* reason = isOpen && !isOurs ? "it is no compiled program" : std::strerror(errno);
  if (file >= 0)
    close(file);
  if (mapped == MAP_FAILED)
    return Error{reason};
  auto unmap = [size](const std::byte* at) { munmap(const_cast<std::byte*>(at), size); };
  return read(std::shared_ptr<const std::byte[]>(static_cast<const std::byte*>(mapped), unmap),
              size);
}

/// The text that a place is in, and how far; null for no place.
static std::pair<const SourceText*, size_t> placeIn(const Executable& executable,
                                                    runtime::SourceRange range) {
  uint32_t base = 1;
  for (const SourceText& source : executable.sources) {
    if (range.begin >= base && range.begin - base <= source.text.size())
      return {&source, range.begin - base};
    base += uint32_t(source.text.size()) + 1;
  }
  return {nullptr, 0};
}

runtime::Notation notationOf(const Executable& executable, runtime::SourceRange range) {
  const SourceText* source = placeIn(executable, range).first;
  return source ? runtime::notationOf(source->name, source->text) : runtime::Notation::Relay;
}

std::string placeText(const Executable& executable, runtime::SourceRange range) {
  auto [source, offset] = placeIn(executable, range);
  if (!source)
    return "";
  std::string_view before = std::string_view(source->text).substr(0, offset);
  auto line = std::ranges::count(before, '\n') + 1;
  size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return fmt::format("{}:{}:{}", source->name, line, column);
}

} // namespace executable
