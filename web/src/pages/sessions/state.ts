/** The state of a session as a word and a colour; which sessions are shown, and in which order. */

import type { SessionRow } from "../../api/rows";
import type { Tone } from "../../ui/parts";

export type Filter = { text: string; convoy: string; engine: string; which: string };

const GOOD = ["proved", "handed_over"];
const MEEK = ["stopped", "no_change", "interrupted", "limited", "overflow", "lost_thread"];

export function verdictTone(verdict: string): Tone {
  if (!verdict) return "blue";
  if (GOOD.includes(verdict)) return "green";
  if (verdict === "needs_answer") return "violet";
  return MEEK.includes(verdict) ? "amber" : "red";
}

export const words = (name: string): string => name.replaceAll("_", " ");

export type Standing = { word: string; tone: Tone };

export function standing(
  session: Pick<SessionRow, "live" | "verdict" | "stop" | "question" | "asked" | "limited">,
): Standing {
  if (!session.live) return { word: words(session.verdict), tone: verdictTone(session.verdict) };
  if (session.stop) return { word: "stopping", tone: "amber" };
  if (session.question || session.asked) return { word: "waiting for an answer", tone: "violet" };
  if (session.limited) return { word: "rate limited", tone: "amber" };
  return { word: "running", tone: "blue" };
}

/** Sessions that need a person first, then running ones, then ended ones, newest first. */
export function chosen(sessions: readonly SessionRow[], filter: Filter): SessionRow[] {
  const wanted = filter.text.toLowerCase();
  return sessions
    .filter((one) => (filter.which === "all" ? true : filter.which === "ended" ? !one.live : one.live))
    .filter((one) => !filter.convoy || one.convoy === filter.convoy)
    .filter((one) => !filter.engine || one.profile === filter.engine)
    .filter(
      (one) =>
        !wanted ||
        [one.id, one.title, one.profile, one.model, one.role, one.progress, one.verdict].some((text) =>
          text.toLowerCase().includes(wanted),
        ),
    )
    .sort(
      (one, other) =>
        rank(one) - rank(other) || (one.live ? one.started_at - other.started_at : other.ended_at - one.ended_at),
    );
}

const rank = (one: SessionRow): number => (one.live ? (one.question || one.asked ? 0 : 1) : 2);

/** A line of output for a tile: facts as text; null for facts that are only figures. */
export function readable(line: string): string | null {
  if (!line.startsWith('{"fact"')) return line;
  // The line may be cut off, so it may not be complete JSON.
  const field = (name: string) => new RegExp(`"${name}": ?("(?:[^"\\\\]|\\\\.)*)`).exec(line)?.[1];
  const words = (name: string) => {
    try {
      return String(JSON.parse(`${field(name) ?? '"'}"`));
    } catch {
      return "";
    }
  };
  const kind = words("fact");
  if (kind === "used") return `\x1b[36m${words("tool")}\x1b[39m ${words("what")}`;
  const text = words("text");
  return ["said", "asked", "limited", "told", "finished"].includes(kind) && text ? text : null;
}
