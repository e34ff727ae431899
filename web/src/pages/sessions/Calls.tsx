/** What the engine reports: messages of the model, tool calls and their results. */

import { useMemo } from "preact/hooks";
import type { Answer } from "../../api/client";
import { revealed } from "../../lib/ansi";
import { Badge, EmptyState } from "../../ui/parts";
import { type Step, stepsOf } from "./calls";

const SHOWN = 200;

export function Calls({ found }: { found: Answer<"/api/sessions/{session}/facts"> | null }) {
  const steps = useMemo(
    () =>
      stepsOf(found?.facts ?? [])
        .slice(-SHOWN)
        .reverse(),
    [found],
  );
  if (!found) return <EmptyState title="…" />;
  if (!found.structured)
    return <EmptyState title="This engine prints plain text.">See its output for what it does.</EmptyState>;
  if (!steps.length) return <EmptyState title="No messages or tool calls yet." />;
  return (
    <section class="scroll padded" tabIndex={0} aria-label="Tool calls, newest first">
      <ol class="steps">
        {steps.map((step, at) => (
          <li key={steps.length - at} class={`step ${step.kind}`}>
            <Shown step={step} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Shown({ step }: { step: Step }) {
  if (step.kind === "said") return <p class="prose">{revealed(step.text)}</p>;
  if (step.kind === "note") {
    return (
      <div class="across top">
        <Badge tone={step.bad ? "amber" : "grey"}>{step.word}</Badge>
        <span class="prose soft">{revealed(step.text)}</span>
      </div>
    );
  }
  const head = (
    <>
      <Badge
        tone={step.ok === false ? "red" : step.ok ? "green" : "blue"}
        title={step.ok === false ? "failed" : step.ok ? "succeeded" : "no result yet"}
      >
        {step.tool}
      </Badge>
      <span class="mono cut grow">{revealed(step.what || step.paths.join(" "))}</span>
    </>
  );
  if (!step.answer) return <div class="across">{head}</div>;
  return (
    <details>
      <summary class="across">{head}</summary>
      <pre class="prose">{revealed(step.answer)}</pre>
    </details>
  );
}
