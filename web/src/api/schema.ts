// Generated from the server's OpenAPI document: run `make web`, do not edit.

export interface paths {
  "/api/convoy/create": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Create a convoy: a group of related tasks that share a feature branch. */
    post: operations["post /api/convoy/create"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/task/add": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Add a task to the board. */
    post: operations["post /api/task/add"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/task/edit": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Change what a task asks for, while nobody is working on it. */
    post: operations["post /api/task/edit"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/plan/apply": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Create the convoy and the tasks of a plan, or update them: all or nothing. */
    post: operations["post /api/plan/apply"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/task/claim": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Claim a task: nobody else can work on it until the claim ends or lapses. */
    post: operations["post /api/task/claim"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/task/renew": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Extend a claim: it lapses after the given time from now. */
    post: operations["post /api/task/renew"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/task/submit": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Hand in the work of a task, which then waits to land. */
    post: operations["post /api/task/submit"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/task/fail": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** End an attempt without a result. */
    post: operations["post /api/task/fail"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/task/block": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Report that a task cannot continue; its claim ends. */
    post: operations["post /api/task/block"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/task/unblock": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Put a blocked task back on the board. */
    post: operations["post /api/task/unblock"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/task/retry": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Put a task back on the board for another attempt. */
    post: operations["post /api/task/retry"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/task/cancel": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Give up a task; any claim on it ends. */
    post: operations["post /api/task/cancel"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/task/hand-off": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Offer a task to someone else, or to everyone. */
    post: operations["post /api/task/hand-off"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/task/land": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Record that a task's work, merged by hand, is on the target branch. */
    post: operations["post /api/task/land"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/task/comment": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Comment on a task, for everyone to see. */
    post: operations["post /api/task/comment"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/lease/acquire": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Lease a resource for some time: file:PATTERN, port:NUMBER, or any kind:name. */
    post: operations["post /api/lease/acquire"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/lease/renew": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Extend a lease: it lapses after the given time from now. */
    post: operations["post /api/lease/renew"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/lease/release": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Release a resource. */
    post: operations["post /api/lease/release"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/alert/raise": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Ask for a person's attention; a subject has at most one open alert of each kind. */
    post: operations["post /api/alert/raise"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/alert/clear": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Resolve an alert. */
    post: operations["post /api/alert/clear"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/queue/eject": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Remove a task from the queue; its work is kept, and `task retry` puts it on the board. */
    post: operations["post /api/queue/eject"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/queue/prioritise": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Move a task that is waiting to land forward or back in the queue. */
    post: operations["post /api/queue/prioritise"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/queue/report": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Report the result of a check run by another CI. */
    post: operations["post /api/queue/report"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/alert/acknowledge": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Report that you are working on an alert; it stays open until it is cleared. */
    post: operations["post /api/alert/acknowledge"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/pause": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Stop starting sessions and landing work, for one convoy or all; running sessions continue. */
    post: operations["post /api/pause"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/resume": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Start sessions and land work again, for one convoy or all. */
    post: operations["post /api/resume"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/session/stop": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Stop a session and all of its processes; the witness carries it out. */
    post: operations["post /api/session/stop"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/session/send": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Send text to a running session: what to do next, or the answer that it is waiting for. */
    post: operations["post /api/session/send"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/session/report": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Report the progress of a session in one line. */
    post: operations["post /api/session/report"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/message/send": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Send a message, which is delivered once, at the recipient's next turn. */
    post: operations["post /api/message/send"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/message/read": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Read your new messages; each is delivered once. */
    post: operations["post /api/message/read"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/message/ack": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Acknowledge a message that you have read, which closes it. */
    post: operations["post /api/message/ack"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/status": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** the whole board */
    get: operations["get /api/status"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/overview": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** what `corral status` shows: the first rows of everything */
    get: operations["get /api/overview"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/convoys": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** all convoys */
    get: operations["get /api/convoys"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/convoys/{convoy}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** one convoy and its tasks */
    get: operations["get /api/convoys/{convoy}"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/tasks": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** the tasks, page by page */
    get: operations["get /api/tasks"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/tasks/{task}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** one task, with its brief and comments */
    get: operations["get /api/tasks/{task}"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/tasks/{task}/why": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** why a task is where it is */
    get: operations["get /api/tasks/{task}/why"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/why": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** why anything is as it is, by its name */
    get: operations["get /api/why"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/explanation": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** what `corral why` shows: an Explanation of a task, a Reason for anything else */
    get: operations["get /api/explanation"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/queue": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** what waits to land and what is checked */
    get: operations["get /api/queue"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/cost": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** what was spent: tokens and money */
    get: operations["get /api/cost"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/sessions": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** the newest session of each task */
    get: operations["get /api/sessions"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/sessions/{session}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** one session */
    get: operations["get /api/sessions/{session}"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/leases": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** the leases and their holders */
    get: operations["get /api/leases"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/alerts": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** the open alerts */
    get: operations["get /api/alerts"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/messages": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** messages to be read, acknowledged or answered */
    get: operations["get /api/messages"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/jobs": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** which roles run, and when each chore last ran */
    get: operations["get /api/jobs"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/whoami": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** who you are, according to your token */
    get: operations["get /api/whoami"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/log": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** events, oldest first */
    get: operations["get /api/log"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/board": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** the whole board, now or earlier */
    get: operations["get /api/board"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/health": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** running roles, the log's size, the limits */
    get: operations["get /api/health"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/sessions/{session}/output": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** the last lines that a session printed, or a page of its output */
    get: operations["get /api/sessions/{session}/output"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/sessions/{session}/facts": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** what a session's engine said and called */
    get: operations["get /api/sessions/{session}/facts"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/sessions/{session}/summary": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** what `corral session show` shows */
    get: operations["get /api/sessions/{session}/summary"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/queue/{what}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** what `corral queue show` shows: a change, or a check run with its last lines */
    get: operations["get /api/queue/{what}"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/sessions/{session}/brief": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** what a session was told */
    get: operations["get /api/sessions/{session}/brief"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/sessions/{session}/diff": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** what a session has changed so far */
    get: operations["get /api/sessions/{session}/diff"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/sessions/{session}/usage": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** the memory and CPU time of a session's processes */
    get: operations["get /api/sessions/{session}/usage"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/tasks/{task}/sessions": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** all sessions of a task, oldest first */
    get: operations["get /api/tasks/{task}/sessions"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/checks/{check}/log": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** the last lines that a check run printed */
    get: operations["get /api/checks/{check}/log"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/convoys/{convoy}/report": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** how far a convoy has come */
    get: operations["get /api/convoys/{convoy}/report"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/mayors/{mayor}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** what was said in a conversation with the mayor, and its newest plan */
    get: operations["get /api/mayors/{mayor}"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/mayor/start": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** have a plan made, or continue the conversation */
    post: operations["post /api/mayor/start"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/mayor/ask": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** ask, or say what is to change */
    post: operations["post /api/mayor/ask"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/mayor/approve": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** put the proposed plan on the board */
    post: operations["post /api/mayor/approve"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/mayor/reject": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** reject the proposed plan */
    post: operations["post /api/mayor/reject"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/mayor/stop": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** end the conversation and its engine */
    post: operations["post /api/mayor/stop"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/events": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** the log as Server-Sent Events; Last-Event-ID continues after an event */
    get: operations["get /api/events"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/live": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** the board, then what changes, as Server-Sent Events (see `LiveData`) */
    get: operations["get /api/live"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/tickets": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** a link that opens a browser, once */
    post: operations["post /api/tickets"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/openapi.json": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** this document */
    get: operations["get /api/openapi.json"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/metrics": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** figures for Prometheus */
    get: operations["get /metrics"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/login": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** change the ticket of a one-time link for a cookie */
    get: operations["get /login"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /**
     * NoQuery
     * @description No query parameters.
     */
    NoQuery: Record<string, never>;
    /**
     * CreateConvoy
     * @description Create a convoy: a group of related tasks that share a feature branch.
     */
    CreateConvoy: {
      /** @description the purpose of the convoy; its id and the ids of its tasks are made from it */
      title: string;
      /** @description the branch that it starts from and lands on */
      base?: string;
      /**
       * @description how its work lands: rebase, squash or merge
       * @default
       */
      strategy?: string;
      /**
       * @description a command that must exit 0 before work lands
       * @default []
       */
      checks?: string[];
    };
    /**
     * AddTask
     * @description Add a task to the board.
     */
    AddTask: {
      /** @description the task in one line */
      title: string;
      /**
       * @description its convoy; optional if there is only one
       * @default
       */
      convoy?: string;
      /**
       * @description 0 or more; higher numbers go first
       * @default 0
       */
      priority?: number;
      /**
       * @description a task that must land before this one starts
       * @default []
       */
      needs?: string[];
      /**
       * @description a path or pattern that the task may change, like 'src/auth/**'
       * @default []
       */
      paths?: string[];
      /**
       * @description a command that must exit 0 on the result
       * @default []
       */
      accept?: string[];
      /**
       * @description a file that must exist before the task starts
       * @default []
       */
      inputs?: string[];
      /**
       * @description the engine profile to run it with
       * @default
       */
      engine?: string;
      /**
       * @description the full description of the task
       * @default
       */
      brief?: string;
      /**
       * @description reserve it for one person or agent
       * @default
       */
      assignee?: string;
      /**
       * @description the program to run, for engines of type shell
       * @default []
       */
      run?: string[];
      /**
       * @description the role: a file in .corral/roles, without its extension
       * @default
       */
      role?: string;
      /**
       * @description may use the reserved slots
       * @default false
       */
      urgent?: boolean;
      /**
       * @description the task to add it below
       * @default
       */
      parent?: string;
      /**
       * @description how many tasks below it may be open at once
       * @default 0
       */
      budget?: number;
      /**
       * @description how many levels of tasks may be below it
       * @default 0
       */
      levels?: number;
      /**
       * @description recur every N beats; the first run is immediate
       * @default 0
       */
      every?: number;
      /**
       * @description recur at the times of a cron line (UTC), like '0 3 * * 1-5'
       * @default
       */
      cron?: string;
      /**
       * @description dates missed while no witness ran: once (the default) or skip
       * @default
       */
      missed?: string;
    };
    /**
     * EditTask
     * @description Change what a task asks for, while nobody is working on it.
     */
    EditTask: {
      /** @description the task, like AF-1 */
      task: string;
      /**
       * @description the new title
       * @default null
       */
      title?: string | null;
      /**
       * @description the new priority
       * @default null
       */
      priority?: number | null;
      /**
       * @description another task that must land before this one starts
       * @default []
       */
      needs?: string[];
      /**
       * @description a task that it no longer needs
       * @default []
       */
      drop_needs?: string[];
      /**
       * @description the new paths, replacing the old ones
       * @default null
       */
      paths?: string[] | null;
      /**
       * @description the new acceptance commands
       * @default null
       */
      accept?: string[] | null;
      /**
       * @description the new inputs
       * @default null
       */
      inputs?: string[] | null;
      /**
       * @description the new engine profile
       * @default null
       */
      engine?: string | null;
      /**
       * @description the new brief
       * @default null
       */
      brief?: string | null;
    };
    /**
     * ApplyPlan
     * @description Create the convoy and the tasks of a plan, or update them: all or nothing.
     */
    ApplyPlan: {
      /** @description a convoy with its tasks */
      plan: components["schemas"]["Plan"];
    };
    /**
     * Plan
     * @description A convoy with its tasks.
     */
    Plan: {
      convoy: components["schemas"]["ConvoyPlan"];
      /** @description the tasks */
      task: components["schemas"]["TaskPlan"][];
      /** @default {} */
      policy?: components["schemas"]["PlanPolicy"];
    };
    /**
     * ConvoyPlan
     * @description The convoy: a group of tasks with one feature branch.
     */
    ConvoyPlan: {
      /** @description what the convoy is for, in one line */
      title: string;
      /**
       * @description its id, like auth-fix; default: made from the title
       * @default
       */
      slug?: string;
      /**
       * @description the prefix of its tasks' ids, like AF; default: made from the title
       * @default
       */
      prefix?: string;
      /**
       * @description the branch that it starts from and lands on
       * @default
       */
      base?: string;
      /**
       * @description how its work lands: rebase, squash or merge
       * @default
       */
      strategy?: string;
      /**
       * @description commands that must exit 0 before anything lands
       * @default []
       */
      checks?: string[];
    };
    /**
     * TaskPlan
     * @description One piece of work for one agent.
     */
    TaskPlan: {
      /** @description its name within the plan: letters, digits, - and _ */
      key: string;
      /** @description the task in one line */
      title: string;
      /**
       * @description the full description of the work
       * @default
       */
      brief?: string;
      /**
       * @description the engine profile that should do it
       * @default
       */
      engine?: string;
      /**
       * @description keys of tasks that must land first
       * @default []
       */
      needs?: string[];
      /**
       * @description paths or patterns that it may change: src/auth/**
       * @default []
       */
      paths?: string[];
      /**
       * @description files that must exist before it starts
       * @default []
       */
      inputs?: string[];
      /**
       * @description commands that must exit 0 on the result
       * @default []
       */
      accept?: string[];
      /**
       * @description true: no command can prove that it is done
       * @default false
       */
      unproved?: boolean;
      /**
       * @description 0 or more; higher goes first
       * @default 0
       */
      priority?: number;
      /**
       * @description a file in .corral/roles without its extension
       * @default
       */
      role?: string;
      /**
       * @description the program and its arguments, for a scripted task
       * @default []
       */
      run?: string[];
      /**
       * @description estimated duration, for the critical path
       * @default 0
       */
      minutes?: number;
      /**
       * @description tasks that may run at the same time although paths overlap
       * @default []
       */
      beside?: string[];
    };
    /**
     * PlanPolicy
     * @description How a plan handles overlaps, tests and missing acceptance commands.
     */
    PlanPolicy: {
      /**
       * @description tasks with overlapping paths: one after another, or at the same time
       * @default order
       * @enum {unknown}
       */
      overlap?: "allow" | "order";
      /**
       * @description tests of a module: after the task that changes the module, or at any time
       * @default after
       * @enum {unknown}
       */
      tests?: "after" | "apart";
      /**
       * @description a task without acceptance commands: an error, or a warning
       * @default required
       * @enum {unknown}
       */
      acceptance?: "optional" | "required";
    };
    /**
     * ClaimTask
     * @description Claim a task: nobody else can work on it until the claim ends or lapses.
     */
    ClaimTask: {
      /**
       * @description the task; if left out, the next one that is ready
       * @default null
       */
      task?: string | null;
      /** @description seconds until the claim lapses unless it is renewed */
      ttl_s?: number;
    };
    /**
     * RenewTask
     * @description Extend a claim: it lapses after the given time from now.
     */
    RenewTask: {
      /** @description the task, like AF-1 */
      task: string;
      /**
       * @description the token of the claim
       * @default
       */
      token?: string;
      /** @description seconds until the claim lapses unless it is renewed */
      ttl_s?: number;
    };
    /**
     * SubmitTask
     * @description Hand in the work of a task, which then waits to land.
     */
    SubmitTask: {
      /** @description the task, like AF-1 */
      task: string;
      /**
       * @description the token of the claim
       * @default
       */
      token?: string;
      /**
       * @description the commit to submit
       * @default
       */
      commit?: string;
    };
    /**
     * FailTask
     * @description End an attempt without a result.
     */
    FailTask: {
      /** @description the task, like AF-1 */
      task: string;
      /**
       * @description the token of the claim
       * @default
       */
      token?: string;
      /**
       * @description why, in one line
       * @default
       */
      reason?: string;
    };
    /**
     * BlockTask
     * @description Report that a task cannot continue; its claim ends.
     */
    BlockTask: {
      /** @description the task, like AF-1 */
      task: string;
      /**
       * @description why, in one line
       * @default
       */
      reason?: string;
      /**
       * @description the token of the claim
       * @default
       */
      token?: string;
      /**
       * @description take it from its holder, without the token
       * @default false
       */
      force?: boolean;
    };
    /**
     * UnblockTask
     * @description Put a blocked task back on the board.
     */
    UnblockTask: {
      /** @description the task, like AF-1 */
      task: string;
    };
    /**
     * RetryTask
     * @description Put a task back on the board for another attempt.
     */
    RetryTask: {
      /** @description the task, like AF-1 */
      task: string;
      /**
       * @description why, in one line
       * @default
       */
      reason?: string;
    };
    /**
     * CancelTask
     * @description Give up a task; any claim on it ends.
     */
    CancelTask: {
      /** @description the task, like AF-1 */
      task: string;
      /**
       * @description why, in one line
       * @default
       */
      reason?: string;
      /**
       * @description the token of the claim
       * @default
       */
      token?: string;
    };
    /**
     * HandOffTask
     * @description Offer a task to someone else, or to everyone.
     */
    HandOffTask: {
      /** @description the task, like AF-1 */
      task: string;
      /**
       * @description who should get it; if left out, anyone
       * @default
       */
      to?: string;
      /**
       * @description what the next holder should know
       * @default
       */
      note?: string;
      /**
       * @description the token of the claim
       * @default
       */
      token?: string;
      /**
       * @description take it from its holder, without the token
       * @default false
       */
      force?: boolean;
    };
    /**
     * LandTask
     * @description Record that a task's work, merged by hand, is on the target branch.
     */
    LandTask: {
      /** @description the task, like AF-1 */
      task: string;
      /**
       * @description the commit on the target branch
       * @default
       */
      commit?: string;
    };
    /**
     * CommentTask
     * @description Comment on a task, for everyone to see.
     */
    CommentTask: {
      /** @description the task, like AF-1 */
      task: string;
      /** @description the comment */
      text: string;
      /**
       * @description the token of the claim
       * @default
       */
      token?: string;
    };
    /**
     * AcquireLease
     * @description Lease a resource for some time: file:PATTERN, port:NUMBER, or any kind:name.
     */
    AcquireLease: {
      /** @description like file:src/auth/**, port:8080 or service:db */
      resource: string;
      /** @description seconds until the lease lapses unless it is renewed */
      ttl_s?: number;
    };
    /**
     * RenewLease
     * @description Extend a lease: it lapses after the given time from now.
     */
    RenewLease: {
      /** @description the resource */
      resource: string;
      /**
       * @description the token of the lease
       * @default
       */
      token?: string;
      /** @description seconds until the lease lapses unless it is renewed */
      ttl_s?: number;
    };
    /**
     * ReleaseLease
     * @description Release a resource.
     */
    ReleaseLease: {
      /** @description the resource */
      resource: string;
      /**
       * @description the token of the lease
       * @default
       */
      token?: string;
    };
    /**
     * RaiseAlert
     * @description Ask for a person's attention; a subject has at most one open alert of each kind.
     */
    RaiseAlert: {
      /** @description what it is about: a task, a session, the log */
      subject: string;
      /** @description what is wrong, in one line */
      text: string;
      /**
       * @description a word that distinguishes the alerts about one subject
       * @default note
       */
      kind?: string;
    };
    /**
     * ClearAlert
     * @description Resolve an alert.
     */
    ClearAlert: {
      /** @description the alert, like alert-7 */
      alert: string;
    };
    /**
     * EjectChange
     * @description Remove a task from the queue; its work is kept, and `task retry` puts it on the board.
     */
    EjectChange: {
      /** @description the task, like AF-1 */
      task: string;
      /**
       * @description why, in one line
       * @default
       */
      reason?: string;
    };
    /**
     * PrioritiseChange
     * @description Move a task that is waiting to land forward or back in the queue.
     */
    PrioritiseChange: {
      /** @description the task, like AF-1 */
      task: string;
      /**
       * @description 0 or more; higher numbers go first
       * @default 100
       */
      priority?: number;
    };
    /**
     * ReportCheck
     * @description Report the result of a check run by another CI.
     */
    ReportCheck: {
      /** @description the check run, like R42, as `corral queue list` shows it */
      check: string;
      /** @description green or red */
      result: string;
      /**
       * @description what failed, or where to read about it
       * @default
       */
      detail?: string;
      /**
       * @description the commit that was checked, which must be that of the run
       * @default
       */
      commit?: string;
    };
    /**
     * AcknowledgeAlert
     * @description Report that you are working on an alert; it stays open until it is cleared.
     */
    AcknowledgeAlert: {
      /** @description the alert, like alert-7 */
      alert: string;
    };
    /**
     * Pause
     * @description Stop starting sessions and landing work, for one convoy or all; running sessions continue.
     */
    Pause: {
      /**
       * @description pause only starting new sessions
       * @default false
       */
      sessions?: boolean;
      /**
       * @description pause only landing; running checks finish
       * @default false
       */
      landing?: boolean;
      /**
       * @description only this convoy
       * @default
       */
      convoy?: string;
      /**
       * @description why, in one line
       * @default
       */
      reason?: string;
    };
    /**
     * Resume
     * @description Start sessions and land work again, for one convoy or all.
     */
    Resume: {
      /**
       * @description resume only starting new sessions
       * @default false
       */
      sessions?: boolean;
      /**
       * @description resume only landing
       * @default false
       */
      landing?: boolean;
      /**
       * @description only this convoy
       * @default
       */
      convoy?: string;
    };
    /**
     * StopSession
     * @description Stop a session and all of its processes; the witness carries it out.
     */
    StopSession: {
      /** @description the session, like AF-1.1 */
      session: string;
      /**
       * @description why, in one line
       * @default stopped by hand
       */
      reason?: string;
    };
    /**
     * SendText
     * @description Send text to a running session: what to do next, or the answer that it is waiting for.
     */
    SendText: {
      /** @description the session, like AF-1.1 */
      session: string;
      /** @description the text */
      text: string;
      /**
       * @description the question that it answers, if there are several
       * @default
       */
      answers?: string;
    };
    /**
     * ReportProgress
     * @description Report the progress of a session in one line.
     */
    ReportProgress: {
      /** @description the session, like AF-1.1 */
      session: string;
      /** @description its progress, in one line */
      text: string;
      /**
       * @description how many outputs it has made so far
       * @default null
       */
      outputs?: number | null;
    };
    /**
     * SendMessage
     * @description Send a message, which is delivered once, at the recipient's next turn.
     */
    SendMessage: {
      /** @description a session (AF-1.1), a task (AF-1), role:NAME, or people */
      to: string;
      /** @description the text */
      text: string;
      /**
       * @description ask for an answer, and be shown as waiting for it
       * @default false
       */
      question?: boolean;
      /**
       * @description the message that this answers, like m-7
       * @default
       */
      reply_to?: string;
      /**
       * @description seconds until it expires if nobody takes it
       * @default 86400
       */
      ttl_s?: number;
    };
    /**
     * ReadMessages
     * @description Read your new messages; each is delivered once.
     */
    ReadMessages: Record<string, never>;
    /**
     * AcknowledgeMessage
     * @description Acknowledge a message that you have read, which closes it.
     */
    AcknowledgeMessage: {
      /** @description the message, like m-7 */
      message: string;
    };
    /** Status */
    Status: {
      seq: number;
      convoys: components["schemas"]["ConvoyView"][];
      tasks: components["schemas"]["TaskLine"][];
      sessions: components["schemas"]["SessionView"][];
      queue: string[];
      checks: components["schemas"]["CheckView"][];
      leases: components["schemas"]["LeaseView"][];
      alerts: components["schemas"]["AlertView"][];
      spent: components["schemas"]["SpentView"];
      paused: components["schemas"]["PauseView"][];
      messages: components["schemas"]["MessageView"][];
      overlaps: components["schemas"]["OverlapView"][];
    };
    /** ConvoyView */
    ConvoyView: {
      id: string;
      title: string;
      prefix: string;
      base: string;
      strategy: string;
      checks: string[];
      created_at: number;
      tasks: {
        [key: string]: number;
      };
    };
    /**
     * TaskLine
     * @description A task in a list; boards have thousands.
     */
    TaskLine: {
      id: string;
      convoy: string;
      title: string;
      state: components["schemas"]["TaskState"];
      column: string;
      priority: number;
      needs: string[];
      assignee: string;
      attempts: number;
      reason: string;
      holder: string | null;
      expires_at: number | null;
    };
    /**
     * TaskState
     * @enum {unknown}
     */
    TaskState: "blocked" | "cancelled" | "doing" | "done" | "failed" | "review" | "todo";
    /** SessionView */
    SessionView: {
      id: string;
      task: string;
      profile: string;
      pool: string;
      branch: string;
      base: string;
      started_at: number;
      ended_at: number;
      verdict: string;
      detail: string;
      commit: string;
      stop: string;
      progress: string;
      progress_at: number;
      outputs: number;
      account: string;
      thread: string;
      model: string;
      turns: number;
      takes: string;
      waits: string;
      launches: number;
      reactions: string[];
      spent: components["schemas"]["SpentView"];
    };
    /**
     * SpentView
     * @description Tokens and dollars; the cost is None if any part of it is unknown.
     */
    SpentView: {
      fresh: number;
      cached: number;
      output: number;
      cost_usd: number | null;
      unpriced: number;
    };
    /**
     * CheckView
     * @description `members` stacked in this order on `tip` make the predicted state, which is `commit`.
     */
    CheckView: {
      run: string;
      convoy: string;
      kind: string;
      members: string[];
      tip: string;
      commit: string;
      tree: string;
      slot: number;
      deadline_s: number;
      external: boolean;
      started_at: number;
      ended_at: number;
      result: string;
      command: string;
      detail: string;
      took_ms: number;
      cached: string;
    };
    /** LeaseView */
    LeaseView: {
      resource: string;
      holder: string;
      since_at: number;
      expires_at: number;
    };
    /** AlertView */
    AlertView: {
      id: string;
      kind: string;
      subject: string;
      text: string;
      raised_at: number;
      seen_by: string;
    };
    /** PauseView */
    PauseView: {
      convoy: string;
      by: string;
      reason: string;
      since_at: number;
    };
    /** MessageView */
    MessageView: {
      id: string;
      sender: string;
      to: string;
      text: string;
      sent_at: number;
      expires_at: number;
      question: boolean;
      reply_to: string;
      reader: string;
      read_at: number;
      acknowledged: boolean;
    };
    /**
     * OverlapView
     * @description Work that would conflict as it is now.
     */
    OverlapView: {
      task: string;
      other: string;
      paths: string[];
      since_at: number;
      text: string;
    };
    /**
     * Overview
     * @description What `corral status` shows; `totals` counts the rows of each list, listed or not.
     */
    Overview: {
      seq: number;
      columns: {
        [key: string]: number;
      };
      convoys: components["schemas"]["OverviewConvoy"][];
      tasks: components["schemas"]["OverviewTask"][];
      sessions: components["schemas"]["OverviewSession"][];
      checks: components["schemas"]["OverviewCheck"][];
      overlaps: string[];
      alerts: components["schemas"]["OverviewAlert"][];
      totals: {
        [key: string]: number;
      };
      spent_today: string;
      spent: string;
      /** @default [] */
      paused?: string[];
    };
    /** OverviewConvoy */
    OverviewConvoy: {
      id: string;
      title: string;
      done: number;
      wanted: number;
    };
    /** OverviewTask */
    OverviewTask: {
      id: string;
      column: string;
      title: string;
      reason: string;
      assignee: string;
      holder: string | null;
      expires_at: number | null;
    };
    /** OverviewSession */
    OverviewSession: {
      id: string;
      profile: string;
      started_at: number;
      outputs: number;
      progress: string;
    };
    /** OverviewCheck */
    OverviewCheck: {
      run: string;
      started_at: number;
      tip: string;
      members: string[];
    };
    /** OverviewAlert */
    OverviewAlert: {
      id: string;
      subject: string;
      text: string;
    };
    /** ConvoyPage */
    ConvoyPage: {
      convoy: components["schemas"]["ConvoyView"];
      tasks: components["schemas"]["TaskLine"][];
    };
    /** TasksQuery */
    TasksQuery: {
      /**
       * @description only tasks in this column
       * @default
       */
      state?: string;
      /**
       * @description only tasks of this convoy
       * @default
       */
      convoy?: string;
      /**
       * @description only tasks that could be claimed now
       * @default false
       */
      ready?: boolean;
      /**
       * @description only tasks after this one
       * @default
       */
      after?: string;
      /**
       * @description at most this many
       * @default 1000
       */
      limit?: number;
    };
    /** TasksPage */
    TasksPage: {
      tasks: components["schemas"]["TaskLine"][];
      next: string;
      seq: number;
    };
    /** TaskPage */
    TaskPage: {
      id: string;
      convoy: string;
      title: string;
      state: components["schemas"]["TaskState"];
      column: string;
      priority: number;
      needs: string[];
      assignee: string;
      attempts: number;
      reason: string;
      paths: string[];
      accept: string[];
      inputs: string[];
      engine: string;
      claim: components["schemas"]["ClaimView"] | null;
      commit: string;
      added_at: number;
      changed_at: number;
      brief_seq: number;
      comment_seqs: number[];
      role: string;
      run: string[];
      key: string;
      reasons: {
        [key: string]: string;
      };
      brief: string;
      comments: components["schemas"]["Comment"][];
    };
    /** ClaimView */
    ClaimView: {
      holder: string;
      since_at: number;
      expires_at: number;
    };
    /** Comment */
    Comment: {
      seq: number;
      at: number;
      actor: string;
      task: string;
      text: string;
    };
    /** Explanation */
    Explanation: {
      task: string;
      state: components["schemas"]["TaskState"];
      column: string;
      summary: string;
      obstacles: components["schemas"]["Obstacle"][];
      waiting_for_it: string[];
      moves: string[];
      /** @default  */
      session?: string;
      /** @default [] */
      met?: string[];
      /** @default [] */
      overlaps?: components["schemas"]["OverlapView"][];
    };
    /**
     * Obstacle
     * @description One reason why a task cannot be claimed.
     */
    Obstacle: {
      code: string;
      text: string;
      /** @default  */
      hint?: string;
    };
    /** WhyQuery */
    WhyQuery: {
      /** @description a task, session, convoy, check run, lease, message or alert */
      of: string;
    };
    /** Reason */
    Reason: {
      kind: string;
      id: string;
      summary: string;
      because: string[];
      /** @default  */
      hint?: string;
    };
    /** QueueView */
    QueueView: {
      changes: components["schemas"]["ChangeView"][];
      checks: components["schemas"]["CheckView"][];
      trunks: components["schemas"]["TrunkView"][];
      flaky: {
        [key: string]: number;
      };
      paused: string;
      overlaps: components["schemas"]["OverlapView"][];
    };
    /** ChangeView */
    ChangeView: {
      task: string;
      convoy: string;
      title: string;
      commit: string;
      fork: string;
      priority: number;
      queued_at: number;
      paths: string[];
      checks: string[];
      returns: number;
      waits: string;
    };
    /** TrunkView */
    TrunkView: {
      convoy: string;
      tip: string;
      landed: number;
      paused: string;
      landing: string;
      finished: string;
    };
    /** CostReport */
    CostReport: {
      total: components["schemas"]["CostLine"];
      landed: number;
      usd_per_landed: number | null;
      tasks: components["schemas"]["CostLine"][];
      convoys: components["schemas"]["CostLine"][];
      engines: components["schemas"]["CostLine"][];
      models: components["schemas"]["CostLine"][];
      days: components["schemas"]["CostLine"][];
    };
    /**
     * CostLine
     * @description One row of a report.
     */
    CostLine: {
      name: string;
      sessions: number;
      fresh: number;
      cached: number;
      output: number;
      cost_usd: number | null;
      known_usd: number;
      unpriced: number;
    };
    /** Jobs */
    Jobs: {
      roles: components["schemas"]["Running"][];
      chores: components["schemas"]["JobView"][];
    };
    /** Running */
    Running: {
      name: string;
      runs: boolean;
    };
    /**
     * JobView
     * @description One of the deacon's chores: when it was last recorded, and what it found and did.
     */
    JobView: {
      name: string;
      ran_at: number;
      found: number;
      done: number;
    };
    /** WhoAmI */
    WhoAmI: {
      name: string;
      session: string;
      task: string;
    };
    /** LogQuery */
    LogQuery: {
      /**
       * @description only events after this number
       * @default 0
       */
      after?: number;
      /**
       * @description the last events before this number
       * @default 0
       */
      before?: number;
      /**
       * @description at most this many
       * @default 100
       */
      limit?: number;
      /**
       * @description only these types, like `task.added,session`
       * @default
       */
      type?: string;
      /**
       * @description only events about this task
       * @default
       */
      task?: string;
      /**
       * @description only events about this convoy
       * @default
       */
      convoy?: string;
      /**
       * @description only events whose actor's name contains this
       * @default
       */
      actor?: string;
      /**
       * @description only events that contain this text
       * @default
       */
      text?: string;
    };
    /**
     * LogPage
     * @description Events from `begin` to `end` were searched; continue with `before=BEGIN` or `after=END`.
     */
    LogPage: {
      events: unknown[];
      seq: number;
      begin: number;
      end: number;
    };
    /** BoardQuery */
    BoardQuery: {
      /**
       * @description the board after this event; without it: now
       * @default null
       */
      at?: number | null;
    };
    /**
     * Board
     * @description Everything at one event; the page keeps it, and is told what changes.
     */
    Board: {
      seq: number;
      log: string;
      tasks: components["schemas"]["TaskRow"][];
      convoys: components["schemas"]["ConvoyRow"][];
      sessions: components["schemas"]["SessionRow"][];
      queue: components["schemas"]["QueueRow"][];
      checks: components["schemas"]["CheckRow"][];
      alerts: components["schemas"]["AlertView"][];
      leases: components["schemas"]["LeaseRow"][];
      messages: components["schemas"]["MessageView"][];
      pauses: components["schemas"]["PauseRow"][];
      limits: components["schemas"]["LimitRow"][];
      slots: components["schemas"]["SlotRow"][];
      costs: components["schemas"]["CostRow"][];
      jobs: components["schemas"]["JobRow"][];
      overlaps: components["schemas"]["OverlapRow"][];
      flaky: components["schemas"]["FlakyRow"][];
      mayors: components["schemas"]["MayorRow"][];
    };
    /** TaskRow */
    TaskRow: {
      id: string;
      convoy: string;
      title: string;
      state: components["schemas"]["TaskState"];
      column: string;
      priority: number;
      needs: string[];
      assignee: string;
      attempts: number;
      reason: string;
      order: number;
      urgent: boolean;
      reasons: {
        [key: string]: string;
      };
      parent: string;
      engine: string;
      role: string;
      paths: string[];
      failures: number;
      returns: number;
      holder: string;
      expires_at: number;
      since_at: number;
      added_at: number;
      not_before_at: number;
      session: string;
      progress: string;
      progress_at: number;
      commit: string;
      comments: number;
      cost: components["schemas"]["Cost"];
    };
    /**
     * Cost
     * @description Tokens, and dollars as far as they are known; the cost of `unpriced` tokens is unknown.
     */
    Cost: {
      /** @default 0 */
      fresh?: number;
      /** @default 0 */
      cached?: number;
      /** @default 0 */
      output?: number;
      /** @default 0 */
      usd?: number;
      /** @default 0 */
      unpriced?: number;
    };
    /** ConvoyRow */
    ConvoyRow: {
      id: string;
      title: string;
      prefix: string;
      base: string;
      strategy: string;
      checks: string[];
      created_at: number;
      tasks: {
        [key: string]: number;
      };
      critical: string[];
      branch: string;
      tip: string;
      landed: number;
      landing: string;
      paused: string;
      finished: string;
      finished_commit: string;
      cost: components["schemas"]["Cost"];
    };
    /**
     * SessionRow
     * @description A running session, or the last one of a task.
     */
    SessionRow: {
      id: string;
      task: string;
      profile: string;
      pool: string;
      branch: string;
      base: string;
      started_at: number;
      ended_at: number;
      verdict: string;
      detail: string;
      commit: string;
      stop: string;
      progress: string;
      progress_at: number;
      outputs: number;
      account: string;
      convoy: string;
      title: string;
      role: string;
      live: boolean;
      model: string;
      turns: number;
      launches: number;
      reactions: string[];
      wall_s: number;
      outputs_at: number;
      limited: boolean;
      asked: string;
      question: string;
      cost: components["schemas"]["Cost"];
    };
    /** QueueRow */
    QueueRow: {
      id: string;
      convoy: string;
      title: string;
      commit: string;
      fork: string;
      priority: number;
      queued_at: number;
      paths: string[];
      checks: string[];
      returns: number;
      waits: string;
      place: number;
      behind: string[];
    };
    /** CheckRow */
    CheckRow: {
      id: string;
      convoy: string;
      kind: string;
      members: string[];
      tip: string;
      commit: string;
      tree: string;
      slot: number;
      deadline_s: number;
      external: boolean;
      started_at: number;
      ended_at: number;
      result: string;
      command: string;
      detail: string;
      took_ms: number;
      cached: string;
      live: boolean;
    };
    /** LeaseRow */
    LeaseRow: {
      id: string;
      holder: string;
      since_at: number;
      expires_at: number;
    };
    /**
     * PauseRow
     * @description A pause: no sessions are started, or the queue lands nothing. `since_at` is 0 if unknown.
     */
    PauseRow: {
      convoy: string;
      by: string;
      reason: string;
      since_at: number;
      id: string;
      what: string;
    };
    /**
     * LimitRow
     * @description An account that has met a limit; `id` is its name.
     */
    LimitRow: {
      id: string;
      running: number;
      until_at: number;
      limited_at: number;
      allowed: number;
      strikes: number;
      trouble: string;
      text: string;
    };
    /**
     * SlotRow
     * @description How many sessions run in a pool; `id` is its name, and empty for all of them together.
     */
    SlotRow: {
      id: string;
      running: number;
    };
    /**
     * CostRow
     * @description What was spent in total, on a day, with an engine's profile or a model, or on a convoy.
     */
    CostRow: {
      id: string;
      kind: string;
      name: string;
      sessions: number;
      cost: components["schemas"]["Cost"];
    };
    /** JobRow */
    JobRow: {
      id: string;
      ran_at: number;
      found: number;
      done: number;
    };
    /** OverlapRow */
    OverlapRow: {
      task: string;
      other: string;
      paths: string[];
      since_at: number;
      text: string;
      id: string;
    };
    /**
     * FlakyRow
     * @description A check that gave two answers on one tree; `id` is its command.
     */
    FlakyRow: {
      id: string;
      times: number;
    };
    /**
     * MayorRow
     * @description A conversation; what was said is at /api/mayors/{mayor}.
     */
    MayorRow: {
      id: string;
      state: components["schemas"]["MayorState"];
      engine: string;
      model: string;
      replan: string;
      started_at: number;
      changed_at: number;
      turns: number;
      cause: string;
      task: string;
      convoy: string;
      pending: boolean;
      proposed_seq: number;
      approved_seq: number;
      said: number[];
      reason: string;
      cost: components["schemas"]["Cost"];
    };
    /**
     * MayorState
     * @enum {unknown}
     */
    MayorState: "asking" | "gave_up" | "idle" | "open" | "proposed" | "stopped";
    /**
     * Health
     * @description What is not in the log: the running roles, the size of the log, the configured limits.
     */
    Health: {
      seq: number;
      roles: components["schemas"]["Running"][];
      store_bytes: number;
      slots: number;
      reserve: number;
      pools: {
        [key: string]: number;
      };
      check_slots: number;
      day_usd: number;
      engines: {
        [key: string]: string;
      };
      streams: number;
    };
    /** OutputQuery */
    OutputQuery: {
      /**
       * @description the last lines, at most this many
       * @default 100
       */
      lines?: number;
      /**
       * @description instead: the text before this place
       * @default
       */
      before?: string;
      /**
       * @description instead: the text after this place
       * @default
       */
      after?: string;
      /**
       * @description of that text, at most this many
       * @default 65536
       */
      bytes?: number;
    };
    /**
     * OutputPage
     * @description The last lines; or a page of the text, with the places where it begins and ends.
     */
    OutputPage: {
      lines: string[];
      /** @default  */
      text?: string;
      /** @default  */
      begin?: string;
      /** @default  */
      end?: string;
      /** @default false */
      restarted?: boolean;
    };
    /** FactsQuery */
    FactsQuery: {
      /**
       * @description the last ones, at most this many
       * @default 500
       */
      limit?: number;
    };
    /**
     * Facts
     * @description What an engine said, called and used, and the trouble that it met.
     */
    Facts: {
      structured: boolean;
      facts: (
        | components["schemas"]["Began"]
        | components["schemas"]["Said"]
        | components["schemas"]["Used"]
        | components["schemas"]["Answered"]
        | components["schemas"]["Spent"]
        | components["schemas"]["Window"]
        | components["schemas"]["Compacted"]
        | components["schemas"]["Limited"]
        | components["schemas"]["Turn"]
        | components["schemas"]["Asked"]
        | components["schemas"]["Told"]
        | components["schemas"]["Ready"]
        | components["schemas"]["Denied"]
        | components["schemas"]["Finished"]
      )[];
    };
    /**
     * Began
     * @description The engine has started; `session` is its own id of the conversation, for resuming it.
     */
    Began: {
      /** @enum {unknown} */
      fact: "began";
      /** @default  */
      session?: string;
      /** @default  */
      model?: string;
      /** @default  */
      version?: string;
    };
    /**
     * Said
     * @description The model said something.
     */
    Said: {
      /** @enum {unknown} */
      fact: "said";
      text: string;
    };
    /**
     * Used
     * @description A tool was called; `what` distinguishes two calls of one tool (a command, a path).
     */
    Used: {
      /** @enum {unknown} */
      fact: "used";
      tool: string;
      /** @default  */
      what?: string;
      /** @default [] */
      paths?: string[];
      /** @default  */
      call?: string;
    };
    /**
     * Answered
     * @description A tool returned its result to the model.
     */
    Answered: {
      /** @enum {unknown} */
      fact: "answered";
      /** @default  */
      call?: string;
      /** @default true */
      ok?: boolean;
      /** @default  */
      text?: string;
    };
    /**
     * Spent
     * @description Tokens were used; `cost_usd` is None when the engine does not say.
     *
     *         With `total`, these figures are for the whole run so far and replace all earlier ones.
     */
    Spent: {
      /** @enum {unknown} */
      fact: "spent";
      /** @default 0 */
      fresh?: number;
      /** @default 0 */
      cached?: number;
      /** @default 0 */
      output?: number;
      /** @default null */
      cost_usd?: number | null;
      /** @default  */
      model?: string;
      /** @default false */
      total?: boolean;
    };
    /**
     * Window
     * @description How much of the model's context is used.
     */
    Window: {
      /** @enum {unknown} */
      fact: "window";
      used: number;
      /** @default 0 */
      size?: number;
    };
    /**
     * Compacted
     * @description The engine compacted its conversation.
     */
    Compacted: {
      /** @enum {unknown} */
      fact: "compacted";
    };
    /**
     * Limited
     * @description The engine hit a rate limit and retries on its own, for now.
     */
    Limited: {
      /** @enum {unknown} */
      fact: "limited";
      trouble: components["schemas"]["Trouble"];
      /** @default null */
      retry_s?: number | null;
      /** @default null */
      reset_at?: number | null;
      /** @default  */
      text?: string;
    };
    /**
     * Trouble
     * @description Why an engine could not go on, according to its output.
     * @enum {unknown}
     */
    Trouble:
      | "auth"
      | "budget"
      | "network"
      | "other"
      | "overflow"
      | "overload"
      | "quota"
      | "rate"
      | "request"
      | "session";
    /**
     * Turn
     * @description Whose turn it is, as the relay sees it (`world/engines/relay/server`).
     *
     *         With `heard`, the model responds, so any rate limit is over.
     */
    Turn: {
      /** @enum {unknown} */
      fact: "turn";
      model: boolean;
      /** @default false */
      heard?: boolean;
    };
    /**
     * Asked
     * @description The engine waits for an answer to a question or a permission request.
     */
    Asked: {
      /** @enum {unknown} */
      fact: "asked";
      text: string;
      /** @default [] */
      options?: string[];
      /** @default  */
      call?: string;
    };
    /**
     * Told
     * @description A text was delivered to a running engine; `proof` says how that is known.
     *
     *         `record`: the engine itself says so; `screen`: it was seen on its screen; `none`: unknown.
     */
    Told: {
      /** @enum {unknown} */
      fact: "told";
      text: string;
      /** @default none */
      proof?: string;
    };
    /**
     * Ready
     * @description The engine is between turns, and was asked to say so: it can take a message now.
     */
    Ready: {
      /** @enum {unknown} */
      fact: "ready";
    };
    /**
     * Denied
     * @description A tool call was not permitted.
     */
    Denied: {
      /** @enum {unknown} */
      fact: "denied";
      tool: string;
      /** @default  */
      what?: string;
    };
    /**
     * Finished
     * @description The engine reports its end. `trouble` is None if it ended well.
     */
    Finished: {
      /** @enum {unknown} */
      fact: "finished";
      /** @default null */
      trouble?: components["schemas"]["Trouble"] | null;
      /** @default  */
      text?: string;
      /** @default null */
      status?: number | null;
      /** @default null */
      retry_s?: number | null;
      /** @default null */
      reset_at?: number | null;
    };
    /** SessionPage */
    SessionPage: {
      id: string;
      task: string;
      profile: string;
      pool: string;
      branch: string;
      base: string;
      started_at: number;
      ended_at: number;
      verdict: string;
      detail: string;
      commit: string;
      stop: string;
      progress: string;
      progress_at: number;
      outputs: number;
      account: string;
      thread: string;
      model: string;
      turns: number;
      takes: string;
      waits: string;
      launches: number;
      reactions: string[];
      spent: components["schemas"]["SpentView"];
      usage: components["schemas"]["Usage"] | null;
      engine: components["schemas"]["EngineSummary"] | null;
    };
    /** Usage */
    Usage: {
      pss: number;
      cpu_s: number;
      processes: number;
    };
    /**
     * EngineSummary
     * @description What an engine has done; its costs are in the view of the session.
     */
    EngineSummary: {
      said: string;
      calls: components["schemas"]["ToolCall"][];
      called: number;
      files: string[];
      context_used: number;
      context_size: number;
      compacted: number;
      limits: number;
      denied: number;
      asked: components["schemas"]["Asked"] | null;
      finished: components["schemas"]["Finished"] | null;
    };
    /** ToolCall */
    ToolCall: {
      tool: string;
      /** @default  */
      what?: string;
      /** @default null */
      ok?: boolean | null;
    };
    /** LinesQuery */
    LinesQuery: {
      /**
       * @description the last lines, at most this many
       * @default 1000
       */
      lines?: number;
    };
    /** BriefText */
    BriefText: {
      text: string;
    };
    /** Changes */
    Changes: {
      base: string;
      commit: string;
      uncommitted: number;
      files: components["schemas"]["ChangedFile"][];
      patch: string;
      cut: boolean;
    };
    /** ChangedFile */
    ChangedFile: {
      path: string;
      added: number | null;
      deleted: number | null;
    };
    /** CheckLog */
    CheckLog: {
      lines: string[];
    };
    /**
     * RunReport
     * @description The result of a run, or how far it has come.
     */
    RunReport: {
      convoy: string;
      title: string;
      standing: components["schemas"]["Standing"];
      exit_code: number;
      landed: number;
      failed: number;
      waiting: number;
      tasks: components["schemas"]["TaskReport"][];
      trunk: string;
      finished: string;
      check_runs: number;
      flaky: {
        [key: string]: number;
      };
      cost_usd: number | null;
      known_usd: number;
      seconds: number;
    };
    /**
     * Standing
     * @description How a run of a convoy stands; all but the first are final.
     * @enum {unknown}
     */
    Standing: "failed" | "interrupted" | "landed" | "needs_person" | "out_of_budget" | "running";
    /** TaskReport */
    TaskReport: {
      id: string;
      title: string;
      state: components["schemas"]["TaskState"];
      lot: components["schemas"]["Lot"];
      attempts: number;
      verdict: string;
      reason: string;
      commit: string;
      returns: number;
      cost_usd: number | null;
      seconds: number;
    };
    /**
     * Lot
     * @description What will become of one task if nobody does anything.
     * @enum {unknown}
     */
    Lot: "failed" | "money" | "over" | "person" | "working";
    /** Conversation */
    Conversation: {
      id: string;
      goal: string;
      said: components["schemas"]["Spoken"][];
      proposal: components["schemas"]["Proposal"] | null;
    };
    /**
     * Spoken
     * @description A question or an answer.
     */
    Spoken: {
      seq: number;
      at: number;
      actor: string;
      kind: string;
      text: string;
      /** @default  */
      words?: string;
      /** @default  */
      cause?: string;
      /** @default  */
      profile?: string;
      /** @default  */
      task?: string;
      /** @default [] */
      problems?: string[];
      /** @default  */
      trouble?: string;
      /** @default [] */
      wrote?: string[];
      /**
       * @default {
       *       "fresh": 0,
       *       "cached": 0,
       *       "output": 0,
       *       "usd": 0,
       *       "unpriced": 0
       *     }
       */
      cost?: components["schemas"]["Cost"];
    };
    /**
     * Proposal
     * @description A plan, with the needs that follow from it.
     */
    Proposal: {
      seq: number;
      at: number;
      pending: boolean;
      plan: components["schemas"]["Plan"];
      edges: components["schemas"]["Edge"][];
      waves: string[][];
      critical: components["schemas"]["Critical"] | null;
      cancel: string[];
      tasks: {
        [key: string]: string;
      };
    };
    /**
     * Edge
     * @description `task` waits for `need`. Without a reason, the plan states it.
     */
    Edge: {
      task: string;
      need: string;
      /** @default  */
      reason?: string;
    };
    /**
     * Critical
     * @description The longest chain of tasks that wait for each other.
     */
    Critical: {
      keys: string[];
      length: number;
      unit: string;
    };
    /**
     * MayorNow
     * @description How the conversation stands after what was asked for.
     */
    MayorNow: {
      id: string;
      state: string;
      turns: number;
      pending: boolean;
      convoy: string;
      seq: number;
    };
    /**
     * StartMayor
     * @description Begin a conversation about a goal; without one, continue the current conversation.
     */
    StartMayor: {
      /**
       * @description what is to be done
       * @default
       */
      goal?: string;
      /**
       * @description the profile that makes the plan
       * @default
       */
      engine?: string;
      /**
       * @description on_failure: ask again when a task fails for good
       * @default
       */
      replan?: string;
    };
    /**
     * AskMayor
     * @description Ask a question, or say what is to change in the plan.
     */
    AskMayor: {
      /** @description what to say */
      text: string;
    };
    /**
     * ApprovePlan
     * @description Put a proposed plan on the board.
     */
    ApprovePlan: {
      /** @description the event that proposed it: proposed_seq */
      proposal: number;
    };
    /**
     * RejectPlan
     * @description Reject the proposed plan.
     */
    RejectPlan: {
      /**
       * @description why, in one line
       * @default
       */
      reason?: string;
    };
    /**
     * StopMayor
     * @description End the conversation and its engine.
     */
    StopMayor: {
      /**
       * @description why, in one line
       * @default
       */
      reason?: string;
    };
    /** EventsQuery */
    EventsQuery: {
      /**
       * @description begin after this event; -1: now
       * @default -1
       */
      after?: number;
      /**
       * @description only events about this task
       * @default
       */
      task?: string;
      /**
       * @description only events about this convoy
       * @default
       */
      convoy?: string;
      /**
       * @description only events of this type, or of a group of types like task
       * @default
       */
      type?: string;
    };
    /** LiveQuery */
    LiveQuery: {
      /**
       * @description the event of the board that you have; -1: none
       * @default -1
       */
      after?: number;
      /**
       * @description send the events, too
       * @default false
       */
      log?: boolean;
      /**
       * @description send the output of this session
       * @default
       */
      output?: string;
      /**
       * @description from this place on; without it: the end of the output
       * @default
       */
      offset?: string;
      /**
       * @description send the last lines of all running sessions
       * @default false
       */
      tails?: boolean;
    };
    /**
     * LiveData
     * @description The data of each kind of event on this stream.
     */
    LiveData: {
      state: components["schemas"]["Board"];
      change: components["schemas"]["BoardChange"];
      log: Record<string, never>;
      output: components["schemas"]["OutputPart"];
      tails: {
        [key: string]: string[];
      };
      beat: {
        [key: string]: string;
      };
    };
    /**
     * BoardChange
     * @description The difference between two boards: rows that are new or changed, and ids that are gone.
     */
    BoardChange: {
      seq: number;
      set: {
        [key: string]: unknown[];
      };
      gone: {
        [key: string]: string[];
      };
    };
    /** OutputPart */
    OutputPart: {
      session: string;
      text: string;
      begin: string;
      end: string;
      restarted: boolean;
    };
    /** Link */
    Link: {
      url: string;
    };
    /**
     * Ticket
     * @description Nothing is asked for.
     */
    Ticket: Record<string, never>;
    /** LoginQuery */
    LoginQuery: {
      ticket: string;
    };
    Refusal: {
      /** @constant */
      ok: false;
      error: {
        code: string;
        message: string;
        hint: string;
      };
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  "post /api/convoy/create": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CreateConvoy"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/task/add": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["AddTask"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/task/edit": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["EditTask"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/plan/apply": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ApplyPlan"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/task/claim": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ClaimTask"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/task/renew": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["RenewTask"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/task/submit": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SubmitTask"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/task/fail": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["FailTask"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/task/block": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["BlockTask"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/task/unblock": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UnblockTask"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/task/retry": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["RetryTask"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/task/cancel": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CancelTask"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/task/hand-off": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["HandOffTask"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/task/land": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["LandTask"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/task/comment": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["CommentTask"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/lease/acquire": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["AcquireLease"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/lease/renew": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["RenewLease"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/lease/release": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ReleaseLease"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/alert/raise": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["RaiseAlert"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/alert/clear": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ClearAlert"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/queue/eject": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["EjectChange"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/queue/prioritise": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PrioritiseChange"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/queue/report": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ReportCheck"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/alert/acknowledge": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["AcknowledgeAlert"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/pause": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["Pause"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/resume": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["Resume"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/session/stop": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["StopSession"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/session/send": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SendText"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/session/report": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ReportProgress"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/message/send": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SendMessage"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/message/read": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ReadMessages"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "post /api/message/ack": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["AcknowledgeMessage"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "get /api/status": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["Status"];
          };
        };
      };
    };
  };
  "get /api/overview": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["Overview"];
          };
        };
      };
    };
  };
  "get /api/convoys": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["ConvoyView"][];
          };
        };
      };
    };
  };
  "get /api/convoys/{convoy}": {
    parameters: {
      query?: never;
      header?: never;
      path: {
        convoy: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["ConvoyPage"];
          };
        };
      };
    };
  };
  "get /api/tasks": {
    parameters: {
      query?: {
        state?: string;
        convoy?: string;
        ready?: boolean;
        after?: string;
        limit?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["TasksPage"];
          };
        };
      };
    };
  };
  "get /api/tasks/{task}": {
    parameters: {
      query?: never;
      header?: never;
      path: {
        task: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["TaskPage"];
          };
        };
      };
    };
  };
  "get /api/tasks/{task}/why": {
    parameters: {
      query?: never;
      header?: never;
      path: {
        task: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["Explanation"];
          };
        };
      };
    };
  };
  "get /api/why": {
    parameters: {
      query: {
        of: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["Reason"];
          };
        };
      };
    };
  };
  "get /api/explanation": {
    parameters: {
      query: {
        of: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "get /api/queue": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["QueueView"];
          };
        };
      };
    };
  };
  "get /api/cost": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["CostReport"];
          };
        };
      };
    };
  };
  "get /api/sessions": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["SessionView"][];
          };
        };
      };
    };
  };
  "get /api/sessions/{session}": {
    parameters: {
      query?: never;
      header?: never;
      path: {
        session: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["SessionView"];
          };
        };
      };
    };
  };
  "get /api/leases": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["LeaseView"][];
          };
        };
      };
    };
  };
  "get /api/alerts": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["AlertView"][];
          };
        };
      };
    };
  };
  "get /api/messages": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["MessageView"][];
          };
        };
      };
    };
  };
  "get /api/jobs": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["Jobs"];
          };
        };
      };
    };
  };
  "get /api/whoami": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["WhoAmI"];
          };
        };
      };
    };
  };
  "get /api/log": {
    parameters: {
      query?: {
        after?: number;
        before?: number;
        limit?: number;
        type?: string;
        task?: string;
        convoy?: string;
        actor?: string;
        text?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["LogPage"];
          };
        };
      };
    };
  };
  "get /api/board": {
    parameters: {
      query?: {
        at?: number | null;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["Board"];
          };
        };
      };
    };
  };
  "get /api/health": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["Health"];
          };
        };
      };
    };
  };
  "get /api/sessions/{session}/output": {
    parameters: {
      query?: {
        lines?: number;
        before?: string;
        after?: string;
        bytes?: number;
      };
      header?: never;
      path: {
        session: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["OutputPage"];
          };
        };
      };
    };
  };
  "get /api/sessions/{session}/facts": {
    parameters: {
      query?: {
        limit?: number;
      };
      header?: never;
      path: {
        session: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["Facts"];
          };
        };
      };
    };
  };
  "get /api/sessions/{session}/summary": {
    parameters: {
      query?: never;
      header?: never;
      path: {
        session: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["SessionPage"];
          };
        };
      };
    };
  };
  "get /api/queue/{what}": {
    parameters: {
      query?: {
        lines?: number;
      };
      header?: never;
      path: {
        what: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: Record<string, never>;
          };
        };
      };
    };
  };
  "get /api/sessions/{session}/brief": {
    parameters: {
      query?: never;
      header?: never;
      path: {
        session: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["BriefText"];
          };
        };
      };
    };
  };
  "get /api/sessions/{session}/diff": {
    parameters: {
      query?: never;
      header?: never;
      path: {
        session: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["Changes"];
          };
        };
      };
    };
  };
  "get /api/sessions/{session}/usage": {
    parameters: {
      query?: never;
      header?: never;
      path: {
        session: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["Usage"] | null;
          };
        };
      };
    };
  };
  "get /api/tasks/{task}/sessions": {
    parameters: {
      query?: never;
      header?: never;
      path: {
        task: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["SessionRow"][];
          };
        };
      };
    };
  };
  "get /api/checks/{check}/log": {
    parameters: {
      query?: {
        lines?: number;
      };
      header?: never;
      path: {
        check: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["CheckLog"];
          };
        };
      };
    };
  };
  "get /api/convoys/{convoy}/report": {
    parameters: {
      query?: {
        at?: number | null;
      };
      header?: never;
      path: {
        convoy: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["RunReport"];
          };
        };
      };
    };
  };
  "get /api/mayors/{mayor}": {
    parameters: {
      query?: {
        at?: number | null;
      };
      header?: never;
      path: {
        mayor: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["Conversation"];
          };
        };
      };
    };
  };
  "post /api/mayor/start": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["StartMayor"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["MayorNow"];
          };
        };
      };
    };
  };
  "post /api/mayor/ask": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["AskMayor"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["MayorNow"];
          };
        };
      };
    };
  };
  "post /api/mayor/approve": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ApprovePlan"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["MayorNow"];
          };
        };
      };
    };
  };
  "post /api/mayor/reject": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["RejectPlan"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["MayorNow"];
          };
        };
      };
    };
  };
  "post /api/mayor/stop": {
    parameters: {
      query?: never;
      header?: {
        /** @description a request that is repeated with the same key is carried out once */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["StopMayor"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["MayorNow"];
          };
        };
      };
    };
  };
  "get /api/events": {
    parameters: {
      query?: {
        after?: number;
        task?: string;
        convoy?: string;
        type?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/event-stream": {
            id?: string;
            event?: string;
            data?: string;
          };
        };
      };
    };
  };
  "get /api/live": {
    parameters: {
      query?: {
        after?: number;
        log?: boolean;
        output?: string;
        offset?: string;
        tails?: boolean;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/event-stream": {
            id?: string;
            event?: string;
            data?: string;
          };
        };
      };
    };
  };
  "post /api/tickets": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["Ticket"];
      };
    };
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @constant */
            ok: true;
            data: components["schemas"]["Link"];
          };
        };
      };
    };
  };
  "get /api/openapi.json": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": unknown;
        };
      };
    };
  };
  "get /metrics": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/plain": unknown;
        };
      };
    };
  };
  "get /login": {
    parameters: {
      query: {
        ticket: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
}
