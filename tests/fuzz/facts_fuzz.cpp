// Anything at all through tell_facts: as evidence, and as both ends of a file. The first byte says
// where the ends are cut.
#include <cstdlib>
#include <string>
#include <utility>

#include "facts/kinds.h"
#include "sluice/facts.h"
#include "sluice/tape.h"
#include "text/utf8.h"

namespace {

using sluice::as_bytes;

void require(bool holds) {
  if (!holds) std::abort();
}

/// Facts and quotes together stay one line that a model may read.
void check_line(std::string_view line) {
  require(sluice::count_chars(line) <= 700);
  for (const char character : line) require(static_cast<uint8_t>(character) >= ' ');
  require(line.find("://") == std::string::npos);
}

/// Extensions of the kinds in wasm/src/facts/families.
constexpr const char* kFamilies[] = {
    "sqlite",  "iso", "rpm", "qcow2", "vmdk",    "squashfs", "sav",  "grib",  "bufr",
    "pmtiles", "stl", "fbx", "mid",   "parquet", "npy",      "dta",  "fits",  "nc",
    "nii",     "dcm", "shp", "las",   "tiff",    "dwg",      "pcap", "pcapng"};

/// A file whose ends are cut from `bytes`: where they meet or overlap, and of a file that is larger
/// by what lies between them.
void check_file(std::string_view bytes, size_t limit, bool between) {
  sluice::Subject subject;
  const size_t head = bytes.size() * (limit + 1) / 96;
  subject.head = as_bytes(bytes.substr(0, head));
  subject.tail = as_bytes(bytes.substr(between ? head : head / 2));
  subject.size_bytes = bytes.size() + (between ? uint64_t{limit} << 16 : 0);
  require(!sluice::wants_tail(subject.head) || head > 0);
  for (const auto& [mime, extension] :
       {std::pair{"application/x", "pdf"}, std::pair{"application/zip", "zip"},
        std::pair{"application/x", "xlsx"}, std::pair{"application/x", "docx"},
        std::pair{"application/x", "ods"}, std::pair{"application/x", "epub"},
        std::pair{"application/x", "doc"}, std::pair{"application/x", "xls"},
        std::pair{"application/x", "msg"}, std::pair{"application/x", "ppt"},
        std::pair{"audio/mpeg", "mp3"}, std::pair{"video/mp4", "mp4"},
        std::pair{"application/octet-stream", "bin"}}) {
    subject.type = {mime, extension, "file"};
    const std::string line = sluice::tell_facts(sluice::write_evidence(subject));
    require(!line.empty());
    check_line(line);
  }
  for (const char* extension : kFamilies) {
    std::string line;
    sluice::append_family_facts(line, {subject.head, subject.tail, subject.size_bytes}, extension);
    require(sluice::count_chars(line) <= 700);
  }
}

/// The same, begun and ended like a file of each family that one changed byte seldom leads to.
void check_families(std::string_view bytes, size_t limit, bool between) {
  using namespace std::string_view_literals;
  constexpr std::pair<size_t, std::string_view> kStamps[] = {
      {0, "FORM\0\0\0\0AIFFCOMM"sv},
      {0, "RIFF\0\0\0\0WAVEfmt \x10\0\0\0"sv},
      {0, "OggS\0\2"sv},
      {0, "%PDF-1.7\n1 0 obj"sv},
      {4, "ftypM4A \0\0\0\0\0\0\0\0moov"sv},
      {0, "fLaC\0\0\0\x22"sv},
      {0, "\xff\xfb\x90"sv},
      {0, "\x1f\x8b\x08\x0c"sv},
      {0, "\x1a\x45\xdf\xa3\x80\x15\x49\xa9\x66"sv},
      {0,
       "FLV\1\5\0\0\0\x09"
       "duration\0"sv},
      {0, "RIFF\0\0\0\0AVI LIST"sv},
      {0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv},
      {30, "\x09\0"sv},
      {128, "DICM"sv},
      {0, "II*\0\x08\0\0\0"sv},
      {0, "CDF\1\0\0\0\0"sv},
      {0, "\x93NUMPY\1\0v\0{'descr': '<f8', 'shape': ("sv},
      {0, "SIMPLE  =                    T"sv},
      {100, "\x0d\0\0\0\7"sv},
      {257, "ustar"sv},
      {769, "ustar"sv},
  };
  for (const auto& [at, stamp] : kStamps) {
    std::string file(bytes);
    if (file.size() < at + stamp.size()) continue;
    file.replace(at, stamp.size(), stamp);
    check_file(file, limit, between);
  }
  // The directory is all between the first header and the end record.
  std::string archive = "PK\3\4";
  archive += bytes;
  archive += "PK\5\6\0\0\0\0\1\0\1\0"sv;
  for (size_t i = 0; i < 4; ++i) archive += static_cast<char>(bytes.size() >> (8 * i) & 0xff);
  archive += "\4\0\0\0\0\0"sv;
  check_file(archive, limit, false);
}

void check_image(std::string_view bytes) {
  const auto seen = sluice::find_dimensions(as_bytes(bytes));
  require(!seen || (seen->width > 0 && seen->height > 0));
  sluice::Subject subject;
  subject.type = {"image/x", "x", "image"};
  subject.size_bytes = bytes.size();
  subject.head = as_bytes(bytes);
  check_line(sluice::tell_facts(sluice::write_evidence(subject)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t limit = data[0] % 96u;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  sluice::tell_facts(text);
  check_image(text);
  check_file(text, limit, (data[0] & 0x80) != 0);
  check_families(text, limit, (data[0] & 0x80) != 0);
  for (const char* begin : {"(", "<", "<FEFF", "(\xff\xfe"}) {
    require(sluice::pdf_text(begin + std::string(text)).size() <= 2'048);
  }
  return 0;
}
