/** The output of a session while its page is open, and data that is refreshed as it runs. */

import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get } from "../../api/client";
import { stream } from "../../live";
import { complain } from "../../ui/toast";
import { type Part, Printed } from "./output";

const PAGE = 131_072; // bytes per request

export class Feed {
  printed = new Printed();
  /** Increases when the output changes, at most once per frame. */
  readonly version = signal(0);
  /** There is newer output that is not shown, because the reader has scrolled far back. */
  readonly newer = signal(false);
  private planned = false;
  private busy = false;
  private end: (() => void) | null = null;

  constructor(readonly session: string) {}

  open(): () => void {
    this.end = stream.followOutput(this.session, "", (part) => this.take(part));
    return () => this.end?.();
  }

  /** Start again with the last part. */
  toEnd(): void {
    this.end?.();
    this.printed = new Printed();
    this.newer.value = false;
    this.open();
    this.draw();
  }

  /** Load older output; return false if there is none or a request is running. */
  async older(): Promise<boolean> {
    const { begin, whole } = this.printed;
    if (this.busy || whole || !begin) return false;
    return await this.load({ before: begin }, (part) => this.printed.prepend(part));
  }

  /** Load later output, if the newest part was dropped. */
  async later(): Promise<boolean> {
    if (this.busy || !this.printed.detached) return false;
    return await this.load({ after: this.printed.end }, (part) => {
      if (part.text) this.printed.append(part);
      else this.toEnd(); // it has caught up
    });
  }

  private async load(where: { before: string } | { after: string }, take: (part: Part) => void): Promise<boolean> {
    this.busy = true;
    const { printed } = this;
    try {
      const page = await get("/api/sessions/{session}/output", { session: this.session }, { ...where, bytes: PAGE });
      if (printed !== this.printed) return false;
      take({ text: page.text ?? "", begin: page.begin ?? "", end: page.end ?? "", restarted: page.restarted ?? false });
      this.draw();
      return true;
    } catch (error) {
      complain(error);
      return false;
    } finally {
      this.busy = false;
    }
  }

  private take(part: Part): void {
    if (this.printed.detached) this.newer.value = true;
    else this.printed.append(part);
    this.draw();
  }

  private draw(): void {
    if (this.planned) return;
    this.planned = true;
    requestAnimationFrame(() => {
      this.planned = false;
      this.version.value++;
    });
  }
}

export function useFeed(session: string): Feed {
  const feed = useMemo(() => new Feed(session), [session]);
  useEffect(() => feed.open(), [feed]);
  return feed;
}

/**
 * Fetch data immediately, when `key` changes, and when `tick` does, but at most once every `everyMs`
 * milliseconds.
 */
export function useAsked<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  key: string,
  tick: ReadonlySignal<unknown>,
  everyMs: number,
): { found: T | null; again: () => void } {
  const [found, setFound] = useState<T | null>(null);
  const run = useRef<() => void>(() => undefined);
  useEffect(() => {
    const asking = new AbortController();
    let [busy, wanted, timer] = [false, false, 0];
    const look = () => {
      if (busy) {
        wanted = true;
        return;
      }
      [busy, wanted] = [true, false];
      ask(asking.signal)
        .then((answer) => !asking.signal.aborted && setFound(answer))
        .catch((error: unknown) => !asking.signal.aborted && complain(error))
        .finally(() => {
          timer = window.setTimeout(() => {
            busy = false;
            if (wanted && !asking.signal.aborted) look();
          }, everyMs);
        });
    };
    run.current = () => {
      clearTimeout(timer);
      busy = false;
      look();
    };
    const end = tick.subscribe(look);
    return () => {
      end();
      clearTimeout(timer);
      asking.abort();
    };
  }, [key]);
  return { found, again: () => run.current() };
}
