// Archives that say what they hold: ZIP and what is built on it (APPNOTE.TXT 6.3 §4.3, §4.4), tar,
// gzip.
#include <optional>

#include "describe/facts.h"
#include "sniff/structure.h"

namespace sluice {

// --- ZIP -------------------------------------------------------------------------------------

namespace {

using namespace std::string_view_literals;

/// What an Office file's entries are to a person: those named `prefix…suffix`.
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
    {"epub", "", "html", "section"},
    {"jar", "", ".class", "class file"},
};

/// What the entries show.
struct Survey {
  uint64_t entries = 0;
  uint64_t parts = 0;
  bool encrypted = false;
};

Survey walk(Bytes seen, const Part* part, Quotes* names) {
  Survey survey;
  uint64_t at = 0;
  for (; const auto entry = zip_entry(seen, at); ++survey.entries) {
    const std::string_view name = entry->name;
    if (part && name.starts_with(part->prefix) && name.ends_with(part->suffix)) ++survey.parts;
    if (entry->encrypted) survey.encrypted = true;
    if (names && !name.ends_with('/') && !names->add(name)) names = nullptr;
    at = entry->next;
  }
  return survey;
}

const Part* part_of(std::string_view extension) {
  for (const Part& part : kParts) {
    if (part.extension == extension) return &part;
  }
  return nullptr;
}

}  // namespace

void append_zip_facts(std::string& line, const Glimpse& file, std::string_view extension) {
  if (!stands(file.head, 0, "PK"sv)) return;
  const auto directory = zip_directory(file);
  if (!directory) return;
  const Part* const part = part_of(extension);
  const Survey survey = walk(directory->seen, part, nullptr);
  if (part) {
    if (survey.parts > 0 && survey.entries == directory->entries)
      append_count(line, survey.parts, part->noun);
  } else {
    append_count(line, directory->entries, "entry");
  }
  if (survey.encrypted) line += ", encrypted";
  if (extension != "zip") return;
  Quotes names(line, ", names");
  walk(directory->seen, nullptr, &names);
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

// POSIX.1-2017 pax, ustar interchange format: header blocks, each followed by its member's content.
//
//   0        124     156      257
//   name:100 size:12 type:1 … ustar        two blocks of zeros end the archive
void append_tar_facts(std::string& line, const Glimpse& file) {
  if (!stands(file.head, 257, "ustar")) return;
  std::string quoted;
  Quotes names(quoted, ", names");
  bool named = true;
  uint64_t members = 0;
  for (uint64_t at = 0;;) {
    const Bytes block = file.from(at);
    if (!stands(block, 257, "ustar")) {
      if (holds(block, 0, kBlock) && block[0] == 0) append_count(line, members, "entry");
      break;
    }
    const auto size = octal(field(block, 124, 12));
    if (!size) break;
    const bool file_or_folder = block[156] == 0 || (block[156] >= '0' && block[156] <= '7');
    if (file_or_folder) {
      ++members;
      const std::string_view name = field(block, 0, 100);
      if (named && !name.ends_with('/')) named = names.add(name);
    }
    at += kBlock + (*size + kBlock - 1) / kBlock * kBlock;
  }
  line += quoted;
}

// RFC 1952 §2.3: ID:2 method:1 flags:1 time:4 … [extra length:2 extra] [name, NUL]
void append_gzip_facts(std::string& line, const Glimpse& file) {
  constexpr uint32_t kExtra = 4;
  constexpr uint32_t kName = 8;
  const uint32_t flags = u8(file.head, 3);
  if (!stands(file.head, 0, "\x1f\x8b"sv) || (flags & kName) == 0) return;
  const size_t at = 10 + ((flags & kExtra) != 0 ? 2 + le16(file.head, 10) : 0);
  std::string_view name = as_text(file.head);
  name = name.substr(std::min(at, name.size()));
  const size_t end = name.find('\0');
  if (end != name.npos) Quotes(line, ", name").add(name.substr(0, end));
}

}  // namespace sluice
