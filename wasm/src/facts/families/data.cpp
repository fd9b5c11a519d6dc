// Tables and arrays: SQLite and what is built on it, Parquet, NumPy, Stata.
#include "describe/markup.h"
#include "facts/families/families.h"
#include "sniff/structure.h"
#include "text/ascii.h"

namespace sluice::families {

// --- SQLite ------------------------------------------------------------------------------------

namespace {

/// A variable-size integer of SQLite: seven bits a byte, the highest first.
uint64_t take_varint(Bytes bytes, uint64_t& at) {
  uint64_t value = 0;
  for (int i = 0; i < 9; ++i) {
    const uint32_t byte = u8(bytes, at++);
    if (i == 8) return value << 8 | byte;
    value = value << 7 | (byte & 0x7f);
    if (byte < 0x80) break;
  }
  return value;
}

/// The bytes of a text by its type in a record.
constexpr uint64_t text_bytes(uint64_t type) {
  return type >= 12 ? (type - 12) / 2 : 0;
}

/// Walks the tree of the schema, and adds the names of tables.
class Schema {
 public:
  Schema(const Glimpse& file, Quotes& names) : file_(file), names_(names) {
    const uint32_t size = be16(file.head, 16);
    page_bytes_ = size == 1 ? 65'536 : size;
  }

  /// False where a page is not seen, or there are more than any schema has.
  bool read(uint64_t number) {
    constexpr int kMostPages = 200;
    const uint64_t begin = (number - 1) * page_bytes_;
    const uint64_t header = number == 1 ? 100 : 0;
    const Bytes page = file_.from(begin);
    if (number == 0 || ++pages_ > kMostPages || !holds(page, 0, page_bytes_)) return false;
    const uint32_t cells = std::min<uint32_t>(be16(page, header + 3), 1'000);
    if (u8(page, header) == 0x0d) {
      for (uint32_t i = 0; i < cells; ++i) add(page, be16(page, header + 8 + 2 * uint64_t{i}));
      return true;
    }
    if (u8(page, header) != 0x05) return false;
    for (uint32_t i = 0; i < cells; ++i) {
      if (!read(be32(page, be16(page, header + 12 + 2 * uint64_t{i})))) return false;
    }
    return read(be32(page, header + 8));
  }

  uint64_t tables() const { return tables_; }

 private:
  // A cell: payload size, row number, and a record: type, name, …
  void add(Bytes page, uint64_t at) {
    constexpr std::string_view kOwn[] = {"sqlite_", "gpkg_",  "rtree_",
                                         "spatial", "idx_",   "geometry_columns",
                                         "views_",  "virts_", "vector_layers"};
    take_varint(page, at);
    take_varint(page, at);
    const uint64_t record = at;
    const uint64_t content = record + take_varint(page, at);
    const uint64_t kind = text_bytes(take_varint(page, at));
    const uint64_t name = text_bytes(take_varint(page, at));
    if (!stands(page, content, "table") || kind != 5) return;
    const std::string_view text = read_text(page, content + 5, name);
    for (const std::string_view own : kOwn) {
      if (text.starts_with(own)) return;
    }
    ++tables_;
    names_.add(text);
  }

  const Glimpse& file_;
  Quotes& names_;
  uint64_t page_bytes_ = 0;
  uint64_t tables_ = 0;
  int pages_ = 0;
};

}  // namespace

// The schema is the tree whose root is the first page (SQLite file format §1.6, §2.6): a leaf of it
// has cells of payload size, row number, and a record: type, name, … Of a larger schema the number
// of tables is not told.
void append_tables(std::string& line, const Glimpse& file) {
  std::string quoted;
  Quotes names(quoted, "");
  Schema schema(file, names);
  if (!schema.read(1)) return;
  append_count(line, schema.tables(), "table");
  line += quoted;
}

// --- Parquet -----------------------------------------------------------------------------------

namespace {

/// Reads the compact protocol of Thrift, as far as the footer of Parquet uses it.
class Thrift {
 public:
  explicit Thrift(Bytes bytes) : bytes_(bytes) {}

  uint64_t number() {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 63; shift += 7) {
      const uint32_t byte = u8(bytes_, at_++);
      value |= uint64_t{byte & 0x7f} << shift;
      if (byte < 0x80) break;
    }
    return value;
  }
  int64_t zigzag() {
    const uint64_t value = number();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }
  std::string_view text() {
    const uint64_t size = number();
    const std::string_view found = read_text(bytes_, at_, size);
    at_ += std::min<uint64_t>(size, bytes_.size());
    return found;
  }
  bool done() const { return at_ >= bytes_.size(); }

  /// The next field's type, with its identifier in `field`; 0 at the end of a structure.
  uint32_t next(uint32_t& field) {
    const uint32_t byte = u8(bytes_, at_++);
    if (byte == 0 || done()) return 0;
    field = byte >> 4 != 0 ? field + (byte >> 4) : static_cast<uint32_t>(zigzag());
    return byte & 15;
  }
  /// The number of a list's elements, with their type.
  uint64_t list(uint32_t& type) {
    const uint32_t byte = u8(bytes_, at_++);
    type = byte & 15;
    return byte >> 4 == 15 ? number() : byte >> 4;
  }
  void skip(uint32_t type, int depth = 0) {
    // Types that the footer does not have, among them maps, end it.
    if (depth > 8 || done() || type == 0 || type == 11 || type > 12) at_ = bytes_.size();
    if (type == 3) ++at_;
    if (type >= 4 && type <= 6) number();
    if (type == 7) at_ += 8;
    if (type == 8) text();
    if (type == 9 || type == 10) {
      uint32_t of = 0;
      for (uint64_t left = list(of); left > 0 && !done(); --left) skip(of <= 2 ? 3 : of, depth + 1);
    }
    if (type == 12) {
      uint32_t field = 0;
      while (const uint32_t inner = next(field)) skip(inner, depth + 1);
    }
  }

 private:
  Bytes bytes_;
  uint64_t at_ = 0;
};

}  // namespace

// The footer is a FileMetaData: 2: schema (4: name, 5: number of children), 3: rows. Its size and
// PAR1 end the file.
void append_parquet(std::string& line, const Glimpse& file) {
  const Bytes tail = file.tail;
  if (tail.size() < 8 || !stands(tail, tail.size() - 4, "PAR1")) return;
  const uint64_t size = le32(tail, tail.size() - 8);
  if (size + 8 > tail.size()) return;
  Thrift footer(tail.subspan(tail.size() - 8 - static_cast<size_t>(size)));
  uint64_t columns = 0;
  std::string quoted;
  Quotes names(quoted, "");
  uint32_t field = 0;
  while (const uint32_t type = footer.next(field)) {
    if (field == 3 && type == 6) {
      append_sane_count(line, static_cast<uint64_t>(footer.zigzag()), "row");
      append_count(line, columns, "column");
      line += quoted;
      return;
    }
    if (field != 2 || type != 9) {
      footer.skip(type);
      continue;
    }
    uint32_t of = 0;
    for (uint64_t left = footer.list(of); left > 0 && !footer.done(); --left) {
      std::string_view name;
      bool leaf = true;
      uint32_t member = 0;
      while (const uint32_t kind = footer.next(member)) {
        if (member == 4 && kind == 8) {
          name = footer.text();
        } else if (member == 5 && kind == 5) {
          leaf = footer.zigzag() == 0;
        } else {
          footer.skip(kind);
        }
      }
      if (!leaf) continue;
      ++columns;
      names.add(name);
    }
  }
}

// --- NumPy and Stata ---------------------------------------------------------------------------

// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`
void append_array(std::string& line, const Glimpse& file) {
  const std::string_view head = as_text(file.head).substr(0, 256);
  const size_t shape = head.find("'shape': (");
  const size_t end = shape == head.npos ? shape : head.find(')', shape);
  if (end == head.npos) return;
  std::string_view sides = head.substr(shape + 10, end - shape - 10);
  size_t seen = 0;
  for (; seen < 9 && !sides.empty() && is_digit(sides[0]); ++seen) {
    append_side(line, read_number(sides), seen == 0);
    const size_t next = sides.find(", ");
    sides.remove_prefix(next == sides.npos ? sides.size() : next + 2);
  }
  if (seen == 0) line += ", one value";
  static constexpr std::string_view kTypes[] = {"float", "int", "uint", "complex"};
  const size_t type = head.find("'descr': '");
  // Behind the mark of the byte order.
  const size_t kind = type == head.npos ? head.size() : std::min(type + 11, head.size());
  const std::string_view code = head.substr(kind);
  for (const std::string_view name : kTypes) {
    if (code.empty() || code[0] != name[0]) continue;
    (line += " of ") += name;
    line += std::to_string(8 * read_number(code.substr(1)));
  }
}

void append_stata(std::string& line, const Glimpse& file) {
  const std::string_view head = as_text(file.head).substr(0, 512);
  const size_t columns = head.find("<K>");
  const size_t rows = head.find("<N>");
  const bool wide = head.find("<release>117") == head.npos;
  const bool big = head.find("<byteorder>MSF") != head.npos;
  if (columns == head.npos || rows == head.npos) return;
  append_sane_count(line, read_integer(file.head, rows + 3, wide ? 8 : 4, big), "row");
  append_count(line, read_integer(file.head, columns + 3, 2, big), "column");
}

}  // namespace sluice::families
