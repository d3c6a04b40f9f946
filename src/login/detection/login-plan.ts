/** The purpose of a page's forms. */
export type PageKind =
  /** User name and password on one page. */
  | 'login'
  /** The user name alone; the password comes on the next page. */
  | 'username-first'
  /** The password alone, after the user name or on sites that have none. */
  | 'password-step'
  /** A code from a mail, a message or an authenticator. */
  | 'one-time-code'
  | 'registration'
  /** An old and a new password. */
  | 'change'
  /** "Forgot password": asks for an address, or for a new password alone. */
  | 'recovery'
  | 'search'
  | 'newsletter'
  | 'checkout'
  /** A bot check and nothing else to fill. */
  | 'captcha'
  /** Fields, of none of these kinds. */
  | 'other'
  /** Nothing to fill. */
  | 'none';

/** The reason for a plan. Only `fill` names fields for credentials. */
export type PlanReason =
  /** Fields are named; fill and submit. */
  | 'fill'
  /** Nothing to fill yet, but `loginLinks` may lead there. */
  | 'open'
  /** Two forms or fields are equally likely: refused. */
  | 'ambiguous'
  /** The fields of a login exist, but are hidden: refused. */
  | 'unseen'
  /** The form submits to plain HTTP from an HTTPS page: refused. */
  | 'insecure-action'
  /** The page has only a bot check. */
  | 'captcha'
  /** A form of another kind. */
  | 'other-kind'
  | 'nothing';

/** What a field of any form asks for. Registration and extra fields are filled by role. */
export type FieldRole =
  | 'username'
  | 'email'
  | 'phone'
  | 'password'
  | 'new-password'
  | 'password-again'
  | 'code'
  | 'given-name'
  | 'family-name'
  | 'full-name'
  | 'company'
  | 'invitation'
  | 'country'
  | 'birth'
  | 'terms'
  | 'newsletter'
  | 'remember'
  | 'captcha'
  | 'search'
  | 'address'
  | 'card'
  | 'other';

export type PlannedField = {
  id: string;
  role: FieldRole;
  control: 'field' | 'select' | 'checkbox' | 'radio';
  /** The input's type. */
  type: string;
  /** Every name that a caller may call it by: name, id, label, placeholder. Not empty strings. */
  names: readonly string[];
  required: boolean;
  /** It has a value, which has to be replaced. */
  filled: boolean;
};

/** A link or button that may lead to a login form. */
export type LoginLink = {
  id: string;
  /**
   * `sign-in`: a button or link "Sign in". `method`: a choice of how to sign in, "Continue with e-mail", "Use a
   * password". `next`: a step on the way, as a tab or the name of a login kind.
   */
  kind: 'sign-in' | 'method' | 'next';
  /** What a method requires, where its words say so. */
  method?: SignInMethod;
};

/** What a sign-in method requires. */
export type SignInMethod = 'password' | 'code' | 'link';

/** A cover over a planned element. */
export type Obstacle = {
  /** Of the covering element. */
  id: string;
  kind: 'consent' | 'dialog' | 'other';
  /** What to press to dismiss it; absent where nothing fits. */
  dismiss: string | undefined;
  /** Ids of the planned elements that it covers. */
  covers: readonly string[];
};

/** How to sign in on a page, by element ids. It contains no values. */
export type LoginPlan = {
  kind: PageKind;
  reason: PlanReason;
  /** The frame of the form, `f0` for the page itself; absent where there is no form. */
  frame: string | undefined;
  /** The field for the user name, address or number. Only with `fill`. */
  username: string | undefined;
  password: string | undefined;
  /** One field, or one a digit in reading order. Empty where no code is asked for. */
  code: readonly string[];
  /** The box "keep me signed in". */
  remember: string | undefined;
  /** Other visible fields of the form, for additional fields of the caller. */
  extra: readonly PlannedField[];
  /** All fields of a registration, change or recovery form by role; empty for the others. */
  fields: readonly PlannedField[];
  /** What to press. Absent: press Enter in the last field. */
  submit: string | undefined;
  /** A bot check is part of the form. */
  captcha: boolean;
  loginLinks: readonly LoginLink[];
  obstacles: readonly Obstacle[];
  /** What led to the kind, for debugging: names of signals, never texts of the page. */
  evidence: readonly string[];
};

/** The failure that a message names. */
export type FailureCause =
  | 'wrong-credentials'
  | 'locked'
  /** The account is closed, disabled or under review, not only this login. */
  | 'suspended'
  | 'rate-limited'
  | 'captcha'
  | 'wrong-code'
  | 'account-exists'
  | 'password-rejected'
  | 'field-rejected'
  | 'expired'
  | 'unverified'
  /** An error without a known cause. */
  | 'error';

/** Signals of how an attempt ended, on one page. */
export type OutcomeSignals = {
  /** The most specific first. */
  failures: readonly { id: string; cause: FailureCause }[];
  /** A visible control to sign out. */
  logout: string | undefined;
  /** A visible marker of an account: menu, avatar, "my account", a greeting. */
  account: string | undefined;
  /** A visible password field on the page. */
  passwordField: boolean;
  /** The visible password field is empty. */
  passwordEmpty: boolean;
  /** The page still prompts to sign in, if only for something unknown. */
  promptsSignIn: boolean;
  /** The text says that a message was sent, with a code or with a link. */
  messageSentNotice: 'code' | 'link' | undefined;
  /** The only button of a form without fields: it confirms a link from an email. */
  confirm: string | undefined;
  /** What the plain text of a small page without an account says, where no message does. */
  stated: FailureCause | undefined;
  /** Ways to sign in that need no form: other services by name, and passkeys. */
  otherWays: { providers: readonly string[]; passkey: boolean };
};
