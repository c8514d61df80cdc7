#include "CToml.h"
#include <algorithm>
#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// toml++ checks itself by assertions, which some malformed texts fail: they shall neither abort the process nor, as
/// with NDEBUG, be taken for granted by the optimiser. A failed one is an error; but those about the first character
/// of a key (3.3.0, parser.inl, parse_key) have a proper error message behind them, which they would hide.
constexpr void assertion(bool holds, std::string_view text) {
    if (!holds && text.substr(0, 21) != "is_bare_key_character") throw std::logic_error("malformed");
}

} // namespace

#undef NDEBUG
#define TOML_ASSERT(expression) assertion(static_cast<bool>(expression), #expression)
#define TOML_MAX_NESTED_VALUES 32
#include <toml++/toml.h>

struct ctoml_node {
    ctoml_kind kind = ctoml_table;
    ctoml_position position{};
    std::string key;
    ctoml_position key_position{};
    std::string string;
    int64_t number = 0;
    std::vector<ctoml_node> children;
};

struct ctoml_document {
    ctoml_node root;
};

namespace {

ctoml_position position_of(const toml::source_region &region) {
    return {region.begin.line, region.begin.column};
}

struct too_deep {
    ctoml_position position;
};

/// toml++ bounds the nesting of values, but not that of dotted keys, whose tables are freed by recursion: a megabyte
/// of `a.a.a…` would exhaust the stack. So the dots of each key are counted before. The lexing agrees with TOML's up
/// to the first syntax error, which is as far as toml++ comes.
void limit_dotted_keys(std::string_view text) {
    const auto starts = [&](size_t at, const char *what) { return text.compare(at, 3, what) == 0; };
    uint32_t line = 1;
    int dots = 0;
    for (size_t at = 0; at < text.size(); at++) {
        const char octet = text[at];
        switch (octet) {
        case '\n':
            line++;
            [[fallthrough]];
        case '=': case '[': case ']': case '{': case '}': case ',':
            dots = 0;
            break;
        case '.':
            if (++dots >= ctoml_maximum_depth) throw too_deep{{line, 0}};
            break;
        case '#':
            while (at + 1 < text.size() && text[at + 1] != '\n') at++;
            break;
        case '"': case '\'': {
            const bool escapes = octet == '"';
            const char *const triple = escapes ? "\"\"\"" : "'''";
            const bool is_long = starts(at, triple);
            for (at += is_long ? 3 : 1; at < text.size(); at++) {
                if (text[at] == '\n') {
                    line++;
                    if (!is_long) break;
                } else if (escapes && text[at] == '\\') {
                    if (++at < text.size() && text[at] == '\n') line++;
                } else if (is_long ? starts(at, triple) : text[at] == octet) {
                    if (is_long) {
                        at += 2;
                        // Up to two quotes may stand right before the closing three.
                        for (int more = 0; more < 2 && at + 1 < text.size() && text[at + 1] == octet; more++) at++;
                    }
                    break;
                }
            }
            break;
        }
        default:
            break;
        }
    }
}

void copy(const toml::node &from, ctoml_node &to, int depth) {
    to.position = position_of(from.source());
    if (depth > ctoml_maximum_depth) throw too_deep{to.position};
    switch (from.type()) {
    case toml::node_type::table: {
        to.kind = ctoml_table;
        for (const auto &[key, value] : *from.as_table()) {
            ctoml_node &child = to.children.emplace_back();
            child.key = std::string(key.str());
            child.key_position = position_of(key.source());
            copy(value, child, depth + 1);
        }
        // toml++ keeps its tables sorted by key.
        std::sort(to.children.begin(), to.children.end(), [](const ctoml_node &left, const ctoml_node &right) {
            const ctoml_position a = left.key_position, b = right.key_position;
            return a.line != b.line ? a.line < b.line : a.column < b.column;
        });
        break;
    }
    case toml::node_type::array:
        to.kind = ctoml_array;
        for (const auto &value : *from.as_array()) copy(value, to.children.emplace_back(), depth + 1);
        break;
    case toml::node_type::string:
        to.kind = ctoml_string;
        to.string = from.as_string()->get();
        break;
    case toml::node_type::integer:
        to.kind = ctoml_integer;
        to.number = from.as_integer()->get();
        break;
    case toml::node_type::boolean:
        to.kind = ctoml_boolean;
        to.number = from.as_boolean()->get();
        break;
    case toml::node_type::floating_point:
        to.kind = ctoml_float;
        break;
    default:
        to.kind = ctoml_date;
    }
}

ctoml_document *fail(ctoml_error *error, ctoml_reason reason, ctoml_position position, std::string_view message) {
    error->reason = reason;
    error->position = position;
    snprintf(error->message, sizeof error->message, "%.*s", (int)std::min(message.size(), sizeof error->message),
             message.data());
    return nullptr;
}

} // namespace

ctoml_document *ctoml_parse(const uint8_t *text, size_t length, size_t maximum_length, ctoml_error *error) {
    if (length > maximum_length) return fail(error, ctoml_too_large, {}, "the file is too large");
    try {
        const std::string_view view(reinterpret_cast<const char *>(text), length);
        limit_dotted_keys(view);
        const toml::table table = toml::parse(view);
        auto document = std::make_unique<ctoml_document>();
        copy(table, document->root, 0);
        return document.release();
    } catch (const toml::parse_error &problem) {
        return fail(error, ctoml_syntax, position_of(problem.source()), problem.description());
    } catch (const too_deep &problem) {
        return fail(error, ctoml_too_deep, problem.position, "nested too deeply");
    } catch (const std::bad_alloc &) {
        return fail(error, ctoml_out_of_memory, {}, "out of memory");
    } catch (const std::exception &problem) {
        return fail(error, ctoml_syntax, {}, problem.what());
    } catch (...) {
        return fail(error, ctoml_syntax, {}, "unreadable");
    }
}

void ctoml_free(ctoml_document *document) { delete document; }

const ctoml_node *ctoml_root(const ctoml_document *document) { return &document->root; }
ctoml_kind ctoml_node_kind(const ctoml_node *node) { return node->kind; }
ctoml_position ctoml_node_position(const ctoml_node *node) { return node->position; }
size_t ctoml_count(const ctoml_node *node) { return node->children.size(); }
const ctoml_node *ctoml_child(const ctoml_node *node, size_t index) { return &node->children[index]; }
ctoml_text ctoml_key(const ctoml_node *node) { return {node->key.data(), node->key.size()}; }
ctoml_position ctoml_key_position(const ctoml_node *node) { return node->key_position; }
ctoml_text ctoml_string_value(const ctoml_node *node) { return {node->string.data(), node->string.size()}; }
int64_t ctoml_integer_value(const ctoml_node *node) { return node->number; }
bool ctoml_boolean_value(const ctoml_node *node) { return node->number != 0; }
