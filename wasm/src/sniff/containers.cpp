// What lives in a ZIP archive, told from its entry names (APPNOTE.TXT 6.3 §4.3), or in an OLE
// compound file, told from the names in its directory ([MS-CFB]); and other archives.
#include <algorithm>
#include <string>

#include "sniff/compound.h"
#include "sniff/recognisers.h"
#include "sniff/structure.h"
#include "text/ascii.h"

namespace sluice {

// --- the central directory of a ZIP archive --------------------------------------------------

namespace {

using namespace std::string_view_literals;

constexpr std::string_view kCentral = "PK\1\2"sv;
constexpr uint64_t kCentralBytes = 46;
constexpr uint64_t kEndBytes = 22;
constexpr uint64_t kLocatorBytes = 20;

/// The end record: the last one whose comment ends the file, or else the last one whose comment
/// fits, since what a download or a mail adds behind an archive does not make it another.
///
///   PK56 disk:2 disk:2 here:2 entries:2 size:4 offset:4 comment length:2 comment
std::optional<uint64_t> end_record(Bytes tail) {
  const std::string_view text = as_text(tail);
  std::optional<uint64_t> fits;
  for (size_t at = text.size(); (at = text.rfind("PK\5\6"sv, at)) != text.npos; --at) {
    const uint64_t end = at + kEndBytes + le16(tail, at + 20);
    if (end == tail.size()) return at;
    if (end < tail.size() && !fits) fits = at;
    if (at == 0) break;
  }
  return fits;
}

}  // namespace

//   PK12 version:2 version:2 flags:2 … lengths of name:2 (at 28) extra:2 comment:2 … place:4 (at
//   42) name
std::optional<DirectoryEntry> zip_entry(Bytes bytes, uint64_t at) {
  const uint64_t length = le16(bytes, at + 28);
  if (!stands(bytes, at, kCentral) || !holds(bytes, at + kCentralBytes, length))
    return std::nullopt;
  DirectoryEntry entry;
  const auto begin = static_cast<size_t>(at + kCentralBytes);
  entry.name = as_text(bytes.subspan(begin, static_cast<size_t>(length)));
  entry.encrypted = (le16(bytes, at + 8) & 1) != 0;
  entry.method = le16(bytes, at + 10);
  entry.packed = le32(bytes, at + 20);
  entry.place = le32(bytes, at + 42);
  entry.next = begin + length + le16(bytes, at + 30) + le16(bytes, at + 32);
  return entry;
}

std::optional<ZipDirectory> zip_directory(const Glimpse& file) {
  const Bytes tail = file.tail;
  const auto end = end_record(tail);
  if (!end) return std::nullopt;
  ZipDirectory found{le16(tail, *end + 10), 0, {}};
  uint64_t size = le32(tail, *end + 12);
  uint64_t behind = file.size - tail.size() + *end;  // where the directory ends
  //   PK67 disk:4 offset:8 disks:4      PK66 size:8 … entries at 32, size at 40
  if (*end >= kLocatorBytes && stands(tail, *end - kLocatorBytes, "PK\6\7"sv)) {
    behind = le(tail, *end - kLocatorBytes + 8, 8);
    const Bytes record = file.from(behind);
    if (!stands(record, 0, "PK\6\6"sv)) return std::nullopt;
    found.entries = le(record, 32, 8);
    size = le(record, 40, 8);
  }
  // Counted from the end, since a program may stand before the archive.
  if (size > behind) return found;
  const uint64_t begin = behind - size;
  found.seen = file.from(begin);
  const uint64_t offset = le32(tail, *end + 16);
  if (offset < begin) found.shift = begin - offset;
  return found;
}

// --- ZIP -------------------------------------------------------------------------------------

namespace sniffing {

namespace {

std::optional<Kind> find_named_stream(const Glimpse& file);

constexpr std::string_view kLocal = "PK\3\4"sv;

/// What the names seen so far speak for.
struct Evidence {
  std::optional<Kind> stated;  ///< by the content of an entry
  std::optional<Kind> office;
  bool package = false;     ///< an OPC package: parts that every Office file has
  std::string_view folder;  ///< a folder that an Office file could have, not enough by itself
  bool android = false;
  bool java = false;
  bool tableau = false;
  bool map = false;
  bool solid = false;
  bool scene = false;
  bool arrays = false;  ///< of NumPy
  bool others = false;  ///< anything else
};

std::optional<Kind> office_folder(std::string_view name) {
  if (name.starts_with("word/")) return Kind::docx;
  if (name.starts_with("xl/")) return Kind::xlsx;
  if (name.starts_with("ppt/")) return Kind::pptx;
  return std::nullopt;
}

/// One header with its name, wherever it stands.
struct Entry {
  std::string_view name;
  std::string_view content{};  ///< as far as the head shows it; empty when compressed
  bool complete = false;       ///< `content` is all of it
  size_t next = 0;             ///< where the next header is expected
  bool exact = false;          ///< `next` follows from sizes that the header gives
};

/// The kind that an OpenDocument's or EPUB's `mimetype` entry names.
std::optional<Kind> stated_kind(const Entry& entry) {
  constexpr Kind kinds[] = {Kind::odt, Kind::ods, Kind::odp, Kind::odg, Kind::epub};
  for (const Kind kind : kinds) {
    const std::string_view mime = row_of(kind).mime_type;
    if (!entry.content.starts_with(mime)) continue;
    // `….text-template` is not `….text`. Where the size is not given, the next header ends it.
    const std::string_view rest = entry.content.substr(mime.size());
    const bool ends = rest.starts_with("PK") || rest.starts_with('\r') || rest.starts_with('\n');
    if (ends || (rest.empty() && entry.complete)) return kind;
  }
  return std::nullopt;
}

/// The kind that an uncompressed `[Content_Types].xml` speaks of.
std::optional<Kind> content_types_kind(std::string_view content) {
  if (content.find("wordprocessingml.document.main") != content.npos) return Kind::docx;
  if (content.find("spreadsheetml.sheet.main") != content.npos) return Kind::xlsx;
  if (content.find("presentationml.presentation.main") != content.npos) return Kind::pptx;
  return std::nullopt;
}

void weigh(const Entry& entry, Evidence& seen) {
  const std::string_view name = entry.name;
  (name.ends_with(".npy") ? seen.arrays : seen.others) = true;
  if (name.starts_with("3D/") && name.ends_with(".model")) seen.solid = true;
  if (name.ends_with(".usdc") || name.ends_with(".usda")) seen.scene = true;
  if (name == "mimetype") {
    if (const auto kind = stated_kind(entry)) seen.stated = kind;
  } else if (name == "[Content_Types].xml") {
    seen.package = true;
    if (const auto kind = content_types_kind(entry.content)) seen.office = kind;
  } else if (name == "_rels/.rels" || name.starts_with("docProps/")) {
    seen.package = true;
  } else if (const auto kind = office_folder(name)) {
    const bool part = name.ends_with(".xml") || name.ends_with(".rels");
    if (name == "xl/workbook.bin" || name == "xl/_rels/workbook.bin.rels") seen.office = Kind::xlsb;
    if (part && !seen.office) seen.office = kind;
    if (seen.folder.empty()) seen.folder = name;
  } else if (name == "AndroidManifest.xml" || name == "classes.dex" || name == "resources.arsc") {
    seen.android = true;
  } else if (name == "META-INF/MANIFEST.MF") {
    seen.java = true;
  } else if (name.ends_with(".twb")) {
    seen.tableau = true;
  } else if (name == "doc.kml") {
    seen.map = true;
  }
}

Kind judge(const Evidence& seen) {
  if (seen.stated) return *seen.stated;
  if (seen.office) return *seen.office;
  if (seen.package && !seen.folder.empty()) return *office_folder(seen.folder);
  if (seen.android) return Kind::apk;
  if (seen.tableau) return Kind::twbx;
  if (seen.java) return Kind::jar;
  if (seen.map) return Kind::kmz;
  if (seen.solid) return Kind::three_mf;
  if (seen.scene) return Kind::usdz;
  if (seen.arrays && !seen.others) return Kind::npz;
  return Kind::zip;
}

std::optional<Entry> local_entry(Bytes head, size_t at) {
  if (!stands(head, at, kLocal) || !holds(head, at, 30)) return std::nullopt;
  const uint32_t flags = le16(head, at + 6);
  const uint32_t method = le16(head, at + 8);
  const size_t packed = le32(head, at + 18);
  const size_t name_length = le16(head, at + 26);
  const size_t data = at + 30 + name_length + le16(head, at + 28);
  if (!holds(head, at + 30, name_length)) return std::nullopt;

  Entry entry;
  entry.name = as_text(head.subspan(at + 30, name_length));
  // Bit 3: the sizes follow the data, and stand here as zero. 0xFFFFFFFF: a ZIP64 field has them.
  entry.exact = packed != 0xFFFFFFFF && ((flags & 8) == 0 || packed > 0);
  entry.next = entry.exact ? data + std::min(packed, head.size()) : data;
  if (method == 0 && data < head.size()) {
    const size_t limit = entry.exact ? packed : head.size() - data;
    entry.content = as_text(head.subspan(data)).substr(0, limit);
    entry.complete = entry.exact && entry.content.size() == packed;
  }
  return entry;
}

/// The first header at or behind `from`, for entries whose size is not given.
size_t find_header(Bytes head, size_t from) {
  const std::string_view text = as_text(head);
  const size_t local = text.find(kLocal, from);
  const size_t central = text.find(kCentral, from);
  return local < central ? local : central;
}

// What the headers from the first on say, as far as they are seen.
void weigh_head(Bytes head, Evidence& seen) {
  size_t at = 0;
  while (at < head.size()) {
    if (const auto entry = local_entry(head, at)) {
      weigh(*entry, seen);
      at = entry->exact ? entry->next : find_header(head, entry->next);
    } else if (const auto listed = zip_entry(head, at)) {
      // A small file shows its central directory too, with the same names.
      weigh({.name = listed->name}, seen);
      at = static_cast<size_t>(listed->next);
    } else {
      break;
    }
  }
}

}  // namespace

std::optional<Match> zip(Bytes head) {
  if (stands(head, 0, "PK\5\6"sv)) {
    // An empty archive: the end record alone, which counts no entries.
    const bool empty = holds(head, 0, 22) && le32(head, 8) == 0 && le32(head, 12) == 0;
    return empty ? std::optional(Match{Kind::zip}) : std::nullopt;
  }
  Evidence seen;
  weigh_head(head, seen);
  return Match{judge(seen)};
}

std::optional<Kind> refine_by_both_ends(const Glimpse& file) {
  if (const auto kind = find_named_stream(file)) return kind;
  // Tracks of sound begin with what their decoder needs, which may be longer than any head.
  if (stands(file.head, 0, "\x1A\x45\xDF\xA3")) {
    const auto match = ebml(file.head);
    return match ? std::optional(match->kind) : std::nullopt;
  }
  if (!stands(file.head, 0, kLocal)) return std::nullopt;
  const auto directory = zip_directory(file);
  if (!directory) return std::nullopt;
  Evidence seen;
  Bytes entries = directory->seen;
  if (!stands(entries, 0, kCentral)) {
    // It is longer than what is seen of the end, which then holds nothing else.
    entries = file.tail.subspan(std::min(as_text(file.tail).find(kCentral), file.tail.size()));
    weigh_head(file.head, seen);
  }
  uint64_t at = 0;
  while (const auto listed = zip_entry(entries, at)) {
    // What an entry holds is at its own place.
    const auto local = local_entry(file.from(listed->place + directory->shift), 0);
    weigh(local && local->name == listed->name ? *local : Entry{.name = listed->name}, seen);
    at = listed->next;
  }
  return judge(seen);
}

// --- OLE -------------------------------------------------------------------------------------

namespace {

struct Stream {
  std::string_view name;
  Kind kind;
};

constexpr Stream kStreams[] = {
    {"WordDocument", Kind::doc},
    {"Workbook", Kind::xls},
    {"Book", Kind::xls},
    {"PowerPoint Document", Kind::ppt},
    {"__nameid_version1.0", Kind::msg},
    {"__properties_version1.0", Kind::msg},
    {"VisioDocument", Kind::vsd},
    {"EncryptedPackage", Kind::locked},
};

std::optional<Kind> find_named_stream(const Glimpse& file) {
  const auto compound = CompoundFile::open(file);
  if (!compound) return std::nullopt;
  for (const CompoundFile::Entry& entry : compound->entries()) {
    for (const Stream& stream : kStreams) {
      if (entry.name == stream.name) return stream.kind;
    }
  }
  return compound->count("__substg1.0_") > 0 ? std::optional(Kind::msg) : std::nullopt;
}

/// Office programs put the main stream first, so its own signature follows the header at once,
/// while the directory is often at the end: [MS-DOC] §2.5.2 FibBase, [MS-XLS] §2.4.21 BOF, [MS-PPT]
/// §2.4.1.
std::optional<Kind> first_stream(Bytes head) {
  if (stands(head, 512, "\xEC\xA5\xC1\0"sv)) return Kind::doc;
  if (stands(head, 512, "\x09\x08\x10\0\0\6\5\0"sv)) return Kind::xls;
  if (stands(head, 512, "\x0F\0\xE8\3"sv)) return Kind::ppt;
  return std::nullopt;
}

}  // namespace

std::optional<Match> ole(Bytes head) {
  if (const auto kind = find_named_stream({head, {}, head.size()})) return Match{*kind};
  if (const auto kind = first_stream(head)) return Match{*kind};
  return Match{Kind::ole};
}

// --- archives and compressed files whose signatures need a second look ---------------------------

namespace {

constexpr size_t kTarHeader = 512;

/// An octal field: blanks, digits, then blanks or nulls to its end. Nothing when it has no digit.
std::optional<uint64_t> octal(std::string_view field) {
  size_t at = 0;
  while (at < field.size() && field[at] == ' ') ++at;
  const size_t digits = at;
  uint64_t value = 0;
  while (at < field.size() && field[at] >= '0' && field[at] <= '7') {
    value = value * 8 + static_cast<uint64_t>(field[at++] - '0');
  }
  if (at == digits) return std::nullopt;
  const bool ends = std::all_of(field.begin() + static_cast<std::ptrdiff_t>(at), field.end(),
                                [](char c) { return c == ' ' || c == '\0'; });
  return ends ? std::optional(value) : std::nullopt;
}

/// The sum that a header must carry at 148: of all its bytes, its own eight as blanks.
uint64_t tar_sum(Bytes header) {
  uint64_t sum = 8 * ' ';
  for (size_t i = 0; i < kTarHeader; ++i) {
    if (i < 148 || i >= 156) sum += header[i];
  }
  return sum;
}

}  // namespace

//   0    100  108 116 124  136   148 156  157  257
//   name mode uid gid size mtime sum type link ustar …      (POSIX.1-2017, pax; v7 ends before
//   `ustar`)
bool is_tar_header(Bytes head) {
  if (stands(head, 257, "ustar\0"sv) || stands(head, 257, "ustar  "sv)) return true;
  if (!holds(head, 0, kTarHeader) || head[0] < 0x20) return false;
  const std::string_view header = as_text(head.first(kTarHeader));
  const auto sum = octal(header.substr(148, 8));
  return sum && *sum == tar_sum(head) && octal(header.substr(100, 8));
}

std::optional<Match> tar(Bytes head) {
  return is_tar_header(head) ? std::optional(Match{Kind::tar}) : std::nullopt;
}

/// The new ASCII format of cpio: 110 hexadecimal digits, then a name that ends with a NUL.
std::optional<Match> cpio(Bytes head) {
  constexpr size_t kHeader = 110;
  if (!holds(head, 0, kHeader + 1)) return std::nullopt;
  for (const uint8_t byte : head.first(kHeader)) {
    if (!is_hex_digit(byte)) return std::nullopt;
  }
  const std::string_view rest = as_text(head.subspan(kHeader));
  return rest.find('\0') != rest.npos ? std::optional(Match{Kind::cpio}) : std::nullopt;
}

//   BZh, level 1–9, then the first block (pi) or, of an empty file, the end (square root of pi)
std::optional<Match> bzip2(Bytes head) {
  if (!holds(head, 0, 10) || head[3] < '1' || head[3] > '9') return std::nullopt;
  const bool block = stands(head, 4, "1AY&SY") || stands(head, 4, "\x17rE8P\x90"sv);
  return block ? std::optional(Match{Kind::bzip2}) : std::nullopt;
}

/// Zstandard and LZ4 share their skippable frames (RFC 8878 §3.1.2): the next frame decides.
std::optional<Match> skippable_frame(Bytes head) {
  if (!holds(head, 0, 8)) return std::nullopt;
  const size_t size = le32(head, 4);
  if (!holds(head, 8, size)) return std::nullopt;
  const size_t next = 8 + size;
  if (stands(head, next, "\x28\xB5\x2F\xFD"sv)) return Match{Kind::zstd};
  if (stands(head, next, "\x04\x22\x4D\x18"sv)) return Match{Kind::lz4};
  return std::nullopt;
}

/// `!<arch>\n`, then the first member's name.
std::optional<Match> ar(Bytes head) {
  if (stands(head, 8, "debian-binary")) return Match{Kind::deb};
  // A member header ends with a back quote and a newline.
  if (holds(head, 8, 60))
    return stands(head, 66, "`\n") ? std::optional(Match{Kind::ar}) : std::nullopt;
  return std::nullopt;
}

}  // namespace sniffing

}  // namespace sluice
