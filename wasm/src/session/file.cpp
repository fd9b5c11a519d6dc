// Describes a file for a host that has bytes but no message.
#include <algorithm>
#include <utility>

#include "gate/segment_log.h"
#include "session/wire.h"
#include "sluice/describe.h"
#include "sluice/session.h"
#include "sluice/sniff.h"

namespace sluice {

FileReport describe_file(std::string_view head, uint64_t size) {
  Subject subject;
  subject.size_bytes = size;
  subject.head = as_bytes(head.substr(0, kDescribeHead));
  if (head.size() == size) {
    subject.tail = as_bytes(head.substr(head.size() - std::min(head.size(), kDescribeTail)));
  }
  const auto sniffed = sniff(subject.head, subject.tail, size);
  subject.text = !sniffed && is_text(as_text(subject.head));
  subject.type =
      sniffed ? *sniffed : type_of_mime(subject.text ? "text/plain" : "application/octet-stream");
  if (subject.text && head.size() == size) {
    tell_text(head, subject);
  } else if (subject.text) {
    // The head may end inside a string, so JSON so far counts as JSON.
    Outline outline;
    outline.push(subject.head);
    if (outline.may_be()) {
      subject.type = type_of_mime(outline.is_lines() ? "application/x-ndjson" : "application/json");
    }
  }
  Segment segment;
  describe(subject, segment);
  segment.bytes = size;
  segment.mime_type = subject.type.mime_type;
  segment.extension = subject.type.extension;
  return {write_segment(segment), std::move(segment.evidence)};
}

struct FileLook::State {
  GateOptions options;
  gate::SegmentLog log{options};
};

FileLook::FileLook(std::string_view mime_type, std::string_view filename)
    : state_(std::make_unique<State>()) {
  state_->log.open(SegmentKind::run, declared_delimiter(mime_type, filename));
}
FileLook::~FileLook() = default;

void FileLook::push(std::string_view bytes) {
  state_->log.data(0, bytes);
  state_->log.events().clear();
}

FileReport FileLook::finish() {
  state_->log.close(0);
  Segment& segment = state_->log.segment(0);
  return {write_segment(segment), std::move(segment.evidence)};
}

}  // namespace sluice
