// Maps, models and scanned pages.
#include "facts/families/families.h"
#include "sniff/structure.h"

namespace sluice::families {

void append_shapes(std::string& line, const Glimpse& file) {
  static constexpr std::string_view kShapes[] = {"",           ", points", "", ", lines",      "",
                                                 ", polygons", "",         "", ", multipoints"};
  const uint32_t type = le32(file.head, 32) % 10;
  if (type < 9) line += kShapes[type];
}

void append_points(std::string& line, const Glimpse& file) {
  constexpr double kFarthest = 1e9;
  const uint64_t legacy = le32(file.head, 107);
  line += ", LAS " + std::to_string(u8(file.head, 24));
  (line += '.') += std::to_string(u8(file.head, 25));
  append_sane_count(line, legacy > 0 ? legacy : le(file.head, 247, 8), "point");
  const double across = read_double(file.head, 179, false) - read_double(file.head, 187, false);
  const double down = read_double(file.head, 195, false) - read_double(file.head, 203, false);
  if (!(across >= 1 && down >= 1 && across < kFarthest && down < kFarthest)) return;
  append_side(line, static_cast<uint64_t>(across + 0.5), true);
  append_side(line, static_cast<uint64_t>(down + 0.5), false);
  line += " units";
}

void append_dwg(std::string& line, const Glimpse& file) {
  static constexpr std::string_view kVersions = "152000182004212007242010272013322018";
  for (size_t at = 0; at < kVersions.size(); at += 6) {
    if (stands(file.head, 4, kVersions.substr(at, 2)))
      (line += ", version ") += kVersions.substr(at + 2, 4);
  }
}

// TIFF 6.0 §2: directories are chained, an entry is tag:2 type:2 count:4 value:4. 277: samples;
// 34735: the keys of GeoTIFF 1.1 §7.1, of which 3072 and 2048 name a reference system by its EPSG
// code.
void append_tiff(std::string& line, const Glimpse& file) {
  constexpr uint64_t kMostPages = 1'000;
  constexpr uint64_t kMostEntries = 1'000;
  const bool big = u8(file.head, 0) == 'M';
  const auto read = [big](Bytes bytes, uint64_t at, size_t width) {
    return read_integer(bytes, at, width, big);
  };
  if (read(file.head, 2, 2) != 42) return;
  uint64_t pages = 0;
  uint64_t samples = 0;
  uint64_t system = 0;
  for (uint64_t at = read(file.head, 4, 4); at != 0 && pages < kMostPages; ++pages) {
    const Bytes directory = file.from(at);
    const uint64_t next = 2 + 12 * read(directory, 0, 2);
    if (next == 2 || !holds(directory, next, 4)) return;
    bool reduced = false;
    for (uint64_t entry = 2; entry < std::min(next, 12 * kMostEntries); entry += 12) {
      const uint64_t tag = read(directory, entry, 2);
      if (tag == 254) reduced = (read(directory, entry + 8, 4) & 1) != 0;
      if (tag == 277 && pages == 0) samples = read(directory, entry + 8, 2);
      if (tag != 34'735 || pages > 0 || system > 0) continue;
      const Bytes keys = file.from(read(directory, entry + 8, 4));
      for (uint64_t left = std::min(read(keys, 6, 2), kMostEntries), key = 8;
           left > 0 && holds(keys, key, 8); --left, key += 8) {
        const uint64_t id = read(keys, key, 2);
        const uint64_t code = read(keys, key + 6, 2);
        const bool named = id == 3'072 || (id == 2'048 && system == 0);
        if (named && code > 0 && code < 32'767) system = code;
      }
    }
    at = read(directory, next, 4);
    if (reduced) break;  // what follows are smaller copies, no pages
  }
  if (system > 0) {
    line += ", EPSG:" + std::to_string(system);
    if (samples > 0) append_count(line, samples, "band");
  } else if (pages > 1 && pages < kMostPages) {
    append_count(line, pages, "page");
  }
}

}  // namespace sluice::families
