// How MIME types relate, and which one to report when a source declares one and the bytes say
// something too.
#include <algorithm>
#include <iterator>
#include <string>

#include "sluice/sniff.h"
#include "sniff/types.h"

namespace sluice {

namespace sniffing {

namespace {

constexpr std::string_view kDocx =
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
constexpr std::string_view kXlsx =
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
constexpr std::string_view kPptx =
    "application/vnd.openxmlformats-officedocument.presentationml.presentation";

/// What is specific, which may begin or end with `*`, and what is general.
constexpr std::string_view kRules[][2] = {
    // macro-enabled files and templates look like their plain siblings from outside
    {"application/vnd.openxmlformats-officedocument.wordprocessingml.*", kDocx},
    {"application/vnd.openxmlformats-officedocument.spreadsheetml.*", kXlsx},
    {"application/vnd.openxmlformats-officedocument.presentationml.*", kPptx},
    {"application/vnd.ms-word.*", kDocx},
    {"application/vnd.ms-excel.*", kXlsx},
    {"application/vnd.ms-powerpoint.*", kPptx},
    {"application/vnd.oasis.opendocument.text-*", "application/vnd.oasis.opendocument.text"},
    {"application/vnd.android.package-archive", "application/java-archive"},

    {"application/vnd.openxmlformats-officedocument.*", "application/zip"},
    {"application/vnd.ms-word.*", "application/zip"},
    {"application/vnd.ms-excel.*", "application/zip"},
    {"application/vnd.ms-powerpoint.*", "application/zip"},
    {"application/vnd.ms-visio.drawing", "application/zip"},
    {"application/vnd.ms-xpsdocument", "application/zip"},
    {"application/vnd.oasis.opendocument.*", "application/zip"},
    {"application/vnd.tableau.packaged*", "application/zip"},
    {"application/vnd.google-earth.kmz", "application/zip"},
    {"application/vnd.apple.*", "application/zip"},
    {"application/java-archive", "application/zip"},
    {"application/x-npz", "application/zip"},
    {"model/3mf", "application/zip"},
    {"*+zip", "application/zip"},

    {"application/msword", "application/x-ole-storage"},
    {"application/vnd.ms-excel", "application/x-ole-storage"},
    {"application/vnd.ms-powerpoint", "application/x-ole-storage"},
    {"application/vnd.ms-outlook", "application/x-ole-storage"},
    {"application/vnd.ms-project", "application/x-ole-storage"},
    {"application/vnd.visio", "application/x-ole-storage"},
    {"application/x-msi", "application/x-ole-storage"},

    {"application/xhtml+xml", "text/html"},
    {"text/html", "application/xml"},
    {"text/markdown", "text/html"},
    {"application/vnd.tableau.workbook", "application/xml"},
    {"*+xml", "application/xml"},
    {"*+xml", "text/xml"},
    {"application/xml", "text/xml"},
    {"text/xml", "application/xml"},
    {"application/xml", "text/plain"},
    {"application/rtf", "text/plain"},
    {"application/postscript", "text/plain"},
    {"application/illustrator", "application/pdf"},
    {"application/illustrator", "application/postscript"},
    {"text/*", "text/plain"},

    {"image/heic", "image/heif"},
    {"image/avif", "image/heif"},
    {"image/heic-sequence", "image/heif"},
    {"image/heif-sequence", "image/heif"},
    {"image/apng", "image/png"},
    {"image/x-adobe-dng", "image/tiff"},
    {"audio/aac", "audio/mpeg"},  // behind an ID3 tag longer than the head
    {"audio/opus", "audio/ogg"},
    {"audio/ogg", "application/ogg"},
    {"audio/opus", "application/ogg"},
    {"video/ogg", "application/ogg"},
    {"audio/mp4", "application/mp4"},
    {"video/mp4", "application/mp4"},
    {"video/x-m4v", "video/mp4"},
    {"audio/x-ms-wma", "video/x-ms-asf"},
    {"video/x-ms-wmv", "video/x-ms-asf"},

    {"*+sqlite3", "application/vnd.sqlite3"},
    {"application/x-netcdf", "application/x-hdf5"},
    {"application/x-matlab-data", "application/x-hdf5"},
    {"application/x-feather", "application/vnd.apache.arrow.file"},
    {"application/vnd.debian.binary-package", "application/x-archive"},
    {"*+gzip", "application/gzip"},
};

bool fits(std::string_view mime_type, std::string_view pattern) {
  if (pattern.ends_with('*')) return mime_type.starts_with(pattern.substr(0, pattern.size() - 1));
  if (pattern.starts_with('*')) return mime_type.ends_with(pattern.substr(1));
  return mime_type == pattern;
}

/// Types of which one container's bytes may be either.
constexpr std::string_view kContainers[] = {
    " video/mp4 audio/mp4 video/x-m4v video/3gpp audio/3gpp video/3gpp2 audio/3gpp2 ",
    " video/webm audio/webm video/x-matroska audio/x-matroska ",
    " audio/ogg video/ogg audio/opus ",
    " video/x-ms-asf video/x-ms-wmv audio/x-ms-wma ",
    " image/heic image/heif image/heic-sequence image/heif-sequence ",
    " image/vnd.microsoft.icon image/x-win-bitmap ",
    " image/jp2 image/jpx image/jpm ",
    " font/ttf font/otf font/collection ",
};

constexpr std::string_view kCommon =
    " application/zip application/x-ole-storage application/gzip application/xml "
    "application/vnd.sqlite3 application/x-hdf5 application/x-tar text/html application/x-archive "
    "application/x-elf application/x-bplist image/tiff ";

/// Whether a list has a type, with a space on either side.
bool lists(std::string_view list, std::string_view mime_type) {
  return list.find(' ' + std::string(mime_type) + ' ') != list.npos;
}

/// `depth` bounds the chain: types that are kinds of each other (XML's two names) would go round.
bool kind_of(std::string_view specific, std::string_view general, int depth) {
  for (Texts rules(packed<kRules>); !rules.done();) {
    const std::string_view pattern = rules.next();
    const std::string_view wider = rules.next();
    if (wider == specific || !fits(specific, pattern)) continue;
    if (wider == general || (depth > 0 && kind_of(wider, general, depth - 1))) return true;
  }
  return false;
}

}  // namespace

bool is_kind_of(std::string_view specific, std::string_view general) {
  constexpr int kDepth = 4;
  return specific != general && kind_of(specific, general, kDepth);
}

/// Whether two MIME types are uses of one container that its first bytes do not settle, such as
/// `audio/mp4` and `video/mp4`.
bool share_container(std::string_view one, std::string_view other) {
  return std::any_of(std::begin(kContainers), std::end(kContainers),
                     [=](std::string_view list) { return lists(list, one) && lists(list, other); });
}

/// Whether formats that these tables have never heard of are often built on `mime_type`: ZIP, XML,
/// SQLite and the like.
bool is_common_container(std::string_view mime_type) {
  return lists(kCommon, mime_type);
}

}  // namespace sniffing

// --- declared and sniffed --------------------------------------------------------------------

namespace {

constexpr std::string_view kUnspecific = "application/octet-stream";

/// A type that the tables do not know may well be built on a common container (`application/vnd.x`
/// on ZIP) or be a kind of text; text is built on text only.
bool may_be_built_on(std::string_view declared, std::string_view container) {
  if (sniffing::find_type(declared)) return false;
  if (container == "text/plain") return true;
  if (!sniffing::is_common_container(container)) return false;
  const bool text = container == "text/html" || container == "application/xml";
  return text || !declared.starts_with("text/");
}

/// Whether what the source says stands beside what the bytes say.
bool declared_stands(std::string_view declared, std::string_view bytes) {
  return sniffing::is_kind_of(declared, bytes) || sniffing::share_container(declared, bytes) ||
         may_be_built_on(declared, bytes);
}

/// Whether files of a type begin with a signature, all of them: bytes without one are something
/// else.
bool is_always_signed(const std::string& mime) {
  constexpr std::string_view kSigned =
      " application/pdf application/zip application/gzip image/png image/jpeg image/gif "
      "image/webp ";
  return kSigned.find(" " + mime + " ") != kSigned.npos ||
         sniffing::is_kind_of(mime, "application/zip");
}

}  // namespace

FileType decide_type(std::string_view declared, const std::optional<FileType>& sniffed,
                     bool trusted) {
  const std::string mime = trusted ? sniffing::clean_mime(declared) : plain_type(declared);
  const bool specific = !mime.empty() && mime != kUnspecific;
  // The configuration is written for this tool.
  if (trusted && specific) return type_of_mime(mime);
  if (!sniffed) {
    return type_of_mime(specific && !is_always_signed(mime) ? std::string_view(mime) : kUnspecific);
  }
  if (!specific) return *sniffed;

  const std::string bytes = sniffing::clean_mime(sniffed->mime_type);
  if (bytes.empty() || mime == bytes || sniffing::is_kind_of(bytes, mime)) return *sniffed;
  return declared_stands(mime, bytes) ? type_of_mime(mime) : *sniffed;
}

bool is_text_type(std::string_view mime_type) {
  const std::string_view bare = mime_type.substr(0, mime_type.find(';'));
  if (bare.starts_with("text/") || bare.ends_with("+json") || bare.ends_with("+xml")) return true;
  for (const std::string_view type :
       {"json", "xml", "yaml", "x-yaml", "javascript", "typescript", "x-ndjson", "jsonl", "sql",
        "graphql", "toml", "x-sh", "rtf"}) {
    if (bare.starts_with("application/") && bare.substr(12) == type) return true;
  }
  return false;
}

}  // namespace sluice
