/** What needs a person: shown on the alerts page and the board, and counted in the navigation. */

import { computed } from "@preact/signals";
import type { AlertRow, MessageRow, TaskRow } from "../api/rows";
import { tables } from ".";

/** An unanswered question, or a message that a person was sent or has taken and not acknowledged. */
export const forPeople = (one: MessageRow) =>
  !one.acknowledged && (one.question || one.to === "people" || (one.reader !== "" && !tables.sessions.row(one.reader)));

/** Whether an alert is about a question that is shown itself. */
export const isAsked = (alert: AlertRow) =>
  alert.kind === "question" &&
  tables.messages.rows.value.some((one) => one.question && one.sender === alert.subject && forPeople(one));

/** Nothing continues it automatically: the task has failed, or its session was blocked. */
export const isStuck = (task: TaskRow) => task.state === "failed" || (task.state === "blocked" && task.session !== "");

export const messages = computed(() => tables.messages.rows.value.filter(forPeople));
export const alerts = computed(() => tables.alerts.rows.value.filter((alert) => !isAsked(alert)));
/** Stuck tasks that no open alert mentions. */
export const stuck = computed(() => {
  const told = new Set(tables.alerts.rows.value.map((alert) => alert.subject));
  return tables.tasks.rows.value.filter((task) => isStuck(task) && !told.has(task.id));
});
export const needed = computed(
  () => alerts.value.filter((alert) => !alert.seen_by).length + messages.value.length + stuck.value.length,
);
