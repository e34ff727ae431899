/** The state of a conversation as a word and a colour. */

import type { MayorRow } from "../../api/rows";
import type { Tone } from "../../ui/parts";

export type Standing = { word: string; tone: Tone };

const STANDINGS: Record<MayorRow["state"], Standing> = {
  open: { word: "interrupted", tone: "amber" },
  asking: { word: "thinking", tone: "blue" },
  proposed: { word: "plan awaiting approval", tone: "violet" },
  idle: { word: "ready", tone: "grey" },
  gave_up: { word: "gave up", tone: "red" },
  stopped: { word: "stopped", tone: "grey" },
};

export function standing(row: MayorRow): Standing {
  if (row.state === "open" && !row.reason) return { word: "about to ask", tone: "blue" };
  if (row.state === "idle" && row.convoy) return { word: "plan on the board", tone: "green" };
  return STANDINGS[row.state];
}

/** The mayor is working or about to, so nothing else can be asked. */
export const busy = (row: MayorRow) => row.state === "open" || row.state === "asking";
export const over = (row: MayorRow) => row.state === "gave_up" || row.state === "stopped";
/** Another goal must wait until this conversation is settled. */
export const unsettled = (row: MayorRow | undefined) => row !== undefined && (busy(row) || row.state === "proposed");
