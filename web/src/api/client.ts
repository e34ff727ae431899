/** Queries and commands, typed by the server's OpenAPI document. A refusal carries a hint. */

import type { paths } from "./schema";

export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

type Json<T> = T extends { content: { "application/json": infer Body } } ? Body : never;
type Operation<Path extends keyof paths, Method extends "get" | "post"> = NonNullable<paths[Path][Method]>;
type Good<O> = O extends { responses: { 200: infer Answer } } ? Json<Answer> : never;
type Data<O> = Good<O> extends { data: infer D } ? D : never;

export type Gettable = { [P in keyof paths]: Data<Operation<P, "get">> extends never ? never : P }[keyof paths];
export type Commands = { [P in keyof paths]: paths[P] extends { post: object } ? P : never }[keyof paths];
export type Body<P extends Commands> =
  Operation<P, "post"> extends { requestBody: { content: { "application/json": infer B } } }
    ? B
    : Record<string, never>;
export type Answer<P extends Gettable> = Data<Operation<P, "get">>;
type Values = Record<string, string | number | boolean>;

/** Return the data of a view. Names in braces are filled in from `inPath`. */
export async function get<P extends Gettable>(
  path: P,
  inPath: Record<string, string> = {},
  query: Values = {},
  signal?: AbortSignal,
): Promise<Answer<P>> {
  const asked = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(inPath[name] ?? ""));
  const address = asked.size ? `${filled}?${asked}` : filled;
  return (await answered(fetch(address, signal ? { signal } : {}))) as Answer<P>;
}

/** Carry out a command. The idempotency key makes it safe to retry if the reply was lost. */
export async function post<P extends Commands>(path: P, body: Body<P>): Promise<unknown> {
  const headers = { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() };
  const ask = () => answered(fetch(path, { method: "POST", headers, body: JSON.stringify(body) }));
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Refused && error.code === "unreachable") return await ask();
    throw error;
  }
}

async function answered(asking: Promise<Response>): Promise<unknown> {
  let response: Response;
  let said: { ok: boolean; data?: unknown; error?: { code: string; message: string; hint: string } };
  try {
    response = await asking;
    said = await response.json();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Refused(0, "unreachable", "The server does not respond.", "start it with: corral up");
  }
  if (said.ok) return said.data;
  const { code, message, hint } = said.error ?? {
    code: "unexpected",
    message: "The server sent a reply that cannot be read.",
    hint: "",
  };
  throw new Refused(response.status, code, message, hint);
}
