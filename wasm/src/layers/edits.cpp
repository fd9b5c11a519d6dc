#include "layers/edits.h"

#include "layers/json_string.h"

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

void Edits::open(std::string_view at) {
  if (!text_.empty()) text_ += ',';
  text_ += "{\"at\":";
  text_ += json_string(at);
}

void Edits::reference(std::string_view at, std::string_view uri, size_t n, Hole kind, bool key,
                      std::string_view wrap) {
  open(at);
  append_key(text_, "uri");
  text_ += json_string(uri);
  if (n > 0) text_ += ",\"n\":" + std::to_string(n);
  if (kind != Hole::run) text_ += ",\"kind\":" + json_string(name_of(kind));
  if (key) text_ += ",\"key\":true";
  if (!wrap.empty()) text_ += ",\"wrap\":" + json_string(wrap);
  text_ += '}';
}

void Edits::replaced(std::string_view at, std::string_view was, const Edits& inside) {
  open(at);
  text_ += ",\"was\":";
  text_ += was;
  if (!inside.empty()) text_ += ",\"refs\":" + inside.json();
  text_ += '}';
}

void Edits::added(std::string_view at) {
  open(at);
  text_ += ",\"added\":true}";
}

}  // namespace sluice::layers
