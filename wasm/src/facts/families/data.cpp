// Tables of SQLite and of what is built on it.
#include "facts/families/families.h"
#include "sniff/structure.h"

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

}  // namespace

// The schema is the tree whose root is the first page (SQLite file format §1.6, §2.6): a leaf of it
// has cells of payload size, row number, and a record: type, name, … Of a larger schema the number
// of tables is not told.
void append_tables(std::string& line, const Glimpse& file) {
  constexpr uint64_t kPageHeader = 100;
  const Bytes page = file.head;
  if (u8(page, kPageHeader) != 0x0d) return;
  const uint32_t cells = be16(page, kPageHeader + 3);
  uint64_t tables = 0;
  std::string quoted;
  Quotes names(quoted, "");
  for (uint32_t i = 0; i < cells && i < 1'000; ++i) {
    uint64_t at = be16(page, kPageHeader + 8 + 2 * uint64_t{i});
    take_varint(page, at);
    take_varint(page, at);
    const uint64_t record = at;
    const uint64_t content = record + take_varint(page, at);
    const uint64_t kind = text_bytes(take_varint(page, at));
    const uint64_t name = text_bytes(take_varint(page, at));
    if (!stands(page, content, "table") || kind != 5) continue;
    const std::string_view text = read_text(page, content + 5, name);
    const bool own = text.starts_with("sqlite_") || text.starts_with("gpkg_") ||
                     text.starts_with("rtree_") || text == "spatial_ref_sys";
    if (own) continue;
    ++tables;
    names.add(text);
  }
  append_count(line, tables, "table");
  line += quoted;
}

}  // namespace sluice::families
