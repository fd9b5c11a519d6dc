import { describe, expect, test, vi } from "vitest";
import { visitor, type ServeVisitor } from "./visitor.js";

const JSON_TYPE = { "content-type": "application/json" };

async function upload(seen: ServeVisitor, filename: string, body: string): Promise<string> {
  const answer = await seen.fetch(`artifacts?filename=${filename}`, {
    method: "POST",
    headers: { "content-type": "text/plain" },
    body,
  });
  return ((await answer.json()) as { artifact: { id: string } }).artifact.id;
}

async function textOf(stream: ReadableStream<Uint8Array> | null): Promise<string | null> {
  return stream === null ? null : new Response(stream).text();
}

describe("a session at the page's server", () => {
  test("is begun where none is known, and gone on with where one is", async () => {
    await using seen = await visitor();
    await seen.session.begin(false);
    await seen.session.begin(true);
    expect(seen.asked.filter((line) => line.includes("sessions"))).toEqual(["POST sessions", "GET sessions/current"]);
  });

  test("that is known and over is begun anew", async () => {
    await using seen = await visitor();
    await seen.session.begin(true);
    expect(seen.asked.slice(0, 2)).toEqual(["GET sessions/current", "POST sessions"]);
    expect(seen.told("session_over")).toEqual([]);
  });

  test("of somebody who signed in before the page was opened is gone on with", async () => {
    let knows = true;
    await using seen = await visitor({ authenticate: () => (knows ? { user_id: "ada" } : null) });
    await seen.fetch("sessions", { method: "POST", body: "{}", headers: JSON_TYPE });
    knows = false;
    expect((await seen.session.begin(false)).sources).toEqual([]);
  });

  test("of nobody is refused in the server's own words", async () => {
    await using seen = await visitor({ authenticate: () => null });
    await expect(seen.session.begin(false)).rejects.toMatchObject({
      code: "E_SESSION",
      message: expect.stringMatching(/^Nobody is signed in/) as string,
    });
  });

  test("that ends elsewhere is told of once", async () => {
    await using seen = await visitor();
    await seen.session.begin(false);
    await seen.fetch("sessions/current", { method: "DELETE" });
    await vi.waitFor(() => expect(seen.told("session_over")).toHaveLength(1));
    await seen.session.check();
    await expect(seen.session.remove("served", "x_000000000000")).rejects.toMatchObject({ code: "E_SESSION" });
    expect(seen.told("session_over")).toHaveLength(1);
    await seen.session.begin(true);
    await upload(seen, "a.txt", "a");
    await vi.waitFor(() => expect(seen.told("served").at(-1)?.artifacts).toHaveLength(1));
  });

  test("ends with all that it stored; ending it again is no error", async () => {
    await using seen = await visitor();
    await seen.session.begin(false);
    await upload(seen, "a.txt", "a");
    await seen.session.end();
    expect((await seen.fetch("artifacts")).status).toBe(401);
    await seen.session.end();
    expect(seen.told("session_over")).toEqual([]);
  });

  test("says that the server is away in a sentence that names what to do", async () => {
    await using seen = await visitor();
    seen.leave();
    await expect(seen.session.begin(false)).rejects.toMatchObject({
      code: "E_TOOL_CONNECTION",
      message: "This page's server does not answer: see that it runs, and try again.",
    });
  });
});

describe("what it stored", () => {
  test("is listed as it comes, the newest first, as far as somebody looks", async () => {
    await using seen = await visitor();
    await seen.session.begin(false);
    await upload(seen, "first.txt", "1");
    await vi.waitFor(() => expect(seen.told("served").at(-1)?.artifacts).toHaveLength(1));
    seen.session.watch(false);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await upload(seen, "second.txt", "2");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(seen.told("served").at(-1)?.artifacts).toHaveLength(1);
    seen.session.watch(true);
    await vi.waitFor(() =>
      expect(
        seen
          .told("served")
          .at(-1)
          ?.artifacts.map(({ filename, served }) => [filename, served]),
      ).toEqual([
        ["second.txt", true],
        ["first.txt", true],
      ]),
    );
  });

  test("of too many the newest are listed, and it is said that there are more", async () => {
    await using seen = await visitor();
    await seen.session.begin(false);
    const { id } = (await (await seen.fetch("sessions/current")).json()) as { id: string };
    const scope = { user_id: "local", session_id: id };
    for (let at = 0; at < 250; at += 1) await seen.store.putText(`text ${at}`, { scope });
    await upload(seen, "last.txt", "last");
    await vi.waitFor(() => expect(seen.told("served").at(-1)?.artifacts).toHaveLength(200), { timeout: 5000 });
    expect(seen.told("served").at(-1)?.hasMore).toBe(true);
  });

  test("is read whole or in ranges whose end is not in them; what is empty or gone is so", async () => {
    await using seen = await visitor();
    await seen.session.begin(false);
    const id = await upload(seen, "a.txt", "0123456789");
    const { session } = seen;
    expect(await textOf(await session.bytes("served", id))).toBe("0123456789");
    expect(await textOf(await session.bytes("served", id, { start: 2, end: 5 }))).toBe("234");
    expect(await textOf(await session.bytes("served", id, { start: 8 }))).toBe("89");
    const empty = await upload(seen, "empty.txt", "");
    expect(await textOf(await session.bytes("served", empty, { start: 0, end: 100 }))).toBe("");
    expect(await session.remove("served", id)).toBe(true);
    expect(await session.remove("served", id)).toBe(false);
    expect(await session.bytes("served", id)).toBeNull();
  });

  test("is a file of its name for My Files", async () => {
    await using seen = await visitor();
    await seen.session.begin(false);
    const file = await seen.session.file("served", await upload(seen, "notes.txt", "a note"));
    expect([file.name, file.type, await file.text()]).toEqual(["notes.txt", "text/plain", "a note"]);
  });
});
