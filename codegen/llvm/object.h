// Machine code in memory, from an object file that LLVM wrote or a cache kept.
//
// A loader for what LLVM makes of our modules: sections, references among them, and calls of the
// few functions of helpers.h. An object is bytes from outside, so everything in it is checked
// against its size.
#pragma once

#include "runtime/result.h"

#include <memory>
#include <string_view>

namespace codegen {

class LoadedObject {
public:
  LoadedObject(const LoadedObject&) = delete;
  ~LoadedObject();

  /// The address of a function that the object defines; null when it defines none.
  void* find(std::string_view symbol) const;
  size_t bytes() const { return size_; }

  /// An object for the processor at hand; or what is wrong with it.
  static runtime::Result<std::shared_ptr<const LoadedObject>> load(std::string_view object);

private:
  friend class ObjectReader;
  LoadedObject() = default;

  struct Symbols;
  std::unique_ptr<Symbols> symbols_;
  void* memory_ = nullptr;
  size_t size_ = 0;
};

} // namespace codegen
