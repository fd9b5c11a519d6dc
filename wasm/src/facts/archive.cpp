// Archives that say what they hold: ZIP and what is built on it (APPNOTE.TXT 6.3 §4.3, §4.4), tar,
// gzip.
#include <optional>

#include "describe/formats.h"
#include "facts/inflate.h"
#include "facts/kinds.h"
#include "facts/package.h"
#include "sluice/describe.h"
#include "sniff/structure.h"

namespace sluice {

// --- ZIP -------------------------------------------------------------------------------------

namespace {

using namespace std::string_view_literals;

/// What an archive's entries are to a person: those named `prefix…suffix`.
struct Part {
  std::string_view extension;
  std::string_view prefix;
  std::string_view suffix;
  std::string_view noun;
};

constexpr Part kParts[] = {
    {"xlsx", "xl/worksheets/sheet", ".xml", "sheet"},
    {"xlsb", "xl/worksheets/sheet", ".bin", "sheet"},
    {"pptx", "ppt/slides/slide", ".xml", "slide"},
    {"docx", "word/media/", "", "image"},
    {"odt", "Pictures/", "", "image"},
    {"odp", "Pictures/", "", "image"},
    {"jar", "", ".class", "class file"},
};

const Part* find_part(std::string_view extension) {
  for (const Part& part : kParts) {
    if (part.extension == extension) return &part;
  }
  return nullptr;
}

}  // namespace

void append_zip_facts(std::string& line, const Glimpse& file, std::string_view extension) {
  const auto package = Package::open(file);
  if (!package) return;
  const Part* const part = find_part(extension);
  uint64_t listed = 0;
  uint64_t folders = 0;
  uint64_t parts = 0;
  bool encrypted = false;
  bool macros = false;
  for (auto entry = package->list(0); entry; entry = package->list(entry->next)) {
    const std::string_view name = entry->name;
    if (part && name.starts_with(part->prefix) && name.ends_with(part->suffix)) ++parts;
    encrypted = encrypted || entry->encrypted;
    macros = macros || name.ends_with("/vbaProject.bin");
    folders += name.ends_with('/') ? 1 : 0;
    ++listed;
  }
  const bool whole = listed == package->entries();
  std::string counted;
  if (part && parts > 0 && whole) append_count(counted, parts, part->noun);
  const bool office = append_office_facts(line, *package, extension, counted);
  if (!office) line += counted;
  // A folder is no entry to a person.
  if (!part && !office) append_count(line, package->entries() - (whole ? folders : 0), "entry");
  if (encrypted) line += ", encrypted";
  if (macros) line += ", with macros";
  if (extension != "zip" && extension != "npz") return;
  Quotes names(line, ", names");
  for (auto entry = package->list(0); entry; entry = package->list(entry->next)) {
    if (!entry->name.ends_with('/') && !names.add(entry->name)) break;
  }
}

// --- tar and gzip ----------------------------------------------------------------------------

namespace {

constexpr uint64_t kBlock = 512;

/// A field's text, up to the first NUL.
std::string_view field(Bytes bytes, uint64_t at, size_t width) {
  if (!holds(bytes, at, width)) return {};
  const std::string_view text = as_text(bytes.subspan(static_cast<size_t>(at), width));
  return text.substr(0, text.find('\0'));
}

/// Octal digits, spaces before and behind; base 256 and anything else is no size that is seen.
std::optional<uint64_t> octal(std::string_view text) {
  uint64_t value = 0;
  for (const char character : text) {
    if (character == ' ') continue;
    if (character < '0' || character > '7') return std::nullopt;
    value = value << 3 | static_cast<uint64_t>(character - '0');
  }
  return text.empty() ? std::nullopt : std::optional(value);
}

}  // namespace

/// The value of `path` among the records of a pax header, `27 path=folder/name\n`.
std::string_view find_pax_path(std::string_view records) {
  constexpr std::string_view kPath = " path=";
  const size_t at = records.find(kPath);
  if (at == records.npos) return {};
  records = records.substr(at + kPath.size());
  return records.substr(0, records.find('\n'));
}

// POSIX.1-2017 pax, ustar interchange format: header blocks, each followed by its member's content.
// An older one has no `ustar`. A name may stand before its member, as the content of a header of
// type `x` (pax) or `L` (GNU).
//
//   0        124     148   156    257        345
//   name:100 size:12 sum:8 type:1 ustar …    prefix:155      two blocks of zeros end the archive
void append_tar_facts(std::string& line, const Glimpse& file) {
  if (!sniffing::is_tar_header(file.head)) return;
  std::string quoted;
  Quotes names(quoted, ", names");
  bool named = true;
  uint64_t members = 0;
  std::string_view given;
  for (uint64_t at = 0;;) {
    const Bytes block = file.from(at);
    if (!sniffing::is_tar_header(block)) {
      if (holds(block, 0, kBlock) && block[0] == 0) append_count(line, members, "entry");
      break;
    }
    const auto size = octal(field(block, 124, 12));
    if (!size) break;
    const uint32_t type = u8(block, 156);
    const std::string_view content =
        field(block, kBlock, static_cast<size_t>(std::min<uint64_t>(*size, block.size())));
    if (type == 'x') given = find_pax_path(content);
    if (type == 'L') given = content;
    if (type == 0 || (type >= '0' && type <= '7')) {
      std::string name(given);
      if (name.empty()) {
        const bool prefixed = stands(block, 257, "ustar\0"sv);
        name = prefixed ? field(block, 345, 155) : std::string_view();
        if (!name.empty()) name += '/';
        name += field(block, 0, 100);
      }
      given = {};
      const bool folder = type == '5' || name.ends_with('/');
      if (!folder) ++members;
      if (named && !folder) named = names.add(name);
    }
    at += kBlock + (*size + kBlock - 1) / kBlock * kBlock;
  }
  line += quoted;
}

namespace {

/// What stands in a gzip file: `, inside: tar archive, names (from the file): …`.
void append_content(std::string& line, const Glimpse& file) {
  constexpr size_t kSeen = 16'384;
  const std::string content = inflate_wrapped(file.head, kSeen);
  const Bytes bytes = as_bytes(content);
  const auto type = sniff(bytes);
  const TextFormat kind =
      is_text(content) ? find_text_format(content.substr(0, kSniffHead)) : TextFormat{};
  if (!type && !kind.is_known()) return;
  line += ", inside: ";
  line += kind.is_known() ? std::string(kind.label) : type->label;
  if (!type) return;
  // More is not seen, so that what stands at its end is not told.
  const Glimpse inner{bytes, {}, UINT64_MAX};
  append_tar_facts(line, inner);
  append_family_facts(line, inner, type->extension);
}

}  // namespace

// RFC 1952 §2.3: ID:2 method:1 flags:1 time:4 … [extra length:2 extra] [name, NUL]
void append_gzip_facts(std::string& line, const Glimpse& file) {
  constexpr uint32_t kExtra = 4;
  constexpr uint32_t kName = 8;
  const uint32_t flags = u8(file.head, 3);
  if (!stands(file.head, 0, "\x1f\x8b\x08"sv)) return;
  append_content(line, file);
  if ((flags & kName) == 0) return;
  const size_t at = 10 + ((flags & kExtra) != 0 ? 2 + le16(file.head, 10) : 0);
  std::string_view name = as_text(file.head);
  name = name.substr(std::min(at, name.size()));
  const size_t end = name.find('\0');
  if (end != name.npos) Quotes(line, ", name").add(name.substr(0, end));
}

}  // namespace sluice
