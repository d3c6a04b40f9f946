import { Fragment, useMemo } from 'react';
import type { ReactNode } from 'react';
import type { Token, Tokens } from 'marked';
import { t } from '../i18n/t.ts';
import { decodeEntities, isSafeLink } from '../text/links.ts';
import { readMarkdown } from '../text/markdown.ts';
import { Clipped } from './clipped.tsx';
import { Code } from './code.tsx';

const LIMIT = 20_000;
const MAX_DEPTH = 30;

/** Deeper nesting than people write is shown as text. */
function renderAll(tokens: readonly Token[] | undefined, depth: number): ReactNode {
  return (tokens ?? []).map((token, index) => <Fragment key={index}>{renderToken(token, depth + 1)}</Fragment>);
}

function renderLink({ href, text, tokens }: Tokens.Link, depth: number): ReactNode {
  if (!isSafeLink(href)) return renderAll(tokens, depth);
  const shown = decodeEntities(text);
  return (
    <>
      <a href={href} rel="noopener noreferrer" target="_blank">
        {renderAll(tokens, depth)}
      </a>
      {shown === href ? null : <span className="link-target"> ({href.slice(0, 80)})</span>}
    </>
  );
}

function renderList({ ordered, start, items }: Tokens.List, depth: number): ReactNode {
  const children = items.map((item, index) => <li key={index}>{renderAll(item.tokens, depth)}</li>);
  if (!ordered) return <ul>{children}</ul>;
  return <ol start={typeof start === 'number' ? start : 1}>{children}</ol>;
}

function renderTable({ header, rows }: Tokens.Table, depth: number): ReactNode {
  return (
    <div className="table-scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {header.map((cell, index) => (
              <th key={index}>{renderAll(cell.tokens, depth)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, each) => (
                <td key={each}>{renderAll(cell.tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const BLOCKS: Record<string, (token: Token, depth: number) => ReactNode> = {
  paragraph: (token, depth) => <p>{renderAll((token as Tokens.Paragraph).tokens, depth)}</p>,
  // The page has its own headings; those of a message are below them.
  heading: (token, depth) => <p className="markdown-heading">{renderAll((token as Tokens.Heading).tokens, depth)}</p>,
  code: (token) => (
    <Code language={(token as Tokens.Code).lang?.split(/\s/)[0] ?? ''} code={(token as Tokens.Code).text} />
  ),
  blockquote: (token, depth) => <blockquote>{renderAll((token as Tokens.Blockquote).tokens, depth)}</blockquote>,
  list: (token, depth) => renderList(token as Tokens.List, depth),
  table: (token, depth) => renderTable(token as Tokens.Table, depth),
  hr: () => <hr />,
  space: () => null,
  def: () => null,
  strong: (token, depth) => <strong>{renderAll((token as Tokens.Strong).tokens, depth)}</strong>,
  em: (token, depth) => <em>{renderAll((token as Tokens.Em).tokens, depth)}</em>,
  del: (token, depth) => <del>{renderAll((token as Tokens.Del).tokens, depth)}</del>,
  codespan: (token) => <code>{(token as Tokens.Codespan).text}</code>,
  br: () => <br />,
  link: (token, depth) => renderLink(token as Tokens.Link, depth),
  image: (token) => (
    <span className="chip" title={t('Images of messages are not loaded.')}>
      {t('image')} {(token as Tokens.Image).href.slice(0, 120)}
    </span>
  ),
  checkbox: (token) => (
    <span aria-hidden="true">{(token as { checked?: boolean }).checked === true ? '☑ ' : '☐ '}</span>
  ),
};

function renderToken(token: Token, depth: number): ReactNode {
  if (depth > MAX_DEPTH) return token.raw;
  const render = BLOCKS[token.type];
  if (render !== undefined) return render(token, depth);
  // Text, escapes and HTML, which is shown as text.
  const { tokens } = token as { tokens?: Token[] };
  return tokens === undefined
    ? decodeEntities('text' in token ? String(token.text) : token.raw)
    : renderAll(tokens, depth);
}

function Rendered({ text }: { text: string }) {
  const { tokens, rest } = useMemo(() => readMarkdown(text), [text]);
  return (
    <div className="markdown">
      {renderAll(tokens, 0)}
      {rest === '' ? null : <p className="markdown-plain">{rest}</p>}
    </div>
  );
}

/** Markdown as elements. No HTML string is ever built, so nothing needs sanitizing. */
export function Markdown({ text }: { text: string }) {
  return (
    <Clipped text={text} limit={LIMIT}>
      {(shown) => <Rendered text={shown} />}
    </Clipped>
  );
}
