/** The page's only store and connection, and the hooks that read them. */

import { useEffect } from "preact/hooks";
import { type Body, type Commands, get, post, Refused } from "../api/client";
import { complain } from "../ui/toast";
import { Store } from "./store";
import { type LogLine, type OutputPart, Stream } from "./stream";

export const store = new Store();
export const stream = new Stream(store);
export const tables = store.tables;

let looking: AbortController | null = null;

/** Carry out a command; return its answer once the page shows what has changed. */
export async function command<P extends Commands>(path: P, body: Body<P>): Promise<unknown> {
  const answer = await post(path, body);
  await store.reach((answer as { seq?: number }).seq ?? 0);
  return answer;
}

/** Show the board as it was after an event in the whole dashboard; null: return to now. */
export async function lookAt(seq: number | null): Promise<void> {
  looking?.abort();
  looking = null;
  if (seq === null) {
    store.backToNow();
    return;
  }
  const mine = new AbortController();
  looking = mine;
  try {
    const board = await get("/api/board", {}, { at: seq }, mine.signal);
    if (looking === mine) store.lookBack(board);
  } catch (error) {
    if (error instanceof Refused) complain(error);
    else if (!mine.signal.aborted) throw error;
  }
}

/** While the component is mounted, receive events as they happen. */
export function useLog(take: (line: LogLine) => void): void {
  useEffect(() => stream.followLog(take), []);
}

/** While the component is mounted, `stream.tails` holds the last lines of the running sessions. */
export function useTails(): void {
  useEffect(() => stream.followTails(), []);
}

/** While the component is mounted, receive the output of a session from an offset on. */
export function useOutput(session: string, offset: string, take: (part: OutputPart) => void): void {
  useEffect(() => stream.followOutput(session, offset, take), [session]);
}
