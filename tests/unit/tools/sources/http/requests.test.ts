/** Requests from call templates and arguments. */
import { describe, expect, test } from "vitest";
import { called, failure, list, served } from "../api.js";

describe("requests", () => {
  test("path, query, header fields and body, each in its place", async () => {
    const { source } = await served((origin) => ({
      put: {
        url: `${origin}/users/{id}/notes?v=1`,
        http_method: "PUT",
        headers: { "x-static": "yes" },
        header_fields: ["X-Request"],
        body_field: "note",
      },
    }));
    const args = {
      id: "a/b ?ü",
      "X-Request": 7,
      note: { text: "hi" },
      tag: ["x", "y"],
      deep: { a: 1 },
      none: null,
      all: true,
    };
    const { reduced } = await called(source, "put", args);
    expect(reduced.value).toMatchObject({
      method: "PUT",
      path: "/users/a%2Fb%20%3F%C3%BC/notes",
      query: [
        ["v", "1"],
        ["tag", "x"],
        ["tag", "y"],
        ["deep", '{"a":1}'],
        ["all", "true"],
      ],
      headers: { "x-static": "yes", "x-request": "7", "content-type": "application/json" },
      body: '{"text":"hi"}',
    });
  });

  test("forms, text, and no body with GET", async () => {
    const { source } = await served((url) => ({
      form: { url, http_method: "POST", content_type: "application/x-www-form-urlencoded" },
      parts: { url, http_method: "POST", content_type: "multipart/form-data" },
      text: { url, http_method: "POST", content_type: "text/markdown" },
      get: { url },
    }));
    const body = { a: "1 2", b: ["x", "y"] };
    expect((await called(source, "form", { body })).reduced.value).toMatchObject({ body: "a=1+2&b=x&b=y" });
    const parts = (await called(source, "parts", { body })).reduced.value as {
      headers: Record<string, string>;
      body: string;
    };
    expect(parts.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    expect(parts.body).toContain('name="a"\r\n\r\n1 2');
    const text = { headers: { "content-type": "text/markdown" }, body: "# hi" };
    expect((await called(source, "text", { body: "# hi" })).reduced.value).toMatchObject(text);
    expect((await called(source, "get", { body: "x" })).reduced.value).toMatchObject({
      query: [["body", "x"]],
      body: "",
    });
  });

  test("an argument changes neither the server nor the path beyond its place", async () => {
    const { source, server } = await served((origin) => ({
      one: { url: `${origin}/users/{id}/delete` },
      host: { url: "https://{host}/x" },
      glued: { url: `${origin}{path}` },
    }));
    for (const id of ["..", "."]) {
      expect(await failure(called(source, "one", { id }))).toMatchObject({ code: "E_TOOL_CLIENT" });
    }
    for (const id of ["%2e%2e", ".%2E"]) await called(source, "one", { id });
    expect(server.seen.map(({ path }) => path)).toEqual(["/utcp", "/users/%252e%252e/delete", "/users/.%252E/delete"]);
    expect(await failure(called(source, "one"))).toMatchObject({
      code: "E_TOOL_CLIENT",
      message: expect.stringContaining('"id"') as string,
    });
    expect(await failure(called(source, "host", { host: "evil.example" }))).toMatchObject({ code: "E_TOOL_CONFIG" });
    expect(await failure(called(source, "glued", { path: ".evil.example" }))).toMatchObject({ code: "E_TOOL_CONFIG" });
  });

  test("a header is one line, and its value is not told", async () => {
    const { source } = await served((url) => ({ get: { url, header_fields: ["x-a", "host"] } }));
    const error = await failure(called(source, "get", { "x-a": "a\r\nx-evil: s3cret" }));
    expect(error).toMatchObject({ code: "E_TOOL_CLIENT" });
    expect(String(error)).not.toContain("s3cret");
    const { headers } = (await called(source, "get", { host: "evil.example" })).reduced.value as {
      headers: Record<string, string>;
    };
    expect(headers["host"]).not.toBe("evil.example");
  });

  test("which of them may be made twice", async () => {
    const { source } = await served((url) =>
      Object.fromEntries(
        ["GET", "POST", "PUT", "PATCH", "DELETE"].map((http_method) => [http_method, { url, http_method }]),
      ),
    );
    const repeatable = (await list(source)).filter(({ isRepeatable }) => isRepeatable).map(({ name }) => name);
    expect(repeatable).toEqual(["GET", "PUT", "DELETE"]);
  });
});
