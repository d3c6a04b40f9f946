// Tests: test/login/help.test.ts
import { createHash } from 'node:crypto';
import { bundlePageScript } from '../page-script.ts';
import { STYLE } from './style.ts';

let script: string | undefined;

/** The script of the page, bundled at the first use. */
function getScript(): string {
  return (script ??= bundlePageScript(new URL('page/main.ts', import.meta.url), { minify: true }).trim());
}

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

let headers: Record<string, string> | undefined;

/** Allows only the page's own script and style, loads nothing from other hosts, and forbids caching. */
function buildHeaders(): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src ${hash(getScript())}`,
    `style-src ${hash(STYLE)}`,
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  return {
    'content-security-policy': policy,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'x-robots-tag': 'noindex',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  };
}

export const getHelpHeaders = (): Record<string, string> => (headers ??= buildHeaders());

function render(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>${body}</body>
</html>
`;
}

const BODY = `
<header>
  <h1>Help with signing in</h1>
  <p id="site" class="site"></p>
</header>
<main>
  <section id="ask" aria-live="polite">
    <p id="what">Connecting…</p>
    <p id="hint" class="hint" hidden></p>
    <div id="options" class="row" hidden></div>
    <form id="code-form" class="row" hidden>
      <label for="code">Code</label>
      <input id="code" autocomplete="one-time-code" autocapitalize="off" spellcheck="false" maxlength="64">
      <button class="main">Send the code</button>
    </form>
    <button id="done" type="button" class="main" hidden>I have done it</button>
    <p id="fault" class="fault" role="alert" hidden></p>
  </section>
  <section id="live" aria-label="Live picture">
    <div id="view" tabindex="0" role="application" aria-describedby="keys"
      aria-label="The page of the site. Click, type and scroll here.">
      <img id="picture" alt="" draggable="false">
    </div>
    <p id="keys" class="small">Click the picture to use the page; Shift and Escape leave it.</p>
    <div id="tools" class="tools">
      <form id="text-form" class="row">
        <label for="text">Type into the page</label>
        <input id="text" autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false" maxlength="4096">
        <button>Type</button>
      </form>
      <div class="row" role="group" aria-label="Keys">
        <button type="button" data-key="Tab">Tab</button>
        <button type="button" data-key="Enter">Enter</button>
        <button type="button" data-key="Backspace">Backspace</button>
        <button type="button" data-scroll="-400">Scroll up</button>
        <button type="button" data-scroll="400">Scroll down</button>
        <button type="button" id="zoom" aria-pressed="false">Zoom</button>
        <button type="button" id="drag" aria-pressed="false">Drag</button>
      </div>
    </div>
  </section>
  <p class="small">What you type here goes to the page of the site. It is not stored and not shown to anybody else.
  Check the address above before you type a password.</p>
</main>
`;

/** The page of every login: its token is in its address. */
export function renderHelpPage(): string {
  return render('Help with signing in', `${BODY}<script>${getScript()}</script>`);
}

export function renderMissingPage(): string {
  return render(
    'The link has expired',
    '<header><h1>This link has expired</h1></header><main><p>The login is over, or it no longer waits. Ask for a new link.</p></main>',
  );
}
