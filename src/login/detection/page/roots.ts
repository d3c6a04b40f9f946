// Walks the rendered tree: light DOM, open shadow roots, and closed ones that were attached after this
// code was loaded, or that `../closed-roots.ts` passed to it.

const closedRoots = new WeakMap<Element, ShadowRoot>();
const passwordFields = new WeakSet<Element>();

/** Remembers password fields that turn to text, as by a "show password" switch. */
function rememberPasswords(root: Node): void {
  new MutationObserver((records) => {
    for (const { target, oldValue } of records) {
      if (oldValue?.toLowerCase() === 'password' && target instanceof Element) passwordFields.add(target);
    }
  }).observe(root, { attributes: true, attributeFilter: ['type'], attributeOldValue: true, subtree: true });
}

/** Call it once per document, before the document's own scripts. */
export function watchRoots(): void {
  const own = Object.getOwnPropertyDescriptor(Element.prototype, 'attachShadow');
  if (!own) return;
  // A proxy looks like the native function to scripts that check.
  const attachShadow = new Proxy(own.value as (init: ShadowRootInit) => ShadowRoot, {
    apply(attach, host: Element, [init]: [ShadowRootInit]) {
      const root = attach.call(host, init);
      if (init.mode === 'closed') closedRoots.set(host, root);
      rememberPasswords(root);
      return root;
    },
  });
  Object.defineProperty(Element.prototype, 'attachShadow', { ...own, value: attachShadow });
  rememberPasswords(document);
}

/** Adds a closed root that was declared in HTML. False for a known root and for anything else. */
export function addRoot(root: ShadowRoot): boolean {
  if (!(root instanceof ShadowRoot) || root.mode !== 'closed' || closedRoots.has(root.host)) return false;
  closedRoots.set(root.host, root);
  rememberPasswords(root);
  return true;
}

export function wasPassword(element: Element): boolean {
  return passwordFields.has(element);
}

export function findShadowRoot(element: Element): ShadowRoot | undefined {
  return element.shadowRoot ?? closedRoots.get(element);
}

/** The parent in the rendered tree: the slot of a slotted element, the host of a shadow root. */
export function findParent(element: Element): Element | undefined {
  if (element.assignedSlot) return element.assignedSlot;
  if (element.parentElement) return element.parentElement;
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? root.host : undefined;
}

const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'OBJECT', 'EMBED']);

/** Every element in the order of the rendered tree. */
export function* walkElements(root: Element | ShadowRoot): Generator<Element> {
  for (const child of root.children) {
    if (SKIPPED.has(child.tagName)) continue;
    yield child;
    const shadow = findShadowRoot(child);
    if (shadow) yield* walkElements(shadow);
    yield* walkElements(child);
  }
}
