#include "session/wire.h"

#include <algorithm>
#include <array>
#include <optional>

#include "json/object.h"
#include "sluice/tape.h"
#include "text/ascii.h"

namespace sluice {

namespace {

/// One flat JSON object from the host.
class Fields {
 public:
  explicit Fields(std::string_view json) {
    object_ = Tape::parse(json, tape_).ok() && tape_[0].type == Type::object;
  }

  bool is_object() const { return object_; }

  /// A string member, or none; false for anything else.
  bool text(std::string_view key, std::string& value) const {
    const auto node = tape_.find(0, key);
    if (!node || tape_[*node].type == Type::null) return true;
    if (tape_[*node].type == Type::string) value = tape_.string(*node);
    return tape_[*node].type == Type::string;
  }

  /// The same, where no member is another thing than an empty one.
  bool text(std::string_view key, std::optional<std::string>& value) const {
    std::string said;
    if (!text(key, said)) return false;
    if (tape_.find(0, key)) value = std::move(said);
    return true;
  }

  /// A boolean member, or none.
  bool flag(std::string_view key, bool& value) const {
    const auto node = tape_.find(0, key);
    if (!node) return true;
    value = tape_.source(*node) == "true";
    return tape_[*node].type == Type::boolean;
  }

  /// A member that counts: digits alone, at most nine.
  bool number(std::string_view key, uint32_t& value) const {
    const auto node = tape_.find(0, key);
    const auto digits = node ? decimal(tape_.source(*node), 9) : std::nullopt;
    if (digits) value = static_cast<uint32_t>(*digits);
    return digits.has_value();
  }

 private:
  Tape tape_;
  bool object_ = false;
};

/// By SegmentKind, and by Task::Kind.
constexpr std::array<std::string_view, 3> kSegmentKinds = {"run", "text", "json"};
constexpr std::array<std::string_view, 3> kTaskKinds = {"annotate", "decode", "read"};

/// By Showable::Kind.
constexpr std::array<std::string_view, 4> kShowableKinds = {"image", "audio", "resource", "text"};

}  // namespace

Status misuse(std::string path, std::string message) {
  return {Code::misuse, 0, 0, std::move(path), std::move(message)};
}

Status read_call(std::string_view json, Call& call) {
  const Fields fields(json);
  if (!fields.is_object()) return misuse("", "a call is described by a JSON object");
  call = Call{};
  if (!fields.text("tool", call.tool)) return misuse("tool", "tool must be a string");
  if (!fields.text("namespace", call.name_space)) {
    return misuse("namespace", "namespace must be a string");
  }
  if (!fields.text("readTool", call.read_tool)) {
    return misuse("readTool", "readTool must be a string");
  }
  std::string dialect = "observation";
  if (!fields.text("dialect", dialect) || (dialect != "observation" && dialect != "mcp")) {
    return misuse("dialect", "dialect must be \"observation\" or \"mcp\"");
  }
  call.dialect = dialect == "mcp" ? Dialect::mcp : Dialect::observation;
  if (!fields.flag("clientShowsImages", call.client_shows_images)) {
    return misuse("clientShowsImages", "clientShowsImages must be true or false");
  }
  fields.number("wholeText", call.whole_text);
  std::string notes = "none";
  if (!fields.text("structureNotes", notes)) {
    return misuse("structureNotes", "structureNotes must be a string");
  }
  if (notes == "sentences") call.structure_notes = StructureNotes::sentences;
  if (notes == "previews") call.structure_notes = StructureNotes::previews;
  if (!fields.flag("transformed", call.transformed)) {
    return misuse("transformed", "transformed must be true or false");
  }
  return {};
}

Status read_stored(std::string_view json, uint32_t& segment, Stored& stored) {
  const Fields fields(json);
  if (!fields.is_object()) return misuse("", "what was stored is described by a JSON object");
  if (!fields.number("segment", segment)) {
    return misuse("segment", "segment must be the number of a segment");
  }
  if (!fields.text("id", stored.id) || stored.id.empty()) {
    return misuse("id", "id must be a string");
  }
  const bool rest = fields.text("filename", stored.filename) &&
                    fields.text("mime_type", stored.mime_type) &&
                    fields.text("warning", stored.warning) && fields.flag("opaque", stored.opaque);
  return rest ? Status{} : misuse("", "a member of what was stored has the wrong type");
}

void read_told(std::string_view json, Stored& told) {
  const Fields fields(json);
  if (!fields.is_object()) return;
  fields.text("mime_type", told.mime_type);
  fields.text("filename", told.filename);
}

std::string write_segment(const Segment& segment) {
  return Object()
      .text("kind", kSegmentKinds[static_cast<size_t>(segment.kind)])
      .text("mime_type", segment.mime_type)
      .text("extension", segment.extension)
      .number("size_bytes", segment.bytes)
      .text("description", segment.description)
      .end();
}

std::string write_showable(const std::vector<Showable>& showable,
                           const std::vector<Segment>& segments, const InlineMedia& media,
                           bool is_error, size_t reduced_bytes) {
  std::string list = "[";
  for (const Showable& one : showable) {
    const Segment& segment = segments[one.segment];
    if (list.size() > 1) list += ',';
    list += Object()
                .number("segment", one.segment)
                .text("kind", kShowableKinds[static_cast<size_t>(one.kind)])
                .text("mime_type", segment.mime_type)
                .number("size_bytes", segment.bytes)
                .flag("listed", one.listed)
                .end();
  }
  return Object()
      .number("max_bytes", media.max_bytes)
      .number("max_count", media.max_count)
      .flag("is_error", is_error)
      .number("reduced_bytes", reduced_bytes)
      .source("showable", list + "]")
      .end();
}

Status read_shown(std::string_view json, uint32_t& segment, Shown& shown) {
  const Fields fields(json);
  std::string kind;
  if (!fields.is_object() || !fields.number("segment", segment) || !fields.text("kind", kind) ||
      !fields.text("mime_type", shown.mime_type) || !fields.text("note", shown.note)) {
    return misuse("", "what is shown is described by a JSON object");
  }
  const auto* const found = std::find(kShowableKinds.begin(), kShowableKinds.end(), kind);
  if (found == kShowableKinds.end()) return misuse("kind", "kind must be one that was offered");
  shown.kind = static_cast<Showable::Kind>(found - kShowableKinds.begin());
  return {};
}

std::string write_tasks(const std::vector<Task>& tasks) {
  std::string list = "[";
  for (const Task& task : tasks) {
    if (list.size() > 1) list += ',';
    list += Object()
                .text("kind", kTaskKinds[static_cast<size_t>(task.kind)])
                .number("index", task.index)
                .text("mime_type", task.mime_type)
                .text("filename", task.filename)
                .text("uri", task.uri)
                .number("size_bytes", task.size_bytes)
                .end();
  }
  return list + ']';
}

std::string write_report(const Clamped& clamped) {
  return Object()
      .flag("clamped", clamped.changed)
      .number("original_chars", clamped.original_chars)
      .number("clamped_chars", clamped.clamped_chars)
      .text("method", clamped.method)
      .end();
}

}  // namespace sluice
