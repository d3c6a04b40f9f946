// Ways through the tree that a person sees: light DOM, open shadow roots, and closed ones that were attached after this
// code came into the page, or that `../closed-roots.ts` has shown to it.

const closedRoots = new WeakMap<Element, ShadowRoot>();
const passwordFields = new WeakSet<Element>();

/** Fields that turn from password to text, as a "show password" switch does it, remain known as password fields. */
function rememberPasswords(root: Node): void {
  new MutationObserver((records) => {
    for (const { target, oldValue } of records) {
      if (oldValue?.toLowerCase() === 'password' && target instanceof Element) passwordFields.add(target);
    }
  }).observe(root, { attributes: true, attributeFilter: ['type'], attributeOldValue: true, subtree: true });
}

/** To be called once in a document, before its own code runs. */
export function watchRoots(): void {
  const own = Object.getOwnPropertyDescriptor(Element.prototype, 'attachShadow');
  if (!own) return;
  // A proxy looks like the native function to pages that ask.
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

/** A closed root that HTML declared. False for one that is known, and for what is none. */
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

/** The parent as it is drawn: what is slotted has its slot, what is in a shadow root its host. */
export function findParent(element: Element): Element | undefined {
  if (element.assignedSlot) return element.assignedSlot;
  if (element.parentElement) return element.parentElement;
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? root.host : undefined;
}

const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'OBJECT', 'EMBED']);

/** Every element in the order of the drawn tree. */
export function* walkElements(root: Element | ShadowRoot): Generator<Element> {
  for (const child of root.children) {
    if (SKIPPED.has(child.tagName)) continue;
    yield child;
    const shadow = findShadowRoot(child);
    if (shadow) yield* walkElements(shadow);
    yield* walkElements(child);
  }
}
