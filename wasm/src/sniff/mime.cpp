// MIME types as sources write them: cleaned, in one spelling, with the name people use.
#include <algorithm>
#include <string>

#include "sniff/types.h"
#include "text/ascii.h"

namespace sluice {
namespace sniffing {

namespace {

/// Spellings that mean a type which has a registered (or at least a usual) name.
constexpr std::string_view kAliases[][2] = {
    {"application/x-pdf", "application/pdf"},
    {"application/acrobat", "application/pdf"},
    {"text/pdf", "application/pdf"},
    {"text/rtf", "application/rtf"},
    {"text/richtext", "application/rtf"},
    {"application/x-rtf", "application/rtf"},
    {"application/eps", "application/postscript"},
    {"application/x-eps", "application/postscript"},
    {"image/eps", "application/postscript"},
    {"image/x-eps", "application/postscript"},
    {"application/vnd.msword", "application/msword"},
    {"application/x-msword", "application/msword"},
    {"application/x-msexcel", "application/vnd.ms-excel"},
    {"application/x-excel", "application/vnd.ms-excel"},
    {"application/excel", "application/vnd.ms-excel"},
    {"application/mspowerpoint", "application/vnd.ms-powerpoint"},
    {"application/powerpoint", "application/vnd.ms-powerpoint"},
    {"application/x-mspowerpoint", "application/vnd.ms-powerpoint"},
    {"application/x-ole", "application/x-ole-storage"},
    {"application/x-cfb", "application/x-ole-storage"},
    {"application/twbx", "application/vnd.tableau.packaged"},
    {"application/x-twbx", "application/vnd.tableau.packaged"},
    {"application/twb", "application/vnd.tableau.workbook"},
    {"application/x-html", "text/html"},
    {"image/jpg", "image/jpeg"},
    {"image/pjpeg", "image/jpeg"},
    {"image/x-jpeg", "image/jpeg"},
    {"image/x-png", "image/png"},
    {"image/x-webp", "image/webp"},
    {"image/tif", "image/tiff"},
    {"image/x-tiff", "image/tiff"},
    {"image/x-bmp", "image/bmp"},
    {"image/x-ms-bmp", "image/bmp"},
    {"image/x-icon", "image/vnd.microsoft.icon"},
    {"image/ico", "image/vnd.microsoft.icon"},
    {"image/icon", "image/vnd.microsoft.icon"},
    {"image/x-cursor", "image/x-win-bitmap"},
    {"image/icns", "image/x-icns"},
    {"image/psd", "image/vnd.adobe.photoshop"},
    {"image/x-psd", "image/vnd.adobe.photoshop"},
    {"image/x-photoshop", "image/vnd.adobe.photoshop"},
    {"application/x-photoshop", "image/vnd.adobe.photoshop"},
    {"application/photoshop", "image/vnd.adobe.photoshop"},
    {"image/svg", "image/svg+xml"},
    {"image/jpeg2000", "image/jp2"},
    {"image/x-jp2", "image/jp2"},
    {"image/x-jpeg2000-image", "image/jp2"},
    {"image/x-jp2-codestream", "image/j2c"},
    {"image/djvu", "image/vnd.djvu"},
    {"image/x-djvu", "image/vnd.djvu"},
    {"audio/mp3", "audio/mpeg"},
    {"audio/x-mp3", "audio/mpeg"},
    {"audio/x-mpeg", "audio/mpeg"},
    {"audio/mpeg3", "audio/mpeg"},
    {"audio/x-wav", "audio/wav"},
    {"audio/wave", "audio/wav"},
    {"audio/vnd.wave", "audio/wav"},
    {"audio/x-pn-wav", "audio/wav"},
    {"audio/x-flac", "audio/flac"},
    {"audio/x-ogg", "audio/ogg"},
    {"audio/vorbis", "audio/ogg"},
    {"application/x-ogg", "application/ogg"},
    {"audio/x-aac", "audio/aac"},
    {"audio/aacp", "audio/aac"},
    {"audio/x-hx-aac-adts", "audio/aac"},
    {"audio/mid", "audio/midi"},
    {"audio/x-midi", "audio/midi"},
    {"application/x-midi", "audio/midi"},
    {"audio/x-aiff", "audio/aiff"},
    {"audio/m4a", "audio/mp4"},
    {"audio/x-m4a", "audio/mp4"},
    {"video/mp4v-es", "video/mp4"},
    {"video/x-mp4", "video/mp4"},
    {"video/matroska", "video/x-matroska"},
    {"audio/matroska", "audio/x-matroska"},
    {"video/avi", "video/x-msvideo"},
    {"video/msvideo", "video/x-msvideo"},
    {"video/vnd.avi", "video/x-msvideo"},
    {"video/x-avi", "video/x-msvideo"},
    {"video/flv", "video/x-flv"},
    {"application/vnd.ms-asf", "video/x-ms-asf"},
    {"video/x-mpeg", "video/mpeg"},
    {"video/mp1s", "video/mpeg"},
    {"video/mp2p", "video/mpeg"},
    {"application/x-zip", "application/zip"},
    {"application/x-zip-compressed", "application/zip"},
    {"multipart/x-zip", "application/zip"},
    {"application/x-java-archive", "application/java-archive"},
    {"application/x-gzip", "application/gzip"},
    {"application/gzip-compressed", "application/gzip"},
    {"application/x-gunzip", "application/gzip"},
    {"application/x-zstd", "application/zstd"},
    {"application/xz", "application/x-xz"},
    {"application/bzip2", "application/x-bzip2"},
    {"application/x-bzip", "application/x-bzip2"},
    {"application/7z", "application/x-7z-compressed"},
    {"application/x-rar", "application/vnd.rar"},
    {"application/x-rar-compressed", "application/vnd.rar"},
    {"application/rar", "application/vnd.rar"},
    {"application/tar", "application/x-tar"},
    {"application/x-gtar", "application/x-tar"},
    {"application/x-ustar", "application/x-tar"},
    {"application/lz4", "application/x-lz4"},
    {"application/x-lzip", "application/lzip"},
    {"application/x-cab", "application/vnd.ms-cab-compressed"},
    {"application/x-ar", "application/x-archive"},
    {"application/x-unix-archive", "application/x-archive"},
    {"application/x-deb", "application/vnd.debian.binary-package"},
    {"application/x-debian-package", "application/vnd.debian.binary-package"},
    {"application/x-redhat-package-manager", "application/x-rpm"},
    {"application/x-sqlite3", "application/vnd.sqlite3"},
    {"application/sqlite3", "application/vnd.sqlite3"},
    {"application/x-sqlite", "application/vnd.sqlite3"},
    {"application/parquet", "application/vnd.apache.parquet"},
    {"application/x-parquet", "application/vnd.apache.parquet"},
    {"application/x-arrow", "application/vnd.apache.arrow.file"},
    {"application/avro-binary", "application/avro"},
    {"avro/binary", "application/avro"},
    {"application/vnd.apache.avro", "application/avro"},
    {"application/x-avro", "application/avro"},
    {"application/orc", "application/vnd.apache.orc"},
    {"application/x-orc", "application/vnd.apache.orc"},
    {"application/x-hdf", "application/x-hdf5"},
    {"application/hdf5", "application/x-hdf5"},
    {"application/netcdf", "application/x-netcdf"},
    {"application/x-pcap", "application/vnd.tcpdump.pcap"},
    {"application/font-woff", "font/woff"},
    {"application/x-font-woff", "font/woff"},
    {"application/font-woff2", "font/woff2"},
    {"font/sfnt", "font/ttf"},
    {"font/truetype", "font/ttf"},
    {"application/font-sfnt", "font/ttf"},
    {"application/x-font-ttf", "font/ttf"},
    {"application/x-font-truetype", "font/ttf"},
    {"font/opentype", "font/otf"},
    {"application/x-font-otf", "font/otf"},
    {"application/vnd.ms-opentype", "font/otf"},
    {"application/x-msdownload", "application/vnd.microsoft.portable-executable"},
    {"application/x-dosexec", "application/vnd.microsoft.portable-executable"},
    {"application/x-msdos-program", "application/vnd.microsoft.portable-executable"},
    {"application/x-ms-dos-executable", "application/vnd.microsoft.portable-executable"},
    {"application/exe", "application/vnd.microsoft.portable-executable"},
    {"application/x-exe", "application/vnd.microsoft.portable-executable"},
    {"application/x-java-class", "application/java-vm"},
    {"application/x-java", "application/java-vm"},
    {"text/json", "application/json"},
    {"application/x-json", "application/json"},
    {"text/x-json", "application/json"},
    {"application/ndjson", "application/x-ndjson"},
    {"application/jsonl", "application/x-ndjson"},
    {"application/x-jsonlines", "application/x-ndjson"},
    {"application/jsonlines", "application/x-ndjson"},
    {"application/csv", "text/csv"},
    {"application/x-csv", "text/csv"},
    {"text/x-csv", "text/csv"},
    {"text/comma-separated-values", "text/csv"},
    {"text/tsv", "text/tab-separated-values"},
    {"text/x-markdown", "text/markdown"},
    {"application/markdown", "text/markdown"},
    {"text/x-yaml", "text/yaml"},
    {"application/x-yaml", "application/yaml"},
    {"application/x-javascript", "text/javascript"},
    {"application/javascript", "text/javascript"},
    {"application/ecmascript", "text/javascript"},
    {"text/ecmascript", "text/javascript"},
    {"text/typescript", "application/typescript"},
    {"application/x-typescript", "application/typescript"},
    {"text/x-script.python", "text/x-python"},
    {"application/x-python-code", "text/x-python"},
    {"text/x-sh", "application/x-sh"},
    {"text/x-shellscript", "application/x-sh"},
    {"application/x-shellscript", "application/x-sh"},
    {"text/x-sql", "application/sql"},
    {"text/sql", "application/sql"},
    {"text/x-toml", "application/toml"},
    {"text/toml", "application/toml"},
    {"text/x-patch", "text/x-diff"},
    {"text/x-vcard", "text/vcard"},
    {"application/x-msgpack", "application/msgpack"},
    {"application/protobuf", "application/x-protobuf"},
    {"binary/octet-stream", "application/octet-stream"},
    {"application/binary", "application/octet-stream"},
    {"application/x-binary", "application/octet-stream"},
    {"application/download", "application/octet-stream"},
    {"application/x-download", "application/octet-stream"},
    {"application/force-download", "application/octet-stream"},
    {"application/unknown", "application/octet-stream"},
    {"application/x-unknown", "application/octet-stream"},
    {"application/x-octet-stream", "application/octet-stream"},
    {"unknown/unknown", "application/octet-stream"},
};

/// restricted-name of RFC 6838 §4.2, in lower case.
bool is_name(std::string_view name) {
  return !name.empty() && is_alphanumeric(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_alphanumeric(c) || is_among(c, "!#$&-^_.+"); });
}

/// Structured syntax suffixes (RFC 6838 §4.2.8), for the extension of types known by no other name.
constexpr std::string_view kSuffixes[][2] = {
    {"+json", "application/json"},
    {"+xml", "application/xml"},
    {"+zip", "application/zip"},
    {"+yaml", "application/yaml"},
    {"+cbor", "application/cbor"},
    {"+gzip", "application/gzip"},
    {"+sqlite3", "application/vnd.sqlite3"},
};

std::string_view extension_by_syntax(std::string_view mime_type) {
  for (Texts texts(packed<kSuffixes>); !texts.done();) {
    const std::string_view suffix = texts.next();
    const std::string_view type = texts.next();
    if (mime_type.ends_with(suffix)) return find_type(type)->extension;
  }
  return mime_type.starts_with("text/") ? "txt" : "bin";
}

}  // namespace

std::string_view canonical_mime(std::string_view mime_type) {
  for (Texts texts(packed<kAliases>); !texts.done();) {
    const std::string_view alias = texts.next();
    const std::string_view canonical = texts.next();
    if (alias == mime_type) return canonical;
  }
  return mime_type;
}

std::string clean_mime(std::string_view declared) {
  declared = declared.substr(0, declared.find(';'));
  const size_t begin = declared.find_first_not_of(kWhite);
  if (begin == declared.npos) return {};
  declared = declared.substr(begin, declared.find_last_not_of(kWhite) + 1 - begin);
  if (declared.size() > 127) return {};

  const std::string mime = lowered(declared);
  const std::string_view view = mime;
  const size_t slash = view.find('/');
  if (slash == view.npos || !is_name(view.substr(0, slash)) || !is_name(view.substr(slash + 1))) {
    return {};
  }
  return std::string(canonical_mime(view));
}

}  // namespace sniffing

namespace {

using sniffing::Texts;

constexpr std::string_view kTopLevel =
    " application audio chemical font image message model multipart text video ";

/// What precedes the word of a subtype. The longest come first.
constexpr std::string_view kTrees[] = {"vnd.ms-", "vnd.", "prs.", "x-", "x."};
constexpr size_t kMaxWord = 12;
constexpr size_t kMaxVersion = 4;

bool is_digits(std::string_view part) {
  return std::all_of(part.begin(), part.end(), is_digit<char>);
}

bool is_known_suffix(std::string_view suffix) {
  for (Texts texts(sniffing::packed<sniffing::kSuffixes>); !texts.done(); texts.next()) {
    if (texts.next() == suffix) return true;
  }
  return false;
}

/// Whether a subtype is one short word, with a version at most. Of two words nobody knows whether
/// they are a product's name or the beginning of a sentence.
bool is_one_word(std::string_view subtype) {
  for (const std::string_view tree : kTrees) {
    if (!subtype.starts_with(tree)) continue;
    subtype.remove_prefix(tree.size());
    break;
  }
  const std::string_view name = subtype.substr(0, subtype.find('+'));
  const std::string_view suffix = subtype.substr(name.size());
  const size_t end = std::min(name.find_first_of(".-_"), name.size());
  const std::string_view word = name.substr(0, end);
  const std::string_view version = name.substr(std::min(end + 1, name.size()));
  const bool plain = std::all_of(word.begin(), word.end(), is_alphanumeric<char>);
  return plain && word.size() <= kMaxWord && !is_digits(word) &&
         (end == name.size() || !version.empty()) && version.size() <= kMaxVersion &&
         is_digits(version) && (suffix.empty() || is_known_suffix(suffix));
}

bool is_token(std::string_view mime) {
  const size_t slash = mime.find('/');
  if (slash == mime.npos) return false;
  const std::string top = " " + std::string(mime.substr(0, slash)) + " ";
  return kTopLevel.find(top) != kTopLevel.npos && is_one_word(mime.substr(slash + 1));
}

}  // namespace

std::string plain_type(std::string_view declared) {
  std::string mime = sniffing::clean_mime(declared);
  return sniffing::find_type(mime) || is_token(mime) ? mime : std::string();
}

std::vector<std::string_view> named_types() {
  std::vector<std::string_view> names = sniffing::all_types();
  for (Texts texts(sniffing::packed<sniffing::kAliases>); !texts.done(); texts.next()) {
    names.push_back(texts.next());
  }
  return names;
}

std::vector<std::string_view> long_types() {
  std::vector<std::string_view> names = named_types();
  std::erase_if(names, is_token);
  return names;
}

FileType type_of_mime(std::string_view mime_type) {
  const std::string mime = sniffing::clean_mime(mime_type);
  if (mime.empty()) return type_of_mime("application/octet-stream");
  if (const auto row = sniffing::find_type(mime)) return sniffing::to_file_type(*row);
  return {mime, std::string(sniffing::extension_by_syntax(mime)), mime};
}

}  // namespace sluice
