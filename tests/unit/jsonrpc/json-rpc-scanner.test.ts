import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonRpcScanner } from "../../../web/src/jsonrpc/json-rpc-scanner.js";

const encoder = new TextEncoder();

/** Cuts at the given places, and hands each piece over in a buffer that is written over afterwards. */
function scanned(text: string, cuts: readonly number[] = []): JsonRpcScanner {
  const bytes = encoder.encode(text);
  const members = new JsonRpcScanner();
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((one, other) => one - other);
  let from = 0;
  for (const to of [...places, bytes.length]) {
    const piece = bytes.slice(from, to);
    members.push(piece);
    piece.fill(0x22);
    from = to;
  }
  return members;
}

function textOf(text: string, members: JsonRpcScanner, path: string): string | undefined {
  const member = members.member(path);
  if (member === undefined) return undefined;
  return new TextDecoder().decode(encoder.encode(text).subarray(member.start, member.end)).trim();
}

describe("the members of a message", () => {
  it("are found wherever they stand, with id and method kept", () => {
    const text = ' {"result" : {"content":[{"a":[1,"]}"]}],"result":{"x":1}} , "jsonrpc":"2.0","id": 12 }\r';
    const members = scanned(text);
    expect(members.isObject).toBe(true);
    expect(members.isComplete).toBe(true);
    expect(members.fault).toBeUndefined();
    expect(members.text("id")?.trim()).toBe("12");
    expect(textOf(text, members, "result")).toBe('{"content":[{"a":[1,"]}"]}],"result":{"x":1}}');
    expect(textOf(text, members, "result.result")).toBe('{"x":1}');
    expect(textOf(text, members, "result.content")).toBe('[{"a":[1,"]}"]}]');
  });

  it("are known by their names, however those are escaped", () => {
    const members = scanned('{"\\u0069d":"a\\"b","meth\\u006fd":"tools\\/call"}');
    expect(members.text("id")).toBe('"a\\"b"');
    expect(members.text("method")).toBe('"tools\\/call"');
  });

  it("tell which one is largest, also while bytes are missing", () => {
    const members = scanned('{"id":1,"result":{"content":[{"text":"abc');
    expect(members.largest).toBe("result");
    expect(members.member("result")).toEqual({ start: 17, end: undefined });
    expect(members.text("id")).toBe("1");
  });

  it.each([
    ['{"id":1,"id":2}', "it has two members id"],
    ['{"result":1,"\\u0072esult":2}', "it has two members result"],
    ['{"id":1} x', "something follows it"],
    ['{"id":1}{"id":2}', "something follows it"],
  ])("of %s are at fault", (text, fault) => {
    expect(scanned(text).fault).toBe(fault);
  });

  it.each(["[1]", '"text"', "12", "}{", "INFO started {"])("are none of %s", (text) => {
    expect(scanned(text).isObject).toBe(false);
  });

  it("do not keep an id that nobody would send", () => {
    const members = scanned(`{"id":"${"x".repeat(5000)}","method":"ping"}`);
    expect(members.text("id")).toBeUndefined();
    expect(members.text("method")).toBe('"ping"');
  });

  it("are those that JSON.parse finds, in any pieces", () => {
    const message = fc.record(
      {
        id: fc.oneof(fc.integer(), fc.string({ maxLength: 40, unit: "binary" })),
        method: fc.string({ maxLength: 20 }),
        result: fc.jsonValue(),
        params: fc.jsonValue(),
        error: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(message, fc.array(fc.nat(), { maxLength: 12 }), fc.constantFrom(0, 1, 2), (value, cuts, indent) => {
        const text = JSON.stringify(value, null, indent);
        const members = scanned(text, cuts);
        expect(members.isComplete).toBe(true);
        expect(members.fault).toBeUndefined();
        const expected = new Map<string, unknown>(Object.entries(value));
        const inner = value.result;
        if (typeof inner === "object" && inner !== null && !Array.isArray(inner) && Object.keys(inner).length < 50) {
          for (const [name, each] of Object.entries(inner)) expected.set(`result.${name}`, each);
        }
        const found = new Map(
          [...expected.keys()].map((path) => [path, JSON.parse(textOf(text, members, path) ?? "")]),
        );
        expect(found).toEqual(new Map([...expected].map(([path, each]) => [path, JSON.parse(JSON.stringify(each))])));
        const kept = (["id", "method"] as const).filter((name) => name in value);
        expect(kept.map((name) => JSON.parse(members.text(name) ?? "") as unknown)).toEqual(
          kept.map((name) => value[name]),
        );
      }),
    );
  });

  it("never throw, whatever the bytes are", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("{", "}", "[", "]", '"', ",", ":", "\\", " ", "a", "1"), { maxLength: 60 }),
        (letters) => {
          expect(scanned(letters.join("")).size).toBe(letters.length);
        },
      ),
    );
  });
});
