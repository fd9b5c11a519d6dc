#include "describe/shape.h"

#include <algorithm>
#include <array>
#include <bit>

#include "sluice/describe.h"
#include "sluice/tape.h"
#include "text/ascii.h"

namespace sluice::outline {

// --- counts and kinds ------------------------------------------------------------------------

namespace {

void add(Kinds& kinds, Kind kind) {
  kinds = static_cast<Kinds>(kinds | static_cast<Kinds>(kind));
}

/// The field of `key`, made while there is room; null when the key is to be counted only.
Field* field_of(Record& record, const Key& key) {
  for (Field& field : record.fields) {
    if (field.key == key) return &field;
  }
  if (record.fields.size() == kFields) return nullptr;
  if (record.fields.empty()) record.fields.reserve(kFields);  // fields stay where they are
  return &record.fields.emplace_back(Field{key, 0, nullptr});
}

}  // namespace

void Shape::value(Kind kind, uint32_t depth) {
  if (depth == 0) {
    root_ = kind;
    if (kind == Kind::array) open_list_ = &list_;
    return;
  }
  const uint32_t element = list_depth();
  if (depth == element && open_list_ != nullptr) {
    add(open_list_->kinds, kind);
    open_item_ = ++open_list_->count <= kSampled && kind == Kind::object;
    unnamed_ = 0;
  } else if (depth == element + 1 && open_item_ && item_field_ != nullptr) {
    add(item_field_->kinds, kind);
  } else if (depth == 1 && field_ != nullptr) {
    add(field_->kinds, kind);
    if (kind != Kind::array) return;
    field_->list = std::make_unique<List>();  // of duplicate keys the last counts
    open_list_ = field_->list.get();
  }
}

void Shape::begin_lines() {
  if (lines_) return;
  lines_ = true;
  list_ = {};
  list_.count = 1;
  add(list_.kinds, root_);
  list_.items = std::move(record_);
  for (Field& field : list_.items.fields) field.list = nullptr;
  root_ = Kind::array;
  open_list_ = &list_;
  field_ = nullptr;
  item_field_ = nullptr;
}

void Shape::close(uint32_t depth) {
  const uint32_t element = list_depth();
  if (depth == element && open_item_) {
    Record& items = open_list_->items;
    items.unnamed = std::max(items.unnamed, unnamed_);
    open_item_ = false;
  } else if (depth + 1 == element) {
    open_list_ = nullptr;
  }
}

bool Shape::wants_key(uint32_t depth) const {
  return depth == list_depth() + 1 ? open_item_ : depth == 1 && root_ == Kind::object;
}

bool Shape::wants_values(uint32_t depth) const {
  if (depth == list_depth()) return open_list_ != nullptr;
  return depth == 1 || (depth == list_depth() + 1 && open_item_);
}

void Shape::key(const Key& key, uint32_t depth) {
  if (depth == 1) {
    field_ = field_of(record_, key);
    if (field_ == nullptr) ++record_.unnamed;
  } else {
    item_field_ = field_of(open_list_->items, key);
    if (item_field_ == nullptr) ++unnamed_;
  }
}

// --- in words --------------------------------------------------------------------------------

namespace {

constexpr size_t kKeyChars = 40;
constexpr size_t kQuotes = 5;
constexpr int kNamedKinds = 3;

bool has(Kinds kinds, Kind kind) {
  return (kinds & static_cast<Kinds>(kind)) != 0;
}

/// What is shown: keys of the outer and of inner objects.
struct Detail {
  size_t fields;
  size_t items;
};

/// The key itself. Its source was cut if it was long, so an escape at the end may be broken.
std::string text_of(const Key& key) {
  std::string_view source = key.source;
  for (size_t at = 0; at < source.size();) {
    const bool escape = source[at] == '\\';
    const bool unicode = escape && at + 1 < source.size() && source[at + 1] == 'u';
    const size_t next = at + (unicode ? 6 : escape ? 2 : 1);
    if (next > source.size()) source = source.substr(0, at);
    at = next;
  }
  std::string text;
  append_unescaped(text, source);
  return text;
}

bool is_identifier(std::string_view text) {
  const auto letter = [](char c) { return is_letter(c) || c == '_'; };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || is_digit(c) || c == '-';
  });
}

/// Writes one shape with one level of detail.
class Writer {
 public:
  /// The last `partial` elements of `open` do not count.
  Writer(Detail detail, const List* open, uint64_t partial)
      : detail_(detail), open_(open), partial_(partial) {}

  std::string list(const List& list, bool with_items) {
    const uint64_t count = list.count - (&list == open_ ? std::min(partial_, list.count) : 0);
    if (list.count == 0) return "empty array";
    std::string out = "array of " + grouped(count);
    if (!with_items) return out;
    const std::string kinds = this->kinds(list.kinds, &list.items, nullptr);
    return out + (kinds == "mixed" ? " (mixed)" : " " + kinds);
  }

  /// `1,200 lines of {id: integer}`
  std::string lines(const List& list) {
    return grouped(list.count - std::min(partial_, list.count)) + " lines of " +
           kinds(list.kinds, &list.items, nullptr);
  }

  std::string record(const Record& record, size_t limit) {
    std::string out = "{";
    uint64_t more = record.unnamed;
    size_t shown = 0;
    for (const Field& field : record.fields) {
      const std::string name = shown < limit ? key(text_of(field.key)) : "";
      if (name.empty()) {
        ++more;
        continue;
      }
      out +=
          (shown++ > 0 ? ", " : "") + name + ": " + kinds(field.kinds, nullptr, field.list.get());
    }
    if (more > 0) out += (shown > 0 ? ", … " : "… ") + grouped(more) + " more";
    return out + "}";
  }

 private:
  /// `string|null`; objects and arrays with their shape where that is known and wanted.
  std::string kinds(Kinds kinds, const Record* items, const List* list) {
    if (has(kinds, Kind::number)) kinds &= static_cast<Kinds>(~static_cast<Kinds>(Kind::integer));
    if (std::popcount(kinds) > kNamedKinds) return "mixed";
    std::string out;
    const auto name = [&](Kind kind, const std::string& text) {
      if (has(kinds, kind)) out += (out.empty() ? "" : "|") + text;
    };
    name(Kind::integer, "integer");
    name(Kind::number, "number");
    name(Kind::string, "string");
    name(Kind::boolean, "boolean");
    if (has(kinds, Kind::array)) {
      name(Kind::array, list != nullptr ? this->list(*list, detail_.items > 0) : "array");
    }
    if (has(kinds, Kind::object)) {
      name(Kind::object, items != nullptr ? record(*items, detail_.items) : "object");
    }
    name(Kind::null, "null");
    return out;
  }

  /// A key as it may be shown; empty when the document has had its share of quotes.
  std::string key(const std::string& text) {
    if (is_identifier(text)) {
      return text.size() <= kKeyChars ? text : text.substr(0, kKeyChars - 1) + "…";
    }
    if (quotes_ == kQuotes) return {};
    ++quotes_;
    return quote_untrusted(text, kKeyChars - 2);
  }

  Detail detail_;
  const List* open_;
  uint64_t partial_;
  size_t quotes_ = 0;
};

std::string written(const Shape& shape, Detail detail, uint64_t partial) {
  Writer writer(detail, shape.open_list(), partial);
  if (shape.is_lines()) return writer.lines(shape.list());
  if (shape.root() == Kind::array) return writer.list(shape.list(), detail.items > 0);
  return "object " + writer.record(shape.record(), detail.fields);
}

}  // namespace

std::string shape_text(const Shape& shape, size_t limit, uint64_t partial) {
  Detail detail{kFields, kFields};
  std::string text = written(shape, detail, partial);
  // Keys of inner objects give way first, then those of the outer one; one level leaves one key.
  while (count_chars(text) > limit && (detail.items > 0 || detail.fields > 1)) {
    --(detail.items > 0 ? detail.items : detail.fields);
    text = written(shape, detail, partial);
  }
  return text;
}

}  // namespace sluice::outline
