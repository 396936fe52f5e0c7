// The C interface: handles around what executable/ has. No exception leaves a function, and counts
// of values stay in one thread: a call only looks at its arguments, and what it makes of them
// shares nothing with them but the elements of tensors.
#include "vm/rt/baton_rt.h"

#include "runtime/limits.h"
#include "runtime/refused.h"
#include "runtime/threads.h"
#include "vm/executable/machine_code.h"
#include "vm/rt/language.h"
#include "vm/rt/linked.h"

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
  /// Whether it is there for good: another library of this kind may be handed it.
  bool isStatic = false;
};

struct baton_model {
  rt::Callable callable;
  /// Machine code that whoever has the model trusts; empty where nobody does.
  executable::NativeKernels native = {};
};

struct baton_context {
  rt::Callable callable;
  executable::NativeKernels native;
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

baton_error noMemory{BATON_ERROR_MEMORY, "out of memory", {}, true};

baton_error* errorOf(baton_error_kind kind, std::string message) {
  return new baton_error{kind, std::move(message)};
}

baton_error* errorOf(baton_error_kind kind, const char* message) {
  return errorOf(kind, std::string(message));
}

/// What a function cannot do without, what is said when it is null, and where its result goes.
struct Needed {
  const void* pointer;
  const char* problem;
  const void* place;
};

/// Does the work with what it is handed; what it throws becomes an error.
baton_error* guarded(Needed needed, baton_error* (*work)(void*), void* with) {
  try {
    if (!needed.pointer)
      return errorOf(BATON_ERROR_ARGUMENT, needed.problem);
    if (!needed.place)
      return errorOf(BATON_ERROR_ARGUMENT, "the place for the result is null");
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
baton_error* guarded(Needed needed, Work work) {
  return guarded(
      needed, [](void* with) { return (*static_cast<Work*>(with))(); }, &work);
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
  const runtime::Notation notation = executable::notationOf(made, fault.range);
  auto* error = errorOf(kindOf(fault.kind), fault.problem.in(notation));
  for (const runtime::Words& note : fault.notes)
    error->message += "\n" + note.in(notation);
  runtime::SourceRange range = fault.range;
  for (size_t i = 0;; range = fault.calls[i++]) {
    if (std::string place = executable::placeText(made, range); !place.empty())
      error->places.push_back(std::move(place));
    if (i == fault.calls.size())
      return error;
  }
}

using Owner = std::shared_ptr<const executable::Executable>;

/// What is wrong with values from outside, if anything: names in them must point into one program
/// only, which goes to `owner`.
baton_error* problemOf(const baton_value* const* values, size_t count, Owner& owner) {
  for (size_t i = 0; i < count; ++i) {
    if (!values || !values[i])
      return errorOf(BATON_ERROR_ARGUMENT, "a value or the list of values is null");
    const Owner& own = values[i]->executable;
    if (own && owner && own != owner)
      return errorOf(BATON_ERROR_ARGUMENT,
                     "values of data types and functions are of another model");
    if (own)
      owner = own;
  }
  return nullptr;
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

/// A model of what was read, or what is said of a failure behind the words for what was tried.
baton_error* keep(runtime::Result<std::unique_ptr<executable::Executable>> made, std::string tried,
                  baton_model** model) {
  if (!made)
    return errorOf(BATON_ERROR_FILE, std::move(tried += made.failure().message));
  auto callable = rt::callableOf(*std::move(made));
  if (!callable)
    return errorOf(BATON_ERROR_FILE, std::move(callable.failure().message));
  *model = new baton_model{*std::move(callable)};
  return nullptr;
}

/// Lets contexts that come run machine code, some of which may be linked.
baton_error* trust(baton_model& model, std::span<codegen::PartFunction* const> functions) {
  try {
    model.native = executable::trustedKernels(*model.callable.executable, functions);
    return nullptr;
  } catch (const runtime::Refused& refused) {
    return errorOf(BATON_ERROR_FILE, refused.problem);
  }
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

/// Of a tensor with elements, so that products of extents fit.
bool isRowMajor(const DLTensor& tensor) {
  int64_t stride = 1;
  for (int32_t i = tensor.ndim; tensor.strides && i-- > 0; stride *= tensor.shape[i])
    if (tensor.shape[i] != 1 && tensor.strides[i] != stride)
      return false;
  return true;
}

/// Whether bytes between the first element and some other one may be too many to be counted.
bool hasFarElements(const DLTensor& tensor) {
  const int64_t farthest =
      INT64_MAX / (int64_t(dtypeOf(tensor.dtype)->bytes()) * std::max(tensor.ndim, 1));
  for (int32_t i = 0; tensor.strides && i < tensor.ndim; ++i)
    if (const int64_t most = farthest / tensor.shape[i], stride = tensor.strides[i];
        tensor.shape[i] > 1 && (stride < -most || stride > most))
      return true;
  return false;
}

/// What is wrong with a tensor from outside; null when nothing is, and then it has this shape.
const char* problemOf(const DLTensor& tensor, runtime::Shape& shape) {
  constexpr int32_t processor = 1;
  if (tensor.device.device_type != processor)
    return "the tensor is not in the processor's memory";
  if (!dtypeOf(tensor.dtype))
    return "the tensor is of an element type that there is not";
  if (size_t(tensor.ndim) > runtime::mostDimensions)
    return "the number of dimensions of the tensor is not from 0 to 1024";
  static_assert(runtime::mostDimensions == 1024);
  if (tensor.ndim > 0 && !tensor.shape)
    return "the shape of the tensor is null";
  shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  for (int64_t extent : shape)
    if (extent < 0)
      return "an extent of the tensor is negative";
  auto count = runtime::elementCount(shape);
  if (!count || (*count > 0 && hasFarElements(tensor)))
    return "the extents or strides of the tensor are too large";
  return *count > 0 && !tensor.data ? "the elements of the tensor are null" : nullptr;
}

/// The elements in row-major order, in which they may be already.
Tensor copied(const DLTensor& from, runtime::DType dtype, runtime::Shape shape,
              const std::byte* data, bool isInOrder) {
  Tensor to = Tensor::unwritten(dtype, std::move(shape));
  if (isInOrder) {
    if (to.size() > 0)
      std::memcpy(to.bytes(), data, to.byteSize());
    return to;
  }
  const size_t bytes = dtype.bytes();
  runtime::List<int64_t> at(to.rank());
  int64_t offset = 0;
  for (int64_t i = 0; i < to.size(); ++i) {
    std::memcpy(to.bytes() + size_t(i) * bytes, data + offset * int64_t(bytes), bytes);
    for (size_t dim = at.size(); dim-- > 0;) {
      if (++at[dim] < from.shape[dim]) {
        offset += from.strides[dim];
        break;
      }
      offset -= from.strides[dim] * (from.shape[dim] - 1);
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

/// Whether there are no names in a value, so that it is of any model.
bool isOfAnyModel(const Value& value) {
  auto isTensor = [](const Value& each) { return each.kind() == ValueKind::Tensor; };
  return isTensor(value) ||
         (value.kind() == ValueKind::Tuple && std::ranges::all_of(value.fields(), isTensor));
}

baton_error* wrap(Owner owner, Value value, baton_value** result) {
  std::string name;
  if (isOfAnyModel(value))
    owner = nullptr;
  if (value.kind() != ValueKind::Tensor && value.kind() != ValueKind::Tuple &&
      value.kind() != ValueKind::Reference)
    name = value.symbol().name;
  *result = new baton_value{std::move(owner), std::move(value), std::move(name)};
  return nullptr;
}

/// A value of fields: of a constructor of `owner`, or a tuple where there is none.
baton_error* compose(Owner owner, const runtime::Symbol* constructor,
                     const baton_value* const* fields, size_t count, baton_value** result) {
  if (auto* problem = problemOf(fields, count, owner))
    return problem;
  std::vector<Value> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = fields[i]->value;
  return wrap(std::move(owner),
              constructor
                  ? runtime::symbolValue(ValueKind::Constructor, *constructor, std::move(values))
                  : runtime::tupleValue(std::move(values)),
              result);
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
  if (error && !error->isStatic)
    delete error;
}

baton_error* baton_model_load(const char* path, baton_model** model) {
  return guarded({path, "the path of the model is null", model}, [&] {
    return keep(executable::load(path), fmt::format("cannot load `{}`: ", path), model);
  });
}

baton_error* baton_model_read(const void* bytes, size_t size, baton_model** model) {
  return guarded({bytes, "the program is null", model}, [&] {
    return keep(executable::readCopy({static_cast<const std::byte*>(bytes), size}),
                "cannot read the program: ", model);
  });
}

baton_error* baton_model_trust_code(baton_model* model, size_t* kernels) {
  return guarded({model, "the model is null", kernels}, [&] {
    baton_error* error = trust(*model, {});
    if (!error)
      *kernels =
          size_t(std::ranges::count_if(model->native, [](const auto& each) { return !!each; }));
    return error;
  });
}

baton_error* rt::openLinked(const baton_program& program, baton_model** model) {
  std::shared_ptr<const std::byte[]> bytes(static_cast<const std::byte*>(program.bytes),
                                           [](const std::byte*) {});
  if (auto* error = keep(executable::read(bytes, program.size), "cannot read the program: ", model))
    return error;
  std::span functions(reinterpret_cast<codegen::PartFunction* const*>(program.functions),
                      program.functionCount);
  baton_error* error = trust(**model, functions);
  if (error)
    delete std::exchange(*model, nullptr);
  return error;
}

baton_error* rt::withoutExceptions(baton_error* (*work)(void*), void* with) {
  return guarded({with, "", with}, work, with);
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

baton_error* baton_limit_threads(size_t most) {
  static_assert(runtime::mostThreads == 256);
  bool isGood = most >= 1 && most <= runtime::mostThreads;
  return guarded({isGood ? &most : nullptr, "the number of threads is not from 1 to 256", &most},
                 [&]() -> baton_error* {
                   runtime::limitThreads(unsigned(most));
                   return nullptr;
                 });
}

baton_error* baton_context_new(baton_model* model, const baton_limits* limits,
                               baton_context** context) {
  return guarded({model, "the model is null", context}, [&]() -> baton_error* {
    std::unique_ptr<baton_context> made(new baton_context{model->callable, model->native});
    made->options.makeKernel = [context = made.get()](const tensor::TensorFunction& function,
                                                      auto programs) {
      return executable::kernelOf(*context->callable.executable, context->native, function,
                                  programs);
    };
    made->options.isInterrupted = [flag = &made->isInterrupted] {
      return flag->load(std::memory_order_relaxed);
    };
    if (limits) {
      if (!(limits->seconds >= 0))
        return errorOf(BATON_ERROR_ARGUMENT, "the limit of seconds is negative or no number");
      runtime::RunLimits& most = made->options.limits;
      if (limits->memory_bytes)
        most.memory = int64_t(std::min<size_t>(limits->memory_bytes, INT64_MAX));
      if (limits->steps)
        most.steps = limits->steps;
      if (limits->depth)
        most.depth = limits->depth;
      if (limits->seconds > 0)
        most.seconds = limits->seconds;
    }
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
  return guarded({context, "the context is null", result}, [&]() -> baton_error* {
    if (!entryAt(*context->callable.executable, entry))
      return errorOf(BATON_ERROR_ARGUMENT, "the model has no function of that number");
    Owner owner = context->callable.executable;
    if (auto* problem = problemOf(arguments, count, owner))
      return problem;
    runtime::List<const Value*> values(count);
    for (size_t i = 0; i < count; ++i)
      values[i] = &arguments[i]->value;
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
    // One that comes before the call ends it too.
    context->isInterrupted.store(false, std::memory_order_relaxed);
    if (auto* fault = std::get_if<runtime::RunFault>(&given))
      return errorOf(*context->callable.executable, *fault);
    return wrap(context->callable.executable, std::get<Value>(std::move(given)), result);
  });
}

baton_error* baton_value_from_dlpack(DLManagedTensor* tensor, baton_value** value) {
  return guarded({tensor, "the tensor is null", value}, [&]() -> baton_error* {
    const DLTensor& from = tensor->dl_tensor;
    runtime::Shape shape;
    if (const char* problem = problemOf(from, shape))
      return errorOf(BATON_ERROR_ARGUMENT, problem);
    const runtime::DType dtype = *dtypeOf(from.dtype);
    auto* data = static_cast<std::byte*>(from.data) + from.byte_offset;
    bool isInOrder = *runtime::elementCount(shape) == 0 || isRowMajor(from);
    bool isUsable =
        from.data && isInOrder && reinterpret_cast<uintptr_t>(data) % dtype.bytes() == 0;
    wrap(nullptr,
         runtime::tensorValue(isUsable
                                  ? Tensor::over(dtype, std::move(shape), data, giveBack, tensor)
                                  : copied(from, dtype, std::move(shape), data, isInOrder)),
         value);
    if (!isUsable)
      giveBack(tensor);
    return nullptr;
  });
}

baton_error* baton_value_to_dlpack(const baton_value* value, DLManagedTensor** tensor) {
  return guarded({value, "the value is null", tensor}, [&]() -> baton_error* {
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
  return guarded({value, "the place for the result is null", value},
                 [&] { return compose(nullptr, nullptr, fields, count, value); });
}

baton_error* baton_value_constructor(const baton_model* model, const char* name,
                                     const baton_value* const* fields, size_t count,
                                     baton_value** value) {
  return guarded({model ? name : nullptr, "the model or the name is null", value}, [&] {
    const Owner& owner = model->callable.executable;
    const runtime::Symbol* symbol = findConstructor(*owner, name);
    if (!symbol)
      return errorOf(BATON_ERROR_ARGUMENT,
                     fmt::format("`{}` is no constructor of the model", name));
    return compose(owner, symbol, fields, count, value);
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
  baton_error* error = guarded({value, "the value is null", &field}, [&] {
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
