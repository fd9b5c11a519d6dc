import { createHash, randomBytes } from "node:crypto";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { createSluice, MemoryArtifactStore, type Sluice } from "../../../web/src/index.js";
import { MAX_MESSAGE } from "../../../web/src/jsonrpc/limits.js";
import { LineWriter } from "../../../web/src/jsonrpc/lines.js";
import { MessageReader } from "../../../web/src/jsonrpc/message-reader.js";
import type { MessageAction, MessageOutcome, MessagePolicy } from "../../../web/src/jsonrpc/message-rewriter.js";
import { EventStreamGate } from "../../../web/src/jsonrpc/sse.js";

describe("the message reader", () => {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();

  let store: MemoryArtifactStore;
  let sluice: Sluice;
  beforeAll(async () => {
    store = new MemoryArtifactStore({ retention: null });
    sluice = await createSluice({ store });
  });

  const GATE: MessageAction = { kind: "gate", member: "result", options: { dialect: "mcp", namespace: "s" } };

  /** Gates answers with the id 1, rewrites those with 2, gives 3 as it comes, passes the rest. */
  const policy: MessagePolicy = {
    fallback: { dialect: "mcp", namespace: "s" },
    decide: (message, isWhole) => {
      const id = message.text("id");
      if (id === undefined && !isWhole) return undefined;
      if (id === "1") return GATE;
      if (id === "2") return { kind: "edit", edit: (text) => text.replace("old", "new") };
      return id === "3" ? { kind: "raw" } : { kind: "pass" };
    },
  };

  interface Came {
    readonly messages: string[];
    readonly nonProtocol: string;
    readonly passed: MessageOutcome[];
    readonly broken: unknown[];
  }

  /** Sends bytes in pieces of the sizes given, in turn. */
  async function sent(bytes: Uint8Array, sizes: readonly number[] = [65_536]): Promise<Came> {
    const came: Came & { nonProtocol: string } = { messages: [], nonProtocol: "", passed: [], broken: [] };
    let open: Uint8Array[] = [];
    const incoming = new MessageReader(sluice, {
      policy,
      forward: async (out) => void open.push(out),
      complete: async () => {
        came.messages.push(decoder.decode(Buffer.concat(open)));
        open = [];
      },
      nonProtocol: async (out) => void (came.nonProtocol += decoder.decode(out)),
      passed: (each) => came.passed.push(each),
      broken: (error, message) => {
        came.broken.push(error);
        return message.text("id") === undefined ? undefined : `{"id":${message.text("id") ?? ""},"error":"broken"}`;
      },
    });
    for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
      const size = sizes[turn % sizes.length] ?? 65_536;
      // Of Node's: `slice` of those copies nothing.
      const piece = Buffer.from(bytes.subarray(at, at + size));
      await incoming.write(piece);
      // Its memory is read into again.
      piece.fill(0x23);
      at += size;
    }
    await incoming.end();
    expect(open).toEqual([]);
    return came;
  }

  const text = (value: unknown): Uint8Array =>
    encoder.encode(typeof value === "string" ? value : JSON.stringify(value));

  /** A PDF of so many bytes, as an answer. */
  function answer(size: number, id: number, idFirst: boolean): { message: string; sha256: string } {
    const bytes = Buffer.concat([Buffer.from("%PDF-1.7\n"), randomBytes(size)]);
    const blob = bytes.toString("base64");
    const result = {
      content: [{ type: "resource", resource: { uri: "file:///a", mimeType: "application/pdf", blob } }],
    };
    const message = idFirst ? { jsonrpc: "2.0", id, result } : { result, jsonrpc: "2.0", id };
    return { message: JSON.stringify(message), sha256: createHash("sha256").update(bytes).digest("hex") };
  }

  describe("a message from a server", () => {
    it.each([
      ["one that is passed", '{"jsonrpc":"2.0",  "id":9,"result":{"n":1.0e2,"big":123456789012345678901234567890}}\r'],
      ["one that the gate leaves alone", '{"result": {"content":[ ]},"id":1 , "jsonrpc":"2.0"}'],
      ["a notification", '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1e400}}'],
      ["a request", '{"method":"ping","id":"a","jsonrpc":"2.0"}'],
    ])("goes on byte for byte: %s", async (_, message) => {
      const { messages, nonProtocol } = await sent(text(message), [3]);
      expect(messages).toEqual([message]);
      expect(nonProtocol).toBe("");
    });

    it.each([
      ["with its id first", 500, true],
      ["with its id last", 500, false],
      ["large, with its id first", 3_000_000, true],
      ["large, with its id last", 3_000_000, false],
      ["larger than any message, with its id first", 12_000_000, true],
      ["larger than any message, with its id last", 12_000_000, false],
    ])("is reduced %s", async (_, size, idFirst) => {
      const { message, sha256 } = answer(size, 1, idFirst);
      const { messages, passed } = await sent(text(message));
      const [reduced] = messages.map(
        (each) => JSON.parse(each) as { id: number; result: { content: { type: string }[] } },
      );
      expect(reduced?.id).toBe(1);
      expect(reduced?.result.content.map(({ type }) => type)).toEqual(["text"]);
      expect(passed[0]?.reduced?.artifacts.map((ref) => ref.sha256)).toEqual([sha256]);
    });

    it("keeps what stands around the value, and the original can be restored", async () => {
      const { message } = answer(200_000, 1, true);
      const odd = message.replace('{"jsonrpc":"2.0",', '{ "x-own" : [1.10] , "jsonrpc":"2.0",');
      const { messages } = await sent(text(odd), [7, 5000]);
      expect(messages[0]).toMatch(/^\{ "x-own" : \[1.10\] , "jsonrpc":"2.0","id":1,"result":\{"content":/);
      const { result } = JSON.parse(messages[0] ?? "") as { result: object };
      const { result: original } = JSON.parse(message) as { result: object };
      expect(await sluice.restore(result)).toEqual(original);
    });

    it("is reduced when it is larger than any message may be, whatever it is", async () => {
      const { message } = answer(12_000_000, 9, true);
      const { messages, passed } = await sent(text(message));
      expect(messages[0]?.length).toBeLessThan(10_000);
      expect(passed[0]?.reduced?.artifacts).toHaveLength(1);
    });

    it("goes on while it comes when it is to stay as it is, whatever its size", async () => {
      const { message } = answer(12_000_000, 3, true);
      const { messages } = await sent(text(message));
      expect(messages[0] === message).toBe(true);
    });

    it("is rewritten whole where that is asked for", async () => {
      const { messages } = await sent(text({ jsonrpc: "2.0", id: 2, result: "old" }), [4]);
      expect(messages).toEqual(['{"jsonrpc":"2.0","id":2,"result":"new"}']);
    });

    it("that breaks off is answered for", async () => {
      const { message } = answer(300_000, 1, true);
      const { messages, broken } = await sent(text(message.slice(0, 200_000)));
      expect(messages).toEqual(['{"id":1,"error":"broken"}']);
      expect(broken).toMatchObject([{ code: "E_JSON_END" }]);
    });

    it("with a member twice is answered for: nobody knows which is meant", async () => {
      const { message } = answer(10, 1, true);
      const { messages, broken } = await sent(text(message.replace("{", '{"result":{},')));
      expect(messages).toEqual(['{"id":1,"error":"broken"}']);
      expect(broken).toMatchObject([{ code: "E_JSON_SYNTAX" }]);
    });

    it("is reduced where it is largest", async () => {
      const message = `{"jsonrpc":"2.0","id":1,"a":"${"x ".repeat(MAX_MESSAGE / 4)}","b":"${"y ".repeat(MAX_MESSAGE / 4)}","c":{}}`;
      const { messages, broken } = await sent(text(message));
      expect(broken).toEqual([]);
      expect(messages[0]?.length).toBeLessThan(MAX_MESSAGE);
    });

    it("that is too large beside its result is answered for: what is left of it would not be gated", async () => {
      const { message } = answer(20_000, 1, true);
      const { messages, broken } = await sent(text(message.replace("{", `{"x":"${"y".repeat(9_000_000)}",`)));
      expect(messages).toEqual(['{"id":1,"error":"broken"}']);
      expect(broken).toMatchObject([{ code: "E_TOO_LARGE" }]);
    });

    it("that was let pass is ended as a line of its own when it breaks off", async () => {
      const { message } = answer(300_000, 3, true);
      const { messages } = await sent(text(message.slice(0, 200_000)));
      expect(messages).toEqual([message.slice(0, 200_000), '{"id":3,"error":"broken"}']);
    });

    it("may begin with a byte order mark", async () => {
      const { messages } = await sent(text(`\ufeff${answer(20_000, 1, true).message}`), [1]);
      expect(messages[0]).toContain("[sluice] PDF");
    });

    it.each([
      "INFO: server started",
      "[INFO] started",
      "{ level: 'info' }",
      '{"level":"info","id":1}',
      '{"error":"cache miss"} retrying',
      "42",
      '"text"',
      "{",
    ])("is none: %s", async (line) => {
      const { messages, nonProtocol, broken } = await sent(text(line), [2]);
      expect({ messages, nonProtocol }).toEqual({ messages: [], nonProtocol: line });
      expect(broken.every((error) => error === undefined)).toBe(true);
    });

    it("is nothing when there is nothing", async () => {
      expect(await sent(text("  \r"))).toMatchObject({ messages: [], nonProtocol: "" });
    });

    it("is the same in any pieces", async () => {
      const { message } = answer(100_000, 1, false);
      const whole = await sent(text(message), [message.length]);
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.integer({ min: 1, max: 90_000 }), { minLength: 1, maxLength: 6 }),
          async (sizes) => {
            const { messages } = await sent(text(message), sizes);
            expect(messages).toEqual(whole.messages);
          },
        ),
        { numRuns: 20 },
      );
    });
  });

  describe("a batch", () => {
    it("goes on as one, each message for itself", async () => {
      const { message, sha256 } = answer(2000, 1, true);
      const line = `[ {"jsonrpc":"2.0","id":9,"result":{}} ,\n${message}, {"jsonrpc":"2.0","method":"x"}]`;
      const { messages, passed } = await sent(text(line), [1, 90]);
      const batch = JSON.parse(messages[0] ?? "") as { id?: number; result?: { content?: unknown[] } }[];
      expect(batch.map(({ id }) => id)).toEqual([9, 1, undefined]);
      expect(passed.flatMap(({ reduced }) => reduced?.artifacts ?? []).map((ref) => ref.sha256)).toEqual([sha256]);
    });

    it("is divided where it would be too large", async () => {
      const part = `{"jsonrpc":"2.0","id":9,"result":"${"z ".repeat(1_500_000)}"}`;
      const { messages } = await sent(text(`[${part},${part},${part}]`));
      expect(messages.map((each) => (JSON.parse(each) as unknown[]).length)).toEqual([2, 1]);
    });
  });
});

describe("lines", () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

  /** A writer, and what it wrote. */
  function writing(): { readonly writer: LineWriter; readonly out: () => string } {
    let out = "";
    const writer = new LineWriter(async (written) => {
      await new Promise((resolve) => setImmediate(resolve));
      out += new TextDecoder().decode(written);
    });
    return { writer, out: () => out };
  }

  describe("lines from several sides", () => {
    it("are never broken into", async () => {
      const { writer, out } = writing();
      const sink = writer.sink();
      await sink.forward(bytes("a"));
      const other = writer.line("xyz");
      await sink.forward(bytes("b"));
      await sink.complete();
      await sink.complete();
      await Promise.all([other, writer.line("last")]);
      expect(out()).toBe("ab\nxyz\nlast\n");
    });

    it("go on after a failure", async () => {
      let fail = true;
      const writer = new LineWriter(async () => {
        if (fail) throw new Error("full");
      });
      await expect(writer.line("a")).rejects.toThrow("full");
      fail = false;
      await writer.line("b");
    });
  });

  describe("a line that stalls", () => {
    it("lets other messages pass while it is collected", async () => {
      const { writer, out } = writing();
      const sink = writer.sink(4);
      await sink.forward(bytes("ab"));
      await sink.forward(bytes("cd"));
      await writer.line("other");
      await sink.complete();
      expect(out()).toBe("other\nabcd\n");
    });

    it("is whole again, however small its pieces are", async () => {
      const { writer, out } = writing();
      const sink = writer.sink(20_000);
      for (let turn = 0; turn < 10_000; turn += 1) await sink.forward(bytes(String(turn % 10)));
      await sink.complete();
      expect(out()).toBe(`${"0123456789".repeat(1000)}\n`);
    });

    it("is written as it comes once it is longer than what is collected", async () => {
      const { writer, out } = writing();
      const sink = writer.sink(4);
      await sink.forward(bytes("abc"));
      await sink.forward(bytes("def"));
      const other = writer.line("other");
      await sink.forward(bytes("ghi"));
      expect(out()).toBe("abcdef");
      await sink.complete();
      await other;
      expect(out()).toBe("abcdefghi\nother\n");
    });

    it("and is given up leaves nothing, or a line that is ended", async () => {
      const { writer, out } = writing();
      const sink = writer.sink(4);
      await sink.forward(bytes("abc"));
      await sink.drop();
      await sink.forward(bytes("longer"));
      await sink.forward(bytes(" than that"));
      await sink.drop();
      await sink.drop();
      await writer.line("other");
      expect(out()).toBe("longer than that\nother\n");
    });
  });
});

describe("event streams", () => {
  const encoder = new TextEncoder();

  let sluice: Sluice;
  beforeAll(async () => {
    sluice = await createSluice({ store: new MemoryArtifactStore({ retention: null }) });
  });

  /** Sends a stream in pieces of the sizes given, in turn; results of the id 1 are gated. */
  async function sent(text: string, sizes: readonly number[] = [text.length]): Promise<string> {
    const bytes = encoder.encode(text);
    let out = "";
    const decoder = new TextDecoder();
    await using gate = new EventStreamGate(
      (sink) =>
        new MessageReader(sluice, {
          ...sink,
          policy: {
            fallback: { dialect: "mcp" },
            decide: (message) =>
              message.text("id") === "1"
                ? { kind: "gate", member: "result", options: { dialect: "mcp", namespace: "s" } }
                : { kind: "pass" },
          },
          passed: () => undefined,
          broken: () => undefined,
        }),
      async (piece) => void (out += decoder.decode(piece, { stream: true })),
    );
    for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
      const size = sizes[turn % sizes.length] ?? 1;
      await gate.write(bytes.slice(at, at + size));
      at += size;
    }
    await gate.end();
    return out;
  }

  /** Events as the standard has them read. */
  function eventsOf(stream: string): { data: string; fields: string[] }[] {
    const events = [];
    let data: string[] = [];
    let fields: string[] = [];
    for (const line of stream.split(/\r\n|\r|\n/)) {
      if (line === "") {
        if (data.length > 0 || fields.length > 0) events.push({ data: data.join("\n"), fields });
        data = [];
        fields = [];
      } else if (line === "data") data.push("");
      else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
      else fields.push(line);
    }
    return events;
  }

  const IMAGE = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(3000, 5)]).toString("base64");
  const RESULT = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"image","mimeType":"image/png","data":"${IMAGE}"}]}}`;

  describe("an event stream", () => {
    it("keeps every field, comment and event that needs nothing", async () => {
      const stream =
        'event: message\nid: 7\ndata: {"jsonrpc":"2.0","id":9,"result":{}}\n\n: keep-alive\n\nretry: 10\ndata:{"jsonrpc":"2.0","method":"x"}\n\n';
      expect(eventsOf(await sent(stream, [1]))).toEqual(eventsOf(stream));
    });

    it("has its results reduced", async () => {
      const out = await sent(`id: 1\nevent: message\ndata: ${RESULT}\n\n`, [100]);
      const [event] = eventsOf(out);
      expect(event?.fields).toEqual(["id: 1", "event: message"]);
      expect(JSON.parse(event?.data ?? "")).toMatchObject({ id: 1, result: { content: [{ type: "text" }] } });
      expect(out).not.toContain(IMAGE.slice(0, 100));
    });

    it("may divide a message over lines of data", async () => {
      const divided = RESULT.replaceAll(",", ",\ndata: ");
      const [event] = eventsOf(await sent(`data: ${divided}\n\n`, [50]));
      expect(JSON.parse(event?.data ?? "")).toMatchObject({ id: 1, result: { content: [{ type: "text" }] } });
    });

    it("keeps data that is no message, such as an address", async () => {
      const stream = "event: endpoint\ndata: /messages?session=1\n\ndata\n\n";
      expect(eventsOf(await sent(stream, [2]))[0]).toEqual(eventsOf(stream)[0]);
    });

    it("drops an event that never ended", async () => {
      expect(eventsOf(`${await sent(`id: 3\ndata: ${RESULT}\n`)}\n`)).toEqual([{ data: "", fields: ["id: 3"] }]);
    });

    it("is the same in any pieces, with any ends of lines", async () => {
      const part = fc.constantFrom(
        'data: {"jsonrpc":"2.0","id":9,"result":{"a":[1,2]}}',
        `data:${RESULT}`,
        "id: 4",
        "event: message",
        ": comment",
        "data",
        "dat: x",
        "",
      );
      await fc.assert(
        fc.asyncProperty(
          fc.array(part, { maxLength: 8 }),
          fc.constantFrom("\n", "\r\n", "\r"),
          fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 5 }),
          async (lines, end, sizes) => {
            const stream = [...lines, "", ""].join(end);
            const whole = eventsOf(await sent(stream));
            expect(eventsOf(await sent(stream, sizes))).toEqual(whole);
            expect(whole.flatMap(({ fields }) => fields)).toEqual(eventsOf(stream).flatMap(({ fields }) => fields));
          },
        ),
        { numRuns: 60 },
      );
    });
  });
});
