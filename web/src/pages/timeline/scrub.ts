/** Time travel: the whole dashboard shows the board as it was after an event. */

import { computed, signal } from "@preact/signals";
import { get } from "../../api/client";
import { pastAt } from "../../lib/clock";
import { lookAt, store } from "../../live";
import { complain } from "../../ui/toast";
import type { LogEvent } from "./events";

/** The requested event, which the board catches up with; null: it has. */
const wanted = signal<number | null>(null);
let going = false;

/** The event that is shown or about to be. */
export const shownSeq = computed(() => wanted.value ?? store.past.value ?? store.newest.value);
export const inPast = computed(() => wanted.value !== null || store.past.value !== null);
/** The event itself, if it is loaded. */
export const shownEvent = signal<LogEvent | null>(null);

/** Show the board after an event. While one is loading, only the latest request counts. */
export function look(seq: number): void {
  const to = Math.max(1, seq);
  if (to >= store.newest.peek()) {
    backToNow();
    return;
  }
  wanted.value = to;
  if (!going) void follow();
}

export const step = (by: number): void => look(shownSeq.peek() + by);

export function backToNow(): void {
  wanted.value = null;
  shownEvent.value = null;
  void lookAt(null);
}

async function follow(): Promise<void> {
  going = true;
  try {
    while (wanted.peek() !== null) {
      const seq = wanted.peek()!;
      const [page] = await Promise.all([get("/api/log", {}, { after: seq - 1, limit: 1 }), lookAt(seq)]);
      if (wanted.peek() === null) void lookAt(null); // the reader went back to now in the meantime
      const event = (page.events as LogEvent[])[0];
      if (event) [pastAt.value, shownEvent.value] = [event.at, event];
      if (wanted.peek() === seq) wanted.value = null;
    }
  } catch (error) {
    wanted.value = null;
    complain(error);
  } finally {
    going = false;
  }
}
