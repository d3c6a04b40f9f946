import type { BrowserContext, Page, Request, Response } from 'playwright-core';

/** A request that may have carried what was typed. */
export type Submission = {
  at: number;
  /** what was typed stands in its body, as far as that can be seen */
  carriesSecret: boolean;
  /** 0 until it is answered, or when it failed */
  status: number;
  /** the answer is a document that the browser went to */
  isNavigation: boolean;
  /** the answer says of itself that it is a failure: `{ "error": … }`, `{ "success": false }` */
  reportsFailure: boolean;
};

export type Traffic = {
  /** since `mark`, oldest first */
  submissions: readonly Submission[];
  /** texts of `alert` and the like since `mark` */
  dialogs: readonly string[];
  /** documents, scripts and calls under way, of any page; without calls that only wait to hear of something */
  pending(): number;
  /** a submission since `mark`, or the next document of a page, is not answered yet */
  awaitsResponse(): boolean;
  /** ms since a request of those last began or ended */
  sinceLastRequestMs(): number;
  /** the same, but 0 while a request is under way: from then on what is seen is what has come of it */
  networkIdleMs(): number;
  /** what the top document was answered with; 0 before */
  status(): number;
  /** Forgets what was before, and looks for these texts in what is sent from now on. */
  startRecording(secrets: readonly string[]): void;
};

const CALLS = new Set(['xhr', 'fetch']);
const COUNTED = new Set(['document', 'script', ...CALLS]);
/** Calls that hang for longer wait for the server's next event, unless what was typed went with them. */
const LISTENING_MS = 4000;
/** Bytes of an answer that are looked at. */
const MAX_ANSWER = 64 * 1024;
const MAX_DIALOGS = 5;

/** The forms in which a text may stand in a body. */
function listForms(secret: string): string[] {
  const uri = encodeURIComponent(secret);
  return [secret, JSON.stringify(secret).slice(1, -1), uri, uri.replaceAll('%20', '+')];
}

/** What a script sends by HTTP authentication of its own; empty where it sends none. */
function readAuthorization(request: Request): string {
  const [, encoded = ''] = /^basic +(\S+)$/i.exec(request.headers()['authorization'] ?? '') ?? [];
  return Buffer.from(encoded, 'base64').toString();
}

/** Whether a JSON answer names a failure of its own, whatever its status. */
export function isFailureBody(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false;
  const answer = body as Record<string, unknown>;
  for (const name of ['error', 'errors', 'errorCode', 'error_code', 'errorMessage']) {
    const value = answer[name];
    const isEmpty = Array.isArray(value) ? value.length === 0 : value === '' || value === 0 || value === '0';
    if (value !== undefined && value !== null && value !== false && !isEmpty) return true;
  }
  for (const name of ['success', 'ok', 'authenticated', 'valid', 'loggedIn', 'logged_in']) {
    if (answer[name] === false) return true;
  }
  return typeof answer['status'] === 'string' && /^(error|fail(ed|ure)?|invalid|denied)$/i.test(answer['status']);
}

/** Listens to a context for as long as it lives. Bodies are looked into and not kept. */
export function watchTraffic(context: BrowserContext, allows: (url: string) => boolean): Traffic {
  const submissions: Submission[] = [];
  const dialogs: string[] = [];
  const known = new Map<Request, Submission>();
  const open = new Map<Request, number>();
  let forms: string[] = [];
  let lastChange = performance.now();
  let status = 0;

  const carriesSecret = (request: Request): boolean => {
    let body: string | null;
    try {
      body = request.postData();
    } catch {
      return false;
    }
    const text = `${body ?? ''}\n${readAuthorization(request)}`;
    return forms.some((form) => text.includes(form));
  };
  const isTop = (request: Request) => {
    try {
      return request.isNavigationRequest() && request.frame().parentFrame() === null;
    } catch {
      // The page has gone, or it is a worker's request.
      return false;
    }
  };
  const isListening = ([request, since]: [Request, number]) =>
    CALLS.has(request.resourceType()) &&
    performance.now() - since > LISTENING_MS &&
    known.get(request)?.carriesSecret !== true;
  const pending = () => Array.from(open).filter((entry) => !isListening(entry)).length;
  const sinceLastRequestMs = () => performance.now() - lastChange;
  const end = (request: Request) => {
    if (open.delete(request)) lastChange = performance.now();
  };
  const judge = async (response: Response, submission: Submission) => {
    if (!(response.headers()['content-type'] ?? '').includes('json')) return;
    if (Number(response.headers()['content-length'] ?? 0) > MAX_ANSWER) return;
    const text = await response.text().catch(() => '');
    if (text.length > MAX_ANSWER) return;
    try {
      submission.reportsFailure = isFailureBody(JSON.parse(text));
    } catch {
      // It only calls itself JSON.
    }
  };

  context.on('request', (request) => {
    if (COUNTED.has(request.resourceType())) {
      lastChange = performance.now();
      open.set(request, lastChange);
    }
    if (!allows(request.url())) return;
    const isCarrier = carriesSecret(request);
    if (request.method() === 'GET' && !isCarrier) return;
    const submission = {
      at: performance.now(),
      carriesSecret: isCarrier,
      status: 0,
      isNavigation: request.isNavigationRequest(),
      reportsFailure: false,
    };
    submissions.push(submission);
    known.set(request, submission);
  });
  context.on('response', (response) => {
    const request = response.request();
    if (isTop(request)) status = response.status();
    const submission = known.get(request);
    if (submission === undefined) return;
    submission.status = response.status();
    void judge(response, submission);
  });
  context.on('requestfinished', end);
  context.on('requestfailed', end);
  context.on('page', (page: Page) => listen(page));
  const listen = (page: Page) => {
    page.on('dialog', (dialog) => {
      if (dialogs.length < MAX_DIALOGS) dialogs.push(dialog.message().slice(0, 500));
      dialog.dismiss().catch(() => undefined);
    });
  };

  for (const page of context.pages()) listen(page);

  return {
    submissions,
    dialogs,
    pending,
    awaitsResponse: () => Array.from(open.keys()).some((request) => known.has(request) || isTop(request)),
    sinceLastRequestMs,
    networkIdleMs: () => (pending() > 0 ? 0 : sinceLastRequestMs()),
    status: () => status,
    startRecording(secrets) {
      submissions.length = 0;
      dialogs.length = 0;
      known.clear();
      forms = secrets.filter((secret) => secret.length > 2).flatMap(listForms);
    },
  };
}
