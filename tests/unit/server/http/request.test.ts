import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { SluiceServer } from "../../../../web/src/serve.js";
import { type BodyLimits, bodyPieces, readJson, readPath, readQuery } from "../../../../web/src/server/http/request.js";
import { anyText } from "../any-text.js";
import { Visitor } from "../visitor.js";

describe("requests", () => {
  // Bodies that are too large, too slow, or never end.

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  interface Dripping {
    readonly request: Request;
    readonly cancelled: () => boolean;
  }

  /** Gives so many bytes every so many milliseconds, without end. */
  function dripping(bytes: number, milliseconds: number): Dripping {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller): Promise<void> {
          await new Promise((resolve) => setTimeout(resolve, milliseconds));
          if (!cancelled) controller.enqueue(new Uint8Array(bytes));
        },
        cancel(): void {
          cancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    return { request: new Request("http://127.0.0.1/", init), cancelled: () => cancelled };
  }

  /** How many bytes were taken until it failed, after how many seconds, and with which status. */
  async function taken(
    request: Request,
    limits: BodyLimits,
  ): Promise<readonly [bytes: number, seconds: number, status: unknown]> {
    const begun = performance.now();
    let bytes = 0;
    const ends: unknown[] = [];
    const all = async (): Promise<void> => {
      for await (const piece of bodyPieces(request, limits)) bytes += piece.byteLength;
    };
    void all().then(
      () => ends.push(null),
      (error: unknown) => ends.push((error as { status?: unknown }).status),
    );
    for (let second = 0; second < 4000 && ends.length === 0; second++) await vi.advanceTimersByTimeAsync(1000);
    return [bytes, Math.round((performance.now() - begun) / 1000), ends[0]];
  }

  test.each([
    ["a byte every nine seconds", [1, 9000], { maxBytes: 1e9, idleSeconds: 10, slowest: 1000 }, [3, 30, 408]],
    ["nothing at all", [1, 1e9], { maxBytes: 1e9, idleSeconds: 10 }, [0, 10, 408]],
    ["bytes without end, fast", [1000, 1], { maxBytes: 50_500, idleSeconds: 10 }, [50_000, 1, 413]],
    [
      "bytes for longer than all may take",
      [10_000, 1000],
      { maxBytes: 1e9, idleSeconds: 10, totalSeconds: 60 },
      [590_000, 60, 408],
    ],
  ] as const)("%s is given up", async (_, [bytes, every], limits, expected) => {
    const { request, cancelled } = dripping(bytes, every);
    const [got, seconds, status] = await taken(request, limits);
    expect([status, cancelled()]).toEqual([expected[2], true]);
    expect(Math.abs(seconds - expected[1])).toBeLessThanOrEqual(1);
    expect(Math.abs(got - expected[0])).toBeLessThanOrEqual(bytes);
  });

  test("a slow line that is fast enough may take its time", async () => {
    const { request } = dripping(5000, 1000);
    const [got, seconds] = await taken(request, { maxBytes: 3_000_000, idleSeconds: 10, slowest: 4096 });
    expect([got, seconds > 590]).toEqual([3_000_000, true]);
  });

  test("the signal ends it in the middle of waiting", async () => {
    const over = new AbortController();
    const { request, cancelled } = dripping(1, 60_000);
    const first = bodyPieces(request, { maxBytes: 10, idleSeconds: 100, signal: over.signal }).next();
    const failing = first.catch((error: unknown) => String(error));
    await vi.advanceTimersByTimeAsync(1);
    over.abort(new Error("ended"));
    expect([await failing, cancelled()]).toEqual(["Error: ended", true]);
  });

  test.each([
    ["of which the length was told", { "content-length": "5" }, false],
    ["in chunks", {}, true],
  ])("a body %s that ends early is refused, where its stream only ends", async (_, headers, isAborted) => {
    const signal = isAborted ? AbortSignal.abort() : new AbortController().signal;
    const body = new Blob(["abc"]).stream();
    const cut = new Request("http://127.0.0.1/", {
      method: "POST",
      headers,
      signal,
      body,
      duplex: "half",
    } as RequestInit);
    expect(await taken(cut, { maxBytes: 10, idleSeconds: 10 })).toEqual([3, expect.any(Number), 400]);
  });

  const request = (path: string): Request => new Request(`http://127.0.0.1${path}`);

  const parts = (path: string, count: number): readonly string[] => {
    const names = Array.from({ length: count }, (_, at) => `part${at}`);
    const schema = z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
    return Object.values(readPath(request(path), names.map((name) => `/:${name}`).join(""), schema));
  };

  test("what was encoded as one part of a path is one, whatever is in it", () => {
    // Dots alone are no segment of a URL, however they are encoded. Nor is nothing.
    const texts = fc.array(
      anyText()
        // Halves of pairs are no UTF-8, so no address has them.
        .map((text) => text.replaceAll(/\p{Cs}/gu, ""))
        .filter((part) => part !== "" && part !== "." && part !== ".."),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(texts, fc.constantFrom("/", "/sluice/", "/a/b/"), fc.constantFrom("", "/"), (segments, base, end) => {
        const path = segments.map(encodeURIComponent).join("/");
        expect(parts(`${base}resources/${path}${end}`, segments.length)).toEqual(segments);
      }),
    );
  });

  test("each is decoded once", () => {
    expect(parts("/resources/a%252Fb/c%2Fd", 2)).toEqual(["a%2Fb", "c/d"]);
  });

  test.each(["%", "%zz", "%ff", "%c3%28"])("%s is refused", (path) => {
    expect(() => parts(`/resources/${path}`, 1)).toThrow(/does not encode UTF-8/);
  });
});

describe("a body or a query that is not as it must be", () => {
  const SCHEMA = z.strictObject({
    name: z.string().min(1),
    times: z.int().min(1).max(100_000).optional(),
    form: z.enum(["text", "bytes"]).optional(),
    list: z.array(z.object({ id: z.string() })).optional(),
    answer: z.unknown().nonoptional(),
    at: z
      .string()
      .refine((at) => at !== "*", "* stands for all")
      .optional(),
  });
  const SECRET = "do-not-quote-this";

  test.each<[unknown, string, string]>([
    [[], "", "The body must be an object."],
    [{ answer: 1 }, "name", "name is missing."],
    [{ name: "a" }, "answer", "answer is missing."],
    [{ name: "", answer: 1 }, "name", "name must be a string that is not empty."],
    [{ name: { [SECRET]: 1 }, answer: 1 }, "name", "name must be a string."],
    [{ name: "a", answer: 1, times: 0 }, "times", "times must be a whole number of at least 1."],
    [{ name: "a", answer: 1, times: 1e6 }, "times", "times must be a whole number of at most 100,000."],
    [{ name: "a", answer: 1, form: SECRET }, "form", 'form must be "text" or "bytes".'],
    [{ name: "a", answer: 1, list: [{ id: 5 }] }, "list.0.id", "list.0.id must be a string."],
    [{ name: "a", answer: 1, extra: SECRET, more: 1 }, "", 'The body has no key "extra" or "more": leave it out.'],
    [{ name: "a", answer: 1, at: "*" }, "at", "at is not valid: * stands for all."],
  ])("%j is refused in a sentence that does not quote it", async (body, path, message) => {
    const headers = { "content-type": "application/json" };
    const request = new Request("http://127.0.0.1/", { method: "POST", body: JSON.stringify(body), headers });
    await expect(readJson(request, SCHEMA)).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT", path, message });
  });

  test("names the parameter of a query", () => {
    const query = z.object({ limit: z.coerce.number().int().min(1).optional() });
    const asked = (limit: string): unknown => readQuery(new Request(`http://127.0.0.1/?limit=${limit}`), query);
    expect(() => asked("many")).toThrow("The parameter limit must be a whole number.");
    expect(() => asked("0")).toThrow("The parameter limit must be a whole number of at least 1.");
    expect(asked("3")).toEqual({ limit: 3 });
  });
});

describe("the guard of hosts", () => {
  // Pages of other origins: configured ones, and all others.

  const HERE = "http://127.0.0.1:8080";
  const GUEST = "https://app.example";

  const made = (): SluiceServer => new SluiceServer({ store: new MemoryArtifactStore(), origins: [GUEST] });

  const preflight = (server: SluiceServer, origin: string, path = "/artifacts"): Promise<Response> =>
    server.fetch(
      new Request(`${HERE}${path}`, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization" },
      }),
    );

  test("a configured page is let in before it has a session, with a token and without cookies", async () => {
    await using server = made();
    const asked = await preflight(server, GUEST);
    expect(asked.status).toBe(204);
    expect(asked.headers.get("access-control-allow-origin")).toBe(GUEST);
    expect(asked.headers.get("access-control-allow-headers")).toMatch(/Authorization/);
    expect(asked.headers.get("access-control-allow-credentials")).toBeNull();
    const ada = await Visitor.of(server);
    const answers = [
      await ada.ask("/artifacts", { headers: { origin: GUEST } }),
      await ada.ask("/artifacts/none", { headers: { origin: GUEST } }),
      await ada.ask("/artifacts?limit=0", { headers: { origin: GUEST } }),
      await server.fetch(new Request(`${HERE}/artifacts`, { headers: { origin: GUEST } })),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 400, 401]);
    for (const { headers } of answers) {
      expect([headers.get("access-control-allow-origin"), headers.get("vary")]).toEqual([GUEST, "Origin"]);
    }
  });

  test("every other page is refused, the preflight too", async () => {
    await using server = made();
    for (const origin of [
      "https://evil.example",
      "null",
      `${GUEST}.evil.example`,
      "http://app.example",
      "http://127.0.0.1:9999",
    ]) {
      const asked = await preflight(server, origin);
      expect([asked.status, asked.headers.get("access-control-allow-origin")]).toEqual([403, null]);
      const got = await (await Visitor.of(server)).ask("/artifacts", { headers: { origin } });
      expect(got.status).toBe(403);
    }
  });

  test("a configured page has no use of somebody's cookie", async () => {
    await using server = made();
    const begun = await server.fetch(
      new Request(`${HERE}/sessions`, { method: "POST", body: "{}", headers: { "content-type": "application/json" } }),
    );
    const cookie = begun.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const asked = async (origin: string): Promise<number> =>
      (await server.fetch(new Request(`${HERE}/artifacts`, { headers: { cookie, origin } }))).status;
    expect([await asked(HERE), await asked(GUEST)]).toEqual([200, 401]);
  });

  test("a link from elsewhere leads to the page, and to no artifact", async () => {
    await using server = made();
    const from = async (path: string): Promise<number> => {
      const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
      return (await server.fetch(new Request(`${HERE}${path}`, { headers }))).status;
    };
    expect(await from("/artifacts/web_0123456789ab")).toBe(403);
    expect(await from("/")).not.toBe(403);
    expect(await from("/oauth/callback")).not.toBe(403);
  });

  test("a name that is not ours leads nowhere", async () => {
    await using server = made();
    for (const host of ["evil.example", "127.0.0.1.evil.example", "127.0.0.1:8080@evil.example"]) {
      const response = await server.fetch(new Request(`${HERE}/health`, { headers: { host } }));
      expect(response.status).toBe(403);
    }
  });
});
