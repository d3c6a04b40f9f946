import { enter, form, html } from './strangers.ts';
import type { Stranger } from './strangers.ts';
import type { Reply } from './server.ts';

/** What a page is expected to be called: the error, and parts of its details. */
export type Named = { name: string; error: string; details?: object };

const at = (name: string, error: string, shown: Reply, details: object = {}): Named & { shown: Reply } => ({
  name,
  error,
  details,
  shown,
});
const act = (name: string, kind: string, body: string, more: object = {}) =>
  at(name, 'action_required', html(body), { kind, ...more });
const challengeFrame = (src: string) => `<iframe src="${src}" width="320" height="120"></iframe>`;
const button = (...texts: string[]) =>
  `<form method="post">${texts.map((text) => `<button>${text}</button>`).join(' ')}</form>`;
const forced =
  '<form method="post"><input type="password" name="n1" placeholder="•"><input type="password" name="n2" placeholder="•"><button>OK</button></form>';

/** Bot walls of the usual vendors, with the status that each has. */
const WALLS: readonly { name: string; shown: Reply }[] = [
  {
    name: 'turnstile',
    shown: {
      status: 403,
      headers: { 'cf-mitigated': 'challenge' },
      ...html(
        '<h1>shop.example</h1><p>Verifying you are human. This may take a few seconds.</p><div class="cf-turnstile" data-sitekey="0x4"></div>',
        'Just a moment...',
      ),
    },
  },
  {
    name: 'cloudflare-block',
    shown: {
      status: 403,
      ...html(
        '<h1>Sorry, you have been blocked</h1><h2>You are unable to access shop.example</h2><p>Cloudflare Ray ID: 7d8f</p>',
        'Attention Required! | Cloudflare',
      ),
    },
  },
  {
    name: 'hcaptcha',
    shown: html(
      '<p>One more step. Please complete the security check.</p><div class="h-captcha" data-sitekey="x"></div>',
    ),
  },
  {
    name: 'recaptcha',
    shown: {
      status: 429,
      ...html(
        '<p>Our systems have detected unusual traffic from your computer network.</p><form action="index" method="post"><div class="g-recaptcha" data-sitekey="x" style="width:300px;height:78px"></div></form>',
      ),
    },
  },
  {
    name: 'datadome',
    shown: {
      status: 403,
      headers: { 'x-datadome': 'protected' },
      ...html(
        `<p id="cmsg">Please enable JS and disable any ad blocker</p>${challengeFrame('https://geo.captcha-delivery.com/captcha/?x=1')}`,
        'shop.example',
      ),
    },
  },
  {
    name: 'perimeterx',
    shown: {
      status: 403,
      ...html(
        '<h1>Access to this page has been denied</h1><p>Press &amp; Hold to confirm you are a human (and not a bot).</p><div id="px-captcha" style="width:300px;height:60px"></div>',
      ),
    },
  },
  {
    name: 'arkose',
    shown: html(
      `<h2>Please solve this puzzle so we know you are a real person</h2><div id="arkose">${challengeFrame('https://client-api.arkoselabs.com/fc/gc/')}</div>`,
    ),
  },
  {
    name: 'imperva',
    shown: html(
      `${challengeFrame('/_Incapsula_Resource?x=1')}<p>Request unsuccessful. Incapsula incident ID: 443-12</p>`,
    ),
  },
  {
    name: 'aws-waf',
    shown: {
      status: 405,
      ...html(
        "<h1>Let's confirm you are human</h1><p>Complete the security check before continuing.</p><button>Begin</button>",
        'Human Verification',
      ),
    },
  },
];

export const FIRST_WALLS: readonly (Named & { shown: Reply })[] = WALLS.map(({ name, shown }) =>
  at(`first-${name}`, 'captcha_required', shown),
);

/** Pages in place of a form, on which nothing is typed. */
export const FIRST_PAGES: readonly (Named & { shown: Reply })[] = [
  at('only-google', 'sso_required', html('<h1>Sign in</h1><a href="g"><img alt=""> Continue with Google</a>')),
  at(
    'only-company',
    'sso_required',
    html('<h1>Anmelden</h1><button>Mit Microsoft anmelden</button><button>Mit SSO anmelden</button>'),
  ),
  at('only-okta', 'sso_required', html('<h1>Connexion</h1><a href="o">Se connecter avec Okta</a>')),
  at('only-passkey', 'passkey_required', html('<h1>Sign in</h1><button>Sign in with a passkey</button>')),
  at('nur-passkey', 'passkey_required', html('<h1>Anmelden</h1><button>Mit Passkey anmelden</button>')),
  at('down', 'site_unreachable', { status: 503, ...html('<h1>Service unavailable</h1>') }),
  at(
    'human-box',
    'captcha_required',
    html(`<form method="post"><label>User <input name="username"></label><label>Password <input type="password" name="password"></label>
    <div class="g-recaptcha" data-sitekey="x" style="width:300px;height:78px"></div><button>Sign in</button></form>`),
  ),
  ...FIRST_WALLS,
];

/** Pages behind the right password. */
export const BEHIND: readonly (Named & { shown: Reply })[] = [
  act(
    'signal-number',
    'number_match',
    '<h1>Check your phone</h1><p>Open the app and tap the number you see below.</p><h2>58</h2>',
    { hint: '58' },
  ),
  act(
    'ping',
    'push',
    '<h1>Freigabe anfordern</h1><p>Wir haben eine Push-Benachrichtigung an Ihr Gerät gesendet. Bitte bestätigen Sie in der App.</p>',
  ),
  act('touch', 'security_key', '<h2>Clé de sécurité</h2><p>Insérez votre clé de sécurité et touchez-la.</p>'),
  act(
    'factors-es',
    'choose_factor',
    '<h1>Elige cómo quieres verificar tu identidad</h1><ul><li><a href="a">SMS al •••42</a></li><li><a href="b">Aplicación de autenticación</a></li></ul>',
  ),
  act(
    'factors-radio',
    'choose_factor',
    '<h1>Two-step verification</h1><p>How would you like to get your code?</p><form method="post"><label><input type="radio" name="w" value="s"> Text message to •••42</label><label><input type="radio" name="w" value="c"> Phone call to •••42</label><button>Send code</button></form>',
  ),
  act(
    'accounts',
    'choose_account',
    '<h1>Pick an account</h1><div role="button" tabindex="0">ada@work.example</div><div role="button" tabindex="0">ada@home.example</div><div role="button" tabindex="0">Use another account</div>',
  ),
  act(
    'tenants',
    'choose_account',
    '<h1>Mandant auswählen</h1><ul><li><a href="1">Nord GmbH</a></li><li><a href="2">Süd AG</a></li></ul>',
  ),
  act(
    'scopes',
    'consent',
    `<h1>Reports would like permission to</h1><ul><li>read your profile</li><li>read your mail</li></ul>${button('Accept', 'Cancel')}`,
  ),
  act(
    'nutzung',
    'terms',
    `<h1>Wir haben unsere Nutzungsbedingungen aktualisiert</h1><p>Bitte stimmen Sie den neuen Nutzungsbedingungen zu.</p>${button('Zustimmen', 'Ablehnen')}`,
  ),
  act(
    'kiyaku',
    'terms',
    `<h1>利用規約が更新されました</h1><p>続行するには利用規約に同意してください。</p>${button('同意する', 'キャンセル')}`,
  ),
  at(
    'must-enrol',
    'enrolment_required',
    html(
      `<h1>Protect your account</h1><p>Your administrator requires two-step verification. Scan the QR code with your authenticator app, then enter the code it shows.</p><img alt="QR code" src="qr" width="200" height="200"><form method="post"><input name="code" inputmode="numeric" maxlength="6"><button>Verify</button></form>`,
    ),
  ),
  at(
    'registrar',
    'enrolment_required',
    html(
      `<h1>Ative a verificação em duas etapas</h1><p>Ative a autenticação de dois fatores para continuar.</p>${button('Começar')}`,
    ),
  ),
  at(
    'old-password',
    'password_change_required',
    html(
      `<h1>Time for a new password</h1><p>You need to update your password because this is the first time you are signing in, or because your password has expired.</p>${forced}`,
    ),
  ),
  at(
    'alt',
    'password_change_required',
    html(`<h1>Kennwort ändern</h1><p>Sie müssen Ihr Kennwort ändern, bevor Sie sich anmelden.</p>${forced}`),
  ),
  at(
    'kaete',
    'password_change_required',
    html(
      `<h1>パスワードの変更</h1><p>パスワードの有効期限が切れています。新しいパスワードを設定してください。</p>${forced}`,
    ),
  ),
  at(
    'frozen',
    'account_suspended',
    html(
      '<h1>We have suspended your account</h1><p>Contact support to find out more.</p><a href="help">Contact support</a>',
    ),
  ),
  at(
    'gesperrt',
    'account_locked',
    html('<h1>Konto gesperrt</h1><p>Ihr Konto wurde nach mehreren Fehlversuchen gesperrt.</p>'),
  ),
  at('verrou', 'account_locked', html('<p>Votre compte est verrouillé. Contactez votre administrateur.</p>')),
  at('tries', 'rate_limited', html('<p>Demasiados intentos. Vuelva a intentarlo en 15 minutos.</p>')),
  at('tries-429', 'rate_limited', { status: 429, body: 'Slow down' }),
  at('crash', 'site_unreachable', { status: 500, ...html('<h1>Oops</h1><p>Our team has been notified.</p>') }),
  at(
    'crash-200',
    'site_unreachable',
    html('<h1>申し訳ありません</h1><p>エラーが発生しました。しばらくしてからもう一度お試しください。</p>'),
  ),
  at(
    'mail-code',
    'verification_required',
    html(
      '<h1>Confirme que é você</h1><p>Enviamos um código para a***@example.com.</p><form method="post"><input name="c" inputmode="numeric" maxlength="6"><button>Confirmar</button></form>',
    ),
    { kind: 'otp_email' },
  ),
  at(
    'text-code',
    'verification_required',
    html(
      '<p>We sent a code to your phone ending in 42.</p><form method="post"><input name="c" autocomplete="one-time-code"><button>Verify</button></form>',
    ),
    { kind: 'otp_sms' },
  ),
  ...WALLS.map(({ name, shown }) => at(`then-${name}`, 'captcha_required', shown)),
];

/** A first page that is shown to everybody. */
export const buildFirst = ({ name, shown }: { name: string; shown: Reply }): Stranger => ({
  name,
  right: enter,
  wrong: () => ({ status: 404 }),
  pages: { '/login': () => shown },
});

/** A page behind the right password that only its owner sees, by redirect or in the answer itself. */
export const buildBehind = ({ name, shown }: { name: string; shown: Reply }): Stranger => {
  const isDirect = (shown.status ?? 200) >= 400;
  return {
    name,
    right: (visit, accounts, user) =>
      isDirect
        ? shown
        : { to: `${visit.base}/step`, headers: { 'set-cookie': `pre=${accounts.begin(user).slice(4, 28)}; Path=/` } },
    wrong: (visit) => html(form(visit, '<p role="alert">Wrong.</p>')),
    pages: { '/step': (visit) => (visit.cookies['pre'] === undefined ? { to: `${visit.base}/login` } : shown) },
  };
};
