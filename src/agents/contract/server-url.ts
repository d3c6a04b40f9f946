/**
 * A server's URL in the form in which two of them are compared: lower-case scheme and host, default port and trailing
 * slash dropped, path and query kept. The text itself where it is no URL.
 */
export function normalizeServerUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null) return text;
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}${url.search}`;
}
