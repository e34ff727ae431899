/** The conversation so far, and a field to continue it. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { MayorRow } from "../../api/rows";
import { now } from "../../lib/clock";
import { useKeys } from "../../lib/keys";
import { plural } from "../../lib/words";
import { Age, Badge, Button, Money, TaskLink } from "../../ui/parts";
import { act } from "../../ui/toast";
import type { Conversation } from ".";
import { written } from "./answers";
import { busy, over } from "./standing";

type Spoken = Conversation["said"][number];
const COMPOSER = "mayor-composer";
const SLOW_MS = 60_000; // then offer to continue, in case nothing is waiting for the answer

export const focusComposer = () => document.getElementById(COMPOSER)?.focus();

export function Chat({ row, talk, current }: { row: MayorRow; talk: Conversation; current: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const said = talk.said.filter((one) => row.said.includes(one.seq)); // fewer while the page shows the past
  useLayoutEffect(() => {
    if (atEnd.current) box.current!.scrollTop = box.current!.scrollHeight;
  }, [said.length, row.state]);
  const scrolled = () => {
    const { scrollTop, clientHeight, scrollHeight } = box.current!;
    atEnd.current = scrollTop + clientHeight > scrollHeight - 40;
  };
  return (
    <section class="chat" aria-label="Conversation with the mayor">
      <div ref={box} class="said" role="log" aria-label="Messages" tabIndex={0} onScroll={scrolled}>
        {!said.some((one) => one.cause === "goal") && (
          <Bubble mine who="Goal" at={row.started_at}>
            <div class="prose">{talk.goal}</div>
          </Bubble>
        )}
        {said.map((one) =>
          one.kind === "asked" ? (
            <Asked key={one.seq} one={one} />
          ) : (
            <Answered key={one.seq} one={one} engine={row.engine} />
          ),
        )}
        <Now row={row} current={current} />
      </div>
      {current && !over(row) && <Composer row={row} />}
      {!current && (
        <p class="small soft earlier">
          This is an earlier conversation. <a href="/mayor">Go to the newest</a>
        </p>
      )}
    </section>
  );
}

function Bubble({
  mine,
  who,
  at,
  more,
  children,
}: {
  mine?: boolean;
  who: string;
  at: number;
  more?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <article class={mine ? "bubble mine" : "bubble"}>
      <header class="small soft across">
        <strong class="cut">{who}</strong>
        {more}
        <span class="faint">
          <Age at={at} />
        </span>
      </header>
      {children}
    </article>
  );
}

/** A question from a person, or one that Corral asked on its own. */
function Asked({ one }: { one: Spoken }) {
  if (one.cause === "goal")
    return (
      <Bubble mine who={one.actor} at={one.at} more="goal">
        <div class="prose">{one.text}</div>
      </Bubble>
    );
  if (one.words)
    return (
      <Bubble mine who={one.actor} at={one.at} more={one.cause === "again" && <Badge tone="amber">asked again</Badge>}>
        <div class="prose">{one.words}</div>
      </Bubble>
    );
  const title =
    one.cause === "wrong"
      ? "Sent back with a list of problems"
      : one.cause === "failure"
        ? "Asked what to do about a failed task"
        : "Asked again";
  return (
    <details class="aside small">
      <summary>
        {title}{" "}
        <span class="faint">
          <Age at={one.at} />
        </span>
      </summary>
      {one.task && (
        <p>
          About <TaskLink id={one.task} />
        </p>
      )}
      <pre class="asis">{one.text}</pre>
    </details>
  );
}

const TROUBLES: Record<string, string> = {
  interrupted: "interrupted",
  stopped: "stopped",
  auth: "not logged in",
  over_budget: "over budget",
  crash: "engine crashed",
};

function Answered({ one, engine }: { one: Spoken; engine: string }) {
  const { words, plan, tasks, cancels } = useMemo(() => written(one.text), [one.text]);
  const problems = one.problems ?? [];
  const wrote = one.wrote ?? [];
  const tone = one.trouble || problems.length ? "amber" : "violet";
  return (
    <Bubble
      who={engine}
      at={one.at}
      more={
        <>
          {one.trouble && <Badge tone="red">{TROUBLES[one.trouble] ?? one.trouble}</Badge>}
          {one.cost && <Money cost={one.cost} />}
        </>
      }
    >
      {words && <div class="prose">{words}</div>}
      {plan && (
        <details class="asis-plan">
          <summary>
            <Badge tone={tone}>
              {tasks ? `plan: ${plural(tasks, "task")}` : "change of plan"}
              {cancels > 0 && `, ${cancels} cancelled`}
            </Badge>{" "}
            <span class="small soft">original text</span>
          </summary>
          <pre class="asis">{plan}</pre>
        </details>
      )}
      {!words && !plan && <span class="soft">No answer.</span>}
      {problems.length > 0 && (
        <div class="problems tone-amber small">
          <strong>This plan cannot be used:</strong>
          <ul>
            {problems.map((problem, at) => (
              <li key={at} class="prose">
                {problem}
              </li>
            ))}
          </ul>
        </div>
      )}
      {wrote.length > 0 && (
        <div class="problems tone-red small">
          <strong>The mayor changed files, which it must not. The changes are kept but not used:</strong>{" "}
          <span class="mono">{wrote.join("  ")}</span>
        </div>
      )}
    </Bubble>
  );
}

/** The current state, below the last message. */
function Now({ row, current }: { row: MayorRow; current: boolean }) {
  if (row.state === "asking") {
    const slow = now.value - row.changed_at > SLOW_MS;
    return (
      <div class="thinking small soft across wrap" role="status">
        <span class="dots" aria-hidden="true">
          <i />
          <i />
          <i />
        </span>
        <span>
          {row.engine} has been thinking for <Age at={row.changed_at} />
        </span>
        {current && slow && <GoOn label="Stuck? Continue" />}
      </div>
    );
  }
  if (row.state === "open")
    return (
      <div class="ended tone-amber small across wrap">
        <span class="grow prose">{row.reason || "About to ask the next question."}</span>
        {current && row.reason && <GoOn label="Continue" />}
      </div>
    );
  if (over(row))
    return (
      <div class="ended tone-grey small prose">
        {row.state === "stopped" ? "Stopped" : "Gave up"}
        {row.reason && `: ${row.reason}`}
      </div>
    );
  if (row.reason) return <div class="ended tone-amber small prose">{row.reason}</div>;
  return null;
}

const GoOn = ({ label }: { label: string }) => (
  <Button icon="play" onClick={() => void act("/api/mayor/start", {}, "Conversation continued")}>
    {label}
  </Button>
);

function Composer({ row }: { row: MayorRow }) {
  const [text, setText] = useState("");
  const [sending, setSending] = useState(false);
  useKeys([{ keys: "i", label: "Write to the mayor", group: "Mayor", run: focusComposer }]);
  const ready = text.trim() && !sending && !busy(row);
  const send = async () => {
    if (!ready) return;
    setSending(true);
    if (await act("/api/mayor/ask", { text: text.trim() }, "Sent to the mayor")) setText("");
    setSending(false);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void send();
  };
  const hint = busy(row)
    ? "The mayor is thinking. You can send this when it has answered"
    : row.pending
      ? "Ask about the plan, or say what to change"
      : "Ask a question, or say what else to do";
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        id={COMPOSER}
        class="input grow"
        rows={2}
        aria-label="Message to the mayor"
        placeholder={hint}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={press}
      />
      <Button
        type="submit"
        kind="first"
        icon="send"
        disabled={!ready}
        title="Enter sends; Shift+Enter starts a new line"
      >
        {sending ? "Sending …" : "Send"}
      </Button>
    </form>
  );
}
