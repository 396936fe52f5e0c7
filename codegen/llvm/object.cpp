// ELF, for x86-64: code first, then the rest, in one mapping, so that all references fit 32 bits.
// Calls of helpers go by way of a jump in the mapping, since helpers may be far off.
#include "codegen/llvm/object.h"

#include "codegen/llvm/helpers.h"

#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <map>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace codegen {

using runtime::Error;
using runtime::Result;

struct LoadedObject::Symbols {
  std::map<std::string, void*, std::less<>> addresses;
};

namespace {

struct Malformed {
  std::string what;
};

[[noreturn]] void refuse(std::string what) {
  throw Malformed{std::move(what)};
}

size_t roundUp(size_t size, size_t to) {
  return (size + to - 1) / to * to;
}

/// Jumps to an address that stands behind the instruction.
constexpr size_t jumpBytes = 16;
constexpr unsigned char jumpCode[] = {0xff, 0x25, 0, 0, 0, 0};

} // namespace

class ObjectReader {
public:
  explicit ObjectReader(std::string_view object) : object_(object) {}

  std::shared_ptr<const LoadedObject> read() {
    readSections();
    layOut();
    made_.reset(new LoadedObject());
    made_->symbols_ = std::make_unique<LoadedObject::Symbols>();
    map();
    findSymbols();
    for (const Elf64_Shdr& section : sections_)
      if (section.sh_type == SHT_RELA)
        relocate(section);
    if (mprotect(made_->memory_, codeBytes_, PROT_READ | PROT_EXEC) != 0)
      refuse("memory cannot be made executable");
    return made_;
  }

private:
  template <typename T>
  T at(size_t offset) const {
    if (offset > object_.size() || object_.size() - offset < sizeof(T))
      refuse("an object that ends too early");
    T value;
    std::memcpy(&value, object_.data() + offset, sizeof(T));
    return value;
  }

  void readSections() {
    auto header = at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != EM_X86_64 ||
        header.e_type != ET_REL || header.e_shentsize != sizeof(Elf64_Shdr))
      refuse("no object for this processor");
    for (size_t i = 0; i < header.e_shnum; ++i) {
      auto section = at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
      bool hasBytes = section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL;
      if (hasBytes && (section.sh_offset > object_.size() ||
                       section.sh_size > object_.size() - section.sh_offset))
        refuse("a section that ends too early");
      if (section.sh_type == SHT_NOBITS && section.sh_size != 0)
        refuse("a section without bytes");
      if (section.sh_addralign > 4096)
        refuse("a section that is aligned too far");
      sections_.push_back(section);
    }
  }

  void place(size_t i, size_t& end) {
    end = roundUp(end, std::max<size_t>(sections_[i].sh_addralign, 1));
    places_[i] = end;
    end += sections_[i].sh_size;
  }

  void layOut() {
    places_.assign(sections_.size(), SIZE_MAX);
    size_t end = 0, page = size_t(sysconf(_SC_PAGESIZE));
    auto isCode = [](const Elf64_Shdr& section) { return (section.sh_flags & SHF_EXECINSTR) != 0; };
    for (size_t i = 0; i < sections_.size(); ++i)
      if ((sections_[i].sh_flags & SHF_ALLOC) && isCode(sections_[i]))
        place(i, end);
    jumps_ = roundUp(end, jumpBytes);
    jumpsEnd_ = jumps_;
    codeBytes_ = roundUp(jumps_ + 64 * jumpBytes, page);
    end = codeBytes_;
    for (size_t i = 0; i < sections_.size(); ++i)
      if ((sections_[i].sh_flags & SHF_ALLOC) && !isCode(sections_[i]))
        place(i, end);
    bytes_ = roundUp(end, page);
  }

  void map() {
    void* memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      refuse("no memory for code");
    made_->memory_ = memory;
    made_->size_ = bytes_;
    base_ = static_cast<char*>(memory);
    for (size_t i = 0; i < sections_.size(); ++i)
      if (places_[i] != SIZE_MAX)
        std::memcpy(base_ + places_[i], object_.data() + sections_[i].sh_offset,
                    sections_[i].sh_size);
  }

  std::string_view nameAt(const Elf64_Shdr& strings, size_t offset) const {
    std::string_view all = object_.substr(strings.sh_offset, strings.sh_size);
    size_t end = offset < all.size() ? all.find('\0', offset) : all.npos;
    if (end == all.npos)
      refuse("a name that is not there");
    return all.substr(offset, end - offset);
  }

  void findSymbols() {
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != SHT_SYMTAB)
        continue;
      if (section.sh_link >= sections_.size())
        refuse("names that are not there");
      for (size_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
        auto symbol = this->at<Elf64_Sym>(section.sh_offset + at);
        std::string name(nameAt(sections_[section.sh_link], symbol.st_name));
        char* address = addressOf(symbol, name);
        symbols_.push_back(address);
        if (address && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
          made_->symbols_->addresses[name] = address;
      }
    }
  }

  char* addressOf(const Elf64_Sym& symbol, const std::string& name) {
    if (symbol.st_shndx == SHN_UNDEF)
      return name.empty() ? nullptr : jumpTo(name);
    if (symbol.st_shndx >= sections_.size() || places_[symbol.st_shndx] == SIZE_MAX)
      return nullptr;
    if (symbol.st_value > sections_[symbol.st_shndx].sh_size)
      refuse("a symbol outside of its section");
    return base_ + places_[symbol.st_shndx] + symbol.st_value;
  }

  char* jumpTo(const std::string& name) {
    void* target = helperNamed(name);
    if (!target)
      refuse(fmt::format("`{}`, which nobody has", name));
    if (jumpsEnd_ + jumpBytes > codeBytes_)
      refuse("too many helpers");
    char* jump = base_ + jumpsEnd_;
    std::memcpy(jump, jumpCode, sizeof jumpCode);
    std::memcpy(jump + sizeof jumpCode, &target, sizeof target);
    jumpsEnd_ += jumpBytes;
    return jump;
  }

  void relocate(const Elf64_Shdr& section) {
    if (section.sh_info >= sections_.size() || places_[section.sh_info] == SIZE_MAX)
      return;
    const Elf64_Shdr& target = sections_[section.sh_info];
    for (size_t at = 0; at + sizeof(Elf64_Rela) <= section.sh_size; at += sizeof(Elf64_Rela)) {
      auto entry = this->at<Elf64_Rela>(section.sh_offset + at);
      size_t number = ELF64_R_SYM(entry.r_info);
      if (number >= symbols_.size() || !symbols_[number])
        refuse("a reference to nothing");
      uint32_t kind = uint32_t(ELF64_R_TYPE(entry.r_info));
      size_t width = kind == R_X86_64_64 || kind == R_X86_64_PC64 ? 8 : 4;
      if (entry.r_offset > target.sh_size || target.sh_size - entry.r_offset < width)
        refuse("a reference outside of its section");
      apply(kind, base_ + places_[section.sh_info] + entry.r_offset,
            symbols_[number] + entry.r_addend);
    }
  }

  static void apply(uint32_t kind, char* at, char* to) {
    switch (kind) {
    case R_X86_64_64:
      std::memcpy(at, &to, 8);
      return;
    case R_X86_64_PC64: {
      int64_t distance = to - at;
      std::memcpy(at, &distance, 8);
      return;
    }
    case R_X86_64_PC32:
    case R_X86_64_PLT32: {
      auto distance = int32_t(to - at);
      std::memcpy(at, &distance, 4);
      return;
    }
    default:
      refuse(fmt::format("a reference of kind {}", kind));
    }
  }

  std::string_view object_;
  std::vector<Elf64_Shdr> sections_;
  /// Where each section lies; SIZE_MAX for those that are not loaded.
  std::vector<size_t> places_;
  std::vector<char*> symbols_;
  std::shared_ptr<LoadedObject> made_;
  char* base_ = nullptr;
  size_t jumps_ = 0, jumpsEnd_ = 0, codeBytes_ = 0, bytes_ = 0;
};

LoadedObject::~LoadedObject() {
  if (memory_)
    munmap(memory_, size_);
}

void* LoadedObject::find(std::string_view symbol) const {
  auto found = symbols_->addresses.find(symbol);
  return found == symbols_->addresses.end() ? nullptr : found->second;
}

Result<std::shared_ptr<const LoadedObject>> LoadedObject::load(std::string_view object) {
  try {
    return ObjectReader(object).read();
  } catch (const Malformed& malformed) {
    return Error{malformed.what};
  }
}

} // namespace codegen
