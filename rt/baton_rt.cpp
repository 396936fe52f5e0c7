// The C interface: handles around what executable/ has. No exception leaves a function, and counts
// of values stay in one thread: a call only looks at its arguments, and what it makes of them
// shares nothing with them but the elements of tensors.
#include "rt/baton_rt.h"

#include "rt/language.h"

#include <atomic>
#include <fmt/format.h>

using runtime::FaultKind;
using runtime::Tensor;
using runtime::Value;
using runtime::ValueKind;

struct baton_error {
  baton_error_kind kind;
  std::string message;
  std::vector<std::string> places = {};
};

struct baton_model {
  rt::Callable callable;
};

struct baton_context {
  rt::Callable callable;
  std::atomic<bool> isInterrupted = false;
  vm::RunOptions options = {};
  std::unique_ptr<executable::Caller> caller = nullptr;
};

struct baton_value {
  /// Names point into it.
  std::shared_ptr<const executable::Executable> executable;
  Value value;
  std::string name = {};
};

namespace {

baton_error noMemory{BATON_ERROR_MEMORY, "out of memory"};

baton_error* errorOf(baton_error_kind kind, std::string message) {
  return new baton_error{kind, std::move(message)};
}

baton_error* errorOf(baton_error_kind kind, const char* message) {
  return errorOf(kind, std::string(message));
}

/// Does the work with what it is handed; what it throws becomes an error.
baton_error* guarded(baton_error* (*work)(void*), void* with) {
  try {
    return work(with);
  } catch (const std::bad_alloc&) {
    return &noMemory;
  } catch (const std::exception& problem) {
    try {
      return errorOf(BATON_ERROR_PROGRAM, problem.what());
    } catch (const std::bad_alloc&) {
      return &noMemory;
    }
  }
}

template <typename Work>
baton_error* guarded(Work work) {
  return guarded([](void* with) { return (*static_cast<Work*>(with))(); }, &work);
}

baton_error_kind kindOf(FaultKind kind) {
  switch (kind) {
  case FaultKind::Depth:
  case FaultKind::Steps:
  case FaultKind::Time:
  case FaultKind::Interrupted:
    return BATON_ERROR_LIMIT;
  case FaultKind::Memory:
    return BATON_ERROR_MEMORY;
  default:
    return BATON_ERROR_PROGRAM;
  }
}

baton_error* errorOf(const executable::Executable& made, const runtime::RunFault& fault) {
  auto* error = errorOf(kindOf(fault.kind), fault.problem);
  for (const std::string& note : fault.notes)
    error->message += "\n" + note;
  error->places.push_back(executable::placeText(made, fault.range));
  for (runtime::SourceRange call : fault.calls)
    error->places.push_back(executable::placeText(made, call));
  return error;
}

using Owner = std::shared_ptr<const executable::Executable>;

/// Whether names in values point into one program only, which goes to `owner`.
bool findOwner(const baton_value* const* values, size_t count, Owner& owner) {
  for (size_t i = 0; i < count; ++i) {
    const Owner& own = values[i]->executable;
    if (own && owner && own != owner)
      return false;
    if (own)
      owner = own;
  }
  return true;
}

std::vector<Value> fieldsOf(const baton_value* const* fields, size_t count) {
  std::vector<Value> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(fields[i]->value);
  return values;
}

/// Null beyond the last one.
const executable::Entry* entryAt(const executable::Executable& made, size_t entry) {
  return entry < made.entries.size() ? &made.entries[entry] : nullptr;
}

const executable::Port* parameterAt(const executable::Executable& made, size_t entry,
                                    size_t index) {
  const executable::Entry* found = entryAt(made, entry);
  return found && index < found->parameters.size() ? &found->parameters[index] : nullptr;
}

/// The constructor of that name, wherever a layout has it.
const runtime::Symbol* findConstructor(const executable::Executable& made, std::string_view name) {
  for (const vm::Layout& layout : made.program.layouts)
    if (layout.kind == vm::LayoutKind::Data && layout.symbol.name == name)
      return &layout.symbol;
  return nullptr;
}

constexpr const char* ofAnotherModel = "values of data types and functions are of another model";

baton_error* keep(std::unique_ptr<executable::Executable> made, baton_model** model) {
  auto callable = rt::callableOf(std::move(made));
  if (!callable)
    return errorOf(BATON_ERROR_FILE, callable.failure().message);
  *model = new baton_model{*std::move(callable)};
  return nullptr;
}

constexpr uint8_t dlBool = 6;

std::optional<runtime::DType> dtypeOf(DLDataType type) {
  if (type.lanes != 1)
    return std::nullopt;
  if (type.code == dlBool)
    return type.bits == 8 ? std::optional(runtime::Bool) : std::nullopt;
  runtime::DType dtype{runtime::DTypeCode(type.code), type.bits};
  bool isKnown = type.code <= uint8_t(runtime::DTypeCode::BFloat) && dtype.isComputable();
  return isKnown ? std::optional(dtype) : std::nullopt;
}

DLDataType typeOf(runtime::DType dtype) {
  if (dtype.isBool())
    return {dlBool, 8, 1};
  return {uint8_t(dtype.code), dtype.bits, dtype.lanes};
}

bool isRowMajor(const DLTensor& tensor) {
  int64_t stride = 1;
  for (int32_t i = tensor.ndim; tensor.strides && i-- > 0; stride *= tensor.shape[i])
    if (tensor.shape[i] != 1 && tensor.strides[i] != stride)
      return false;
  return true;
}

/// The elements in row-major order.
Tensor copied(const DLTensor& from, runtime::DType dtype, const runtime::Shape& shape,
              const std::byte* data) {
  Tensor to = Tensor::unwritten(dtype, shape);
  const size_t bytes = dtype.bytes();
  if (isRowMajor(from)) {
    if (to.size() > 0)
      std::memcpy(to.bytes(), data, to.byteSize());
    return to;
  }
  std::vector<int64_t> at(shape.size());
  int64_t offset = 0;
  for (int64_t i = 0; i < to.size(); ++i) {
    std::memcpy(to.bytes() + size_t(i) * bytes, data + offset * int64_t(bytes), bytes);
    for (size_t dim = shape.size(); dim-- > 0;) {
      offset += from.strides[dim];
      if (++at[dim] < shape[dim])
        break;
      offset -= from.strides[dim] * shape[dim];
      at[dim] = 0;
    }
  }
  return to;
}

void giveBack(void* tensor) {
  auto* managed = static_cast<DLManagedTensor*>(tensor);
  if (managed->deleter)
    managed->deleter(managed);
}

baton_error* wrap(Owner owner, Value value, baton_value** result) {
  std::string name;
  if (value.kind() != ValueKind::Tensor && value.kind() != ValueKind::Tuple &&
      value.kind() != ValueKind::Reference)
    name = value.symbol().name;
  *result = new baton_value{std::move(owner), std::move(value), std::move(name)};
  return nullptr;
}

/// What shows a tensor to somebody else.
struct Shown {
  DLManagedTensor managed;
  Tensor tensor;
};

} // namespace

baton_error_kind baton_error_what(const baton_error* error) {
  return error->kind;
}

const char* baton_error_message(const baton_error* error) {
  return error->message.c_str();
}

const char* baton_error_place(const baton_error* error, size_t index) {
  return index < error->places.size() ? error->places[index].c_str() : nullptr;
}

void baton_error_free(baton_error* error) {
  if (error != &noMemory)
    delete error;
}

baton_error* baton_model_load(const char* path, baton_model** model) {
  return guarded([&]() -> baton_error* {
    auto made = executable::load(path);
    if (!made)
      return errorOf(BATON_ERROR_FILE,
                     fmt::format("cannot load `{}`: {}", path, made.failure().message));
    return keep(*std::move(made), model);
  });
}

baton_error* baton_model_read(const void* bytes, size_t size, baton_model** model) {
  return guarded([&]() -> baton_error* {
    // Constants lie at multiples of 64 in the file, and have to in memory.
    constexpr std::align_val_t alignment{64};
    auto* memory = static_cast<std::byte*>(::operator new(size, alignment));
    std::shared_ptr<const std::byte[]> copy(memory, [](const std::byte* at) {
      ::operator delete(const_cast<std::byte*>(at), alignment);
    });
    std::memcpy(memory, bytes, size);
    auto made = executable::read(std::move(copy), size);
    if (!made)
      return errorOf(BATON_ERROR_FILE, "cannot read the program: " + made.failure().message);
    return keep(*std::move(made), model);
  });
}

void baton_model_free(baton_model* model) {
  delete model;
}

size_t baton_model_entries(const baton_model* model) {
  return model->callable.executable->entries.size();
}

const char* baton_model_entry(const baton_model* model, size_t entry) {
  const executable::Entry* found = entryAt(*model->callable.executable, entry);
  return found ? found->name.c_str() : nullptr;
}

size_t baton_model_parameters(const baton_model* model, size_t entry) {
  const executable::Entry* found = entryAt(*model->callable.executable, entry);
  return found ? found->parameters.size() : 0;
}

const char* baton_model_parameter_name(const baton_model* model, size_t entry, size_t index) {
  const executable::Port* port = parameterAt(*model->callable.executable, entry, index);
  return port ? port->name.c_str() : nullptr;
}

const char* baton_model_parameter_type(const baton_model* model, size_t entry, size_t index) {
  const executable::Port* port = parameterAt(*model->callable.executable, entry, index);
  return port ? port->type.c_str() : nullptr;
}

const char* baton_model_result_type(const baton_model* model, size_t entry) {
  const executable::Entry* found = entryAt(*model->callable.executable, entry);
  return found ? found->result.type.c_str() : nullptr;
}

baton_error* baton_context_new(baton_model* model, const baton_limits* limits,
                               baton_context** context) {
  return guarded([&]() -> baton_error* {
    std::unique_ptr<baton_context> made(new baton_context{model->callable});
    made->options.isInterrupted = [flag = &made->isInterrupted] {
      return flag->load(std::memory_order_relaxed);
    };
    if (limits && limits->memory_bytes)
      made->options.limits.memory = int64_t(std::min<size_t>(limits->memory_bytes, INT64_MAX));
    if (limits && limits->steps)
      made->options.limits.steps = limits->steps;
    if (limits && limits->depth)
      made->options.limits.depth = limits->depth;
    if (limits && limits->seconds > 0)
      made->options.limits.seconds = limits->seconds;
    *context = made.release();
    return nullptr;
  });
}

void baton_context_free(baton_context* context) {
  delete context;
}

void baton_context_interrupt(baton_context* context) {
  context->isInterrupted.store(true, std::memory_order_relaxed);
}

baton_error* baton_call(baton_context* context, size_t entry, const baton_value* const* arguments,
                        size_t count, baton_value** result) {
  return guarded([&]() -> baton_error* {
    if (!entryAt(*context->callable.executable, entry))
      return errorOf(BATON_ERROR_ARGUMENT, "the model has no function of that number");
    context->isInterrupted.store(false, std::memory_order_relaxed);
    std::vector<const Value*> values;
    for (size_t i = 0; i < count; ++i) {
      if (arguments[i]->executable && arguments[i]->executable != context->callable.executable)
        return errorOf(BATON_ERROR_ARGUMENT, ofAnotherModel);
      values.push_back(&arguments[i]->value);
    }
    // Made by the thread that calls, since memory is counted by threads.
    if (!context->caller)
      context->caller = std::make_unique<executable::Caller>(
          *context->callable.executable, context->options, context->callable.language);
    if (auto fault = context->caller->problemOf(entry, values)) {
      auto* error = errorOf(*context->callable.executable, *fault);
      error->kind = BATON_ERROR_ARGUMENT;
      return error;
    }
    auto given = context->caller->call(entry, values);
    if (auto* fault = std::get_if<runtime::RunFault>(&given))
      return errorOf(*context->callable.executable, *fault);
    return wrap(context->callable.executable, std::get<Value>(std::move(given)), result);
  });
}

baton_error* baton_value_from_dlpack(DLManagedTensor* tensor, baton_value** value) {
  return guarded([&]() -> baton_error* {
    const DLTensor& from = tensor->dl_tensor;
    constexpr int32_t processor = 1;
    if (from.device.device_type != processor)
      return errorOf(BATON_ERROR_ARGUMENT, "the tensor is not in the processor's memory");
    auto dtype = dtypeOf(from.dtype);
    if (!dtype)
      return errorOf(BATON_ERROR_ARGUMENT, "the tensor is of an element type that there is not");
    runtime::Shape shape(from.shape, from.shape + from.ndim);
    auto size = runtime::elementCount(shape);
    if (!size)
      return errorOf(BATON_ERROR_ARGUMENT, "the tensor is too large");
    auto* data = static_cast<std::byte*>(from.data) + from.byte_offset;
    bool isAligned = reinterpret_cast<uintptr_t>(data) % dtype->bytes() == 0;
    bool isUsable = *size > 0 && isRowMajor(from) && isAligned;
    wrap(nullptr,
         runtime::tensorValue(isUsable ? Tensor::over(*dtype, shape, data, giveBack, tensor)
                                       : copied(from, *dtype, shape, data)),
         value);
    if (!isUsable)
      giveBack(tensor);
    return nullptr;
  });
}

baton_error* baton_value_to_dlpack(const baton_value* value, DLManagedTensor** tensor) {
  return guarded([&]() -> baton_error* {
    if (value->value.kind() != ValueKind::Tensor)
      return errorOf(BATON_ERROR_ARGUMENT, "the value is no tensor");
    auto* shown = new Shown{{}, value->value.tensor()};
    DLTensor& to = shown->managed.dl_tensor;
    to.data = shown->tensor.bytes();
    to.device = {1, 0};
    to.ndim = int32_t(shown->tensor.rank());
    to.dtype = typeOf(shown->tensor.dtype());
    to.shape = const_cast<int64_t*>(shown->tensor.shape().data());
    shown->managed.manager_ctx = shown;
    shown->managed.deleter = [](DLManagedTensor* self) {
      delete static_cast<Shown*>(self->manager_ctx);
    };
    *tensor = &shown->managed;
    return nullptr;
  });
}

baton_error* baton_value_tuple(const baton_value* const* fields, size_t count,
                               baton_value** value) {
  return guarded([&]() -> baton_error* {
    Owner owner;
    if (!findOwner(fields, count, owner))
      return errorOf(BATON_ERROR_ARGUMENT, ofAnotherModel);
    return wrap(std::move(owner), runtime::tupleValue(fieldsOf(fields, count)), value);
  });
}

baton_error* baton_value_constructor(const baton_model* model, const char* name,
                                     const baton_value* const* fields, size_t count,
                                     baton_value** value) {
  return guarded([&]() -> baton_error* {
    const runtime::Symbol* symbol = findConstructor(*model->callable.executable, name);
    if (!symbol)
      return errorOf(BATON_ERROR_ARGUMENT,
                     fmt::format("`{}` is no constructor of the model", name));
    Owner owner = model->callable.executable;
    if (!findOwner(fields, count, owner))
      return errorOf(BATON_ERROR_ARGUMENT, ofAnotherModel);
    return wrap(std::move(owner),
                runtime::symbolValue(ValueKind::Constructor, *symbol, fieldsOf(fields, count)),
                value);
  });
}

baton_kind baton_value_kind(const baton_value* value) {
  switch (value->value.kind()) {
  case ValueKind::Tensor:
    return BATON_TENSOR;
  case ValueKind::Tuple:
    return BATON_TUPLE;
  case ValueKind::Constructor:
    return BATON_CONSTRUCTOR;
  case ValueKind::Reference:
    return BATON_REFERENCE;
  default:
    return BATON_FUNCTION;
  }
}

const char* baton_value_name(const baton_value* value) {
  return value->name.c_str();
}

size_t baton_value_fields(const baton_value* value) {
  switch (baton_value_kind(value)) {
  case BATON_TUPLE:
  case BATON_CONSTRUCTOR:
    return value->value.fields().size();
  case BATON_REFERENCE:
    return 1;
  default:
    return 0;
  }
}

baton_value* baton_value_field(const baton_value* value, size_t index) {
  if (index >= baton_value_fields(value))
    return nullptr;
  baton_value* field = nullptr;
  baton_error* error = guarded([&] {
    bool isReference = baton_value_kind(value) == BATON_REFERENCE;
    return wrap(value->executable,
                isReference ? value->value.content() : value->value.fields()[index], &field);
  });
  baton_error_free(error);
  return field;
}

void baton_value_free(baton_value* value) {
  delete value;
}
