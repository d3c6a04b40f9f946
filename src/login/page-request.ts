// Tests: test/login/strangers.test.ts, test/login/service.test.ts
import type { CookieJar } from 'tough-cookie';
import type { Egress } from '../platform/egress/egress.ts';
import { omitUndefined } from '../platform/records.ts';

const PASSWORD_FIELD = /<input\b[^<>]*\btype\s*=\s*["']?password\b/i;

export type PageRequest = {
  /** the cookies that are sent; those of the response are added */
  jar: CookieJar;
  /** some sites end a session that another browser uses */
  userAgent?: string | undefined;
  maxBytes: number;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
};

/** Requests a page without a browser, and follows no redirect. Throws an `EgressError`. */
export async function requestPage(egress: Egress, url: string, request: PageRequest): Promise<Response> {
  const { jar, userAgent, maxBytes, timeoutMs, signal } = request;
  const cookie = await jar.getCookieString(url);
  const response = await egress.fetch(url, {
    redirect: 'manual',
    maxBytes,
    timeoutMs,
    ...omitUndefined({ signal }),
    headers: {
      accept: 'text/html,*/*;q=0.8',
      ...omitUndefined({ 'user-agent': userAgent }),
      ...(cookie !== '' && { cookie }),
    },
  });
  for (const line of response.headers.getSetCookie()) await jar.setCookie(line, url, { ignoreError: true });
  return response;
}

/** Where a response redirects to; undefined for any other. */
export function findRedirect({ status, headers }: Response, url: string): URL | undefined {
  const location = status >= 300 && status < 400 ? headers.get('location') : null;
  return (location === null ? null : URL.parse(location, url)) ?? undefined;
}

/** Ends a response whose body is not read. */
export async function discardBody({ body }: Response): Promise<void> {
  await body?.cancel().catch(() => undefined);
}

/** Whether the HTML of a page has a field for a password. */
export function hasPasswordField(html: string): boolean {
  return PASSWORD_FIELD.test(html);
}
