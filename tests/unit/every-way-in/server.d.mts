/** A response with its `id` first or last. */
export function composed(id: unknown, kind: "result" | "error", body: Buffer, place: "first" | "last"): Buffer;
