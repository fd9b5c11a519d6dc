// Heads of files, one and more for each kind that the signatures know, laid out byte by byte.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::samples {

using std::string_literals::operator""s;

/// A head, and what it must be taken for. `general` is the only other answer a cut one may get.
struct Sample {
  std::string mime_type;
  std::string extension;
  std::string head;
  std::vector<std::string> general = {};
  bool certain = true;  ///< encoded bytes that begin so are no text
};

inline std::string number(uint64_t value, size_t width, bool big) {
  std::string out(width, '\0');
  for (size_t i = 0; i < width; ++i) {
    out[big ? width - 1 - i : i] = static_cast<char>(value >> (8 * i));
  }
  return out;
}
inline std::string le16(uint64_t value) {
  return number(value, 2, false);
}
inline std::string le32(uint64_t value) {
  return number(value, 4, false);
}
inline std::string be16(uint64_t value) {
  return number(value, 2, true);
}
inline std::string be32(uint64_t value) {
  return number(value, 4, true);
}
inline std::string zeros(size_t count) {
  return std::string(count, '\0');
}

/// Bytes that look compressed, the same on every machine.
inline std::string noise(size_t count, uint64_t seed = 1) {
  std::string out;
  uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  while (out.size() < count) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    out.push_back(static_cast<char>(state >> 32));
  }
  return out;
}

inline std::string padded(std::string text, size_t size) {
  text.resize(std::max(size, text.size()));
  return text;
}

// ZIP

enum class Zip : uint8_t {
  sized,     ///< sizes in the local header: python-docx, openpyxl, zip
  streamed,  ///< sizes behind the data: LibreOffice, Google, Java
};

inline std::string zip_entry(std::string_view name, std::string_view data, Zip how = Zip::sized,
                             bool stored = false, size_t extra = 0) {
  const bool streamed = how == Zip::streamed;
  const std::string sizes = streamed ? zeros(12) : le32(0x1234) + le32(data.size()) + le32(999);
  std::string out = "PK\3\4" + le16(20) + le16(streamed ? 0x0808 : 0) + le16(stored ? 0 : 8) +
                    le32(0x21000000) + sizes + le16(name.size()) + le16(extra);
  out += std::string(name) + zeros(extra) + std::string(data);
  if (streamed) out += "PK\7\x08" + le32(0x1234) + le32(data.size()) + le32(999);
  return out;
}

inline std::string zip_of(const std::vector<std::string>& names, Zip how = Zip::sized,
                          size_t data = 120, size_t extra = 0) {
  std::string out;
  for (const std::string& name : names) {
    out += zip_entry(name, noise(data, name.size() + out.size()), how, false, extra);
  }
  return out;
}

inline std::string stated_zip(std::string_view mime, const std::vector<std::string>& names) {
  return zip_entry("mimetype", mime, Zip::sized, true) + zip_of(names, Zip::streamed);
}

// OLE

/// A compound file whose directory is sector `sector`, its entries named by `names`.
inline std::string ole_file(uint32_t sector, const std::vector<std::string>& names) {
  std::string out = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"s + zeros(16) + le16(0x3E) + le16(3) +
                    le16(0xFFFE) + le16(9) + le16(6);
  out = padded(out, 48) + le32(sector);
  out = padded(out, 512 + 512 * sector);
  for (const std::string& name : names) {
    std::string wide;
    for (const char c : name) wide += le16(static_cast<uint8_t>(c));
    out += padded(padded(wide, 64) + le16(wide.size() + 2) + "\5", 128);
  }
  return out;
}

// boxes, chunks, pages, elements

inline std::string ftyp(std::string_view major, const std::vector<std::string>& compatible) {
  std::string brands;
  for (const std::string& brand : compatible) brands += brand;
  return be32(16 + brands.size()) + "ftyp" + std::string(major) + be32(0) + brands + be32(8) +
         "free";
}

inline std::string riff(std::string_view form) {
  return "RIFF" + le32(1000) + std::string(form) + "fmt " + le32(16) + zeros(16);
}

inline std::string ogg_page(std::string_view data, uint8_t flags = 2) {
  return "OggS"s + zeros(1) + static_cast<char>(flags) + zeros(8) + le32(77) + le32(0) + le32(99) +
         "\x01" + static_cast<char>(data.size()) + std::string(data);
}

inline std::string ebml_file(std::string_view type) {
  const std::string header = "\x42\x86\x81\x01\x42\xF7\x81\x01\x42\x82"s +
                             static_cast<char>(0x80 | type.size()) + std::string(type);
  return "\x1A\x45\xDF\xA3\x01"s + zeros(6) + static_cast<char>(header.size()) + header;
}

/// A segment whose tracks stand behind an index that names them, each with what its decoder needs.
inline std::string ebml_tracks(const std::vector<char>& types, size_t needed = 0) {
  std::string tracks;
  for (const char type : types) {
    const std::string track =
        "\x83\x81"s + type + "\x63\xA2\x10" + number(needed, 3, true) + zeros(needed);
    tracks += "\xAE\x10"s + number(track.size(), 3, true) + track;
  }
  return "\x18\x53\x80\x67\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x11\x4D\x9B\x74\x84\x16\x54\xAE\x6B"
         "\x16\x54\xAE\x6B\x10"s +
         number(tracks.size(), 3, true) + tracks;
}

inline std::string asf_file(bool video, bool audio) {
  const std::string tail = "\x4D\x5B\xCF\x11\xA8\xFD\x00\x80\x5F\x5C\x44\x2B"s;
  std::string objects = noise(40);
  if (audio) objects += "\x40\x9E\x69\xF8" + tail + noise(20);
  if (video) objects += "\xC0\xEF\x19\xBC" + tail + noise(20);
  return "\x30\x26\xB2\x75\x8E\x66\xCF\x11\xA6\xD9\x00\xAA\x00\x62\xCE\x6C"s +
         le32(24 + objects.size()) + le32(0) + objects;
}

// sound

/// Two frames of 128 kbit/s at 44.1 kHz: 417 bytes each.
inline std::string mp3_frames() {
  const std::string frame = "\xFF\xFB\x90\x64" + noise(413);
  return frame + frame;
}

inline std::string adts_frames(size_t size = 200) {
  // AAC-LC, 44.1 kHz, two channels
  std::string header = "\xFF\xF1\x50"s;
  header += static_cast<char>(0x80 | size >> 11);
  header += static_cast<char>(size >> 3);
  header += static_cast<char>((size & 7) << 5 | 0x1F);
  header += "\xFC";
  const std::string frame = header + noise(size - 7);
  return frame + frame;
}

inline std::string id3_tag(std::string_view behind) {
  return "ID3\4"s + zeros(5) + "\x14" + padded("TIT2", 20) + std::string(behind);
}

// pictures

inline std::string bmp_file() {
  return "BM" + le32(1078) + le32(0) + le32(54) + le32(40) + le32(16) + le32(16) + le16(1) +
         le16(24) + zeros(24);
}

inline std::string icon_file(uint8_t type) {
  return le16(0) + le16(type) + le16(1) + "\x10\x10"s + zeros(2) + le16(1) +
         le16(type == 1 ? 32 : 7) + le32(1128) + le32(22) + le32(40) + noise(40);
}

// the rest

inline std::string sfnt(std::string_view version) {
  return std::string(version) + be16(12) + be16(128) + be16(3) + be16(64) + "OS/2" + noise(12);
}

inline std::string tar_header(bool ustar) {
  std::string header = padded("folder/file.txt", 100) + "0000644\0000001750\0000001750\000"s +
                       "00000000012\00014371234567\000"s + std::string(8, ' ') + "0";
  header = padded(header, 257);
  if (ustar) header += "ustar\00000"s;
  header = padded(header, 512);
  uint32_t sum = 0;
  for (const char c : header) sum += static_cast<uint8_t>(c);
  std::string digits;
  for (int shift = 15; shift >= 0; shift -= 3) {
    digits += static_cast<char>('0' + (sum >> shift & 7));
  }
  return header.replace(148, 8, digits + "\0 "s) + "some text\n";
}

inline std::string pe_file(uint32_t at) {
  std::string out = "MZ\x90\0\3\0\0\0\4\0\0\0\xFF\xFF\0\0\xB8\0\0\0\0\0\0\0\x40"s;
  out = padded(padded(out, 60) + le32(at), at);
  return out + "PE\0\0\x64\x86"s + zeros(64);
}

inline std::string transport_packets(size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += "\x47\x40\x11\x10" + noise(184, i + 1);
  return out;
}

inline const std::string kSvg = R"(<svg xmlns="http://www.w3.org/2000/svg" width="9"></svg>)";

inline std::vector<Sample> documents() {
  const std::string word =
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
  const std::string sheet = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
  const std::string slides =
      "application/vnd.openxmlformats-officedocument.presentationml.presentation";
  const std::string open = "application/vnd.oasis.opendocument.";
  const std::vector<std::string> zip = {"application/zip"};
  const std::vector<std::string> cfb = {"application/x-ole-storage"};
  const std::string root = "Root Entry";
  return {
      {"application/pdf", "pdf", "%PDF-1.7\n%\xE2\xE3\xCF\xD3\n1 0 obj"},
      {"application/postscript", "ps", "%!PS-Adobe-3.0\n%%Title: x\n"},
      {"application/postscript", "eps", "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"},
      {"application/postscript", "eps", "\xC5\xD0\xD3\xC6" + le32(30) + noise(22)},
      {"application/rtf", "rtf", "{\\rtf1\\ansi hello}"},
      // Microsoft Office: padding in the extra field of the first entries
      {word, "docx",
       zip_of({"[Content_Types].xml", "_rels/.rels", "word/document.xml"}, Zip::sized, 300, 520),
       zip},
      // python-docx
      {word, "docx",
       zip_of({"[Content_Types].xml", "_rels/.rels", "docProps/core.xml", "word/document.xml"}),
       zip},
      // Google Docs: streamed, the content types last
      {word, "docx",
       zip_of({"word/numbering.xml", "word/settings.xml", "word/document.xml"}, Zip::streamed),
       zip},
      // an uncompressed list of types is enough
      {word, "docx",
       zip_entry("[Content_Types].xml",
                 "<Types><Override ContentType=\"application/vnd.openxmlformats-officedocument."
                 "wordprocessingml.document.main+xml\"/></Types>",
                 Zip::sized, true) +
           zip_of({"customXml/item1.xml"}, Zip::sized, 4000),
       zip},
      // openpyxl: document properties first
      {sheet, "xlsx", zip_of({"docProps/app.xml", "docProps/core.xml", "xl/theme/theme1.xml"}),
       zip},
      // LibreOffice
      {sheet, "xlsx",
       zip_of({"_rels/.rels", "docProps/core.xml", "xl/_rels/workbook.xml.rels"}, Zip::streamed),
       zip},
      {"application/vnd.ms-excel.sheet.binary.macroenabled.12", "xlsb",
       zip_of({"[Content_Types].xml", "_rels/.rels", "xl/workbook.bin"}), zip},
      {slides, "pptx", zip_of({"[Content_Types].xml", "_rels/.rels", "ppt/presentation.xml"}), zip},
      {slides, "pptx", zip_of({"docProps/thumbnail.jpeg", "ppt/slides/"}), zip},
      {open + "text", "odt", stated_zip(open + "text", {"META-INF/manifest.xml"}), zip},
      {open + "spreadsheet", "ods", stated_zip(open + "spreadsheet", {"content.xml"}), zip},
      {open + "presentation", "odp", stated_zip(open + "presentation", {"content.xml"}), zip},
      {open + "graphics", "odg", stated_zip(open + "graphics", {"content.xml"}), zip},
      {"application/epub+zip", "epub",
       stated_zip("application/epub+zip", {"META-INF/container.xml"}), zip},
      {"application/vnd.tableau.packaged", "twbx",
       zip_of({"Data/extract.hyper", "Sales Dashboard.twb"}), zip},
      {"application/msword", "doc", ole_file(1, {root, "1Table", "WordDocument"}), cfb},
      {"application/msword", "doc",
       padded(ole_file(90, {}).substr(0, 512) + "\xEC\xA5\xC1\0"s, 4096), cfb},
      {"application/vnd.ms-excel", "xls", ole_file(0, {root, "Workbook"}), cfb},
      {"application/vnd.ms-excel", "xls", ole_file(0, {root, "Book"}), cfb},
      {"application/vnd.ms-powerpoint", "ppt",
       ole_file(2, {root, "Current User", "PowerPoint Document"}), cfb},
      {"application/vnd.ms-outlook", "msg", ole_file(1, {root, "__nameid_version1.0"}), cfb},
      {"application/vnd.ms-outlook", "msg", ole_file(1, {root, "__substg1.0_0037001F"}), cfb},
      {"application/vnd.visio", "vsd", ole_file(1, {root, "VisioDocument"}), cfb},
      {"application/x-ole-storage", "ole", ole_file(1, {root, "EncryptedPackage"})},
      {"text/html", "html", "<!DOCTYPE html>\n<html><body>x"},
      {"text/html", "html", "\n <!-- page --><HTML lang=en>"},
      {"application/xml", "xml", "<?xml version=\"1.0\"?>\n<workbook version='18.1'>"},
      {"application/x-mobipocket-ebook", "mobi", padded("A_book", 60) + "BOOKMOBI" + noise(20)},
  };
}

inline std::vector<Sample> images() {
  const std::string jp2 = "\0\0\0\x0CjP  \r\n\x87\n"s;
  const std::vector<std::string> heif = {"image/heif"};
  const std::vector<std::string> xml = {"application/xml"};
  return {
      {"image/png", "png", "\x89PNG\r\n\x1A\n" + be32(13) + "IHDR" + be32(64) + be32(48)},
      {"image/jpeg", "jpg", "\xFF\xD8\xFF\xE0" + be16(16) + "JFIF" + noise(20)},
      {"image/jpeg", "jpg", "\xFF\xD8\xFF\xDB" + be16(67) + noise(65)},
      {"image/gif", "gif", "GIF89a" + le16(4) + le16(4) + noise(8)},
      {"image/gif", "gif", "GIF87a" + le16(4) + le16(4) + noise(8)},
      {"image/webp", "webp", "RIFF" + le32(300) + "WEBPVP8 " + noise(20)},
      {"image/avif", "avif", ftyp("avif", {"avif", "mif1", "miaf"})},
      {"image/avif", "avif", ftyp("mif1", {"mif1", "avif", "miaf"}), heif},
      {"image/heic", "heic", ftyp("heic", {"mif1", "heic"})},
      {"image/heic", "heic", ftyp("mif1", {"mif1", "heic"}), heif},
      {"image/heif", "heif", ftyp("mif1", {"mif1", "jpeg"})},
      {"image/tiff", "tiff", "II*\0"s + le32(8) + noise(20)},
      {"image/tiff", "tiff", "MM\0*"s + be32(8) + noise(20)},
      {"image/tiff", "tiff", "II+\0\x08\0\0\0"s + noise(20)},
      {"image/bmp", "bmp", bmp_file()},
      {"image/vnd.microsoft.icon", "ico", icon_file(1)},
      {"image/x-win-bitmap", "cur", icon_file(2)},
      {"image/x-icns", "icns", "icns" + be32(3000) + "TOC " + noise(20)},
      {"image/vnd.adobe.photoshop", "psd", "8BPS" + be16(1) + zeros(6) + be16(3) + noise(20)},
      {"image/vnd.adobe.photoshop", "psb", "8BPS" + be16(2) + zeros(6) + be16(3) + noise(20)},
      {"image/jxl", "jxl", "\0\0\0\x0CJXL \r\n\x87\n"s + noise(20)},
      // 8 × 8, small, ratio 1:1, then compressed bytes
      {"image/jxl", "jxl", "\xFF\x0A\x41" + noise(400)},
      {"image/svg+xml", "svg", kSvg},
      {"image/svg+xml", "svg",
       "\xEF\xBB\xBF<?xml version=\"1.0\"?>\n<!-- made\nby hand -->\n" + kSvg, xml},
      {"image/svg+xml", "svg",
       "<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" [ <!ENTITY a \"b\"> ]>\n" + kSvg},
      {"image/svg+xml", "svg", "<svg:svg xmlns:svg='http://www.w3.org/2000/svg'>"},
      {"image/jp2", "jp2", jp2 + be32(20) + "ftypjp2 " + noise(20)},
      {"image/jpx", "jpx", jp2 + be32(20) + "ftypjpx " + noise(20)},
      {"image/jpm", "jpm", jp2 + be32(20) + "ftypjpm " + noise(20)},
      {"video/mj2", "mj2", jp2 + be32(20) + "ftypmjp2" + noise(20)},
      {"image/j2c", "j2c", "\xFF\x4F\xFF\x51\0\x2F"s + noise(20)},
      {"image/vnd.djvu", "djvu", "AT&TFORM" + be32(500) + "DJVUINFO" + noise(20)},
      {"image/x-portable-anymap", "pnm", "P6\n40 30\n255\n" + noise(20), {}, false},
      {"image/x-portable-anymap", "pnm", "P7\nWIDTH 40\nHEIGHT 30\n"},
      {"image/x-exr", "exr", "\x76\x2F\x31\x01\2\0\0\0"s + noise(20)},
      {"image/fits", "fits", "SIMPLE  =                    T / conforms"},
      {"application/fits",
       "fits",
       "SIMPLE  =                    T NAXIS   =                    0",
       {"image/fits"}},
      {"image/vnd.dwg", "dwg", "AC1027\0\0\0\0\0"s + noise(20)},
      {"application/dicom", "dcm", zeros(128) + "DICM\2\0\0\0UL"s + noise(20)},
  };
}

inline std::vector<Sample> media() {
  const std::vector<std::string> ogx = {"application/ogg"};
  const std::vector<std::string> mpeg = {"audio/mpeg"};
  return {
      {"audio/mpeg", "mp3", id3_tag(mp3_frames())},
      {"audio/mpeg", "mp3", mp3_frames()},
      {"audio/mpeg", "mp3", "\xFF\xFB\xE0\x64" + zeros(32) + "Info" + noise(400)},
      {"audio/wav", "wav", riff("WAVE")},
      {"audio/wav", "wav", "RF64\xFF\xFF\xFF\xFFWAVEds64" + noise(20)},
      {"audio/flac", "flac", "fLaC\0\0\0\x22"s + noise(34)},
      {"audio/flac", "flac", id3_tag("fLaC\0\0\0\x22"s), mpeg},
      {"audio/ogg", "ogg", ogg_page("\x01vorbis" + noise(20)), ogx},
      {"audio/ogg", "opus", ogg_page("OpusHead" + noise(11)), ogx},
      {"audio/aac", "aac", adts_frames()},
      {"audio/aac", "aac", id3_tag(adts_frames()), mpeg},
      {"audio/midi", "mid", "MThd" + be32(6) + be16(1) + be16(2) + be16(480) + "MTrk"},
      {"audio/aiff", "aiff", "FORM" + be32(500) + "AIFFCOMM" + noise(20)},
      {"audio/aiff", "aiff", "FORM" + be32(500) + "AIFCFVER" + noise(20)},
      {"audio/amr", "amr", "#!AMR\n" + noise(20)},
      {"audio/amr-wb", "awb", "#!AMR-WB\n" + noise(20)},
      {"audio/x-caf", "caf", "caff\0\1\0\0desc"s + noise(20)},
      {"audio/x-wavpack", "wv", "wvpk" + le32(900) + le16(0x410) + noise(20)},
      {"audio/basic", "au", ".snd" + be32(24) + be32(500) + be32(1) + be32(8000) + be32(1)},
      {"audio/mp4", "m4a", ftyp("M4A ", {"M4A ", "isom"})},
      {"audio/mp4", "m4a", ftyp("isom", {"isom", "M4A "})},
      {"audio/x-ms-wma", "wma", asf_file(false, true), {"video/x-ms-asf"}},
      {"video/mp4", "mp4", ftyp("isom", {"isom", "iso2", "avc1", "mp41"})},
      {"video/mp4", "mp4", ftyp("mp42", {"isom", "mp42"})},
      {"video/x-m4v", "m4v", ftyp("M4V ", {"M4V ", "mp42"})},
      {"video/quicktime", "mov", ftyp("qt  ", {"qt  "})},
      {"video/quicktime", "mov", be32(900) + "moov" + be32(108) + "mvhd" + zeros(20)},
      {"video/quicktime", "mov", be32(8) + "wide" + be32(5000) + "mdat" + noise(20)},
      {"video/3gpp", "3gp", ftyp("3gp5", {"3gp5", "isom"})},
      {"video/3gpp2", "3g2", ftyp("3g2a", {"3g2a"})},
      {"video/webm", "webm", ebml_file("webm"), {"video/x-matroska"}},
      {"video/x-matroska", "mkv", ebml_file("matroska")},
      {"video/x-matroska", "mkv", ebml_file("matroska") + ebml_tracks({2, 1})},
      {"video/x-matroska", "mkv", ebml_file("matroska\0\0"s)},
      {"audio/webm",
       "weba",
       ebml_file("webm") + ebml_tracks({2}),
       {"video/webm", "video/x-matroska"}},
      {"audio/x-matroska",
       "mka",
       ebml_file("matroska") + ebml_tracks({2, 2, 17}),
       {"video/x-matroska"}},
      {"video/x-msvideo", "avi", riff("AVI LIST")},
      {"video/ogg", "ogv", ogg_page("\x80theora" + noise(20)), ogx},
      {"video/ogg",
       "ogv",
       ogg_page("\x01vorbis" + noise(9)) + ogg_page("\x80theora" + noise(9)),
       {"application/ogg", "audio/ogg"}},
      {"application/ogg", "ogx", ogg_page("unheard-of" + noise(20))},
      {"video/x-flv", "flv", "FLV\1\5\0\0\0\x09"s + noise(20)},
      {"video/x-ms-asf", "asf", asf_file(false, false)},
      {"video/x-ms-wmv", "wmv", asf_file(true, true), {"video/x-ms-asf"}},
      {"video/mpeg", "mpg", "\0\0\1\xBA\x44\0\4\0\4\1\1\x89"s + noise(20)},
      {"video/mpeg", "mpg", "\0\0\1\xBA\x21\0\1\0\1\x80\0\1"s + noise(20)},
      {"video/mp2t", "ts", transport_packets(4)},
  };
}

inline std::vector<Sample> archives() {
  const std::vector<std::string> zip = {"application/zip"};
  const std::vector<std::string> jar = {"application/zip", "application/java-archive"};
  return {
      {"application/zip", "zip", zip_of({"notes.txt", "photos/1.jpg"})},
      {"application/zip", "zip", "PK\5\6" + zeros(18)},
      {"application/zip", "zip", "PK00" + zip_of({"spanned.txt"})},
      {"application/java-archive", "jar", zip_of({"META-INF/", "META-INF/MANIFEST.MF", "A.class"}),
       zip},
      {"application/vnd.android.package-archive", "apk",
       zip_of({"META-INF/MANIFEST.MF", "AndroidManifest.xml", "classes.dex"}), jar},
      {"application/vnd.google-earth.kmz", "kmz", zip_of({"doc.kml"}), zip},
      {"model/3mf", "3mf", zip_of({"3D/3dmodel.model", "_rels/.rels"}), zip},
      {"model/vnd.usdz+zip", "usdz", zip_of({"scene.usdc"}), zip},
      {"application/x-npz", "npz", zip_of({"a.npy", "b.npy"}), zip},
      {"application/gzip", "gz", "\x1F\x8B\x08\x08\0\0\0\0\0\3name\0"s + noise(20)},
      {"application/zstd", "zst", "\x28\xB5\x2F\xFD\x04" + noise(20)},
      {"application/zstd", "zst", "\x50\x2A\x4D\x18" + le32(4) + "abcd\x28\xB5\x2F\xFD" + noise(9)},
      {"application/x-xz", "xz", "\xFD"s + "7zXZ\0\0\4"s + noise(20)},
      {"application/x-bzip2", "bz2", "BZh91AY&SY" + noise(20)},
      {"application/x-bzip2", "bz2", "BZh9\x17rE8P\x90"s + zeros(4)},
      {"application/x-7z-compressed", "7z", "7z\xBC\xAF\x27\x1C\0\4"s + noise(20)},
      {"application/vnd.rar", "rar", "Rar!\x1A\x07\0\xCF\x90"s + noise(20)},
      {"application/vnd.rar", "rar", "Rar!\x1A\x07\1\0"s + noise(20)},
      {"application/x-tar", "tar", tar_header(true)},
      {"application/x-tar", "tar", tar_header(false)},
      {"application/x-lz4", "lz4", "\x04\x22\x4D\x18\x64\x40\xA7" + noise(20)},
      {"application/x-lz4", "lz4", "\x02\x21\x4C\x18" + noise(20)},
      {"application/lzip", "lz", "LZIP\1\x14" + noise(20)},
      {"application/vnd.ms-cab-compressed", "cab", "MSCF" + zeros(4) + le32(900) + noise(20)},
      {"application/x-archive", "a",
       "!<arch>\n/               0           0     0     0       94        `\n" + noise(20)},
      {"application/vnd.debian.binary-package", "deb",
       "!<arch>\ndebian-binary   1700000000  0     0     100644  4         `\n2.0\n"},
      {"application/x-qemu-disk", "qcow2", "QFI\xFB\0\0\0\3"s + noise(20)},
      {"application/x-vmdk", "vmdk", "KDMV\1\0\0\0"s + noise(20)},
      {"application/x-squashfs", "squashfs", "hsqs\5\0\0\0"s + noise(20)},
      {"application/x-cpio", "cpio", "070701" + std::string(104, '0') + "a.txt\0"s},
      {"application/x-git-bundle", "bundle", "# v2 git bundle\n" + noise(20)},
      {"application/x-rpm", "rpm", "\xED\xAB\xEE\xDB\3\0\0\0"s + noise(20)},
      {"application/x-arj",
       "arj",
       "\x60\xEA" + le16(43) + "\x22\x0B\1\2\x10\0\2"s + noise(40),
       {},
       false},
      {"application/x-fat-image", "img", zeros(54) + "FAT12   " + zeros(448) + "\x55\xAA"},
      {"application/x-fat-image", "img", zeros(82) + "FAT32   " + zeros(420) + "\x55\xAA"},
      {"application/x-ext4-image", "img",
       zeros(1'048) + le32(2) + zeros(28) + "\x53\xEF\1\0\1\0"s + zeros(14) + le32(1)},
      {"application/x-erofs-image", "erofs", zeros(1'024) + "\xE2\xE1\xF5\xE0" + noise(20)},
      {"application/x-virtualbox-vdi", "vdi",
       padded("<<< QEMU VM Virtual Disk Image >>>\n", 64) + "\x7F\x10\xDA\xBE" + noise(20)},
      {"application/x-vhdx", "vhdx", "vhdxfileQ\0E\0M\0U\0"s},
      {"application/x-vhd", "vhd", "conectix\0\0\0\2\0\1\0\0"s + noise(20)},
      {"application/x-mercurial-bundle", "hg", "HG20\0\0\0\x0E"s + noise(20)},
  };
}

/// A header of LAS 1.2 whose points have a format.
inline std::string las_file(uint8_t format) {
  std::string file = "LASF" + zeros(20) + "\1\2" + zeros(68) + le16(227) + zeros(8);
  return file + static_cast<char>(format) + zeros(122);
}

inline std::vector<Sample> data() {
  return {
      {"application/vnd.sqlite3", "sqlite", "SQLite format 3\0\x10\0\1\1"s + noise(20)},
      {"application/geopackage+sqlite3",
       "gpkg",
       "SQLite format 3\0"s + zeros(52) + "GPKG" + noise(20),
       {"application/vnd.sqlite3"}},
      {"application/vnd.mbtiles",
       "mbtiles",
       "SQLite format 3\0"s + zeros(52) + "MPBX" + noise(20),
       {"application/vnd.sqlite3"}},
      {"application/x-stata", "dta", "<stata_dta><header><release>118</release>"},
      {"application/x-spss-sav", "sav", "$FL2@(#) SPSS DATA FILE"},
      {"application/x-sas-data", "sas7bdat", zeros(12) + "\xC2\xEA\x81\x60" + noise(20)},
      {"application/x-python-pickle",
       "pickle",
       "\x80\4\x95\x10\0\0\0\0\0\0\0"s + noise(20),
       {},
       false},
      {"application/x-grib", "grib", "GRIB\0\0\x10\2"s + noise(20)},
      {"application/x-bufr", "bufr", "BUFR\0\0\x10\4"s + noise(20)},
      {"application/x-bam", "bam", "BAM\1"s + noise(20)},
      {"application/x-root", "root", "root\0\0\xF6\x92"s + noise(20)},
      {"application/x-nifti", "nii", le32(348) + zeros(340) + "n+1\0"s},
      {"application/x-shapefile", "shp", "\0\0\x27\x0A"s + zeros(20) + noise(20)},
      {"application/x-flatgeobuf", "fgb", "fgb\3fgb\1" + noise(20)},
      {"application/vnd.pmtiles", "pmtiles", "PMTiles\3" + noise(20)},
      {"application/vnd.las", "las", las_file(2)},
      {"application/vnd.laszip", "laz", las_file(0x82)},
      {"application/x-fbx", "fbx", "Kaydara FBX Binary  \0\x1A\0"s + noise(20)},
      {"application/x-blender", "blend", "BLENDER-v300REND" + noise(20)},
      {"application/x-pkcs12", "p12", "\x30\x82\x0A\x10\2\1\3\x30"s + noise(20), {}, false},
      {"application/pkix-cert",
       "der",
       "\x30\x82\3\0\x30\x82\2\0\xA0\3\2\1\2"s + noise(20),
       {},
       false},
      {"application/x-duckdb", "duckdb", noise(8) + "DUCK\x40"s + zeros(20)},
      {"application/vnd.apache.parquet", "parquet", "PAR1\x15\4\x15"s + noise(20)},
      {"application/vnd.apache.arrow.file", "arrow", "ARROW1\0\0"s + noise(20)},
      {"application/vnd.apache.arrow.stream", "arrows",
       "\xFF\xFF\xFF\xFF" + le32(168) + le32(16) + zeros(20)},
      {"application/x-feather", "feather", "FEA1\0\0\0\0"s + noise(20)},
      {"application/x-git-pack", "pack", "PACK\0\0\0\2\0\0\0\3"s + noise(20)},
      {"application/x-git-pack-index", "idx", "\xFFtOc\0\0\0\2"s + noise(20)},
      {"application/x-git-index", "index", "DIRC\0\0\0\2\0\0\0\1"s + noise(20)},
      {"application/x-llvm-bitcode", "bc", "BC\xC0\xDE\x35\x14\0\0"s + noise(20)},
      {"application/x-bytecode", "pyc", "\xA7\x0D\r\n\0\0\0\0"s + noise(20)},
      {"application/x-perl-storable", "storable", "pst0\4\x0B\x08"s + "12345678" + noise(20)},
      {"application/x-amzn-ion", "ion", "\xE0\1\0\xEA\xEE\x8F"s + noise(20)},
      {"application/x-lzma", "lzma", "\x5D\0\0\x80\0"s + std::string(8, '\xFF') + noise(20)},
      {"application/x-asar", "asar",
       le32(4) + le32(60) + le32(56) + le32(51) + "{\"files\":{\"main.js\":{}}}" + noise(20)},
      {"application/avro", "avro", "Obj\1\4\x16"s + "avro.schema" + noise(20)},
      {"application/vnd.apache.orc", "orc", "ORC\x0A\3\0\0"s + noise(20)},
      {"application/x-hdf5", "h5", "\x89HDF\r\n\x1A\n\2\x08\x08"s + noise(20)},
      {"application/x-hdf5", "h5", std::string(512, '#') + "\x89HDF\r\n\x1A\n" + noise(20)},
      {"application/x-netcdf", "nc", "CDF\1"s + noise(20)},
      {"application/x-netcdf", "nc", "CDF\2"s + noise(20)},
      {"application/x-netcdf", "nc", "CDF\5"s + noise(20)},
      {"application/x-npy", "npy", "\x93NUMPY\1\0v\0{'descr': '<f8'"s},
      {"application/x-matlab-data", "mat", "MATLAB 5.0 MAT-file, Platform: GLNXA64"},
      {"application/x-bplist", "plist", "bplist00\xD4\1\2" + noise(20)},
      {"application/vnd.tcpdump.pcap", "pcap", "\xD4\xC3\xB2\xA1\2\0\4\0"s + noise(20)},
      {"application/vnd.tcpdump.pcap", "pcap", "\xA1\xB2\xC3\xD4\0\2\0\4"s + noise(20)},
      {"application/x-pcapng", "pcapng",
       "\x0A\x0D\x0D\x0A" + le32(28) + "\x4D\x3C\x2B\x1A" + noise(20)},
      {"model/gltf-binary", "glb", "glTF\2\0\0\0"s + noise(20)},
      {"model/ply", "ply", "ply\nformat binary_little_endian 1.0\nelement vertex 4\n"},
      {"application/x-gettext-translation", "mo", "\xDE\x12\x04\x95\0\0\0\0\2\0\0\0"s},
      {"application/msgpack", "msgpack", "\x82\xA2id\7\xA4name\xA1x", {}, false},
      {"application/msgpack", "msgpack", "\xDE\0\2\xA2id\7\xA4name\xA1x"s, {}, false},
      {"application/cbor", "cbor", "\xA2\x62id\7\x64name\x61x", {}, false},
      {"application/cbor", "cbor", "\xD9\xD9\xF7\1", {}, false},
      {"application/x-r-data", "rdata", "RDX3\nX\n\0\0\0\3"s + noise(20)},
      {"application/x-r-data", "rdata", "X\n\0\0\0\3\0\4\2\2"s + noise(20)},
      {"application/x-lmdb", "mdb", zeros(16) + "\xDE\xC0\xEF\xBE\1" + noise(20)},
      {"application/x-berkeley-db", "db", zeros(12) + "\x62\x31\5\0"s + noise(20)},
      {"application/x-berkeley-db", "db", zeros(12) + "\x61\x15\6\0"s + noise(20)},
      {"application/x-gdbm", "gdbm", "\xCF\x9A\x57\x13" + noise(20)},
      {"application/x-rrd", "rrd", "RRD\0000003\0"s + noise(20)},
      {"application/x-dbf",
       "dbf",
       "\3\x7E\x0B\x1E" + le32(4) + le16(65) + le16(51) + zeros(20) + "name" + zeros(28) + "\x0D",
       {},
       false},
      {"application/x-cram", "cram", "CRAM\3" + noise(20)},
      {"application/x-bam-index", "bai", "BAI\1" + noise(20)},
      {"application/x-plink-bed", "bed", "\x6C\x1B\1" + noise(20)},
      {"application/x-mrc", "mrc",
       le32(32) + le32(16) + le32(8) + zeros(196) + "MAP \x44\x44\0\0"s},
      {"application/x-ase-trajectory", "traj", "- of UlmASE-Trajectory  \3\0"s},
      {"application/x-mgh",
       "mgh",
       be32(1) + be32(4) + be32(5) + be32(6) + be32(1) + be32(3) + zeros(20),
       {},
       false},
      {"application/x-nifti", "nii", "\x1C\2\0\0n+2\0\r\n\x1A\n"s + noise(20)},
      {"application/x-nifti", "nii", le32(348) + zeros(340) + "ni1\0"s},
      {"application/x-erdas-hfa", "img", "EHFA_HEADER_TAG\0\x14"s + noise(20)},
      {"application/vnd.openstreetmap.data+pbf", "pbf", "\0\0\0\x0D\x0A\x09OSMHeader\x18"s},
      {"application/vnd.openstreetmap.data+o5m", "o5m", "\xFF\xE0\4o5m2" + noise(20)},
      {"application/x-java-keystore", "jks", "\xFE\xED\xFE\xED\0\0\0\2"s + noise(20)},
      {"application/pkcs8", "p8", "\x30\x81\x87\2\1\0\x30\x13\6\7"s + noise(20), {}, false},
      {"application/pkcs8", "p8", "\x30\x82\2\x5D\2\1\0\2\x82"s + noise(20), {}, false},
      {"application/pkcs8", "p8", "\x30\x77\2\1\1\4\x20" + noise(20), {}, false},
      {"application/pkix-cert",
       "der",
       "\x30\x82\1\x1F\x30\x81\xC7\xA0\3\2\1\2"s + noise(20),
       {},
       false},
      {"application/pgp-keys", "gpg", "\x99\1\x0D\4\x65\0\0\0\1"s + noise(20), {}, false},
      {"application/pgp-keys", "gpg", "\xC6\x33\4\x65\0\0\0\x16"s + noise(20), {}, false},
      {"application/pgp-keys", "gpg", "\x95\1\x0D\4\x65\0\0\0\1"s + noise(20), {}, false},
      {"application/x-age", "age", "age-encryption.org/v1\n-> X25519 "},
      {"font/woff", "woff", "wOFF\0\1\0\0"s + noise(20)},
      {"font/woff2", "woff2", "wOF2\0\1\0\0"s + noise(20)},
      {"font/ttf", "ttf", sfnt("\0\1\0\0"s)},
      {"font/ttf", "ttf", sfnt("true")},
      {"font/otf", "otf", sfnt("OTTO")},
      {"font/collection", "ttc", "ttcf\0\1\0\0\0\0\0\2"s + noise(20)},
      {"application/wasm", "wasm", "\0asm\1\0\0\0\1\4"s},
      {"application/wasm", "wasm", "\0asm\x0D\0\1\0"s},
      {"application/x-elf", "elf",
       "\x7F"
       "ELF\2\1\1\0"s +
           zeros(8) + noise(20)},
      {"application/vnd.microsoft.portable-executable", "exe", pe_file(0xF8)},
      {"application/x-mach-binary", "macho",
       "\xCF\xFA\xED\xFE" + le32(0x0100000C) + le32(0) + le32(2)},
      {"application/x-mach-binary", "macho", "\xCE\xFA\xED\xFE" + le32(7) + le32(3) + le32(6)},
      {"application/x-mach-binary", "macho", "\xFE\xED\xFA\xCE" + be32(18) + be32(0) + be32(2)},
      {"application/x-mach-binary", "macho",
       "\xCA\xFE\xBA\xBE" + be32(2) + be32(0x01000007) + be32(3)},
      {"application/java-vm", "class",
       "\xCA\xFE\xBA\xBE" + be16(0) + be16(61) + be16(29) + noise(20)},
  };
}

inline std::vector<Sample> all() {
  std::vector<Sample> samples = documents();
  for (const auto& more : {images(), media(), archives(), data()}) {
    samples.insert(samples.end(), more.begin(), more.end());
  }
  return samples;
}

}  // namespace sluice::samples
