// TOML documents for Swift: toml++ behind a C interface, since a parse error is a C++ exception and Swift's runtime
// has none. The tree is read-only and stands in the order of the text.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ctoml_document ctoml_document;
/// A value of a document; lives as long as the document.
typedef struct ctoml_node ctoml_node;

typedef enum {
    ctoml_table,
    ctoml_array,
    ctoml_string,
    ctoml_integer,
    ctoml_boolean,
    ctoml_float,
    ctoml_date,
} ctoml_kind;

/// Octets that are not ended by a NUL and may contain some.
typedef struct {
    const char *octets;
    size_t length;
} ctoml_text;

/// Both count from 1; columns count code points. Zero where unknown.
typedef struct {
    uint32_t line;
    uint32_t column;
} ctoml_position;

typedef enum {
    ctoml_syntax,
    ctoml_too_large,
    ctoml_too_deep,
    ctoml_out_of_memory,
} ctoml_reason;

typedef struct {
    ctoml_reason reason;
    ctoml_position position;
    /// UTF-8, ended by a NUL, cut to fit.
    char message[512];
} ctoml_error;

/// Nesting of tables, arrays and dotted keys beyond this is refused.
enum { ctoml_maximum_depth = 32 };

/// Reads a whole document, or answers NULL and fills `error`.
ctoml_document *ctoml_parse(const uint8_t *text, size_t length, size_t maximum_length, ctoml_error *error);
void ctoml_free(ctoml_document *document);

/// The table that is the document.
const ctoml_node *ctoml_root(const ctoml_document *document);
ctoml_kind ctoml_node_kind(const ctoml_node *node);
ctoml_position ctoml_node_position(const ctoml_node *node);

/// Members of a table or elements of an array, 0 for anything else; `index` counts in the order of the text.
size_t ctoml_count(const ctoml_node *node);
const ctoml_node *ctoml_child(const ctoml_node *node, size_t index);
/// The key under which a child stands in its table; empty in arrays.
ctoml_text ctoml_key(const ctoml_node *node);
ctoml_position ctoml_key_position(const ctoml_node *node);

/// Only for nodes of that kind.
ctoml_text ctoml_string_value(const ctoml_node *node);
int64_t ctoml_integer_value(const ctoml_node *node);
bool ctoml_boolean_value(const ctoml_node *node);

#ifdef __cplusplus
}
#endif
