/**
 * The description of a page, without any field values: the page code (`page/`) writes it, everything else reads it.
 * Plain data, so that it can be transferred, stored in a test and classified anywhere.
 */

/** Why a person cannot see or reach an element. Only `covered` can be fixed, by dismissing the cover. */
export type Unseen =
  /** No box: `display: none`, `visibility: hidden`, a closed dialog, an empty box. */
  | 'not-rendered'
  /** Opacity under a tenth, on the element or an ancestor. */
  | 'transparent'
  /** Less than 4 pixels wide or high, or clipped to nothing. */
  | 'tiny'
  /** Beyond the edges that scrolling reaches. */
  | 'outside'
  /** `aria-hidden`, `inert`, or out of the tab order: visible, but not meant for people. */
  | 'set-aside'
  /** Another element lies over its middle. */
  | 'covered';

export type Control =
  /** Takes text: inputs, text areas, editable elements with the role of a text box. */
  | 'field'
  | 'select'
  | 'checkbox'
  | 'radio'
  | 'button'
  | 'link'
  /** An image or a frame of a bot check. */
  | 'captcha'
  /** Text that may state an outcome: an alert, a message in red, a status line. */
  | 'message'
  | 'heading';

export type Box = { x: number; y: number; width: number; height: number };

/** One element. Texts are trimmed and cut at 160 characters (`MAX_TEXT`); a missing one is the empty string. */
export type ElementDescription = {
  /** Unique within an observation, and within a page for as long as the element lives: `f0.12`, frame and number. */
  id: string;
  control: Control;
  /** Lower case: `input`, `button`, `a`, `div` … */
  tag: string;
  /** The type that counts: `password`, `email`, `submit` …; empty where there is none. */
  type: string;
  role: string;
  /** Lower-case tokens of `autocomplete`, without sections. */
  autocomplete: readonly string[];
  name: string;
  htmlId: string;
  className: string;
  /** Test ids and data attributes that name the element. */
  marks: string;
  /** What labels it: label elements, `aria-labelledby`, and where these are missing the text right before it. */
  label: string;
  ariaLabel: string;
  placeholder: string;
  title: string;
  /** Of a button or link: its own text, `value` of a submit input, or `alt` of the picture in it. */
  text: string;
  inputMode: string;
  /** -1 without a limit. */
  maxLength: number;
  pattern: string;
  required: boolean;
  readOnly: boolean;
  disabled: boolean;
  /** It has a value, which is never read. */
  filled: boolean;
  checked: boolean;
  /** It was a password field before, on this page (the "show password" switch), or its style masks what is typed. */
  wasPassword: boolean;
  /** `tabindex` is negative. */
  untabbable: boolean;
  focused: boolean;
  /** Path of a link or of a button's own `formaction`, without host and query. */
  path: string;
  /** Of a link: it leaves the site or opens another program. */
  leaves: boolean;
  unseen: Unseen | undefined;
  /** The element that lies over it, where `unseen` is `covered`. */
  coveredBy: number | undefined;
  /** In pixels of the frame, scrolling included. */
  box: Box;
  /** Index into `forms`, of the form that owns it. */
  form: number | undefined;
  /** Containers from the nearest to the outermost, as numbers that are unique in the frame. At most 40. */
  containers: readonly number[];
  /** It is rendered, but inside a dialog, menu or tab that is closed, by its names. */
  collapsed: boolean;
  /** `dialog`, `header`, `nav`, `footer`, `search`, `aside` or empty. */
  landmark: string;
};

export type FormDescription = {
  htmlId: string;
  name: string;
  className: string;
  label: string;
  role: string;
  /** Path of the action, without host and query. */
  path: string;
  method: string;
  /** The action is on another origin: its host, else empty. */
  actionHost: string;
  /** The action would send what is typed over plain HTTP from an HTTPS page. */
  downgraded: boolean;
};

/** A banner or dialog that covers other elements. */
export type CoverDescription = {
  container: number;
  id: string;
  role: string;
  /** Names, ids and classes of the cover. */
  marks: string;
  text: string;
  box: Box;
};

export type FrameDescription = {
  /** `f0` is the page itself. */
  frame: string;
  host: string;
  path: string;
  /** ms since 1970 when the document began to load: another value in every document of a page. */
  timeOrigin: number;
  /** The document has loaded with its images and frames. */
  loaded: boolean;
  title: string;
  /** Language as the page declares it, lower case; empty where it does not. */
  language: string;
  elements: readonly ElementDescription[];
  forms: readonly FormDescription[];
  covers: readonly CoverDescription[];
  /** First 4,000 characters of what is shown. */
  text: string;
  /** There were more elements than `MAX_ELEMENTS`. */
  cut: boolean;
};

/** A page and the frames of its site, the page first. */
export type Observation = { frames: readonly FrameDescription[] };
