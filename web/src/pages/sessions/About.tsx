/** The panel beside a session's output: state, figures, messages and actions. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Answer } from "../../api/client";
import type { SessionRow } from "../../api/rows";
import { useKeys } from "../../lib/keys";
import { bytes, count, moment, plural, span } from "../../lib/words";
import { tables } from "../../live";
import { Age, Badge, Button, Card, Dialog, Field, Money, SessionLink, TaskLink } from "../../ui/parts";
import { act } from "../../ui/toast";
import { standing, verdictTone, words } from "./state";

const ATTEMPTS = 12; // attempts listed at most
type Usage = Answer<"/api/sessions/{session}/usage">;
type Why = Answer<"/api/tasks/{task}/why">;

export function About({
  session,
  usage,
  context,
  why,
}: {
  session: SessionRow;
  usage: Usage;
  context: number | null;
  why: Why | null;
}) {
  return (
    <div class="about stack">
      {(session.question || session.asked) && session.live && <Question session={session} />}
      {session.verdict && <Verdict session={session} why={why} />}
      {session.progress && (
        <Card
          title="Progress"
          tools={
            <span class="small soft">
              <Age at={session.progress_at} title="said" /> ago
            </span>
          }
        >
          <p class="prose">{session.progress}</p>
          {session.outputs > 0 && (
            <p class="small soft">
              {plural(session.outputs, "output")} so far, the last <Age at={session.outputs_at} /> ago
            </p>
          )}
        </Card>
      )}
      <Card title="About">
        <Figures session={session} usage={usage} context={context} />
      </Card>
      {session.reactions.length > 0 && (
        <Card title="Actions taken">
          <ul class="stack small">
            {session.reactions.map((text, at) => (
              <li key={at} class="prose">
                {text}
              </li>
            ))}
          </ul>
        </Card>
      )}
      <Talk session={session} />
    </div>
  );
}

function Verdict({ session, why }: { session: SessionRow; why: Why | null }) {
  return (
    <Card
      title={
        <>
          Verdict: <Badge tone={verdictTone(session.verdict)}>{words(session.verdict)}</Badge>
        </>
      }
    >
      <div class="stack">
        {session.detail && <p class="prose">{session.detail}</p>}
        {session.commit && (
          <p class="small soft">
            Final commit: <span class="mono">{session.commit.slice(0, 12)}</span>
          </p>
        )}
        {why &&
          why.session === session.id &&
          why.met?.map((text, at) => (
            <p key={at} class="small prose soft">
              {text}
            </p>
          ))}
        {why && why.session === session.id && <p class="small soft">{why.summary}</p>}
      </div>
    </Card>
  );
}

function Figures({ session, usage, context }: { session: SessionRow; usage: Usage; context: number | null }) {
  const { fresh = 0, cached = 0, output = 0 } = session.cost;
  const convoy = tables.convoys.row(session.convoy);
  return (
    <dl class="pairs">
      <Pair name="task">
        <TaskLink id={session.task} /> <span class="soft">{session.title}</span>
      </Pair>
      <Attempts session={session} />
      <Pair name="convoy">
        <a href={`/convoy/${encodeURIComponent(session.convoy)}`}>{convoy?.title ?? session.convoy}</a>
      </Pair>
      <Pair name="engine">
        {[session.profile, session.model].filter(Boolean).join(" · ")}
        {session.launches > 1 && `, started ${plural(session.launches, "time")}`}
      </Pair>
      {(session.account || session.pool) && (
        <Pair name="account">
          {[session.account, session.pool].filter(Boolean).join(" · ")}
          {session.limited && session.live && (
            <>
              {" "}
              <Badge tone="amber">rate limited</Badge>
            </>
          )}
        </Pair>
      )}
      <Pair name="started">{moment(session.started_at)}</Pair>
      {session.live ? (
        <Pair name="running">
          <Age at={session.started_at} />
          {session.wall_s > 0 && <span class="soft"> of {span(session.wall_s * 1000)}</span>}
        </Pair>
      ) : (
        <Pair name="ran">
          {span(session.ended_at - session.started_at)}, ended {moment(session.ended_at)}
        </Pair>
      )}
      {session.turns > 0 && <Pair name="turns">{count(session.turns)}</Pair>}
      {output + fresh > 0 && (
        <Pair name="cost">
          <Money cost={session.cost} />{" "}
          <span class="soft number">
            {count(fresh + cached)} in, {count(output)} out
          </span>
        </Pair>
      )}
      {context !== null && (
        <Pair name="context">
          <Meter part={context} label="Context in use" /> {Math.round(context * 100)} %
        </Pair>
      )}
      {usage && (
        <Pair name="processes">
          <span class="number">
            {usage.processes} · {bytes(usage.pss)} · {usage.cpu_s.toFixed(1)} s CPU
          </span>
        </Pair>
      )}
      <Pair name="branch">
        <span class="mono small breaks">{session.branch}</span>
      </Pair>
      <Pair name="base">
        <span class="mono small">{session.base.slice(0, 12)}</span>
      </Pair>
    </dl>
  );
}

/** Links to the other sessions of the task. */
function Attempts({ session }: { session: SessionRow }) {
  const all = tables.tasks.row(session.task)?.attempts ?? 0;
  if (all < 2) return null;
  const ids = Array.from({ length: all }, (_, at) => `${session.task}.${at + 1}`).slice(-ATTEMPTS);
  return (
    <Pair name="attempts">
      <span class="across wrap">
        {ids.map((id) =>
          id === session.id ? (
            <strong key={id} class="mono" aria-current="true">
              {id}
            </strong>
          ) : (
            <SessionLink key={id} id={id} />
          ),
        )}
      </span>
    </Pair>
  );
}

const Pair = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const Meter = ({ part, label }: { part: number; label: string }) => (
  <div
    class={`meter ${part > 0.8 ? "tone-amber" : ""}`}
    role="progressbar"
    aria-label={label}
    aria-valuemin={0}
    aria-valuemax={100}
    aria-valuenow={Math.round(part * 100)}
  >
    <span style={{ width: `${Math.min(100, part * 100)}%` }} />
  </div>
);

/** The question that the session waits for; the answer goes into the form below. */
function Question({ session }: { session: SessionRow }) {
  const asked = session.question ? tables.messages.row(session.question) : undefined;
  return (
    <section class="panel question" data-question={session.question}>
      <div class="body">
        <Badge tone="violet">asks</Badge> <p class="prose">{asked?.text ?? session.asked}</p>
      </div>
    </section>
  );
}

/** Messages to and from the session, and a form to write one. */
function Talk({ session }: { session: SessionRow }) {
  const [text, setText] = useState("");
  const names = [`session:${session.id}`, `task:${session.task}`];
  const said = tables.messages.rows.value.filter((one) => one.sender === session.id || names.includes(one.to));
  const answering = session.question;
  const send = async () => {
    const body = { to: session.id, text: text.trim(), ...(answering ? { reply_to: answering } : {}) };
    if (
      body.text &&
      (await act("/api/message/send", body, answering ? `Answered ${session.id}` : `Sent to ${session.id}`))
    )
      setText("");
  };
  const submit = (event: Event) => {
    event.preventDefault();
    void send();
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  };
  useKeys([
    { keys: "s", label: "Write to the session", group: "Session", run: () => document.getElementById("say")?.focus() },
  ]);
  if (!session.live && !said.length) return null;
  return (
    <Card title="Messages">
      <div class="stack">
        {said.length > 0 && (
          <ul class="talk">
            {said.map((one) => (
              <li key={one.id} class={one.sender === session.id ? "theirs" : "ours"}>
                <div class="small faint">
                  {one.sender} · <Age at={one.sent_at} title="sent" />
                  {one.sender !== session.id && (one.read_at ? " · read" : " · unread")}
                </div>
                <div class="prose">{one.text}</div>
              </li>
            ))}
          </ul>
        )}
        {session.live && (
          <form class="stack tight" onSubmit={submit}>
            <textarea
              id="say"
              class="input"
              rows={2}
              aria-label={answering ? `Answer ${session.id}` : `Message to ${session.id}`}
              placeholder={answering ? "Answer the question" : "Write a message; the session gets it at its next turn"}
              value={text}
              onKeyDown={press}
              onInput={(event) => setText(event.currentTarget.value)}
            />
            <div class="across">
              <span class="small faint grow">Press Ctrl+Enter to send</span>
              <Button type="submit" kind={answering ? "first" : undefined} icon="send" disabled={!text.trim()}>
                {answering ? "Answer" : "Send"}
              </Button>
            </div>
          </form>
        )}
      </div>
    </Card>
  );
}

export function Stop({ session }: { session: SessionRow }) {
  const [asking, setAsking] = useState(false);
  const [reason, setReason] = useState("stopped on the dashboard");
  useKeys([{ keys: "X", label: "Stop the session …", group: "Session", run: () => session.live && setAsking(true) }]);
  if (!session.live) return null;
  const stop = async (event: Event) => {
    event.preventDefault();
    if (
      await act(
        "/api/session/stop",
        { session: session.id, reason: reason.trim() || "stopped on the dashboard" },
        `Stopping ${session.id}`,
      )
    )
      setAsking(false);
  };
  return (
    <>
      <Button
        kind="danger"
        icon="stop"
        disabled={standing(session).word === "stopping"}
        onClick={() => setAsking(true)}
      >
        {session.stop ? "Stopping …" : "Stop"}
      </Button>
      {asking && (
        <Dialog title={`Stop ${session.id}?`} onClose={() => setAsking(false)}>
          <form class="fill" onSubmit={(event) => void stop(event)}>
            <p>
              Everything that it started is ended. Its commits stay on its branch, and what it has not committed is
              kept.
            </p>
            <Field label="Reason">
              <input class="input" value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
            </Field>
            <div class="foot">
              <Button onClick={() => setAsking(false)}>Keep running</Button>
              <Button type="submit" kind="first" icon="stop">
                Stop session
              </Button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}
