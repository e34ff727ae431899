/** Separates the text of an engine's answer from the JSON plan it may contain. */

export type Written = {
  /** The text without the plan. */
  words: string;
  /** The plan, formatted; empty: none. */
  plan: string;
  tasks: number;
  cancels: number;
};

/** Split an answer into text and plan. Anything that is not a valid plan stays text. */
export function written(text: string): Written {
  for (const found of candidates(text)) {
    const plan = read(found.json);
    if (!plan) continue;
    const words = [text.slice(0, found.from), text.slice(found.to)]
      .map((part) => part.trim())
      .filter(Boolean)
      .join("\n\n");
    return { words, plan: JSON.stringify(plan, null, 2), tasks: size(plan.task), cancels: size(plan.cancel) };
  }
  return { words: text.trim(), plan: "", tasks: 0, cancels: 0 };
}

type Candidate = { from: number; to: number; json: string };

function* candidates(text: string): Generator<Candidate> {
  for (const fence of text.matchAll(/^```\w*\n([\s\S]*?)^```/gm)) {
    if (fence[1]!.includes("{")) yield { from: fence.index, to: fence.index + fence[0].length, json: fence[1]! };
  }
  const from = text.indexOf("{");
  const to = text.lastIndexOf("}") + 1;
  if (from >= 0 && to > from) yield { from, to, json: text.slice(from, to) };
}

function read(json: string): Record<string, unknown> | null {
  try {
    const found: unknown = JSON.parse(json);
    const plan = typeof found === "object" && found !== null && ("task" in found || "cancel" in found);
    return plan ? (found as Record<string, unknown>) : null;
  } catch {
    return null; // not JSON, so it is text
  }
}

const size = (list: unknown) => (Array.isArray(list) ? list.length : 0);
