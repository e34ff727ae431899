/** Computes the bars and marks of each lane from events and known sessions. */

import type { SessionRow } from "../../api/rows";
import type { Tone } from "../../ui/parts";
import { verdictTone } from "../sessions/state";
import { type LogEvent, taskOf } from "./events";

/** The event types that are drawn. */
export const DRAWN = [
  "session.started",
  "session.ended",
  "session.limited",
  "session.asked",
  "check.started",
  "check.ended",
  "task.landed",
  "task.failed",
  "alert.raised",
  "change.returned",
] as const;

export type Bar = {
  key: string;
  from: number;
  to: number | null;
  tone: Tone;
  told: string;
  session: string;
  run: string;
};
export type Mark = {
  seq: number;
  at: number;
  tone: Tone;
  shape: "landed" | "alert" | "failed" | "returned" | "limited" | "asked";
  told: string;
};
export type Lane = {
  id: string;
  title: string;
  kind: "checks" | "task" | "session" | "other";
  bars: Bar[];
  marks: Mark[];
  first: number;
};
export type By = "task" | "session";

const MARKS: Record<string, { shape: Mark["shape"]; tone: Tone; word: string }> = {
  "task.landed": { shape: "landed", tone: "green", word: "landed" },
  "task.failed": { shape: "failed", tone: "red", word: "failed" },
  "alert.raised": { shape: "alert", tone: "red", word: "alert" },
  "change.returned": { shape: "returned", tone: "amber", word: "returned" },
  "session.limited": { shape: "limited", tone: "amber", word: "rate limited" },
  "session.asked": { shape: "asked", tone: "violet", word: "asks" },
};
const RESULTS: Record<string, Tone> = { green: "green", red: "red", timed_out: "red", cancelled: "grey", lost: "grey" };

const said = (event: LogEvent, name: string): string => (typeof event.data[name] === "string" ? event.data[name] : "");

/**
 * Lay out the lanes. Sessions that started before the first event come from `rows`, the sessions of
 * the board shown; `from` is the left edge, used for anything that started earlier.
 */
export function lanesOf(events: readonly LogEvent[], rows: readonly SessionRow[], by: By, from: number): Lane[] {
  const lanes = new Map<string, Lane>();
  const lane = (id: string, kind: Lane["kind"], at: number): Lane => {
    const found = lanes.get(id) ?? { id, title: id, kind, bars: [], marks: [], first: at };
    lanes.set(id, found);
    found.first = Math.min(found.first, at);
    return found;
  };
  const laneOf = (session: string, at: number) =>
    by === "task" ? lane(taskOf(session), "task", at) : lane(session, "session", at);
  const last = new Map<string, string>(); // task → its newest session so far
  const bars = sessionBars(events, rows, from);
  for (const bar of bars) laneOf(bar.session, bar.from).bars.push(bar);
  for (const bar of checkBars(events, from)) lane("Checks", "checks", -1).bars.push(bar);
  for (const event of events) {
    if (event.type === "session.started") last.set(said(event, "task"), said(event, "session"));
    const mark = MARKS[event.type];
    if (!mark || event.at < from) continue;
    const subject = said(event, "session") || said(event, "task") || said(event, "subject");
    const known = /^[A-Z]+[A-Z0-9]*-\d+(\.\d+)?$/.test(subject);
    const session = subject.includes(".") ? subject : (last.get(subject) ?? newest(rows, subject));
    const told = `${subject} ${mark.word}${reason(event)}`;
    const on = !known
      ? lane("Other", "other", event.at)
      : by === "task"
        ? lane(taskOf(subject), "task", event.at)
        : session
          ? lane(session, "session", event.at)
          : lane("Other", "other", event.at);
    on.marks.push({ seq: event.seq, at: event.at, tone: mark.tone, shape: mark.shape, told });
  }
  return [...lanes.values()].sort(
    (one, other) =>
      rank(one) - rank(other) || one.first - other.first || one.id.localeCompare(other.id, "en", { numeric: true }),
  );
}

const rank = (lane: Lane): number => ({ checks: 0, task: 1, session: 1, other: 2 })[lane.kind];
const newest = (rows: readonly SessionRow[], task: string): string => rows.find((row) => row.task === task)?.id ?? "";
const reason = (event: LogEvent): string => {
  const text = said(event, "text") || said(event, "reason") || said(event, "detail") || said(event, "why");
  return text ? `: ${text.length > 160 ? `${text.slice(0, 160)}…` : text}` : "";
};

function sessionBars(events: readonly LogEvent[], rows: readonly SessionRow[], from: number): Bar[] {
  const found = new Map<string, Bar>();
  const put = (session: string, start: number, end: number | null, verdict: string, more: string) =>
    found.set(session, {
      key: session,
      session,
      run: "",
      from: start,
      to: end,
      tone: verdictTone(verdict),
      told: `${session} ${verdict ? verdict.replaceAll("_", " ") : "is running"}${more}`,
    });
  for (const row of rows)
    if (row.live || row.ended_at >= from)
      put(row.id, row.started_at, row.ended_at || null, row.verdict, row.title ? ` · ${row.title}` : "");
  for (const event of events) {
    const session = said(event, "session");
    if (event.type === "session.started")
      put(session, event.at, found.get(session)?.to ?? null, "", ` · ${said(event, "profile")}`);
    else if (event.type === "session.ended")
      put(session, found.get(session)?.from ?? from, event.at, said(event, "verdict"), reason(event));
  }
  return [...found.values()].filter((bar) => bar.to === null || bar.to >= from);
}

function checkBars(events: readonly LogEvent[], from: number): Bar[] {
  const found = new Map<string, Bar>();
  for (const event of events) {
    const run = said(event, "run");
    if (event.type === "check.started") {
      const members = Array.isArray(event.data.members) ? event.data.members.join(", ") : "";
      found.set(run, {
        key: run,
        run,
        session: "",
        from: event.at,
        to: null,
        tone: "blue",
        told: `${run} checks ${members || "the trunk"}`,
      });
    } else if (event.type === "check.ended") {
      const result = said(event, "result");
      const old = found.get(run);
      found.set(run, {
        key: run,
        run,
        session: "",
        from: old?.from ?? from,
        to: event.at,
        tone: RESULTS[result] ?? "amber",
        told: `${old?.told ?? run}: ${result}${reason(event)}`,
      });
    }
  }
  return [...found.values()].filter((bar) => bar.to === null || bar.to >= from);
}

/** Put overlapping bars into separate rows; return the row of each bar and the number of rows. */
export function stacked(bars: readonly Bar[], end: number): { rows: Map<string, number>; height: number } {
  const free: number[] = [];
  const rows = new Map<string, number>();
  for (const bar of [...bars].sort((one, other) => one.from - other.from)) {
    let row = free.findIndex((until) => until <= bar.from);
    if (row < 0) row = free.length;
    free[row] = bar.to ?? end;
    rows.set(bar.key, row);
  }
  return { rows, height: Math.max(1, free.length) };
}

const STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400, 172_800, 604_800,
].map((seconds) => seconds * 1000);

/** Return at most `most` round times for the axis. */
export function ticks(from: number, to: number, most: number): { at: number; step: number }[] {
  const step = STEPS.find((size) => (to - from) / size <= most) ?? 30 * 86_400_000;
  const zone = new Date(from).getTimezoneOffset() * 60_000; // so that days begin at midnight
  const found = [];
  for (let at = Math.ceil((from - zone) / step) * step + zone; at <= to; at += step) found.push({ at, step });
  return found;
}

/** The periods that the picture can show. */
export const SPANS = [1, 2, 5, 15, 30, 60, 180, 360, 720, 1440, 4320, 10_080, 43_200].map(
  (minutes) => minutes * 60_000,
);

/** Return the next shorter or longer period. */
export function zoomed(span: number, by: 1 | -1): number {
  return by > 0
    ? (SPANS.find((size) => size > span) ?? SPANS.at(-1)!)
    : (SPANS.findLast((size) => size < span) ?? SPANS[0]!);
}
