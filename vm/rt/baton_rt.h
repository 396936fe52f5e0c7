/* Running compiled programs from C: load an executable, look at what it takes and gives, call it.
 *
 * `libbaton_rt` is small: executable/ and the machine, no compiler and no operators. Functions
 * such as sorting are in `libbaton_natives.so`, which it opens in its own folder for models that
 * call one. It refuses models with operators whose shapes hang on values. `libbaton` has the same
 * functions, and the language for those. A model is loaded once; each thread that calls it has a
 * context of its own. Handles are owned by whoever got them and are given back by the function that
 * is named after them, which takes null too; other pointers must not be null, and functions that
 * can fail say so of what they are given. Those return null when they did not fail, or an error to
 * be given back. A value, its fields and what they were taken from or put into are for one thread
 * at a time; several threads may hand one value to calls at once. Tensors go in and out by DLPack
 * without a copy.
 */
#ifndef BATON_RT_H
#define BATON_RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BATON_API __attribute__((visibility("default")))

/* As in DLPack's own header, version 0.8; that one may be included before this one. */
#if !defined(DLPACK_DLPACK_H_) && !defined(BATON_DLPACK)
#define BATON_DLPACK
typedef struct {
  int32_t device_type; /* 1: the processor's memory */
  int32_t device_id;
} DLDevice;
typedef struct {
  uint8_t code; /* 0 int, 1 uint, 2 float, 3 handle, 4 bfloat, 6 bool */
  uint8_t bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;
#endif

typedef struct baton_error baton_error;
typedef struct baton_model baton_model;
typedef struct baton_context baton_context;
typedef struct baton_value baton_value;

/* What an error is about: a file or its bytes, arguments of a call, or what a program ran into. */
typedef enum {
  BATON_ERROR_FILE = 1,
  BATON_ERROR_ARGUMENT = 2,
  BATON_ERROR_PROGRAM = 3,
  BATON_ERROR_LIMIT = 4,
  BATON_ERROR_MEMORY = 5
} baton_error_kind;

BATON_API baton_error_kind baton_error_what(const baton_error* error);
/* A sentence, with the notes that belong to it on lines of their own. */
BATON_API const char* baton_error_message(const baton_error* error);
/* Where in its text the program stood, `model.rly:3:7`: the place of the error, then the calls that
 * led there, innermost first, as far as places are known; null behind the last one. Of more than
 * eleven calls, some in the middle may be left out. */
BATON_API const char* baton_error_place(const baton_error* error, size_t index);
BATON_API void baton_error_free(baton_error* error);

/* Models. The file stays mapped as long as anything of it is used. */
BATON_API baton_error* baton_model_load(const char* path, baton_model** model);
/* The same of bytes, which are copied. */
BATON_API baton_error* baton_model_read(const void* bytes, size_t size, baton_model** model);
/* Lets contexts that are made from now on run the machine code that the model has for this
 * processor, of as many kernels as it says; others run as before. Machine code does whatever
 * whoever wrote the file wanted it to, and a damaged one whatever comes of it: nothing here can
 * look it over. Ask for it of files only that you would run as a program. Without this call no code
 * of a file is run. */
BATON_API baton_error* baton_model_trust_code(baton_model* model, size_t* kernels);
/* Contexts of a model keep it. */
BATON_API void baton_model_free(baton_model* model);
/* The functions that can be called, by numbers from 0, as they were named when the model was
 * compiled. What is asked of one that there is not is null or 0. */
BATON_API size_t baton_model_entries(const baton_model* model);
/* The name of a function, without `@`. */
BATON_API const char* baton_model_entry(const baton_model* model, size_t entry);
BATON_API size_t baton_model_parameters(const baton_model* model, size_t entry);
/* Null beyond the last one. */
BATON_API const char* baton_model_parameter_name(const baton_model* model, size_t entry,
                                                 size_t index);
/* As it is written in the text format: `Tensor[(n, 4), float32]`. */
BATON_API const char* baton_model_parameter_type(const baton_model* model, size_t entry,
                                                 size_t index);
BATON_API const char* baton_model_result_type(const baton_model* model, size_t entry);

/* Lets each kernel compute in at most so many threads, the one that calls among them: from 1 to
 * 256, and at first as many as there are processors. It holds for the whole library, and what calls
 * give does not depend on it. The other threads are made when they are first wanted, serve all that
 * call, and sleep in between. With 1 there are none. After a fork the child makes its own. */
BATON_API baton_error* baton_limit_threads(size_t most);

/* What a call may use; 0 stands for no limit, and seconds are not negative. */
typedef struct {
  size_t memory_bytes;
  uint64_t steps;
  uint64_t depth;
  double seconds;
} baton_limits;

/* Contexts. `limits` may be null. */
BATON_API baton_error* baton_context_new(baton_model* model, const baton_limits* limits,
                                         baton_context** context);
BATON_API void baton_context_free(baton_context* context);
/* Ends the call that another thread makes with this context, or makes next, at its next look. */
BATON_API void baton_context_interrupt(baton_context* context);
/* Calls a function of the model, by its number. The arguments are looked at only. Functions,
 * references and values of type parameters cannot be handed in, also not those that a call gave. */
BATON_API baton_error* baton_call(baton_context* context, size_t entry,
                                  const baton_value* const* arguments, size_t count,
                                  baton_value** result);

/* Values. */
typedef enum {
  BATON_TENSOR = 0,
  BATON_TUPLE = 1,
  BATON_CONSTRUCTOR = 2,
  BATON_FUNCTION = 3,
  BATON_REFERENCE = 4
} baton_kind;

/* Takes over a tensor in the processor's memory, of at most 1024 dimensions, whose elements are
 * used where they lie when they are in row-major order, and copied otherwise. After an error the
 * tensor is still the caller's. */
BATON_API baton_error* baton_value_from_dlpack(DLManagedTensor* tensor, baton_value** value);
/* Shows the elements of a tensor where they lie, until the deleter is called. They must not be
 * written. */
BATON_API baton_error* baton_value_to_dlpack(const baton_value* value, DLManagedTensor** tensor);
BATON_API baton_error* baton_value_tuple(const baton_value* const* fields, size_t count,
                                         baton_value** value);
/* A value of a data type of the model, by the name of its constructor. What is inside of it must be
 * of the same model; whether the fields fit is looked at when it is handed to a call. The new value
 * and its fields are for one thread at a time. */
BATON_API baton_error* baton_value_constructor(const baton_model* model, const char* name,
                                               const baton_value* const* fields, size_t count,
                                               baton_value** value);
BATON_API baton_kind baton_value_kind(const baton_value* value);
/* The name of a constructor, or of an operator that is a value; of another function its type; else
 * an empty text. It lives as long as the value. */
BATON_API const char* baton_value_name(const baton_value* value);
/* Fields of a tuple or constructor, 1 for a reference, 0 for anything else. */
BATON_API size_t baton_value_fields(const baton_value* value);
/* A field as a value of its own; null beyond the last one. */
BATON_API baton_value* baton_value_field(const baton_value* value, size_t index);
BATON_API void baton_value_free(baton_value* value);

#ifdef __cplusplus
}
#endif

#endif
