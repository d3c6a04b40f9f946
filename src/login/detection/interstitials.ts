// Tests: test/login/detection/interstitials.test.ts, test/login/between.test.ts
import { decideCaption, says } from './captions.ts';
import type { ElementDescription, FrameDescription, Observation } from './description.ts';
import type { LoginPlan, OutcomeSignals } from './login-plan.ts';
import { buildMatcher, normalizeText } from './match.ts';
import { saysPasskey } from './other-methods.ts';
import { isUsable } from './sections.ts';
import {
  ACCESS,
  ALLOW,
  CHOOSE_ACCOUNT,
  CHOOSE_FACTOR,
  ENROLMENT,
  NUMBER_MATCH,
  PUSH,
  SECURITY_KEY,
  STAY_SIGNED_IN,
} from './words/interstitials.ts';
import {
  ASIDE,
  BOT_WALL,
  NO,
  PASSWORD_CHANGE,
  SITE_ERROR,
  SKIP,
  SUSPENDED,
  TERMS,
  YES,
} from './words/more-interstitials.ts';

/** What an interstitial page, between the password and the account, asks for. */
export type InterstitialKind =
  /** One button continues, and any answer is right: "Stay signed in?", an offer that can be skipped. */
  | 'pass'
  | 'choose_factor'
  | 'push'
  | 'number_match'
  | 'security_key'
  | 'choose_account'
  | 'consent'
  | 'terms'
  | 'enrolment'
  | 'password_change'
  | 'suspended'
  | 'bot_wall'
  | 'site_error';

/** A choice of the page: `id` is the element to press. */
export type PageOption = { id: string; label: string; control: 'button' | 'link' | 'radio' };

export type Interstitial = {
  kind: InterstitialKind;
  /** text of the page: the number to match, else its heading */
  hint: string | null;
  options: readonly PageOption[];
  /** the button to continue: for `pass` alone, or after a radio button was chosen */
  press: string | undefined;
  /** the button that creates a passkey, on a page that offers or demands one */
  enrol?: string;
};

const tells = {
  stay: buildMatcher(STAY_SIGNED_IN),
  factor: buildMatcher(CHOOSE_FACTOR),
  push: buildMatcher(PUSH),
  number: buildMatcher(NUMBER_MATCH),
  key: buildMatcher(SECURITY_KEY),
  enrolment: buildMatcher(ENROLMENT),
  account: buildMatcher(CHOOSE_ACCOUNT),
  access: buildMatcher(ACCESS),
  terms: buildMatcher(TERMS),
  password: buildMatcher(PASSWORD_CHANGE),
  suspended: buildMatcher(SUSPENDED),
  wall: buildMatcher(BOT_WALL),
  error: buildMatcher(SITE_ERROR),
};
const captions = {
  allow: buildMatcher(ALLOW),
  skip: buildMatcher(SKIP),
  yes: buildMatcher(YES),
  no: buildMatcher(NO),
  aside: buildMatcher(ASIDE),
};

/** A page with more text or controls belongs to an application. */
const MAX_TEXT = 1800;
const MAX_CONTROLS = 18;
/** The same limit if there is a control to sign out. */
const MAX_CONTROLS_INSIDE = 7;
const MAX_CAPTION = 40;
const MAX_OPTIONS = 20;
const MAX_LABEL = 120;
const LANDMARKS_ASIDE = new Set(['footer', 'nav']);
const SIDE_PATH = /privacy|terms|legal|imprint|impressum|help|support|contact|cookie/i;
const FACTOR =
  /text|sms|call|phone|e-?mail|app\b|authenticat|code|key|passkey|notification|push|duo|telefon|anruf|nachricht|appel|message|llamada|mensaje|llamar|ligar|chamada|mensagem|telef|correo|courriel|短信|电话|メール|電話/iu;
const GENERIC =
  /^(?:select|choose|use|use this|send|pick|auswahlen|wahlen|choisir|selectionner|elegir|seleccionar|escolher|selecionar|scegli|kies|go|next)$/;

type PageView = {
  /** normalized title, headings and text */
  text: string;
  heading: string | null;
  /** texts that stand alone, as shown */
  shown: string;
  controls: readonly ElementDescription[];
  radios: readonly ElementDescription[];
  texts: number;
  passwords: number;
  hasCaptcha: boolean;
  isSmall: boolean;
  isInside: boolean;
};

const captionOf = ({ text, ariaLabel, title, label }: ElementDescription) => text || ariaLabel || title || label;

function readView(frames: readonly FrameDescription[], { logout }: OutcomeSignals): PageView {
  const elements = frames.flatMap((frame) => frame.elements);
  const usable = elements.filter((element) => isUsable(element) && !element.collapsed);
  const controls = usable.filter(
    ({ control, landmark }) => (control === 'button' || control === 'link') && !LANDMARKS_ASIDE.has(landmark),
  );
  const headings = elements.filter(({ control, unseen, text }) => control === 'heading' && !unseen && text !== '');
  const shown = frames.map((frame) => frame.text).join(' ');
  const texts = usable.filter(({ control, type }) => control === 'field' && type !== 'search');
  return {
    text: normalizeText([frames[0]?.title, ...headings.map(({ text }) => text), shown.slice(0, MAX_TEXT)].join(' . ')),
    heading: headings[0]?.text ?? null,
    shown,
    controls,
    radios: usable.filter(({ control }) => control === 'radio'),
    texts: texts.length,
    passwords: texts.filter(({ type }) => type === 'password').length,
    hasCaptcha: usable.some(({ control }) => control === 'captcha'),
    isSmall: shown.length <= MAX_TEXT && controls.length <= MAX_CONTROLS,
    isInside: logout !== undefined && controls.length > MAX_CONTROLS_INSIDE,
  };
}

function fits(element: ElementDescription, matches: (text: string) => boolean): boolean {
  const text = normalizeText(captionOf(element));
  return text !== '' && text.length <= MAX_CAPTION && matches(text);
}

/** Controls beside the choice: a way back, help, another account. */
function isBeside(element: ElementDescription): boolean {
  const caption = decideCaption(element);
  if (['forgot', 'register', 'search', 'subscribe', 'guest'].includes(caption)) return true;
  if (SIDE_PATH.test(element.path)) return true;
  const text = normalizeText(captionOf(element));
  return (
    text === '' || says.logout(text) || (text.length <= MAX_CAPTION && (captions.no(text) || captions.aside(text)))
  );
}

function showOption(element: ElementDescription): PageOption {
  const control = element.control === 'radio' || element.control === 'link' ? element.control : 'button';
  return { id: element.id, label: captionOf(element).slice(0, MAX_LABEL), control };
}

function listOptions({ controls, radios }: PageView): Pick<Interstitial, 'options' | 'press'> {
  const buttons = controls.filter((element) => !isBeside(element));
  if (radios.length > 1) {
    const next = buttons.find(({ control, type }) => control === 'button' && type === 'submit') ?? buttons[0];
    return { options: radios.slice(0, MAX_OPTIONS).map(showOption), press: next?.id };
  }
  return { options: buttons.slice(0, MAX_OPTIONS).map(showOption), press: undefined };
}

/** The number that a page shows for comparison: two digits that stand alone, else one or three. */
export function findShownNumber(text: string): string | null {
  const numbers = text.match(/(?<![\p{L}\d.,:/+*•-])(?<!\d )\d{1,3}(?![.,:/*•-]\d|[\p{L}\d%]| \d)/gu) ?? [];
  return numbers.find((number) => number.length === 2) ?? numbers[0] ?? null;
}

const none = { options: [], press: undefined } as const;

function readPass({ controls }: PageView, words: 'stay' | 'skip'): Interstitial | undefined {
  const skip = controls.find((element) => fits(element, captions.skip));
  const yes = controls.find((element) => fits(element, captions.yes) && !fits(element, captions.no));
  const no = controls.find((element) => fits(element, captions.no));
  const press = words === 'stay' ? (yes ?? skip ?? no) : skip;
  return press && { kind: 'pass', hint: null, options: [], press: press.id };
}

/** Pages that ask for a second factor without a field for a code. */
function readFactor(view: PageView): Interstitial | undefined {
  const { text, heading, shown } = view;
  const { options, press } = listOptions(view);
  const factors = options.filter(
    ({ label, control }) => control === 'radio' || FACTOR.test(label) || GENERIC.test(normalizeText(label)),
  );
  const isChoice = tells.factor(text);
  if (isChoice && factors.length > 1) return { kind: 'choose_factor', hint: heading, options: factors, press };
  if (tells.number(text) || tells.push(text)) {
    const number = findShownNumber(shown);
    if (number !== null && (tells.number(text) || number.length === 2)) {
      return { kind: 'number_match', hint: number, options, press };
    }
    if (tells.push(text)) return { kind: 'push', hint: heading, options, press };
  }
  if (isChoice && factors.length > 0) return { kind: 'choose_factor', hint: heading, options: factors, press };
  return tells.key(text) ? { kind: 'security_key', hint: heading, options, press } : undefined;
}

function readQuestion(view: PageView): Interstitial | undefined {
  const { text, heading: hint, controls } = view;
  const allows = controls.some((element) => fits(element, captions.allow));
  const { options, press } = listOptions(view);
  if (tells.account(text) && options.length > 0) return { kind: 'choose_account', hint, options, press };
  const answers = controls.filter((element) => fits(element, captions.allow) || fits(element, captions.no));
  const shown = answers.map(showOption);
  if (tells.access(text) && allows) return { kind: 'consent', hint, options: shown, press: undefined };
  if (tells.terms(text) && allows) return { kind: 'terms', hint, options: shown, press: undefined };
  return undefined;
}

const MAX_STEP_TEXT = 600;
const MAX_STEP_CONTROLS = 6;

/** Whether a page looks like an additional step: little text and a button to continue. */
export function looksLikeStep({ frames }: Observation, signals: OutcomeSignals): boolean {
  const { shown, controls } = readView(frames, signals);
  const hasField = frames.some(({ elements }) => elements.some((each) => each.control === 'field' && isUsable(each)));
  if (hasField || signals.logout !== undefined) return false;
  if (shown.length > MAX_STEP_TEXT || controls.length > MAX_STEP_CONTROLS) return false;
  return controls.some(
    (element) =>
      element.control === 'button' &&
      (decideCaption(element) === 'next' || fits(element, captions.allow) || fits(element, captions.yes)),
  );
}

const LOGIN_KINDS = new Set(['login', 'username-first', 'password-step']);

/** The button that creates a passkey: by its own words, else the one to continue on a page about passkeys. */
function findEnrolButton({ text, controls }: PageView): string | undefined {
  const buttons = controls.filter((element) => element.control === 'button' && !isBeside(element));
  const usable = buttons.filter((element) => !fits(element, captions.skip));
  const named = usable.find((element) => fits(element, saysPasskey));
  if (named !== undefined || !saysPasskey(text)) return named?.id;
  const next = usable.find((element) => fits(element, captions.yes) || decideCaption(element) === 'next');
  return (next ?? (usable.length === 1 ? usable[0] : undefined))?.id;
}

/** Pages that end the login, even if they have fields. */
function readDemand(view: PageView, plan: LoginPlan, { logout }: OutcomeSignals): Interstitial | undefined {
  const { text, heading: hint } = view;
  const isStranger = logout === undefined;
  const isWall = isStranger && view.texts === 0 && (view.hasCaptcha || tells.wall(text));
  if (isWall) return { kind: 'bot_wall', hint, ...none };
  if (tells.password(text) && (view.passwords > 0 || isStranger)) return { kind: 'password_change', hint, ...none };
  if (tells.enrolment(text)) {
    const enrol = findEnrolButton(view);
    const asked: Interstitial = readPass(view, 'skip') ?? { kind: 'enrolment', hint, ...none };
    return enrol === undefined ? asked : { ...asked, enrol };
  }
  const isCode = plan.reason === 'fill' && plan.kind === 'one-time-code';
  return !isCode && tells.suspended(text) ? { kind: 'suspended', hint, ...none } : undefined;
}

/** Pages without fields that ask for something. */
function readAsking(view: PageView, { logout, messageSentNotice }: OutcomeSignals): Interstitial | undefined {
  const stay = tells.stay(view.text) ? readPass(view, 'stay') : undefined;
  const asked = stay ?? readFactor(view) ?? readQuestion(view);
  if (asked !== undefined) return asked;
  const isError = tells.error(view.text) && logout === undefined && messageSentNotice === undefined;
  return isError ? { kind: 'site_error', hint: view.heading, ...none } : undefined;
}

/** Undefined for a login form, a page of an application, and unknown pages. Pure. */
export function readInterstitial(
  { frames }: Observation,
  plan: LoginPlan,
  signals: OutcomeSignals,
): Interstitial | undefined {
  if (plan.reason === 'fill' && LOGIN_KINDS.has(plan.kind)) return undefined;
  const view = readView(frames, signals);
  if (!view.isSmall || view.isInside) return undefined;
  const demand = readDemand(view, plan, signals);
  if (demand !== undefined) return demand;
  const isCode = plan.reason === 'fill' && plan.kind === 'one-time-code';
  return isCode || view.texts > 0 ? undefined : readAsking(view, signals);
}
