#include "layers/blocks.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "json/object.h"
#include "layers/notes.h"

namespace sluice::layers {

// --- images that stay ------------------------------------------------------------------------

namespace {

bool matches(std::string_view pattern, std::string_view mime_type) {
  if (pattern.ends_with("/*")) return mime_type.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == mime_type;
}

}  // namespace

bool Media::allows(const std::string& mime_type) const {
  const auto match = [&](std::string_view pattern) { return matches(pattern, mime_type); };
  switch (media_.mode) {
    case InlineMedia::Mode::listed:
      if (media_.types.empty()) break;
      return std::any_of(media_.types.begin(), media_.types.end(), match);
    case InlineMedia::Mode::automatic:
      if (!call_.client_shows_images) return false;
      break;
    case InlineMedia::Mode::off:
      return false;
  }
  return std::any_of(kUsualImages.begin(), kUsualImages.end(), match);
}

bool Media::keeps(const Segment& segment) {
  if (segment.kind != SegmentKind::run || segment.kept.size() != segment.bytes) return false;
  if (segment.kept.empty() || segment.bytes > media_.max_bytes) return false;
  if (count_ >= media_.max_count || !allows(segment.mime_type)) return false;
  ++count_;
  return true;
}

std::string Media::data(const Segment& segment) {
  std::string text;
  FormWriter writer(segment.form);
  writer.write(segment.kept, text);
  writer.finish(text);
  return json_string(text);
}

// --- blocks ----------------------------------------------------------------------------------

namespace {

std::optional<Load> only_marker(const Document& document, size_t holder, std::string_view member) {
  const std::optional<size_t> value = document.tape().find(holder, member);
  const std::optional<uint32_t> segment = value ? document.only(*value) : std::nullopt;
  if (!segment) return std::nullopt;
  return Load{*segment, holder, member};
}

std::optional<Load> whole_marker(const Document& document, size_t holder, std::string_view member) {
  const std::optional<size_t> value = document.tape().find(holder, member);
  const std::optional<uint32_t> segment = value ? document.whole(*value) : std::nullopt;
  if (!segment) return std::nullopt;
  return Load{*segment, holder, member};
}

/// Appends the members of an object except those in `without`.
void append_members(std::string& out, const Document& document, size_t object, const Notes& notes,
                    std::initializer_list<std::string_view> without) {
  for (const size_t value : document.children(object)) {
    const std::string key = document.tape().string(value - 1);
    if (std::find(without.begin(), without.end(), key) != without.end()) continue;
    if (out.back() != '{') out += ',';
    append_member(out, document, value, notes);
  }
}

std::string show_kept(const Document& document, size_t block, const Notes& notes,
                      const SegmentTable& table, const Load& load) {
  std::string out = "{";
  append_members(out, document, block, notes, {"data", "_meta"});
  append_key(out, "data");
  out += Media::data(table.segment(load.segment));
  notes.append_artifact(out, load.segment);
  out += '}';
  return out;
}

/// A string member with markers in it that is not a single marker.
std::optional<size_t> text_around(const Document& document, size_t holder,
                                  std::string_view member) {
  const std::optional<size_t> value = document.tape().find(holder, member);
  if (!value || document.tape()[*value].type != Type::string) return std::nullopt;
  if (document.marks(*value).empty() || document.only(*value)) return std::nullopt;
  return value;
}

}  // namespace

std::optional<size_t> text_for_blob(const Document& document, size_t resource) {
  return text_around(document, resource, "blob");
}

std::optional<size_t> text_for_bytes(const Document& document, size_t block) {
  if (document.is_block(block, "image") || document.is_block(block, "audio")) {
    return text_around(document, block, "data");
  }
  const std::optional<size_t> resource = document.tape().find(block, "resource");
  if (!resource || !document.is_block(block, "resource")) return std::nullopt;
  return text_for_blob(document, *resource);
}

std::optional<Load> load_of_resource(const Document& document, size_t resource) {
  std::optional<Load> load = only_marker(document, resource, "blob");
  return load ? load : whole_marker(document, resource, "text");
}

std::optional<Load> load_of_block(const Document& document, size_t block) {
  if (document.is_block(block, "image") || document.is_block(block, "audio")) {
    return only_marker(document, block, "data");
  }
  if (document.is_block(block, "text")) return whole_marker(document, block, "text");
  const std::optional<size_t> resource = document.tape().find(block, "resource");
  if (!resource || !document.is_block(block, "resource")) return std::nullopt;
  if (const std::optional<uint32_t> segment = document.whole(*resource)) {
    return Load{*segment, block, "resource"};
  }
  return load_of_resource(document, *resource);
}

std::string show_block(const Document& document, size_t block, const Notes& notes,
                       const SegmentTable& table, Media& media) {
  std::string out;
  const std::optional<Load> load = load_of_block(document, block);
  if (!load) {
    append_showing(out, document, block, notes);
    return out;
  }
  if (document.is_block(block, "image") && media.keeps(table.segment(load->segment))) {
    return show_kept(document, block, notes, table, *load);
  }
  out = "{";
  append_members(out, document, block, notes, {"data", "mimeType", "text", "resource", "_meta"});
  if (load->holder != block) {
    append_members(out, document, load->holder, notes,
                   {"type", "blob", "text", "mimeType", "_meta"});
  }
  notes.append_artifact(out, load->segment);
  out += '}';
  return out;
}

std::string show_resource(const Document& document, size_t resource, const Notes& notes) {
  std::string out;
  const std::optional<Load> load = load_of_resource(document, resource);
  if (!load) {
    append_showing(out, document, resource, notes);
    return out;
  }
  out = "{";
  append_members(out, document, resource, notes, {"blob", load->member, "mimeType", "_meta"});
  notes.append_artifact(out, load->segment);
  out += '}';
  return out;
}

}  // namespace sluice::layers
