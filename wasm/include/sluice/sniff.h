// Which kind of file some bytes are: a signature table, and a look inside containers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/bytes.h"

namespace sluice {

/// A kind of file: `application/pdf`, `pdf`, `PDF`.
struct FileType {
  std::string mime_type;
  std::string extension;  ///< without the dot
  std::string label;      ///< how a person names it, e.g. `PNG image`, `Word document`

  bool operator==(const FileType&) const = default;
};

/// A signature added by the host's configuration: the first characters
/// of the content's base64 encoding (`JVBERi`), compared bit for bit at offset 0.
struct Signature {
  std::string base64_prefix;
  FileType type;
};

/// Bytes of the head that `sniff` looks at, at most.
inline constexpr size_t kSniffHead = 4096;

/// Bytes of the head from which `has_magic` can decide for any built-in signature. (Bare MPEG audio
/// is certain from its second frame on, which high bit rates put up to 1,445 bytes away.)
inline constexpr size_t kMagicHead = 512;

/// The kind of file that begins with `head` (the first bytes, up to kSniffHead), containers refined
/// (docx in ZIP, WebP in RIFF, AVIF in ISO-BMFF, msg in OLE …). `extra` is tried before the
/// built-in table, whose answer is kept where it only tells more (a docx under a host's signature
/// for ZIP). Nothing when unknown. Text formats with a signature (SVG, RTF, PostScript, HTML, XML)
/// count; plain text and JSON do not.
std::optional<FileType> sniff(Bytes head, const std::vector<Signature>& extra = {});

/// The same of a file of `size` bytes by its beginning and its end: an archive's directory, which
/// stands there, tells what its first entries do not.
std::optional<FileType> sniff(Bytes head, Bytes tail, uint64_t size,
                              const std::vector<Signature>& extra = {});

/// Whether a run that decodes to `head` is binary for certain: a signature that text or random data
/// does not meet by chance (weak two-byte signatures need their further header fields to be sane).
bool has_magic(Bytes head, const std::vector<Signature>& extra = {});

/// Whether `head` begins for certain like a kind of file that is not made of text, even where every
/// byte of it could be text: a PDF may be ASCII from end to end.
bool has_binary_magic(Bytes head);

/// A MIME type that somebody declared, as it may stand in our own words: in lower case and its
/// usual spelling, without parameters. Empty for what is neither in our table nor one short word
/// (behind `x-`, `vnd.` and the like, before a version and a suffix such as `+json`) of a top-level
/// type of the registry: of two words nobody knows whether they are prose.
std::string plain_type(std::string_view declared);

/// All spellings that are a `plain_type` by the table alone, for those who have none.
std::vector<std::string_view> long_types();

/// Every MIME type that the tables name, its other spellings included.
std::vector<std::string_view> named_types();

/// The type to report when a source declares one: the declared type wins unless the bytes
/// contradict it (a sniffed type of another kind, or none where the declared one has a signature);
/// a declared type that only is more or less general than what the bytes say (`application/zip` for
/// a docx, `application/octet-stream`) yields to the bytes. Of a source that is not `trusted` only
/// a `plain_type` is believed.
FileType decide_type(std::string_view declared, const std::optional<FileType>& sniffed,
                     bool trusted = false);

/// The usual spelling, extension and label for a MIME type (`image/jpg` is `image/jpeg`, parameters
/// are cut); `bin` and the type itself when unknown, `application/octet-stream` when malformed.
FileType type_of_mime(std::string_view mime_type);

/// Whether text can have this type. Other declared types are ignored for text.
bool is_text_type(std::string_view mime_type);

/// All types the built-in signatures can answer, for tests and documentation. Some share a MIME
/// type (`ps` and `eps`).
std::vector<FileType> known_types();

}  // namespace sluice
