// How MIME types relate: which are kinds of others, and which share a container.
#pragma once

#include <string_view>

namespace sluice::sniffing {

/// Whether every file of MIME type `specific` also is one of `general` (both canonical): a docx is
/// a ZIP archive, an SVG is XML and XML is text. A type is not a kind of itself.
bool is_kind_of(std::string_view specific, std::string_view general);

/// Whether two MIME types are uses of one container that its first bytes do not settle, such as
/// `audio/mp4` and `video/mp4`.
bool share_container(std::string_view one, std::string_view other);

/// Whether formats that these tables have never heard of are often built on `mime_type`: ZIP, XML,
/// SQLite and the like.
bool is_common_container(std::string_view mime_type);

}  // namespace sluice::sniffing
