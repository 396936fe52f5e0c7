/* Calls an executable from C: call MODEL.bvm
 *
 *   baton compile examples/embed/model.rly -o model.bvm
 *   cc -I. examples/embed/call.c -L build -lbaton_rt -o call
 */
#include "vm/rt/baton_rt.h"

#include <stdio.h>
#include <stdlib.h>

static void demand(baton_error* error) {
  if (!error)
    return;
  fprintf(stderr, "%s: %s\n", baton_error_place(error, 0) ? baton_error_place(error, 0) : "error",
          baton_error_message(error));
  baton_error_free(error);
  exit(1);
}

/* The array belongs to whoever made it, so there is nothing to give back but this. */
static void forget(DLManagedTensor* self) {
  free(self->dl_tensor.shape);
  free(self);
}

static baton_value* matrix(float* elements, int64_t rows, int64_t columns) {
  DLManagedTensor* managed = calloc(1, sizeof *managed);
  managed->dl_tensor.shape = malloc(2 * sizeof(int64_t));
  managed->dl_tensor.shape[0] = rows;
  managed->dl_tensor.shape[1] = columns;
  managed->dl_tensor.data = elements;
  managed->dl_tensor.device.device_type = 1;
  managed->dl_tensor.ndim = 2;
  managed->dl_tensor.dtype.code = 2;
  managed->dl_tensor.dtype.bits = 32;
  managed->dl_tensor.dtype.lanes = 1;
  managed->deleter = forget;
  baton_value* value;
  demand(baton_value_from_dlpack(managed, &value));
  return value;
}

int main(int count, char** words) {
  if (count != 2)
    return 2;
  baton_model* model;
  demand(baton_model_load(words[1], &model));
  for (size_t entry = 0; entry < baton_model_entries(model); ++entry) {
    printf("@%s\n", baton_model_entry(model, entry));
    for (size_t i = 0; i < baton_model_parameters(model, entry); ++i)
      printf("  %%%s: %s\n", baton_model_parameter_name(model, entry, i),
             baton_model_parameter_type(model, entry, i));
    printf("  -> %s\n", baton_model_result_type(model, entry));
  }
  baton_context* context;
  demand(baton_context_new(model, NULL, &context));
  float x[] = {1, 2, 3, -1, 0, 1}, weight[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
  baton_value* arguments[] = {matrix(x, 2, 3), matrix(weight, 4, 3)};
  baton_value* result;
  demand(baton_call(context, 0, (const baton_value* const*)arguments, 2, &result));
  baton_value* scores = baton_value_field(result, 0);
  DLManagedTensor* shown;
  demand(baton_value_to_dlpack(scores, &shown));
  for (int64_t row = 0; row < shown->dl_tensor.shape[0]; ++row)
    for (int64_t column = 0; column < shown->dl_tensor.shape[1]; ++column)
      printf("%g%c", ((float*)shown->dl_tensor.data)[row * shown->dl_tensor.shape[1] + column],
             column + 1 < shown->dl_tensor.shape[1] ? ' ' : '\n');
  shown->deleter(shown);
  baton_value_free(scores);
  baton_value_free(result);
  /* Sizes that do not go together are an error that says so. */
  baton_value* wrong[] = {arguments[0], matrix(weight, 3, 4)};
  baton_error* error = baton_call(context, 0, (const baton_value* const*)wrong, 2, &result);
  printf("%s\n", baton_error_message(error));
  baton_error_free(error);
  baton_value_free(wrong[1]);
  baton_value_free(arguments[0]);
  baton_value_free(arguments[1]);
  baton_context_free(context);
  baton_model_free(model);
  return 0;
}
