#include "gate/gate_fixture.h"

#include <cstring>

#include "json/spelling.h"
#include "sluice/codec.h"
#include "sluice/facts.h"
#include "sluice/tape.h"

namespace sluice::testing {

namespace {

uint32_t word_at(const std::string& log, size_t at) {
  uint32_t word = 0;
  std::memcpy(&word, log.data() + at, 4);
  return word;
}

void read_events(Gate& gate, Passed& passed) {
  const std::string& log = gate.events();
  for (size_t at = 0; at < log.size();) {
    const auto kind = static_cast<EventKind>(word_at(log, at));
    const uint32_t segment = word_at(log, at + 4);
    const uint32_t size = word_at(log, at + 8);
    at += 12;
    if (kind == EventKind::open) {
      passed.contents.emplace_back();
      passed.closed.push_back(false);
    } else if (kind == EventKind::data) {
      passed.contents[segment].append(log, at, size);
    } else if (kind == EventKind::reference) {
      append_marker(passed.contents[segment], word_at(log, at));
    } else if (kind == EventKind::close) {
      passed.closed[segment] = true;
    }
    at += size;
  }
  gate.events().clear();
}

void conclude(Gate& gate, Passed& passed) {
  if (passed.status.ok()) passed.status = gate.finish();
  read_events(gate, passed);
  passed.reduced = gate.reduced();
  passed.segments = gate.segments();
  for (Segment& segment : passed.segments) {
    if (!segment.evidence.empty()) segment.description = tell_facts(segment.evidence);
  }
}

void feed(Gate& gate, Passed& passed, std::string_view piece) {
  if (!passed.status.ok()) return;
  passed.status = gate.push(as_bytes(piece));
  read_events(gate, passed);
}

std::string expand(const Passed& passed, std::string_view source, bool text, bool alone = false);

// What a segment stands for where it is referred to: text of a string, or JSON source when it is
// bare. In JSON in a string, that is the text of the outermost string inside the one that refers.
std::string content(const Passed& passed, uint32_t index, bool alone) {
  const Segment& segment = passed.segments[index];
  if (segment.kind != SegmentKind::run) {
    if (segment.bare) return expand(passed, passed.contents[index], false, true);
    const std::string_view spelling(segment.spelling);
    const auto strings = *parse_spellings(alone ? spelling.substr(0, segment.spelled) : spelling);
    std::string out;
    for (std::string_view rest = passed.contents[index]; !rest.empty();) {
      const size_t place = std::min(rest.find(kMarkerOpen), rest.size());
      append_spelled(out, rest.substr(0, place), strings);
      rest.remove_prefix(place);
      if (rest.empty()) break;
      const auto inner = static_cast<uint32_t>(marker_at(rest, 0));
      // The form of a run says how it is spelled in the outermost string.
      const bool run = passed.segments[inner].kind == SegmentKind::run;
      append_spelled(out, content(passed, inner, true), run ? decltype(strings){} : strings);
      rest.remove_prefix(kMarkerBytes);
    }
    return out;
  }
  std::string text;
  FormWriter writer(segment.form);
  writer.write(passed.contents[index], text);
  writer.finish(text);
  return text;
}

// `text`: the source is plain text, else JSON source. `alone`: it is a segment's.
std::string expand(const Passed& passed, std::string_view source, bool text, bool alone) {
  std::string out;
  for (size_t at = 0; at < source.size();) {
    const int32_t index = marker_at(source, at);
    if (index < 0) {
      out += source[at++];
      continue;
    }
    at += kMarkerBytes;
    const std::string inner = content(passed, static_cast<uint32_t>(index), alone);
    const bool quoted = !text && passed.segments[static_cast<size_t>(index)].bare &&
                        out.ends_with('"') && source.substr(at).starts_with('"');
    if (quoted) {
      out.pop_back();
      ++at;
    }
    if (text || quoted) {
      out += inner;
    } else {
      append_escaped(out, inner);
    }
  }
  return out;
}

void write_normal(const Tape& tape, size_t index, std::string& out) {
  const Node& node = tape[index];
  if (node.type == Type::string) {
    out += '"';
    append_escaped(out, tape.string(index));
    out += '"';
    return;
  }
  if (node.type != Type::array && node.type != Type::object) {
    out += tape.source(index);
    return;
  }
  const bool object = node.type == Type::object;
  out += object ? '{' : '[';
  bool key = object;
  bool first = true;
  for (size_t child = index + 1; child < node.next; child = tape[child].next) {
    if (!first && (!object || key)) out += ',';
    write_normal(tape, child, out);
    if (object && key) out += ':';
    key = object && !key;
    first = false;
  }
  out += object ? '}' : ']';
}

}  // namespace

Passed pass(std::string_view json, const GateOptions& options, size_t block) {
  Gate gate(options);
  Passed passed;
  if (block == 0) block = json.size() + 1;
  for (size_t at = 0; at < json.size(); at += block) feed(gate, passed, json.substr(at, block));
  conclude(gate, passed);
  return passed;
}

Passed pass_split(std::string_view json, const GateOptions& options, size_t split) {
  Gate gate(options);
  Passed passed;
  feed(gate, passed, json.substr(0, split));
  feed(gate, passed, json.substr(split));
  conclude(gate, passed);
  return passed;
}

std::string restore(const Passed& passed) {
  return expand(passed, passed.reduced, false);
}

std::string normal(std::string_view json) {
  Tape tape;
  const Status status = Tape::parse(json, tape);
  if (!status.ok()) return "not JSON: " + status.message;
  std::string out;
  write_normal(tape, 0, out);
  return out;
}

std::string bytes_like(std::string_view magic, size_t size, uint32_t seed) {
  std::string bytes(magic);
  uint32_t state = seed * 2654435761U + 1;
  while (bytes.size() < size) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    bytes += static_cast<char>(state >> 11);
  }
  return bytes.substr(0, size);
}

std::string base64(std::string_view bytes, bool url, bool padded) {
  std::string out;
  encode(as_bytes(bytes), url ? Alphabet::url : Alphabet::standard, padded, false, out);
  return out;
}

std::string hex(std::string_view bytes) {
  std::string out;
  encode(as_bytes(bytes), Alphabet::hex, false, false, out);
  return out;
}

std::string wrap(std::string_view text, size_t column, std::string_view line_break) {
  std::string out;
  for (size_t at = 0; at < text.size(); at += column) {
    if (at > 0) out += line_break;
    out += text.substr(at, column);
  }
  return out;
}

std::string as_json(std::string_view text) {
  std::string out = "\"";
  append_escaped(out, text);
  out += '"';
  return out;
}

}  // namespace sluice::testing
