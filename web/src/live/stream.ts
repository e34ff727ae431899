/**
 * The only connection to `/api/live`. A browser allows six per host, so a tab receives everything
 * through this one. When a page needs something else, it is reopened and continues where it was.
 */

import { signal } from "@preact/signals";
import type { Board } from "../api/rows";
import type { Change, Store } from "./store";

export type Connection = "connecting" | "live" | "cut" | "unknown"; // unknown: not logged in
/** Part of a session's output; `begin` and `end` are opaque positions in it. */
export type OutputPart = { session: string; text: string; begin: string; end: string; restarted: boolean };
export type LogLine = { seq: number; at: number; type: string; actor: string; [name: string]: unknown };
/** The server sends something at least every 15 s; after this much silence the connection is dead. */
const SILENT_MS = 40_000;
const LOOK_MS = 5000;
type Wanted = { output: string; offset: string; tails: number; log: number };

export class Stream {
  readonly state = signal<Connection>("connecting");
  /** When the connection was lost, in milliseconds; 0: connected. */
  readonly cutAt = signal(0);
  readonly tails = signal<Readonly<Record<string, readonly string[]>>>({});

  private source: EventSource | null = null;
  private wanted: Wanted = { output: "", offset: "", tails: 0, log: 0 };
  private readonly logged = new Set<(line: LogLine) => void>();
  private printed: ((part: OutputPart) => void) | null = null;
  private failures = 0;
  private timer = 0;
  private reopening = false;
  private heardAt = Date.now();
  private watch = 0;

  constructor(private readonly store: Store) {}

  open(): void {
    this.reopening = false;
    clearTimeout(this.timer);
    this.source?.close();
    const source = new EventSource(this.address());
    this.source = source;
    this.heardAt = Date.now();
    clearInterval(this.watch);
    this.watch = window.setInterval(() => this.listen(source), LOOK_MS);
    source.onopen = () => {
      this.failures = 0;
      this.state.value = "live";
      this.cutAt.value = 0;
    };
    source.onerror = () => this.lost(source);
    const on = <T>(name: string, take: (data: T) => void) =>
      source.addEventListener(name, (event) => {
        if (source !== this.source) return;
        this.heardAt = Date.now();
        take(JSON.parse((event as MessageEvent<string>).data) as T);
      });
    on("beat", () => undefined);
    on<Board>("state", (board) => this.store.replace(board));
    on<Change>("change", (change) => this.store.change(change));
    on<LogLine>("log", (line) => {
      for (const take of this.logged) take(line);
    });
    on<Record<string, string[]>>("tails", (tails) => (this.tails.value = { ...this.tails.peek(), ...tails }));
    on<OutputPart>("output", (part) => this.took(part));
  }

  /** Receive events as they happen. Returns a function that ends it. */
  followLog(take: (line: LogLine) => void): () => void {
    this.logged.add(take);
    this.want({ log: this.wanted.log + 1 });
    return () => {
      this.logged.delete(take);
      this.want({ log: this.wanted.log - 1 });
    };
  }

  /** Keep the last lines of every running session in `tails`. */
  followTails(): () => void {
    this.want({ tails: this.wanted.tails + 1 });
    return () => {
      this.want({ tails: this.wanted.tails - 1 });
      if (!this.wanted.tails) this.tails.value = {};
    };
  }

  /** Receive the output of one session from an offset on (empty: its last part). One at a time. */
  followOutput(session: string, offset: string, take: (part: OutputPart) => void): () => void {
    this.printed = take;
    this.want({ output: session, offset });
    return () => {
      if (this.printed !== take) return;
      this.printed = null;
      this.want({ output: "", offset: "" });
    };
  }

  private took(part: OutputPart): void {
    if (part.session !== this.wanted.output) return;
    this.wanted.offset = part.end;
    this.printed?.(part);
  }

  private want(more: Partial<Wanted>): void {
    const before = this.address();
    this.wanted = { ...this.wanted, ...more };
    if (!this.source || this.reopening || this.address() === before) return;
    this.reopening = true;
    queueMicrotask(() => this.open());
  }

  private address(): string {
    const { output, offset, tails, log } = this.wanted;
    const asked = new URLSearchParams({ after: String(this.store.reached) });
    if (output) {
      asked.set("output", output);
      if (offset) asked.set("offset", offset);
    }
    if (tails) asked.set("tails", "1");
    if (log) asked.set("log", "1");
    return `/api/live?${asked}`;
  }

  /** A connection can die silently: the machine slept, a tunnel broke, the server hangs. */
  private listen(source: EventSource): void {
    if (Date.now() - this.heardAt > SILENT_MS) this.lost(source, this.heardAt);
  }

  private lost(source: EventSource, since = Date.now()): void {
    if (source !== this.source) return;
    source.close();
    clearInterval(this.watch);
    if (!this.cutAt.peek()) this.cutAt.value = since;
    this.state.value = "cut";
    const rest = Math.min(250 * 2 ** this.failures++, 2000);
    this.timer = window.setTimeout(() => void this.again(), rest);
  }

  /** A stream does not say why it was refused, so check before reopening it. */
  private async again(): Promise<void> {
    try {
      const answer = await fetch("/api/whoami", { signal: AbortSignal.timeout(LOOK_MS) });
      if (answer.status === 401) {
        this.state.value = "unknown";
        return;
      }
    } catch {
      this.lost(this.source!);
      return;
    }
    this.open();
  }
}
