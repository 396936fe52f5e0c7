// ELF: code first, then the rest, so that all references fit 32 bits. Calls of helpers go by way of
// a jump behind the code, since helpers may be far off.
#include "codegen/llvm/object.h"

#include "codegen/image/helpers.h"
#include "codegen/llvm/references.h"

#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <map>
#include <vector>

namespace codegen {

using runtime::Error;
using runtime::Result;

namespace {

/// Jumps to the address that stands in its last eight bytes.
constexpr size_t jumpBytes = 16;
constexpr std::string_view x86Jump("\xff\x25\x02\0\0\0\xcc\xcc", 8);
/// ldr x16, #8; br x16
constexpr std::string_view armJump("\x50\0\0\x58\0\x02\x1f\xd6", 8);

size_t roundUp(size_t size, size_t to) {
  return (size + to - 1) / to * to;
}

class ObjectReader {
public:
  ObjectReader(std::string_view object, std::span<const std::string> functions)
      : object_(object), wanted_(functions) {}

  Image read() {
    readSections();
    layOut();
    findSymbols();
    for (const Elf64_Shdr& section : sections_)
      if (section.sh_type == SHT_RELA)
        relocate(section);
    image_.code = bytes_.substr(0, codeEnd_);
    image_.data = bytes_.substr(dataStart_);
    findEntries();
    return std::move(image_);
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
    machine_ = header.e_machine;
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        (machine_ != EM_X86_64 && machine_ != EM_AARCH64) || header.e_type != ET_REL ||
        header.e_shentsize != sizeof(Elf64_Shdr))
      refuse("no object for a processor that is known");
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

  void place(size_t i) {
    bytes_.resize(roundUp(bytes_.size(), std::max<size_t>(sections_[i].sh_addralign, 1)));
    places_[i] = bytes_.size();
    bytes_ += object_.substr(sections_[i].sh_offset, sections_[i].sh_size);
  }

  /// Code, jumps, and the rest at the next page, which is as large as any of the processor's.
  void layOut() {
    places_.assign(sections_.size(), SIZE_MAX);
    auto isCode = [](const Elf64_Shdr& section) { return (section.sh_flags & SHF_EXECINSTR) != 0; };
    for (size_t i = 0; i < sections_.size(); ++i)
      if ((sections_[i].sh_flags & SHF_ALLOC) && isCode(sections_[i]))
        place(i);
    codeEnd_ = roundUp(bytes_.size(), jumpBytes);
    image_.pageBytes = machine_ == EM_X86_64 ? 4096 : 65536;
    dataStart_ = roundUp(codeEnd_ + helperCount() * jumpBytes, image_.pageBytes);
    bytes_.resize(dataStart_);
    for (size_t i = 0; i < sections_.size(); ++i)
      if ((sections_[i].sh_flags & SHF_ALLOC) && !isCode(sections_[i]))
        place(i);
  }

  template <typename Visit>
  void forEachSymbol(Visit visit) {
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != SHT_SYMTAB)
        continue;
      if (section.sh_link >= sections_.size())
        refuse("names that are not there");
      for (size_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
        auto symbol = this->at<Elf64_Sym>(section.sh_offset + at);
        visit(symbol, nameAt(sections_[section.sh_link], symbol.st_name));
      }
    }
  }

  size_t helperCount() {
    size_t count = 0;
    forEachSymbol([&](const Elf64_Sym& symbol, std::string_view name) {
      count += symbol.st_shndx == SHN_UNDEF && !name.empty();
    });
    return count;
  }

  std::string_view nameAt(const Elf64_Shdr& strings, size_t offset) const {
    std::string_view all = object_.substr(strings.sh_offset, strings.sh_size);
    size_t end = offset < all.size() ? all.find('\0', offset) : all.npos;
    if (end == all.npos)
      refuse("a name that is not there");
    return all.substr(offset, end - offset);
  }

  void findSymbols() {
    forEachSymbol([&](const Elf64_Sym& symbol, std::string_view view) {
      std::string name(view);
      size_t place = placeOf(symbol, name);
      symbols_.push_back(place);
      if (place < codeEnd_ && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
        functions_[name] = place;
    });
  }

  void findEntries() {
    for (const std::string& name : wanted_) {
      auto found = functions_.find(name);
      if (found == functions_.end())
        refuse(fmt::format("no function `{}`", name));
      image_.entries.push_back(found->second);
    }
  }

  size_t placeOf(const Elf64_Sym& symbol, const std::string& name) {
    if (symbol.st_shndx == SHN_UNDEF)
      return name.empty() ? SIZE_MAX : jumpTo(name);
    if (symbol.st_shndx >= sections_.size() || places_[symbol.st_shndx] == SIZE_MAX)
      return SIZE_MAX;
    if (symbol.st_value > sections_[symbol.st_shndx].sh_size)
      refuse("a symbol outside of its section");
    return places_[symbol.st_shndx] + symbol.st_value;
  }

  size_t jumpTo(const std::string& name) {
    size_t jump = codeEnd_;
    codeEnd_ += jumpBytes;
    bytes_.replace(jump, x86Jump.size(), machine_ == EM_X86_64 ? x86Jump : armJump);
    auto helper = helperNumber(name);
    if (!helper)
      refuse(fmt::format("`{}`, which nobody has", name));
    image_.helpers.push_back({jump + x86Jump.size(), *helper});
    return jump;
  }

  void relocate(const Elf64_Shdr& section) {
    if (section.sh_info >= sections_.size() || places_[section.sh_info] == SIZE_MAX)
      return;
    const Elf64_Shdr& target = sections_[section.sh_info];
    for (size_t at = 0; at + sizeof(Elf64_Rela) <= section.sh_size; at += sizeof(Elf64_Rela)) {
      auto entry = this->at<Elf64_Rela>(section.sh_offset + at);
      size_t number = ELF64_R_SYM(entry.r_info);
      if (number >= symbols_.size() || symbols_[number] == SIZE_MAX)
        refuse("a reference to nothing");
      if (entry.r_offset > target.sh_size)
        refuse("a reference outside of its section");
      std::span<char> bytes(bytes_);
      size_t place = places_[section.sh_info] + entry.r_offset;
      refer(machine_, uint32_t(ELF64_R_TYPE(entry.r_info)),
            bytes.first(places_[section.sh_info] + target.sh_size), place,
            int64_t(symbols_[number]) + entry.r_addend);
    }
  }

  std::string_view object_;
  std::span<const std::string> wanted_;
  uint16_t machine_ = 0;
  std::vector<Elf64_Shdr> sections_;
  /// Where each section lies, and each symbol; SIZE_MAX for those that are not loaded.
  std::vector<size_t> places_, symbols_;
  std::map<std::string, uint64_t> functions_;
  Image image_;
  /// Of the image, code and data together.
  std::string bytes_;
  size_t codeEnd_ = 0, dataStart_ = 0;
};

} // namespace

Result<Image> imageOfObject(std::string_view object, std::span<const std::string> functions) {
  try {
    return ObjectReader(object, functions).read();
  } catch (const Malformed& malformed) {
    return Error{malformed.what};
  }
}

} // namespace codegen
