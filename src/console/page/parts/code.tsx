import { use, Suspense, useMemo } from 'react';
import type { ReactNode } from 'react';
import { MarkedText } from './marked-text.tsx';

type Node = { type: string; value?: string; children?: Node[]; properties?: { className?: unknown } };
type Highlight = (language: string, code: string) => Node[] | undefined;

/** Longer texts are shown without syntax highlighting. */
const MAX_HIGHLIGHT = 10_000;
let loading: Promise<Highlight> | undefined;

function load(): Promise<Highlight> {
  return (loading ??= import('../text/highlight.ts').then(({ highlight }) => highlight));
}

function renderNode(node: Node, key: number): ReactNode {
  if (node.type === 'text') return <MarkedText key={key} text={node.value ?? ''} />;
  const classes = Array.isArray(node.properties?.className) ? node.properties.className.join(' ') : '';
  return (
    <span key={key} className={classes}>
      {(node.children ?? []).map(renderNode)}
    </span>
  );
}

function Highlighted({ language, code }: { language: string; code: string }) {
  const highlight = use(load());
  const nodes = useMemo(() => highlight(language, code), [highlight, language, code]);
  return nodes === undefined ? <MarkedText text={code} /> : nodes.map(renderNode);
}

/** Code with syntax highlighting, if its language is known. */
export function Code({ language, code }: { language: string; code: string }) {
  const plain = <MarkedText text={code} />;
  return (
    <pre className="code" tabIndex={0}>
      <code>
        {language === '' || code.length > MAX_HIGHLIGHT ? (
          plain
        ) : (
          <Suspense fallback={plain}>
            <Highlighted language={language} code={code} />
          </Suspense>
        )}
      </code>
    </pre>
  );
}
