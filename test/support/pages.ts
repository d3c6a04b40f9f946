/** Pages as the web has them. Sizes grow with the number of paragraphs: about 180 characters each. */
export function buildArticlePage(paragraphs: number): string {
  const nav = Array.from({ length: 20 }, (_, item) => `<li><a href="/topic/${item}">Topic ${item}</a></li>`).join('');
  const body = Array.from({ length: paragraphs }, (_, number) => {
    const head = number % 10 === 0 ? `<h2>Part ${number / 10}</h2>` : '';
    return (
      `${head}<p>Paragraph ${number} tells of the <a href="/terms/${number}">terms</a>, in <em>plain</em> words, with ` +
      'commas, and at a length that only people who mean to be read would write.</p>'
    );
  }).join('\n');
  const rows = Array.from({ length: 5 }, (_, row) => `<tr><td>row ${row}</td><td>${row * row}</td></tr>`).join('');
  return (
    '<!DOCTYPE html><html><head><meta charset="utf-8"><title>The terms</title><style>p { color: red }</style></head>' +
    `<body><header><nav><ul>${nav}</ul></nav></header><main><article><h1>The terms</h1>${body}` +
    `<table><thead><tr><th>name</th><th>square</th></tr></thead><tbody>${rows}</tbody></table>` +
    '<pre><code class="language-js">const a = 1;\n  if (a) b();</code></pre></article></main>' +
    '<aside><p>Subscribe to our newsletter!</p></aside><footer>© 2026</footer><script>track()</script></body></html>'
  );
}

/** What hostile pages are made of: each would keep a reader of trees busy for minutes, or for ever. */
export const HOSTILE_PAGES: Readonly<Record<string, () => string>> = {
  'two million open elements': () => '<div>'.repeat(2_000_000) + 'the words',
  'columns of deep elements': () => `${'<div>'.repeat(190)}the words${'</div>'.repeat(190)}`.repeat(250),
  'half a million entities': () => 'the words &lt; '.repeat(500_000),
  'a million open brackets': () => `the words${'<'.repeat(1_000_000)}`,
  // only time tells
  'an element of 300,000 attributes': () =>
    `<p ${Array.from({ length: 300_000 }, (_, number) => `a${number}=b`).join(' ')}>the words</p>`,
  'a class name of two megabytes': () => `<div class="${'a '.repeat(1_000_000)}">the words</div>`,
  'a table of 30,000 rows': () => `<table>${'<tr><td>the words</td><td>x</td></tr>'.repeat(30_000)}</table>`,
  'a comment without an end': () => `the words<!--${'-'.repeat(3_000_000)}`,
};
