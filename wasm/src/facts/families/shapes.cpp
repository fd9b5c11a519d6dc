// Models, volumes and maps: how many of what they are made of, and how large.
#include <algorithm>

#include "facts/families/families.h"
#include "sniff/structure.h"
#include "text/ascii.h"

namespace sluice::families {

// --- models --------------------------------------------------------------------------------------

namespace {

/// The number of elements of an array that is a member of the outermost object of JSON.
uint64_t count_elements(std::string_view json, std::string_view member) {
  bool quoted = false;
  int depth = 0;
  uint64_t commas = 0;
  size_t begin = json.npos;
  for (size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (quoted) {
      if (c == '\\') ++at;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') {
      quoted = true;
      if (depth == 1 && json.substr(at).starts_with(member)) begin = at;
    } else if (is_among(c, "[{")) {
      ++depth;
    } else if (is_among(c, "]}")) {
      --depth;
      if (begin != json.npos && depth == 1) return json[at - 1] == '[' ? 0 : commas + 1;
    } else if (c == ',' && begin != json.npos && depth == 2) {
      ++commas;
    }
  }
  return 0;
}

/// The number behind words of a header in text, `element vertex 8`.
uint64_t read_element_count(std::string_view header, std::string_view words) {
  const size_t at = header.find(words);
  if (at == header.npos) return 0;
  header.remove_prefix(at + words.size());
  uint64_t count = 0;
  for (size_t i = 0; i < std::min<size_t>(header.size(), 12) && is_digit(header[i]); ++i) {
    count = count * 10 + static_cast<uint64_t>(header[i] - '0');
  }
  return count;
}

}  // namespace

//   glTF version:4 size:4, a chunk size:4 JSON   (glTF 2.0 §4.4)
void append_meshes(std::string& line, const Glimpse& file) {
  if (!stands(file.head, 16, "JSON")) return;
  const std::string_view json = read_text(file.head, 20, le32(file.head, 12));
  const uint64_t meshes = count_elements(json, "\"meshes\"");
  if (meshes == 0) return;
  append_count(line, meshes, "mesh");
}

void append_ply(std::string& line, const Glimpse& file) {
  constexpr size_t kHeader = 4'096;
  const std::string_view header = as_text(file.head).substr(0, kHeader);
  const uint64_t vertices = read_element_count(header, "element vertex ");
  const uint64_t faces = read_element_count(header, "element face ");
  if (vertices > 0) line += ", " + grouped(vertices) + " vertices";
  if (faces > 0) append_count(line, faces, "face");
}

// --- volumes and disks ---------------------------------------------------------------------------

namespace {

void append_three(std::string& line, Bytes head, uint64_t at, bool big) {
  for (uint64_t i = 0; i < 3; ++i)
    append_side(line, read_integer(head, at + 4 * i, 4, big), i == 0);
}

void append_label(std::string& line, Bytes head, uint64_t at, uint64_t width) {
  std::string_view name = read_text(head, at, width);
  name = name.substr(0, name.find('\0'));
  name = name.substr(0, name.find_last_not_of(' ') + 1);
  if (name != "NO NAME") Quotes(line, ", volume").add(name);
}

}  // namespace

void append_map_sides(std::string& line, const Glimpse& file) {
  append_three(line, file.head, 0, u8(file.head, 212) == 0x11);
}

void append_mgh_sides(std::string& line, const Glimpse& file) {
  append_three(line, file.head, 4, true);
}

// FAT (ECMA-107) has its label in the first sector, ext4 in the superblock at 1,024.
void append_volume(std::string& line, const Glimpse& file) {
  const Bytes head = file.head;
  if (stands(head, 82, "FAT32")) return append_label(line, head, 71, 11);
  if (stands(head, 54, "FAT1")) return append_label(line, head, 43, 11);
  if (stands(head, 1'080, "\x53\xEF")) append_label(line, head, 1'024 + 120, 16);
}

// --- maps and records ----------------------------------------------------------------------------

// The header of FlatGeobuf is a table of a flatbuffer, whose ninth field is the number of features.
void append_features(std::string& line, const Glimpse& file) {
  constexpr uint64_t kBegin = 12;
  constexpr uint64_t kField = 8;
  const uint64_t table = kBegin + le32(file.head, kBegin);
  const uint64_t fields =
      table -
      static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(le32(file.head, table))));
  const uint32_t place =
      4 + 2 * kField < le16(file.head, fields) ? le16(file.head, fields + 4 + 2 * kField) : 0;
  const uint64_t count = place == 0 ? 0 : le(file.head, table + place, 8);
  if (count > 0 && count < uint64_t{1} << 40) append_count(line, count, "feature");
}

/// The names of a record's fields, in the schema that stands in the header of Avro as JSON.
void append_avro(std::string& line, const Glimpse& file) {
  constexpr size_t kHeader = 16'384;
  constexpr std::string_view kFields = "\"fields\"";
  constexpr std::string_view kName = "\"name\"";
  std::string_view schema = as_text(file.head).substr(0, kHeader);
  schema.remove_prefix(std::min(schema.find(kFields), schema.size()));
  Quotes names(line, ", fields");
  for (size_t at = 0; (at = schema.find(kName)) != schema.npos;) {
    schema.remove_prefix(at + kName.size());
    const size_t begin = schema.find('"');
    if (begin == schema.npos || begin > 4) continue;
    const std::string_view name = schema.substr(begin + 1, schema.find('"', begin + 1) - begin - 1);
    if (name.size() > 200 || !names.add(name)) break;
  }
}

// A book of DjVu is FORM size:4 DJVM and chunks, of which those of type DJVU are its pages.
void append_leaves(std::string& line, const Glimpse& file) {
  if (!stands(file.head, 12, "DJVM")) return;
  uint64_t pages = 0;
  uint64_t at = 16;
  for (; holds(file.head, at, 12);
       at += 8 + be32(file.head, at + 4) + (be32(file.head, at + 4) & 1)) {
    if (stands(file.head, at, "FORM") && stands(file.head, at + 8, "DJVU")) ++pages;
  }
  if (pages > 0 && at >= file.size) append_count(line, pages, "page");
}

}  // namespace sluice::families
