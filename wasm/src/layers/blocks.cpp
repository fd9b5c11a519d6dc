#include "layers/blocks.h"

#include <algorithm>
#include <initializer_list>

#include "layers/json_string.h"
#include "layers/splicer.h"

namespace sluice::layers {

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

/// Appends the members of an object but for some.
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
                      const Ledger& ledger, const Load& load) {
  std::string out = "{";
  append_members(out, document, block, notes, {"data", "_meta"});
  append_key(out, "data");
  out += Media::data(ledger.segment(load.segment));
  notes.append_artifact(out, load.segment);
  out += '}';
  return out;
}

/// A member that has markers and is not one alone.
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
                       const Ledger& ledger, Media& media) {
  std::string out;
  const std::optional<Load> load = load_of_block(document, block);
  if (!load) {
    append_showing(out, document, block, notes);
    return out;
  }
  if (document.is_block(block, "image") && media.keeps(ledger.segment(load->segment))) {
    return show_kept(document, block, notes, ledger, *load);
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
