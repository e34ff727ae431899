/** What needs a person: open alerts, questions from agents, stuck tasks, and upcoming conflicts. */

import { useState } from "preact/hooks";
import type { AlertRow, MessageRow, TaskRow } from "../../api/rows";
import { useKeys } from "../../lib/keys";
import { place, setQuery } from "../../lib/router";
import { plural } from "../../lib/words";
import { tables } from "../../live";
import * as needs from "../../live/needs";
import type { PageProps } from "../../shell/pages";
import {
  Age,
  Badge,
  Button,
  Card,
  EmptyState,
  Page,
  Search,
  SessionLink,
  StateBadge,
  TaskLink,
  toneOf,
} from "../../ui/parts";
import { act } from "../../ui/toast";
import { move } from "../task/actions";
import "./alerts.css";

export default function Alerts(_: PageProps) {
  const wanted = (place.value.query.q ?? "").toLowerCase();
  const fits = (...texts: string[]) => texts.some((text) => text.toLowerCase().includes(wanted));
  const alerts = needs.alerts.value.filter((alert) => fits(alert.kind, alert.subject, alert.text));
  const fresh = alerts.filter((alert) => !alert.seen_by);
  const seen = alerts.filter((alert) => alert.seen_by);
  const asked = needs.messages.value.filter((one) => fits(one.sender, one.text));
  const stuck = needs.stuck.value.filter((task) => fits(task.id, task.title, task.reason));
  const overlaps = tables.overlaps.rows.value.filter((one) => fits(one.task, one.other, one.text));
  useKeys([
    {
      keys: "a",
      label: "Acknowledge all new alerts",
      group: "Alerts",
      run: () => void fresh.forEach((alert) => void acknowledge(alert)),
    },
  ]);
  const nothing = !alerts.length && !asked.length && !stuck.length && !overlaps.length;
  return (
    <Page
      title="Alerts"
      tools={<Search value={place.value.query.q ?? ""} onInput={(q) => setQuery({ q })} label="Filter alerts" />}
    >
      <div class="stack alerts">
        {nothing && (
          <EmptyState title={wanted ? "No matches." : "Nothing needs you."}>
            {!wanted && "Alerts, questions from agents and stuck tasks appear here automatically."}
          </EmptyState>
        )}
        {asked.length > 0 && (
          <Card title={`Messages for you (${asked.length})`} flush>
            <ul>
              {asked.map((one) => (
                <Question key={one.id} message={one} />
              ))}
            </ul>
          </Card>
        )}
        {fresh.length > 0 && (
          <Card
            title={plural(fresh.length, "new alert")}
            flush
            tools={
              <Button icon="check" onClick={() => fresh.forEach((alert) => void acknowledge(alert))}>
                Acknowledge all
              </Button>
            }
          >
            <ul>
              {fresh.map((alert) => (
                <Alert key={alert.id} alert={alert} />
              ))}
            </ul>
          </Card>
        )}
        {stuck.length > 0 && (
          <Card title={plural(stuck.length, "stuck task")} flush>
            <ul>
              {stuck.map((task) => (
                <Stuck key={task.id} task={task} />
              ))}
            </ul>
          </Card>
        )}
        {seen.length > 0 && (
          <Card title={`Acknowledged (${seen.length})`} flush>
            <ul>
              {seen.map((alert) => (
                <Alert key={alert.id} alert={alert} />
              ))}
            </ul>
          </Card>
        )}
        {overlaps.length > 0 && (
          <Card title={`Upcoming conflicts (${overlaps.length})`} flush>
            <ul>
              {overlaps.map((one) => (
                <li key={one.id} class="alert tone-amber">
                  <div class="grow">
                    <div class="across wrap">
                      <TaskLink id={one.task} />{" "}
                      {one.other ? (
                        <>
                          and <TaskLink id={one.other} />
                        </>
                      ) : (
                        "and landed work"
                      )}{" "}
                      <span class="faint small">
                        <Age at={one.since_at} title="since" />
                      </span>
                    </div>
                    <div class="prose soft">{one.text}</div>
                    <div class="small mono cut">{one.paths.join("  ")}</div>
                  </div>
                </li>
              ))}
            </ul>
          </Card>
        )}
      </div>
    </Page>
  );
}

const acknowledge = (alert: AlertRow) => act("/api/alert/acknowledge", { alert: alert.id }, `${alert.id} acknowledged`);

function Alert({ alert }: { alert: AlertRow }) {
  return (
    <li class={`alert ${alert.seen_by ? "tone-grey" : "tone-red"}`} data-alert={alert.id}>
      <div class="grow">
        <div class="across wrap">
          <Badge tone={alert.seen_by ? "grey" : "red"}>{alert.kind}</Badge>
          <Subject id={alert.subject} />
          <span class="faint small mono">{alert.id}</span>
          <span class="faint small">
            <Age at={alert.raised_at} title="raised" />
          </span>
          {alert.seen_by && <span class="faint small">acknowledged by {alert.seen_by}</span>}
        </div>
        <div class="prose">{alert.text}</div>
      </div>
      <div class="across">
        {!alert.seen_by && (
          <Button icon="check" label={`Acknowledge ${alert.id}`} onClick={() => void acknowledge(alert)}>
            Acknowledge
          </Button>
        )}
        <Button
          kind="quiet"
          icon="close"
          label={`Clear ${alert.id}`}
          onClick={() => void act("/api/alert/clear", { alert: alert.id }, `${alert.id} cleared`)}
        >
          Clear
        </Button>
      </div>
    </li>
  );
}

/** The subject of an alert, as a link if it is a task or a session. */
function Subject({ id }: { id: string }) {
  if (tables.tasks.row(id)) return <TaskLink id={id} />;
  if (tables.sessions.row(id)) return <SessionLink id={id} />;
  return <span class="mono">{id}</span>;
}

/** A task that has failed or whose session is blocked: why, and what can be done. */
function Stuck({ task }: { task: TaskRow }) {
  const again =
    task.state === "failed" ? (["retry", "Retry", "again"] as const) : (["unblock", "Unblock", "play"] as const);
  return (
    <li class={`alert tone-${toneOf(task.column)}`} data-stuck={task.id}>
      <div class="grow">
        <div class="across wrap">
          <StateBadge state={task.column} />
          <TaskLink id={task.id} />
          <span class="cut">{task.title}</span>
          <span class="faint small">
            <Age at={task.since_at} title="since" />
          </span>
          {task.session && (
            <span class="faint small">
              last session <SessionLink id={task.session} />
            </span>
          )}
        </div>
        {task.reason && <div class="prose soft">{task.reason}</div>}
      </div>
      <div class="across">
        <Button icon={again[2]} label={`${again[1]}: ${task.id}`} onClick={() => move(task.id, again[0])}>
          {again[1]}
        </Button>
        <Button kind="quiet" label={`Cancel ${task.id} …`} onClick={() => move(task.id, "cancel")}>
          Cancel …
        </Button>
      </div>
    </li>
  );
}

/** Where an answer goes: to the sender, or to its task if the session has ended. */
function backTo(sender: string): string {
  const session = tables.sessions.row(sender);
  return session ? (session.live ? sender : session.task) : "people";
}

/** Read and acknowledge a message; only its reader can acknowledge it. */
async function seen(message: MessageRow, done: string): Promise<void> {
  if (message.reader || (await act("/api/message/read", {}, "")))
    await act("/api/message/ack", { message: message.id }, done);
}

function Question({ message }: { message: MessageRow }) {
  const [text, setText] = useState("");
  const answer = async (event: Event) => {
    event.preventDefault();
    const said = text.trim();
    if (
      !said ||
      !(await act(
        "/api/message/send",
        { to: backTo(message.sender), text: said, reply_to: message.id },
        `Answered ${message.sender}`,
      ))
    )
      return;
    setText("");
    if (message.to === "people" && !message.reader) await seen(message, "");
  };
  return (
    <li class={`alert ${message.question ? "tone-violet" : "tone-blue"}`} data-message={message.id}>
      <div class="grow stack tight">
        <div class="across wrap">
          <Badge tone={message.question ? "violet" : "blue"}>{message.question ? "asks" : "says"}</Badge>
          <Subject id={message.sender} />
          <span class="faint small">to {message.to}</span>
          <span class="faint small">
            <Age at={message.sent_at} title="sent" />
          </span>
        </div>
        <div class="prose">{message.text}</div>
        <form class="across" onSubmit={(event) => void answer(event)}>
          <input
            class="input grow"
            aria-label={`Answer ${message.sender}`}
            placeholder="Answer"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <Button type="submit" icon="send" disabled={!text.trim()}>
            Send
          </Button>
          {!message.question && (
            <Button
              kind="quiet"
              icon="check"
              label={`Mark ${message.id} as read`}
              onClick={() => void seen(message, `${message.id} marked as read`)}
            >
              Mark as read
            </Button>
          )}
        </form>
      </div>
    </li>
  );
}
