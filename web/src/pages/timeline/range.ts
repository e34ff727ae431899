/**
 * A range of the log that goes back from an event: older pages load on demand, and new events are
 * added while the range reaches up to now.
 */

import { signal } from "@preact/signals";
import { type Answer, get } from "../../api/client";
import type { LogLine } from "../../live/stream";
import { complain } from "../../ui/toast";
import type { Filter, LogEvent } from "./events";

export type Page = Pick<Answer<"/api/log">, "seq" | "begin" | "end"> & { events: LogEvent[] };
export type Ask = (query: Record<string, string | number>) => Promise<Page>;

const PAGE = 200;
const AT_ONCE = 1000; // events per request after a lost connection
export const KEPT = 20_000;
const REST_MS = 300; // between two requests for new events

export class Range {
  /** Oldest first. */
  readonly events = signal<readonly LogEvent[]>([]);
  /** The range is complete from this event on; 1: from the beginning. */
  readonly low = signal(0);
  readonly high = signal(0);
  readonly loading = signal(false);
  private waiting: LogEvent[] = [];
  private planned = false;
  private missed = 0;
  private asking = false;
  private again = false;
  private over = false;

  /**
   * `anchor` is the newest event; null: now and all that follow. `fits` selects among new events;
   * null: only the server can tell.
   */
  constructor(
    readonly filter: Filter,
    readonly anchor: number | null,
    private readonly fits: ((event: LogEvent) => boolean) | null,
    private readonly ask: Ask = askServer,
    private readonly kept = KEPT,
  ) {}

  close(): void {
    this.over = true;
  }

  /** There is nothing older, or the range holds as much as it may. */
  get whole(): boolean {
    return this.low.value === 1 || this.events.value.length >= this.kept;
  }

  holds(seq: number): boolean {
    return this.low.value > 0 && seq >= this.low.value && seq <= this.high.value;
  }

  /** Load older events until some match or the beginning is reached. */
  async more(size = PAGE): Promise<void> {
    if (this.loading.peek() || this.whole || this.over) return;
    this.loading.value = true;
    try {
      let found = 0;
      while (found < size / 4 && !this.whole && !this.over) {
        const first = this.low.peek() === 0;
        const before = first ? (this.anchor === null ? Number.MAX_SAFE_INTEGER : this.anchor + 1) : this.low.peek();
        const page = await this.ask({ ...this.asked(), before, limit: size });
        if (this.over) return;
        found += page.events.length;
        if (first) this.high.value = Math.max(this.high.peek(), page.end);
        this.events.value = [...page.events, ...this.events.peek()];
        this.low.value = Math.max(1, page.begin);
        if (first && this.missed > this.high.peek()) void this.fetch();
      }
    } catch (error) {
      complain(error);
    } finally {
      this.loading.value = false;
    }
  }

  /** Take in a new event. */
  take(line: LogLine): void {
    if (this.anchor !== null) return;
    if (this.low.peek() === 0) {
      this.missed = line.seq; // the first page may have been read before it
      return;
    }
    const event = line as unknown as LogEvent;
    const newest = this.waiting.at(-1)?.seq ?? this.high.peek();
    if (event.seq <= newest) return;
    if (this.fits === null || event.seq > newest + 1) {
      void this.fetch();
      return;
    }
    this.waiting.push(event);
    if (this.planned) return;
    this.planned = true;
    requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.planned = false;
    const come = this.waiting.filter((event) => event.seq > this.high.peek());
    this.waiting = [];
    if (!come.length) return;
    if (this.asking) {
      this.again = true;
      return;
    }
    this.high.value = come.at(-1)!.seq;
    this.grow(come.filter((event) => this.fits?.(event) ?? true));
  }

  /** Fetch events newer than the range. */
  private async fetch(): Promise<void> {
    this.again = true;
    if (this.asking) return;
    this.asking = true;
    try {
      while (this.again && !this.over) {
        this.again = false;
        const page = await this.ask({ ...this.asked(), after: this.high.peek(), limit: AT_ONCE });
        this.high.value = Math.max(this.high.peek(), page.end);
        this.grow(page.events);
        await new Promise((done) => setTimeout(done, REST_MS));
        this.again ||= page.end < page.seq;
      }
    } catch (error) {
      complain(error);
    } finally {
      this.asking = false;
    }
  }

  private grow(come: LogEvent[]): void {
    if (!come.length) return;
    const all = [...this.events.peek(), ...come];
    const spare = all.length - this.kept;
    if (spare > 0) this.low.value = all[spare]!.seq;
    this.events.value = spare > 0 ? all.slice(spare) : all;
  }

  private asked(): Record<string, string> {
    return Object.fromEntries(Object.entries(this.filter).filter(([, value]) => value));
  }
}

async function askServer(query: Record<string, string | number>): Promise<Page> {
  return (await get("/api/log", {}, query)) as unknown as Page;
}
