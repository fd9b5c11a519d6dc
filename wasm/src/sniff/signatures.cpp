// The signature table. A row is met when its bytes stand at its offset, under its mask; its
// recogniser, where it has one, then gives the answer, and the search goes on when that is nothing.
#include <algorithm>

#include "sniff/recognisers.h"
#include "sniff/types.h"

namespace sluice::sniffing {

namespace {

using namespace std::string_view_literals;

/// `ascii`: the signature is made of printable characters only, so a text could begin with it; it
/// counts when one of the next 16 bytes shows that this is no text.
struct Row {
  std::string_view bytes;
  Kind kind = Kind::count;
  Recogniser recognise = nullptr;
  bool ascii = false;
  std::string_view mask = {};
  size_t offset = 0;
};

constexpr Row kRows[] = {
    // documents
    {"%PDF-"sv, Kind::pdf},
    {"\xEF\xBB\xBF%PDF-"sv, Kind::pdf},
    {"{\\rtf"sv, Kind::rtf},
    {"%!PS"sv, Kind::count, postscript},
    {"\x04%!PS"sv, Kind::count, postscript},
    {"\xC5\xD0\xD3\xC6"sv, Kind::eps},
    {"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv, Kind::count, ole},
    {"BOOKMOBI"sv, Kind::mobi, nullptr, false, {}, 60},

    // images
    {"\x89PNG\r\n\x1A\n"sv, Kind::png},
    {"\xFF\xD8\xFF"sv, Kind::count, jpeg},
    {"GIF87a"sv, Kind::gif},
    {"GIF89a"sv, Kind::gif},
    {"BM"sv, Kind::count, bmp},
    {"\0\0\1\0"sv, Kind::count, icon},
    {"\0\0\2\0"sv, Kind::count, icon},
    {"II*\0"sv, Kind::tiff},
    {"MM\0*"sv, Kind::tiff},
    {"II+\0\x08\0\0\0"sv, Kind::tiff},
    {"MM\0+\0\x08\0\0"sv, Kind::tiff},
    {"icns\0"sv, Kind::icns},
    {"8BPS\0\1"sv, Kind::psd},
    {"8BPS\0\2"sv, Kind::psb},
    {"\xFF\x0A"sv, Kind::count, jxl_codestream},
    {"\xFF\x4F\xFF\x51\0"sv, Kind::j2c},
    {"\x76\x2F\x31\x01"sv, Kind::exr},
    {"SIMPLE  =  "sv, Kind::fits},
    {"DICM"sv, Kind::dicom, nullptr, true, {}, 128},

    // sound and moving pictures
    {"ID3"sv, Kind::count, id3},
    {"\xFF\xE0"sv, Kind::count, mpeg_frames, false, "\xFF\xE0"sv},
    {"fLaC"sv, Kind::flac, nullptr, true},
    {"OggS\0"sv, Kind::count, ogg},
    {"MThd\0\0\0\6\0"sv, Kind::midi},
    {"#!AMR\n"sv, Kind::amr},
    {"#!AMR-WB\n"sv, Kind::amr_wb},
    {"caff\0\1"sv, Kind::caf},
    {".snd\0"sv, Kind::au},
    {"FLV\1\0\0\0\0\x09"sv, Kind::flv, nullptr, false, "\xFF\xFF\xFF\xFF\xFA\xFF\xFF\xFF\xFF"sv},
    {"\x30\x26\xB2\x75\x8E\x66\xCF\x11"sv, Kind::count, asf},
    {"RIFF"sv, Kind::count, riff},
    {"RF64"sv, Kind::count, riff},
    {"FORM"sv, Kind::count, iff},
    {"AT&TFORM"sv, Kind::count, iff},
    {"\x1A\x45\xDF\xA3"sv, Kind::count, ebml},
    {"\0\0\1\xBA"sv, Kind::count, program_stream},
    {"G"sv, Kind::count, transport_stream},

    // archives and compression
    {"PK\3\4"sv, Kind::count, zip},
    {"PK\5\6"sv, Kind::count, zip},
    {"PK00PK\3\4"sv, Kind::zip},
    {"\x1F\x8B\x08\x00"sv, Kind::gzip, nullptr, false, "\xFF\xFF\xFF\xE0"sv},
    {"\x28\xB5\x2F\xFD"sv, Kind::zstd},
    {"\x50\x2A\x4D\x18"sv, Kind::count, skippable_frame, false, "\xF0\xFF\xFF\xFF"sv},
    {"\xFD"
     "7zXZ\0"sv,
     Kind::xz},
    {"BZh"sv, Kind::count, bzip2},
    {"7z\xBC\xAF\x27\x1C"sv, Kind::seven_zip},
    {"Rar!\x1A\x07\x00"sv, Kind::rar},
    {"Rar!\x1A\x07\x01\x00"sv, Kind::rar},
    {"\x04\x22\x4D\x18\x40"sv, Kind::lz4, nullptr, false, "\xFF\xFF\xFF\xFF\xC2"sv},
    {"\x02\x21\x4C\x18"sv, Kind::lz4},
    {"LZIP\1"sv, Kind::lzip},
    {"MSCF\0\0\0\0"sv, Kind::cab},
    {"!<arch>\n"sv, Kind::count, ar},
    {"\xED\xAB\xEE\xDB\x03\x00"sv, Kind::rpm, nullptr, false, "\xFF\xFF\xFF\xFF\xFF\xFE"sv},
    {"\xED\xAB\xEE\xDB\x04\x00"sv, Kind::rpm, nullptr, false, "\xFF\xFF\xFF\xFF\xFF\xFE"sv},

    // data
    {"SQLite format 3\0"sv, Kind::sqlite},
    {"DUCK"sv, Kind::duckdb, nullptr, true, {}, 8},
    {"PAR1"sv, Kind::parquet, nullptr, true},
    {"ARROW1\0\0"sv, Kind::arrow},
    {"FEA1"sv, Kind::feather, nullptr, true},
    {"\xFF\xFF\xFF\xFF"sv, Kind::count, arrow_stream},
    {"Obj\1"sv, Kind::avro},
    {"ORC"sv, Kind::orc, nullptr, true},
    {"\x89HDF\r\n\x1A\n"sv, Kind::hdf5},
    {"CDF\1"sv, Kind::netcdf},
    {"CDF\2"sv, Kind::netcdf},
    {"CDF\5"sv, Kind::netcdf},
    {"\x93NUMPY"sv, Kind::npy},
    {"MATLAB 5.0 MAT-file"sv, Kind::matlab},
    {"bplist00"sv, Kind::plist},
    {"\xD4\xC3\xB2\xA1\2\0\4\0"sv, Kind::pcap},
    {"\xA1\xB2\xC3\xD4\0\2\0\4"sv, Kind::pcap},
    {"\x0A\x0D\x0D\x0A"sv, Kind::count, pcapng},
    {"glTF\2\0\0\0"sv, Kind::glb},

    // fonts
    {"wOFF"sv, Kind::woff, nullptr, true},
    {"wOF2"sv, Kind::woff2, nullptr, true},
    {"\0\1\0\0"sv, Kind::count, sfnt},
    {"true"sv, Kind::count, sfnt},
    {"OTTO"sv, Kind::count, sfnt},
    {"ttcf\0\1\0\0"sv, Kind::ttc},
    {"ttcf\0\2\0\0"sv, Kind::ttc},

    // programs
    {"\0asm\1\0\0\0"sv, Kind::wasm},
    {"\0asm\x0D\0\1\0"sv, Kind::wasm},
    {"\x7F"
     "ELF"sv,
     Kind::elf},
    {"MZ"sv, Kind::count, dos_program},
    {"\xCE\xFA\xED\xFE"sv, Kind::macho},
    {"\xCF\xFA\xED\xFE"sv, Kind::macho},
    {"\xFE\xED\xFA\xCE"sv, Kind::macho},
    {"\xFE\xED\xFA\xCF"sv, Kind::macho},
    {"\xCA\xFE\xBA\xBE"sv, Kind::count, cafebabe},

    // whatever their first bytes
    {{}, Kind::count, boxes},
    {{}, Kind::count, tar},
    {{}, Kind::count, hdf5},
    {{}, Kind::count, marked_up},
};

constexpr bool masks_fit() {
  return std::all_of(std::begin(kRows), std::end(kRows), [](const Row& row) {
    return row.mask.empty() || row.mask.size() == row.bytes.size();
  });
}
static_assert(masks_fit());

constexpr uint8_t byte_of(std::string_view text, size_t at) {
  return static_cast<uint8_t>(text[at]);
}

/// Whether a head that begins with `first` may meet the row: sorts nearly all rows out.
bool may_begin(const Row& row, uint8_t first) {
  if (row.bytes.empty() || row.offset > 0) return true;
  const uint8_t mask = row.mask.empty() ? 0xFF : byte_of(row.mask, 0);
  return ((first ^ byte_of(row.bytes, 0)) & mask) == 0;
}

bool meets(Bytes head, const Row& row) {
  if (!holds(head, row.offset, row.bytes.size())) return false;
  if (row.mask.empty()) return stands(head, row.offset, row.bytes);
  for (size_t i = 0; i < row.bytes.size(); ++i) {
    if ((head[row.offset + i] ^ byte_of(row.bytes, i)) & byte_of(row.mask, i)) return false;
  }
  return true;
}

/// Whether one of the 16 bytes from `at` on is no part of a text: a control character, or not
/// ASCII.
bool beyond_text(Bytes head, size_t at) {
  const Bytes next = head.subspan(at, std::min<size_t>(16, head.size() - at));
  return std::any_of(next.begin(), next.end(), [](uint8_t byte) {
    return byte >= 0x7F || (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r');
  });
}

std::optional<Match> answer(Bytes head, const Row& row) {
  if (!meets(head, row)) return std::nullopt;
  if (row.recognise) return row.recognise(head);
  if (row.ascii && !beyond_text(head, row.offset + row.bytes.size())) return std::nullopt;
  return Match{row.kind};
}

}  // namespace

std::optional<Match> match_signatures(Bytes head) {
  if (head.empty()) return std::nullopt;
  for (const Row& row : kRows) {
    if (!may_begin(row, head[0])) continue;
    if (const auto match = answer(head, row)) return match;
  }
  return std::nullopt;
}

}  // namespace sluice::sniffing
