/** Requests with the cookies of one browser, kept by origin. Follows no redirect by itself. */
export class CookieClient {
  readonly #jars = new Map<string, Map<string, string>>();

  cookies(url: string): string {
    const jar = this.#jars.get(new URL(url).origin) ?? new Map<string, string>();
    return [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async send(url: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    const cookies = this.cookies(url);
    if (cookies !== '') headers.set('cookie', cookies);
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    const { origin } = new URL(url);
    const jar = this.#jars.get(origin) ?? new Map<string, string>();
    this.#jars.set(origin, jar);
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';', 1);
      const end = pair.indexOf('=');
      const [name, value] = [pair.slice(0, end), pair.slice(end + 1)];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Follows redirects until a page comes, or an address that `stop` matches; the address that came last and its answer. */
  async follow(start: string, stop?: (url: string) => boolean): Promise<{ url: string; response: Response }> {
    let url = start;
    for (;;) {
      const response = await this.send(url);
      const location = response.headers.get('location');
      if (location === null || response.status < 300 || response.status > 399) return { url, response };
      url = new URL(location, url).href;
      if (stop?.(url) === true) return { url, response };
    }
  }

  async submit(page: { url: string; response: Response }, fields: Record<string, string>): Promise<string> {
    const action = /<form[^>]* action="([^"]+)"/.exec(await page.response.text())?.[1];
    if (action === undefined) throw new Error(`no form at ${page.url}`);
    const target = new URL(action.replaceAll('&amp;', '&'), page.url).href;
    const response = await this.send(target, { method: 'POST', body: new URLSearchParams(fields) });
    const location = response.headers.get('location');
    if (location === null) throw new Error(`no redirect after the form of ${page.url}: ${response.status}`);
    return new URL(location, target).href;
  }

  /** Signs in at the identity provider as a person would; the address that the browser ends at. */
  async signIn(base: string, login: string, query = ''): Promise<string> {
    const atForm = await this.follow(`${base}/v1/sign-ins/oidc${query}`);
    const after = await this.submit(atForm, { prompt: 'login', login, password: 'any' });
    const consent = await this.follow(after, (url) => url.startsWith(`${base}/console`));
    if (consent.url.startsWith(`${base}/console`)) return consent.url;
    const agreed = await this.submit(consent, { prompt: 'consent' });
    return (await this.follow(agreed, (url) => url.startsWith(`${base}/console`))).url;
  }
}
