import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, Dialog, Page, Request, Response } from 'playwright-core';
import type { Owed } from '../browser/tunnel.ts';
import { TypedValues, readAuthorization } from './typed-values.ts';

/** A request that may have carried typed values. */
export type Submission = {
  /** its body holds typed values, as far as that can be detected */
  carriesSecret: boolean;
  /** how many of the typed values it holds */
  secrets: number;
  /** its header holds typed values, as HTTP authentication by a script */
  byAuthorization: boolean;
  /** 0 until its answer has been read, and when it failed */
  status: number;
  /** the answer is a document that the browser navigates to */
  isNavigation: boolean;
  /** the answer itself reports a failure: `{ "error": … }`, `{ "success": false }` */
  reportsFailure: boolean;
  /** the connection failed before the answer was complete */
  broken: boolean;
};

const CALLS = new Set(['xhr', 'fetch']);
const COUNTED = new Set(['document', 'script', ...CALLS]);
/** Calls in flight for longer are long polls, unless they carry typed values. */
const LONG_POLL_MS = 4000;
/** Maximum bytes that are read of an answer. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_DIALOGS = 5;
/** Addresses that scripts have read since recording began. */
const MAX_READ = 5;

const ERROR_FIELDS = ['error', 'errors', 'errorCode', 'error_code', 'errorMessage'];

/** Whether a field of an answer holds anything. */
function isGiven(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== undefined && value !== null && value !== false && value !== '' && value !== 0 && value !== '0';
}

/** Whether a JSON answer reports a failure, whatever its status. */
export function isFailureBody(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false;
  const answer = body as Record<string, unknown>;
  if (ERROR_FIELDS.some((name) => isGiven(answer[name]))) return true;
  for (const name of ['success', 'ok', 'authenticated', 'valid', 'loggedIn', 'logged_in']) {
    if (answer[name] === false || answer[name] === 0) return true;
  }
  return typeof answer['status'] === 'string' && /^(error|fail(ed|ure)?|invalid|denied)$/i.test(answer['status']);
}

/** Whether the request loads the document of a page, not of a frame in it. */
function isTopDocument(request: Request): boolean {
  try {
    return request.isNavigationRequest() && request.frame().parentFrame() === null;
  } catch {
    // The page has gone, or a worker sent it.
    return false;
  }
}

/** `host:port` of an address. */
function readTarget(address: string): string {
  const { protocol = '', hostname = '', port = '' } = URL.parse(address) ?? {};
  const usual = protocol === 'https:' || protocol === 'wss:' ? '443' : '80';
  return `${hostname.replace(/^\[(.*)\]$/, '$1')}:${port === '' ? usual : port}`;
}

/** Failures of a request that the page or the browser itself has ended. */
const ENDED_HERE = /ERR_(?:ABORTED|BLOCKED|FAILED|CACHE_MISS)/;

async function readsAsFailure(response: Response): Promise<boolean> {
  const headers = response.headers();
  if (!(headers['content-type'] ?? '').includes('json')) return false;
  if (Number(headers['content-length'] ?? 0) > MAX_ANSWER_BYTES) return false;
  const text = await response.text().catch(() => '');
  if (text.length > MAX_ANSWER_BYTES) return false;
  try {
    return isFailureBody(JSON.parse(text));
  } catch {
    // Not JSON, whatever its type says.
    return false;
  }
}

/** ms that the browser gets to report how a request has ended */
const REPORT_MS = 1000;
const INITIAL = { reportsFailure: false, broken: false };

/** Watches the requests of a browser context for as long as it lives. Bodies are inspected and not kept. */
export class Traffic {
  readonly #allows: (url: string) => boolean;
  readonly #recorded = new Map<Request, Submission>();
  readonly #open = new Map<Request, number>();
  /** recorded requests without a response */
  readonly #unanswered = new Set<Request>();
  #submissions: Submission[] = [];
  #dialogs: string[] = [];
  /** calls before the submit, which check typed values */
  #checks: Submission[] = [];
  #typed = new TypedValues([]);
  #lastChange = performance.now();
  #status = 0;
  #read = new Set<string>();
  #usedHttpAuthentication = false;
  /** a top document was answered since recording began */
  #hasNavigated = false;

  constructor(context: BrowserContext, allows: (url: string) => boolean) {
    this.#allows = allows;
    context.on('request', (request) => this.#begin(request));
    context.on('response', (response) => void this.#receive(response));
    context.on('requestfinished', (request) => this.#end(request));
    context.on('requestfailed', (request) => this.#fail(request));
    context.on('page', (page) => this.#listen(page));
    for (const page of context.pages()) this.#listen(page);
  }

  /** Since the submit, oldest first; if none was sent since, those before it. */
  get submissions(): readonly Submission[] {
    return this.#submissions.length > 0 ? this.#submissions : this.#checks;
  }

  /** The answer to a form broke off. */
  hasBrokenDocument(): boolean {
    return this.#submissions.some(({ isNavigation, broken }) => isNavigation && broken);
  }

  /** Texts of `alert` and the like since recording began. */
  get dialogs(): readonly string[] {
    return this.#dialogs;
  }

  /** Addresses that scripts of the site have read since recording began, answered with JSON. */
  get read(): readonly string[] {
    return [...this.#read];
  }

  /** A script has sent typed values as HTTP authentication, so the session may have no cookies. */
  get usedHttpAuthentication(): boolean {
    return this.#usedHttpAuthentication;
  }

  /** Status of the latest top document; 0 before the first. */
  get status(): number {
    return this.#status;
  }

  /** Clears the record, and searches for these texts in all further requests. */
  startRecording(secrets: readonly string[]): void {
    this.#submissions = [];
    this.#checks = [];
    this.#dialogs = [];
    this.#read.clear();
    this.#recorded.clear();
    this.#unanswered.clear();
    this.#hasNavigated = false;
    this.#typed = new TypedValues(secrets);
  }

  /** The form is about to be submitted: scripts have sent the calls so far to check its fields. */
  markSubmit(): void {
    this.#checks = this.#submissions;
    this.#submissions = [];
  }

  /** Documents, scripts and calls in flight, of any page; without long polls. */
  countPending(): number {
    return Array.from(this.#open).filter((entry) => !this.#isLongPoll(entry)).length;
  }

  /** Whether anything is in flight that began within the last `ms`, long polls included. */
  hasCallWithin(ms: number): boolean {
    return Array.from(this.#open.values()).some((since) => performance.now() - since < ms);
  }

  /** Whether a submission, or the next document of a page, has no answer yet. */
  awaitsResponse(): boolean {
    return Array.from(this.#open.keys()).some((request) => this.#recorded.has(request) || isTopDocument(request));
  }

  /** What a target, `host:port`, owes since typed values may have been sent. */
  readOwed(target: string): Owed {
    if (this.#typed.isEmpty) return 'nothing';
    const isOwing = [...this.#unanswered].some((request) => readTarget(request.url()) === target);
    return isOwing ? 'answer' : 'unknown';
  }

  /**
   * Whether a script may send this body. Not if it holds typed values that an earlier request has held: that one
   * has failed, and the script would repeat it.
   */
  async mayBeSent(body: string): Promise<boolean> {
    const secrets = this.#typed.count(body);
    if (secrets === 0) return true;
    const earlier = [...this.#recorded].filter(([, submission]) => submission.secrets >= secrets);
    // The failure of the earlier one may be reported after the repetition.
    const start = performance.now();
    while (earlier.some(([request]) => this.#unanswered.has(request)) && performance.now() - start < REPORT_MS) {
      await sleep(REPORT_MS / 20);
    }
    return !earlier.some(([, { broken, status }]) => broken || status >= 500);
  }

  /** ms since a counted request began or ended. */
  sinceLastRequestMs(): number {
    return performance.now() - this.#lastChange;
  }

  /** The same, but 0 while a request is in flight: from then on the page shows its result. */
  networkIdleMs(): number {
    return this.countPending() > 0 ? 0 : this.sinceLastRequestMs();
  }

  #isLongPoll([request, since]: [Request, number]): boolean {
    const isOld = performance.now() - since > LONG_POLL_MS;
    return CALLS.has(request.resourceType()) && isOld && this.#recorded.get(request)?.carriesSecret !== true;
  }

  #begin(request: Request): void {
    if (COUNTED.has(request.resourceType())) {
      this.#lastChange = performance.now();
      this.#open.set(request, this.#lastChange);
    }
    if (!this.#allows(request.url())) return;
    const secrets = this.#typed.countIn(request);
    const carriesSecret = secrets > 0;
    // Requests that the next page sends on its own, such as telemetry, say nothing about the submit.
    if (!carriesSecret && (request.method() === 'GET' || this.#hasNavigated)) return;
    const isNavigation = request.isNavigationRequest();
    const byAuthorization = carriesSecret && readAuthorization(request) !== '';
    this.#usedHttpAuthentication ||= byAuthorization;
    const submission = { carriesSecret, secrets, byAuthorization, status: 0, isNavigation, ...INITIAL };
    this.#submissions.push(submission);
    this.#unanswered.add(request);
    this.#recorded.set(request, submission);
  }

  async #receive(response: Response): Promise<void> {
    const request = response.request();
    const status = response.status();
    const submission = this.#recorded.get(request);
    this.#unanswered.delete(request);
    if (isTopDocument(request)) {
      this.#status = status;
      this.#hasNavigated ||= status < 300 || status >= 400;
    }
    if (submission === undefined) return this.#noteRead(response);
    submission.reportsFailure = await readsAsFailure(response);
    // Set only now: a status without the body's verdict would briefly count as success.
    submission.status = status;
    this.#lastChange = performance.now();
  }

  #noteRead(response: Response): void {
    const request = response.request();
    if (this.#read.size >= MAX_READ || request.method() !== 'GET' || !CALLS.has(request.resourceType())) return;
    const isJson = (response.headers()['content-type'] ?? '').includes('json');
    if (isJson && response.ok() && this.#allows(response.url())) this.#read.add(response.url());
  }

  #fail(request: Request): void {
    const submission = this.#recorded.get(request);
    if (submission !== undefined) submission.broken = !ENDED_HERE.test(request.failure()?.errorText ?? '');
    this.#end(request);
  }

  #end(request: Request): void {
    this.#unanswered.delete(request);
    if (this.#open.delete(request)) this.#lastChange = performance.now();
  }

  #listen(page: Page): void {
    page.on('dialog', (dialog: Dialog) => {
      if (this.#dialogs.length < MAX_DIALOGS) this.#dialogs.push(dialog.message().slice(0, 500));
      dialog.dismiss().catch(() => undefined);
    });
  }
}
