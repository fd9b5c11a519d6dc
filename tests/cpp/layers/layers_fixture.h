// Reduced documents by hand, a store in memory, and what a host does between `plan` and `render`.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codec/payload.h"
#include "sluice/codec.h"
#include "sluice/describe.h"
#include "sluice/layers.h"
#include "sluice/restore.h"
#include "sluice/segment.h"
#include "sluice/tape.h"

namespace sluice::layers_test {

/// First bytes of real files, with something behind them.
inline std::string png(size_t size = 40) {
  std::string bytes("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x06\0\0\0", 29);
  bytes.resize(size, 'p');
  return bytes;
}
inline std::string pdf(size_t size = 40) {
  std::string bytes = "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n";
  bytes.resize(size, 'x');
  return bytes;
}

inline std::string written(const Form& form, std::string_view bytes) {
  std::string out;
  FormWriter writer(form);
  writer.write(bytes, out);
  writer.finish(out);
  return out;
}

inline std::string base64(std::string_view bytes) {
  return written(Form{}, bytes);
}

/// A value's source with white space and spelling of strings made uniform.
inline std::string normal(std::string_view json) {
  Tape tape;
  if (!Tape::parse(json, tape).ok()) return "not JSON: " + std::string(json);
  std::string out;
  size_t copied = 0;
  const auto close_gap = [&](size_t begin) {
    for (const char c : json.substr(copied, begin - copied)) {
      if (std::strchr(" \t\r\n", c) == nullptr) out += c;
    }
  };
  for (size_t i = 0; i < tape.size(); ++i) {
    if (tape[i].type != Type::string) continue;
    close_gap(tape[i].begin);
    out += '"';
    append_escaped(out, tape.string(i), true);
    out += '"';
    copied = tape[i].end;
  }
  close_gap(json.size());
  return out;
}

/// One result on its way: segments as the gate would give them, and a host around the layers.
class Bench {
 public:
  Config config;
  Call call;
  std::string warning;                         // what the store says of everything
  bool opaque = false;                         // no text could be looked into
  bool expanding = false;                      // texts to be decoded are
  bool shows = false;                          // what may come back does
  uint64_t max_text = 0;                       // … of texts, in bytes
  std::string note;                            // what is said of it
  std::map<std::string, std::string> decoded;  // text that `decode` finds to be these bytes

  Bench() {
    call.tool = "fetch";
    call.name_space = "tableau";
  }

  /// Adds a segment and gives its marker.
  std::string run(std::string bytes, std::string mime_type, Form form = {}) {
    Segment segment;
    segment.form = std::move(form);
    segment.bare = segment.form.encoding == Encoding::byte_array;
    segment.whole = segment.bare;
    segment.bytes = bytes.size();
    segment.mime_type = std::move(mime_type);
    segment.description = segment.mime_type == "application/pdf" ? "PDF, 2.1 MB" : "file, 2.1 MB";
    return add(std::move(segment), std::move(bytes));
  }
  std::string text(std::string value, std::string refs = {}) {
    return stretch(SegmentKind::text, std::move(value), std::move(refs));
  }
  std::string json(std::string source, std::string refs = {}) {
    return stretch(SegmentKind::json, std::move(source), std::move(refs));
  }
  Segment& last() { return segments_.back(); }
  Segment& segment(size_t index) { return segments_[index]; }

  /// The id that the store gives some bytes: the same for the same.
  static std::string id(std::string_view bytes) {
    uint64_t hash = 14695981039346656037u;
    for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211u;
    std::string name = "tableau_";
    for (int i = 0; i < 12; ++i, hash >>= 4) name += "0123456789abcdef"[hash & 15];
    return name;
  }

  /// Everything a host does, to the end.
  std::string show(const std::string& reduced, Dialect dialect = Dialect::observation) {
    call.dialect = dialect;
    contents_.resize(segments_.size());
    layers = std::make_unique<Layers>(config, call, reduced, segments_);
    const Status status = layers->plan();
    if (!status.ok()) return status.message;
    take_events();
    for (size_t i = 0; i < layers->tasks().size(); ++i) answer(Task(layers->tasks()[i]));
    for (uint32_t i = 0; i < contents_.size(); ++i) {
      stored_[id(contents_[i])] = contents_[i];
      refs_of_[id(contents_[i])] = refs_[i];
      layers->stored(i, {id(contents_[i]), names_[i], {}, warning, opaque});
    }
    for (const Showable& one : layers->showable(max_text)) {
      const std::string& content = contents_[one.segment];
      const bool text = one.kind == Showable::Kind::text;
      if (shows) {
        layers->show(one.segment, {one.kind, layers->segments()[one.segment].mime_type,
                                   text ? content : base64(content), note});
      }
    }
    return layers->render();
  }
  std::string mcp(const std::string& reduced) { return show(reduced, Dialect::mcp); }

  /// The document as it was before the gate.
  std::string original(const std::string& reduced) const {
    std::string out;
    for (size_t at = 0; at < reduced.size(); ++at) {
      const int32_t index = marker_at(reduced, at);
      if (index < 0) {
        out += reduced[at];
        continue;
      }
      put_back(static_cast<size_t>(index), out);
      at += kMarkerBytes - 1;
      if (segments_[static_cast<size_t>(index)].bare) ++at;
    }
    return out;
  }

  /// What the host makes of pieces.
  std::string join(const std::vector<Piece>& pieces) const {
    std::string out;
    for (const Piece& piece : pieces) {
      const auto stored = stored_.find(piece.id);
      const std::string bytes = stored == stored_.end() ? "missing " + piece.id : stored->second;
      if (piece.kind == Piece::Kind::literal) {
        out += piece.literal;
      } else if (piece.kind == Piece::Kind::bytes) {
        const std::string text = written(piece.form, bytes);
        piece.raw ? out.append(text) : (append_escaped(out, text), out);
      } else {
        std::vector<Piece> inner;
        const auto refs = refs_of_.find(piece.id);
        const Status status =
            restore_text_pieces(bytes, refs == refs_of_.end() ? "" : refs->second,
                                piece.kind == Piece::Kind::json, piece.spelling, inner);
        out += status.ok() ? join(inner) : status.message;
      }
    }
    return out;
  }
  std::string restore(const std::string& written) const {
    std::vector<Piece> pieces;
    const Status status = restore_pieces(written, pieces);
    return status.ok() ? join(pieces) : status.path + ": " + status.message;
  }

  std::unique_ptr<Layers> layers;
  std::vector<Task> seen;  // tasks, as they were asked
  std::map<uint32_t, std::string> link_answers;

 private:
  std::string add(Segment segment, std::string bytes, std::string refs = {}) {
    std::string marker;
    append_marker(marker, static_cast<uint32_t>(segments_.size()));
    segments_.push_back(std::move(segment));
    contents_.push_back(std::move(bytes));
    refs_.push_back(std::move(refs));
    names_.emplace_back();
    return marker;
  }

  std::string stretch(SegmentKind kind, std::string text, std::string refs) {
    Segment segment;
    segment.kind = kind;
    segment.whole = true;
    segment.bare = kind == SegmentKind::json;
    segment.bytes = text.size();
    segment.mime_type = kind == SegmentKind::json ? "application/json" : "text/plain";
    segment.description = kind == SegmentKind::json ? "JSON, 1.0 MB" : "text, 1.0 MB";
    segment.chars = 1'000'000;
    segment.preview = text.substr(0, 60);
    Subject subject;
    subject.type = type_of_mime(segment.mime_type);
    subject.text = true;
    subject.head = as_bytes(text);
    tell_text(text, subject);
    add_excerpts(subject, segment);
    segment.previewed_whole = text.size() <= 60;
    SourcePrint source;
    ContentPrint content;
    source.push(text);
    content.push(text);
    segment.source_print = source.finish();
    if (kind == SegmentKind::text) segment.content_print = content.finish();
    return add(std::move(segment), std::move(text), std::move(refs));
  }

  void put_back(size_t index, std::string& out) const {
    const Segment& segment = segments_[index];
    if (segment.bare) out.pop_back();
    if (segment.kind == SegmentKind::run) {
      const std::string text = written(segment.form, contents_[index]);
      segment.bare ? out.append(text) : (append_escaped(out, text), out);
      return;
    }
    std::vector<Piece> inner;
    if (!restore_text_pieces(contents_[index], refs_[index], segment.bare, "", inner).ok())
      out += "?";
    out += join(inner);
  }

  void answer(const Task& task) {
    seen.push_back(task);
    if (task.kind == Task::Kind::annotate) {
      names_[task.index] = task.filename;
    } else if (task.kind == Task::Kind::decode) {
      const auto found = decoded.find(contents_[task.index]);
      Base64Text text;
      std::string bytes;
      if (found != decoded.end()) {
        bytes = found->second;
      } else if (!expanding || !text.push(expanded(task.index), bytes) || !text.finish(bytes)) {
        return;
      }
      Segment record;
      record.form = text.form();
      record.bytes = bytes.size();
      record.mime_type = "application/octet-stream";
      record.description = "binary, 1.0 KB";
      layers->decoded(task.index, record, text.is_exact());
      contents_.resize(layers->segments().size());
      refs_.resize(contents_.size());
      names_.resize(contents_.size());
      if (const auto original = layers->original(task.index)) {
        contents_[*original] = contents_[task.index];
        refs_[*original] = refs_[task.index];
      }
      contents_[task.index] = bytes;
      refs_[task.index].clear();
    } else if (link_answers.count(task.index) != 0) {
      layers->link(task.index, link_answers[task.index]);
    }
  }

  void refer(uint32_t segment, uint32_t inner) {
    const Segment& run = layers->segments()[inner];
    const std::string name = id(contents_[inner]);
    std::string& list = refs_[segment];
    if (!list.empty()) list.back() = ',';
    list = (list.empty() ? "[" : list) + inner_ref(run, name, contents_[segment].size()) + "]";
    contents_[segment] += reference(run, name, true);
    stored_[name] = contents_[inner];
  }

  // A text with its references put back.
  std::string expanded(uint32_t segment) const {
    std::vector<Piece> pieces;
    if (!restore_text_pieces(contents_[segment], refs_[segment], false, "", pieces).ok())
      return "?";
    const std::string json = "\"" + join(pieces) + "\"";
    Tape tape;
    return Tape::parse(json, tape).ok() ? tape.string(0) : "?";
  }

  // Bytes of segments that the layers added.
  void take_events() {
    const std::string& log = layers->events();
    contents_.resize(layers->segments().size());
    refs_.resize(contents_.size());
    names_.resize(contents_.size());
    for (size_t at = 0; at + 12 <= log.size();) {
      uint32_t head[3];
      std::memcpy(head, log.data() + at, sizeof head);
      at += sizeof head;
      if (head[0] == static_cast<uint32_t>(EventKind::data)) {
        contents_[head[1]] += log.substr(at, head[2]);
      } else if (head[0] == static_cast<uint32_t>(EventKind::reference)) {
        uint32_t inner = 0;
        std::memcpy(&inner, log.data() + at, sizeof inner);
        refer(head[1], inner);
      }
      at += head[2];
    }
  }

  std::vector<Segment> segments_;
  std::vector<std::string> contents_;
  std::vector<std::string> refs_;
  std::vector<std::string> names_;
  std::map<std::string, std::string> stored_;
  std::map<std::string, std::string> refs_of_;
};

/// The value at a path of keys and indexes, as source; `(none)` when there is none.
inline std::string at(const std::string& json, const std::vector<std::string>& path) {
  Tape tape;
  if (!Tape::parse(json, tape).ok()) return "not JSON: " + json;
  size_t node = 0;
  for (const std::string& step : path) {
    if (tape[node].type == Type::array) {
      size_t child = node + 1;
      for (size_t left = std::stoul(step); left > 0 && child < tape[node].next; --left) {
        child = tape[child].next;
      }
      if (child >= tape[node].next) return "(none)";
      node = child;
    } else {
      const auto value = tape.find(node, step);
      if (!value) return "(none)";
      node = *value;
    }
  }
  return std::string(tape.source(node));
}

/// The same for a string, its value.
inline std::string string_at(const std::string& json, const std::vector<std::string>& path) {
  const std::string source = at(json, path);
  Tape tape;
  if (!Tape::parse(source, tape).ok() || tape[0].type != Type::string)
    return "no string: " + source;
  return tape.string(0);
}

}  // namespace sluice::layers_test
