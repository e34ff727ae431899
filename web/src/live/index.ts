/** The page's one store and one connection, and how components read them. */

import { useEffect } from "preact/hooks";
import { get, Refused } from "../api/client";
import { complain } from "../ui/toast";
import { Store } from "./store";
import { type LogLine, type OutputPart, Stream } from "./stream";

export const store = new Store();
export const stream = new Stream(store);
export const tables = store.tables;

let looking: AbortController | null = null;

/** Have the whole dashboard show the board after an event; null: go on with now. */
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

/** While the component is there: the events themselves, as they come. */
export function useLog(take: (line: LogLine) => void): void {
  useEffect(() => stream.followLog(take), []);
}

/** While the component is there: `stream.tails` has the last lines of the running sessions. */
export function useTails(): void {
  useEffect(() => stream.followTails(), []);
}

/** While the component is there: what a session prints, from a place on. */
export function useOutput(session: string, offset: string, take: (part: OutputPart) => void): void {
  useEffect(() => stream.followOutput(session, offset, take), [session]);
}
