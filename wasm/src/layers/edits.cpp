#include "layers/edits.h"

#include "json/object.h"

namespace sluice::layers {

namespace {

std::string_view name_of(Hole kind) {
  switch (kind) {
    case Hole::text:
      return "text";
    case Hole::bytes:
      return "bytes";
    case Hole::json:
      return "json";
    case Hole::run:
      break;
  }
  return {};
}

}  // namespace

std::string pointer_to(std::string_view path, std::string_view key, int duplicate) {
  std::string out(path);
  out += '/';
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  if (duplicate >= 0) out += "~d" + std::to_string(duplicate);
  return out;
}

std::string pointer_to(std::string_view path, size_t index) {
  return std::string(path) + "/" + std::to_string(index);
}

void Edits::add(const std::string& entry) {
  if (!text_.empty()) text_ += ',';
  text_ += entry;
}

void Edits::reference(std::string_view at, std::string_view uri, size_t n, Hole kind, bool key,
                      std::string_view wrap, std::string_view from) {
  Object entry;
  entry.text("at", at).text("uri", uri);
  if (n > 0) entry.number("n", n);
  if (kind != Hole::run) entry.text("kind", name_of(kind));
  if (key) entry.flag("key", true);
  if (!wrap.empty()) entry.text("wrap", wrap);
  if (!from.empty()) entry.text("from", from);
  add(entry.end());
}

void Edits::replaced(std::string_view at, std::string_view was, const Edits& inside) {
  Object entry;
  entry.text("at", at).source("was", was);
  if (!inside.empty()) entry.source("refs", inside.json());
  add(entry.end());
}

void Edits::added(std::string_view at) {
  add(Object().text("at", at).flag("added", true).end());
}

}  // namespace sluice::layers
