import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { createSluice, MemoryArtifactStore, type Sluice } from "../../../web/src/index.js";
import { MessageReader } from "../../../web/src/jsonrpc/message-reader.js";
import { EventStreamGate } from "../../../web/src/jsonrpc/sse.js";

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
