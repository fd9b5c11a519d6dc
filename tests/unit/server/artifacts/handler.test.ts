import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import { isArtifactId } from "../../../../web/src/artifacts/reference.js";
import type { ArtifactScope, ArtifactStore } from "../../../../web/src/artifacts/store.js";
import {
  startBody,
  rangeCounts,
  readRequestedSpan,
  judgeConditions,
} from "../../../../web/src/server/artifacts/bytes.js";
import { artifactHandler, readAddress } from "../../../../web/src/server/artifacts/handler.js";
import { anyText } from "../any-text.js";
import { ADA, errorOf, serving, TEN } from "./serving.js";

const ID = "web_0123456789ab";

test.each([
  [`/artifacts/${ID}`, "/", { id: ID, part: "bytes" }],
  [`/artifacts/${ID}/meta`, "/", { id: ID, part: "meta" }],
  [`/a/b/artifacts/${ID}`, "/a/b/", { id: ID, part: "bytes" }],
  [`/artifacts/${ID}`, "/a/", null],
  ["/artifacts", "/", null],
  ["/", "/", null],
  ["/index.html", "/", null],
  ["/artifacts/", "/", "unknown"],
  ["/artifacts//meta", "/", "unknown"],
  [`/artifacts/${ID}/`, "/", "unknown"],
  [`/artifacts/${ID}/meta/`, "/", "unknown"],
  [`/artifacts/${ID}/other`, "/", "unknown"],
  [`/artifacts//${ID}`, "/", "unknown"],
  [`/artifacts/web%5F0123456789ab`, "/", "unknown"],
  ["/artifacts/%", "/", "unknown"],
  ["/artifacts/%00%ff%2e%2e%2f", "/", "unknown"],
  ["/artifacts/...", "/", "unknown"],
  ["/artifacts/żółć_0123456789ab", "/", "unknown"],
  [`/artifacts/${"x".repeat(10_000)}`, "/", "unknown"],
])("%s below %s", (path, base, asked) => {
  expect(readAddress(path, base)).toEqual(asked);
});

test("whatever a path is, what it names has the form of an id", () => {
  fc.assert(
    fc.property(anyText(), (rest) => {
      const asked = readAddress(`/artifacts/${rest}`, "/");
      expect(asked === "unknown" || (asked !== null && isArtifactId(asked.id))).toBe(true);
    }),
  );
});

// What is answered with an artifact that is there, and what is not answered at all.

test("the bytes come with their type, name, length and tag", async () => {
  const { ref, ask } = await serving(TEN, { filename: "Q3.pdf" });
  const response = await ask(ref.id);
  expect(response.status).toBe(200);
  expect(await response.text()).toBe(TEN);
  expect(Object.fromEntries(response.headers)).toEqual({
    "accept-ranges": "bytes",
    "cache-control": "private, no-cache",
    "content-disposition": 'inline; filename="Q3.pdf"',
    "content-length": "10",
    "content-security-policy":
      "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:",
    "content-type": "application/pdf",
    "cross-origin-resource-policy": "same-origin",
    etag: `"${ref.sha256}"`,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
});

test("HEAD says the same and gives no bytes, and is no use", async () => {
  const { store, ref, ask } = await serving();
  const before = await store.stat(ref.id, ADA);
  const head = await ask(ref.id, { method: "HEAD", headers: { range: "bytes=2-3" } });
  expect(head.body).toBeNull();
  expect(await store.stat(ref.id, ADA)).toEqual(before);
  const got = await ask(ref.id);
  expect(head.status).toBe(200);
  expect(Object.fromEntries(head.headers)).toEqual(Object.fromEntries(got.headers));
});

test("an empty artifact is an empty body", async () => {
  const { ref, ask } = await serving(new Uint8Array());
  const response = await ask(ref.id);
  expect(response.headers.get("content-length")).toBe("0");
  expect(await response.text()).toBe("");
});

test.each(["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])("%s is not allowed, and what is, is said", async (method) => {
  const { ref, ask } = await serving();
  const response = await ask(ref.id, { method });
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe("GET, HEAD");
});

test.each(["/", "/artifacts/web_0123456789ab", "/app/artifacts", "/app/other", "/apple/artifacts/x"])(
  "%s is for somebody else",
  async (path) => {
    const handle = artifactHandler({ store: new MemoryArtifactStore(), scope: ADA, base: "/app/" });
    expect(await handle(new Request(`http://localhost${path}`))).toBeNull();
  },
);

test.each(["", "app", "/app", "app/"])("%j is no base", (base) => {
  const store = new MemoryArtifactStore();
  expect(() => artifactHandler({ store, scope: ADA, base })).toThrow(
    expect.objectContaining({ code: "E_INVALID_ARGUMENT", path: "base" }),
  );
});

// What is said of an artifact without its bytes.

describe("what is said of an artifact", () => {
  test("is JSON, without whose it is", async () => {
    const source = { tool: "report" };
    const { store, ref, ask } = await serving(TEN, { filename: "a.pdf", source, namespace: "web" });
    const stored = await store.stat(ref.id, ADA);
    const response = await ask(`${ref.id}/meta`);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.json()).toEqual({
      id: ref.id,
      mime_type: "application/pdf",
      size_bytes: 10,
      filename: "a.pdf",
      sha256: ref.sha256,
      namespace: "web",
      source,
      stored_at: stored?.stored_at,
      used_at: stored?.used_at,
    });
  });

  test("has the time it goes where that is known", async () => {
    const { ref, ask } = await serving(TEN, {}, { expiresAt: ({ stored_at }) => stored_at + 1000 });
    const { stored_at, expires_at } = (await (await ask(`${ref.id}/meta`)).json()) as Record<string, number>;
    expect(expires_at).toBe((stored_at ?? 0) + 1000);
  });

  test("HEAD gives its length", async () => {
    const { ref, ask } = await serving();
    const { length } = await (await ask(`${ref.id}/meta`)).text();
    const head = await ask(`${ref.id}/meta`, { method: "HEAD" });
    expect(head.body).toBeNull();
    expect(head.headers.get("content-length")).toBe(String(length));
  });
});

// Parts of the bytes, and answers that depend on what somebody has already.

describe("ranges", () => {
  test.each([
    ["bytes=2-4", "234", "bytes 2-4/10"],
    ["bytes=7-", "789", "bytes 7-9/10"],
    ["bytes=-2", "89", "bytes 8-9/10"],
    ["bytes=0-99", TEN, "bytes 0-9/10"],
  ])("%s", async (range, text, said) => {
    const { ref, ask } = await serving();
    const response = await ask(ref.id, { headers: { range } });
    expect(response.status).toBe(206);
    expect(response.headers.get("content-range")).toBe(said);
    expect(response.headers.get("content-length")).toBe(String(text.length));
    expect(await response.text()).toBe(text);
  });

  test("one past the end is refused, with the size", async () => {
    const { ref, ask } = await serving();
    const response = await ask(ref.id, { headers: { range: "bytes=10-" } });
    expect(response.status).toBe(416);
    expect(response.headers.get("content-range")).toBe("bytes */10");
    expect((await errorOf(response)).message).toContain("which has 10");
  });

  test("If-Range counts for these bytes only", async () => {
    const { ref, ask } = await serving();
    const asked = async (condition: string): Promise<number> =>
      (await ask(ref.id, { headers: { range: "bytes=2-4", "if-range": condition } })).status;
    expect(await asked(`"${ref.sha256}"`)).toBe(206);
    expect(await asked(`W/"${ref.sha256}"`)).toBe(200);
    expect(await asked("Wed, 21 Oct 2026 07:28:00 GMT")).toBe(200);
  });

  test("any header gives a part of the bytes, as long as it says, or none", async () => {
    const { ref, ask } = await serving();
    const part = fc.tuple(fc.option(fc.nat(15)), fc.option(fc.nat(15)));
    const range = fc.oneof(
      part.map(([first, last]) => `bytes=${first ?? ""}-${last ?? ""}`),
      fc.stringMatching(/^bytes=[-0-9, ]{0,20}$/),
      fc.stringMatching(/^[ -~]{0,40}$/),
    );
    await fc.assert(
      fc.asyncProperty(range, async (header) => {
        const response = await ask(ref.id, { headers: { range: header } });
        expect([200, 206, 416]).toContain(response.status);
        if (response.status === 416) return;
        const text = await response.text();
        expect(response.headers.get("content-length")).toBe(String(text.length));
        const said = /^bytes (\d+)-(\d+)\/10$/.exec(response.headers.get("content-range") ?? "bytes 0-9/10");
        expect(text).toBe(TEN.slice(Number(said?.[1]), Number(said?.[2]) + 1));
      }),
    );
  });
});

describe("conditions", () => {
  test("304 has no body, and says what may have changed", async () => {
    const { store, ref, ask } = await serving();
    await store.update(ref.id, { filename: "renamed.pdf" }, ADA);
    const response = await ask(ref.id, { headers: { "if-none-match": `"${ref.sha256}"`, range: "bytes=0-1" } });
    expect(response.status).toBe(304);
    expect(response.body).toBeNull();
    expect(response.headers.get("etag")).toBe(`"${ref.sha256}"`);
    expect(response.headers.get("content-disposition")).toBe('inline; filename="renamed.pdf"');
    expect(response.headers.get("content-length")).toBeNull();
  });

  test("412 is for other bytes", async () => {
    const { ref, ask } = await serving();
    const response = await ask(ref.id, { headers: { "if-match": '"other"' } });
    expect(response.status).toBe(412);
    expect((await errorOf(response)).message).toContain("If-Match");
  });
});

// Under which name an artifact is shown or saved.

test.each(["?download", "?download=1", "?x=1&download=true"])("%s saves", async (query) => {
  const { ref, ask } = await serving(TEN, { filename: 'a"\r\nb/Größe.pdf' });
  const { headers } = await ask(ref.id + query);
  expect(headers.get("content-disposition")).toBe(
    `attachment; filename="a_b_Gro_e.pdf"; filename*=UTF-8''a_b_Gr%C3%B6%C3%9Fe.pdf`,
  );
});

test.each(["?download=0", "?download=false", "?other"])("%s shows", async (query) => {
  const { ref, ask } = await serving();
  expect((await ask(ref.id + query)).headers.get("content-disposition")).toMatch(/^inline; filename="artifact_/);
});

test("any name and type yield headers that can be sent", async () => {
  const store = new MemoryArtifactStore({ retention: null });
  const text = fc.option(anyText());
  await fc.assert(
    fc.asyncProperty(text, text, async (filename, mime_type) => {
      const { ref, ask } = await serving(TEN, {}, { store });
      await store.update(ref.id, { filename, mime_type }, ADA);
      const response = await ask(`${ref.id}?download`);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-disposition")).toMatch(/^attachment; filename="[ -~]+"/);
    }),
  );
});

// What could run script does not.

test("a page is served as UTF-8, whatever charset it claims", async () => {
  const { ref, ask } = await serving("<script>alert(1)</script>", { mime_type: "text/html; charset=utf-7" });
  const { headers } = await ask(ref.id);
  expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});

test.each(["text/html", "image/svg+xml", "application/pdf", "image/png", "text/javascript", "no type", null])(
  "%s is sandboxed",
  async (mime_type) => {
    const { ref, ask } = await serving(TEN, { mime_type });
    expect((await ask(ref.id)).headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none';/);
  },
);

test.each(["audio/mpeg", "video/mp4"])("%s may play itself, and nothing else", async (mime_type) => {
  const { ref, ask } = await serving(TEN, { mime_type });
  const policy = "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'";
  expect((await ask(ref.id)).headers.get("content-security-policy")).toBe(policy);
});

/** 404 and 410, by whose session it is. */

describe("what is not there", () => {
  test("was never there, or is another's: 404 in the same words", async () => {
    const { store, ref, ask } = await serving();
    const theirs = await store.putText("secret", { scope: { user_id: "bob" } });
    const answers = [ref.id.replace(/....$/, "0000"), theirs.id, `${theirs.id}/meta`].map(async (path) => {
      const response = await ask(path);
      return [response.status, Object.fromEntries(response.headers), await response.text()];
    });
    const [unknown, ...others] = await Promise.all(answers);
    expect(unknown?.[0]).toBe(404);
    expect(unknown?.[2]).toContain("E_NOT_FOUND");
    for (const other of others) expect(other).toEqual(unknown);
  });

  test.each(["", "%", "%2e%2e%2f", "..%5c", "a/b", "żółć", "x".repeat(10_000), "web_0123456789ab/meta/meta"])(
    "%j is no id",
    async (path) => {
      const { ask } = await serving();
      const response = await ask(path);
      expect(response.status).toBe(404);
      expect((await response.text()).length).toBeLessThan(300);
    },
  );

  test("was deleted after it was served: 410, and 200 when it is stored again", async () => {
    const { store, ref, ask } = await serving();
    await ask(ref.id, { method: "HEAD" });
    await store.delete(ref.id, ADA);
    for (const path of [ref.id, `${ref.id}/meta`]) {
      const response = await ask(path);
      expect(response.status).toBe(410);
      expect(await errorOf(response)).toMatchObject({
        code: "E_EXPIRED",
        message: expect.stringContaining("Do not retry") as unknown,
      });
    }
    await store.putText(TEN, { scope: ADA });
    expect((await ask(ref.id)).status).toBe(200);
  });

  test("expired: 410, whether or not it was served before", async () => {
    let now = 0;
    const store = new MemoryArtifactStore({ retention: { ttl_seconds: 60 }, clock: () => now });
    const { ref, ask } = await serving(TEN, {}, { store });
    now = 60_000;
    expect((await ask(ref.id)).status).toBe(410);
  });

  test("one scope's memory is not another's", async () => {
    const store = new MemoryArtifactStore({ retention: null });
    const { ref, ask } = await serving(TEN, { scope: { user_id: "ada" } }, { store, scope: namedScope });
    expect((await ask(ref.id, { headers: { "x-user": "ada" } })).status).toBe(200);
    await store.delete(ref.id, { user_id: "ada" });
    expect((await ask(ref.id, { headers: { "x-user": "ada" } })).status).toBe(410);
    expect((await ask(ref.id, { headers: { "x-user": "bob" } })).status).toBe(404);
  });

  test("a request that may have nothing finds nothing", async () => {
    const { ref, ask } = await serving(TEN, {}, { scope: () => null });
    expect((await ask(ref.id)).status).toBe(404);
  });
});

function namedScope({ headers }: Request): ArtifactScope {
  return { user_id: headers.get("x-user") };
}

// Stores and memories that fail.

describe("a store that fails", () => {
  const words = "EIO: /home/ada/.cache/secret";
  class Failing extends MemoryArtifactStore {
    constructor(readonly method: "stat" | "openReader" | "first byte" | "second piece") {
      super({ retention: null });
    }
    override async stat(...asked: Parameters<ArtifactStore["stat"]>): ReturnType<ArtifactStore["stat"]> {
      if (this.method === "stat") throw new Error(words);
      return super.stat(...asked);
    }
    override async openReader(): ReturnType<ArtifactStore["openReader"]> {
      if (this.method === "openReader") throw new Error(words);
      let pieces = this.method === "second piece" ? 1 : 0;
      return new ReadableStream<Uint8Array>({
        pull(controller): void {
          if (pieces-- > 0) controller.enqueue(new Uint8Array(4));
          else controller.error(new Error(words));
        },
      });
    }
  }

  test.each(["stat", "openReader", "first byte"] as const)("at %s: 503, without details", async (method) => {
    const { ref, ask } = await serving(TEN, {}, { store: new Failing(method) });
    const response = await ask(ref.id);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
    const { code, message } = await errorOf(response);
    expect(code).toBe("E_STORE_READ");
    expect(message).not.toContain("secret");
  });

  test("behind the first piece: the body errors", async () => {
    const { ref, ask } = await serving(TEN, {}, { store: new Failing("second piece") });
    const response = await ask(ref.id);
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toMatchObject({ code: "E_STORE_READ" });
  });
});

test("a memory that fails is no reason to refuse", async () => {
  const seen = {
    add: () => Promise.reject(new Error("full")),
    has: () => Promise.reject(new Error("full")),
  };
  const { store, ref, ask } = await serving(TEN, {}, { seen });
  expect((await ask(ref.id)).status).toBe(200);
  await store.delete(ref.id, ADA);
  expect((await ask(ref.id)).status).toBe(404);
});

const TAG = '"abc"';

test.each([
  [{}, "proceed"],
  [{ "if-none-match": '"abc"' }, "not_modified"],
  [{ "if-none-match": 'W/"abc"' }, "not_modified"],
  [{ "if-none-match": '"x", W/"y","abc"' }, "not_modified"],
  [{ "if-none-match": "*" }, "not_modified"],
  [{ "if-none-match": '"ab"' }, "proceed"],
  [{ "if-none-match": "abc" }, "proceed"],
  [{ "if-match": '"abc"' }, "proceed"],
  [{ "if-match": "*" }, "proceed"],
  [{ "if-match": '"x", "abc"' }, "proceed"],
  [{ "if-match": 'W/"abc"' }, "failed"],
  [{ "if-match": '"x"' }, "failed"],
  [{ "if-match": "" }, "failed"],
  [{ "if-match": '"x"', "if-none-match": '"abc"' }, "failed"],
  [{ "if-match": '"abc"', "if-none-match": '"abc"' }, "not_modified"],
])("%j", (headers, verdict) => {
  expect(judgeConditions(new Headers(headers as Record<string, string>), TAG)).toBe(verdict);
});

test.each([
  [undefined, true],
  ['"abc"', true],
  ['W/"abc"', false],
  ['"x"', false],
  ["Wed, 21 Oct 2026 07:28:00 GMT", false],
])("If-Range %s", (condition, counts) => {
  expect(rangeCounts(new Headers(condition === undefined ? {} : { "if-range": condition }), TAG)).toBe(counts);
});

test.each([
  ["bytes=0-0", { start: 0, end: 1 }],
  ["bytes=2-5", { start: 2, end: 6 }],
  ["bytes=2-", { start: 2, end: 10 }],
  ["bytes=2-500", { start: 2, end: 10 }],
  ["bytes=-3", { start: 7, end: 10 }],
  ["bytes=-500", { start: 0, end: 10 }],
  ["BYTES= 9-9 ", { start: 9, end: 10 }],
  ["bytes=10-", "unsatisfiable"],
  ["bytes=10-20", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  [`bytes=${"9".repeat(400)}-`, "unsatisfiable"],
  [`bytes=-${"9".repeat(400)}`, { start: 0, end: 10 }],
  [null, null],
  ["", null],
  ["bytes=", null],
  ["bytes=-", null],
  ["bytes=5-2", null],
  ["bytes=0-1,3-4", null],
  ["bytes=a-b", null],
  ["bytes=+1-2", null],
  ["bytes=1.5-2", null],
  ["items=0-1", null],
  ["0-1", null],
])("%s of ten bytes", (header, span) => {
  expect(readRequestedSpan(header, 10)).toEqual(span);
});

test.each(["bytes=0-", "bytes=0-0", "bytes=-1"])("%s of no bytes cannot be had", (header) => {
  expect(readRequestedSpan(header, 0)).toBe("unsatisfiable");
});

test("any header gives the whole, nothing, or bytes that there are", () => {
  const digits = fc.oneof(fc.constant(""), fc.nat(30).map(String), fc.stringMatching(/^[0-9]{1,30}$/));
  const header = fc.oneof(
    anyText(),
    fc.tuple(digits, digits).map(([first, last]) => `bytes=${first}-${last}`),
  );
  fc.assert(
    fc.property(header, fc.nat(20), (given, size) => {
      const span = readRequestedSpan(given, size);
      if (span === null || span === "unsatisfiable") return;
      expect(span.start).toBeGreaterThanOrEqual(0);
      expect(span.end).toBeGreaterThan(span.start);
      expect(span.end).toBeLessThanOrEqual(size);
    }),
  );
});

function streamed(...pieces: readonly (string | Error)[]): ReadableStream<Uint8Array> & { cancelled: unknown } {
  const left = [...pieces];
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller): void {
        const piece = left.shift();
        if (piece === undefined) controller.close();
        else if (typeof piece === "string") controller.enqueue(new TextEncoder().encode(piece));
        else controller.error(piece);
      },
      cancel(reason): void {
        noted.cancelled = reason;
      },
    },
    { highWaterMark: 0 },
  );
  const noted: ReadableStream<Uint8Array> & { cancelled: unknown } = Object.assign(stream, { cancelled: null });
  return noted;
}

test("pieces go through, empty ones left out", async () => {
  const body = await startBody(streamed("", "ab", "", "c", ""), 3);
  expect(await new Response(body).text()).toBe("abc");
  expect(await new Response(await startBody(streamed(), 0)).text()).toBe("");
});

test("what fails before the first byte is thrown, coded and without details", async () => {
  const failing = startBody(streamed("", new Error("EIO /home/ada/secret")), 3);
  await expect(failing).rejects.toMatchObject({ code: "E_STORE_READ" });
  await expect(failing).rejects.not.toThrow("secret");
});

test("what fails behind it errors the stream", async () => {
  const reader = (await startBody(streamed("ab", new Error("EIO /home/ada/secret")), 3)).getReader();
  expect((await reader.read()).value).toHaveLength(2);
  await expect(reader.read()).rejects.toMatchObject({ code: "E_STORE_READ" });
});

test.each([
  ["fewer", ["ab"]],
  ["more", ["ab", "cd"]],
])("%s bytes than promised error the stream", async (_, pieces) => {
  const reader = (await startBody(streamed(...pieces), 3)).getReader();
  await reader.read();
  await expect(reader.read()).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
});

test("no bytes where some were promised are thrown", async () => {
  await expect(startBody(streamed(), 3)).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
});

test("who goes away stops the reading", async () => {
  const source = streamed("ab", "c");
  const body = await startBody(source, 3);
  await body.cancel("gone");
  expect(source.cancelled).toBe("gone");
});
