/** Turns the facts of an engine into steps: messages, and tool calls with their results. */

import type { Answer } from "../../api/client";

export type Fact = Answer<"/api/sessions/{session}/facts">["facts"][number];
type Of<Kind extends Fact["fact"]> = Extract<Fact, { fact: Kind }>;
export type Step =
  | { kind: "said"; text: string }
  | { kind: "call"; tool: string; what: string; paths: readonly string[]; answer: string; ok: boolean | null }
  | { kind: "note"; word: string; text: string; bad: boolean };

export function stepsOf(facts: readonly Fact[]): Step[] {
  const steps: Step[] = [];
  const calls = new Map<string, Extract<Step, { kind: "call" }>>();
  for (const fact of facts) {
    if (fact.fact === "used") {
      const call = {
        kind: "call" as const,
        tool: fact.tool,
        what: fact.what ?? "",
        paths: fact.paths ?? [],
        answer: "",
        ok: null,
      };
      if (fact.call) calls.set(fact.call, call);
      steps.push(call);
    } else if (fact.fact === "answered") {
      const call = calls.get(fact.call ?? "");
      if (call) Object.assign(call, { ok: fact.ok ?? true, answer: fact.text ?? "" });
      else steps.push({ kind: "note", word: "answer", text: fact.text ?? "", bad: fact.ok === false });
    } else {
      const step = noted(fact);
      if (step) steps.push(step);
    }
  }
  return steps;
}

function noted(fact: Exclude<Fact, Of<"used"> | Of<"answered">>): Step | null {
  const note = (word: string, text = "", bad = false): Step => ({ kind: "note", word, text, bad });
  switch (fact.fact) {
    case "said":
      return { kind: "said", text: fact.text };
    case "began":
      return note("began", [fact.model, fact.version].filter(Boolean).join(" "));
    case "compacted":
      return note("compacted", "the engine shortened its conversation");
    case "limited":
      return note("limited", fact.text || fact.trouble, true);
    case "asked":
      return note("asks", fact.text, true);
    case "told":
      return note("was told", fact.text);
    case "denied":
      return note("denied", [fact.tool, fact.what].filter(Boolean).join(" "), true);
    case "finished":
      return note("finished", [fact.trouble, fact.text].filter(Boolean).join(": "), !!fact.trouble);
    default:
      return null; // tokens and context are shown as figures
  }
}

/** The share of the model's context last in use, from 0 to 1; null: unknown. */
export function windowOf(facts: readonly Fact[]): number | null {
  const last = facts.findLast((fact) => fact.fact === "window");
  return last?.fact === "window" && last.size ? last.used / last.size : null;
}
