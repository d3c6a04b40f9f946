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

/** The purpose of a field in any form. Registration and extra fields are filled by role. */
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
  /** All names that a caller may use for it: name, id, label, placeholder. No empty strings. */
  names: readonly string[];
  required: boolean;
  /** It has a value, which must be replaced. */
  filled: boolean;
};

/** A link or button that may lead to a login form. */
export type LoginLink = {
  id: string;
  /**
   * `sign-in`: a button or link "Sign in". `method`: a choice of method, "Continue with e-mail", "Use a password".
   * `next`: an intermediate step, such as a tab or the name of an account type.
   */
  kind: 'sign-in' | 'method' | 'next';
  /** What a method requires, if its words say so. */
  method?: SignInMethod;
};

/** What a sign-in method requires. */
export type SignInMethod = 'password' | 'code' | 'link';

/** An element that covers a planned element. */
export type Obstacle = {
  /** Of the covering element. */
  id: string;
  kind: 'consent' | 'dialog' | 'other';
  /** The element to press to dismiss it; absent if none fits. */
  dismiss: string | undefined;
  /** Ids of the planned elements that it covers. */
  covers: readonly string[];
};

/** How to sign in on a page, as element ids. It contains no values. */
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
  /** All fields of a registration, change or recovery form by role; empty for other forms. */
  fields: readonly PlannedField[];
  /** The button to press. Absent: press Enter in the last field. */
  submit: string | undefined;
  /** A bot check is part of the form. */
  captcha: boolean;
  loginLinks: readonly LoginLink[];
  obstacles: readonly Obstacle[];
  /** The signals that decided the kind, for debugging. Never texts of the page. */
  evidence: readonly string[];
};

/** The failure that a message reports. */
export type FailureCause =
  | 'wrong-credentials'
  | 'locked'
  /** The account itself is closed, disabled or under review, not only this login. */
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
  /** The most specific first. `aside`: a small part of its page, that names neither an account nor a login. */
  failures: readonly { id: string; cause: FailureCause; aside: boolean }[];
  /** A visible control to sign out. */
  logout: string | undefined;
  /** A visible marker of an account: menu, avatar, "my account", a greeting. */
  account: string | undefined;
  /** A visible password field on the page. */
  passwordField: boolean;
  /** The visible password field is empty. */
  passwordEmpty: boolean;
  /** The page still prompts to sign in, possibly with an unknown field. */
  promptsSignIn: boolean;
  /** The text says that a message was sent, with a code or with a link. */
  messageSentNotice: 'code' | 'link' | undefined;
  /** The only button of a form without fields: it confirms a link from an email. */
  confirm: string | undefined;
  /** The outcome in the plain text of a small page without an account, if no message states one. */
  stated: FailureCause | undefined;
  /** `stated` can be about nothing but the login, whoever may see the page. */
  clearlyStated: boolean;
  /** Sign-in methods that need no form: other services by name, and passkeys with the id of their button. */
  otherWays: { providers: readonly string[]; passkey: boolean; passkeyButton?: string | undefined };
};
