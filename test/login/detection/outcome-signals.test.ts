import { afterAll, expect, it } from 'vitest';
import { readMessageCause } from '../../../src/login/detection/outcome-signals.ts';
import { openTestBrowser, readSignals } from './pages.ts';

const testBrowser = await openTestBrowser();
afterAll(() => testBrowser?.[Symbol.asyncDispose]());

const WRONG = {
  en: 'The username or password you entered is incorrect.',
  de: 'Benutzername oder Passwort ist falsch.',
  fr: 'Identifiant ou mot de passe incorrect.',
  es: 'El usuario o la contraseña no son válidos.',
  pt: 'Usuário ou senha inválidos.',
  it: 'Nome utente o password non corretti.',
  ca: 'La contrasenya és incorrecta.',
  nl: 'Onjuiste gebruikersnaam of wachtwoord.',
  sv: 'Fel lösenord. Försök igen.',
  da: 'Forkert brugernavn eller adgangskode.',
  no: 'Feil brukernavn eller passord.',
  fi: 'Väärä käyttäjätunnus tai salasana.',
  et: 'Vale parool.',
  lv: 'Nepareiza parole.',
  lt: 'Neteisingas vartotojo vardas arba slaptažodis.',
  pl: 'Nieprawidłowy login lub hasło.',
  cs: 'Nesprávné jméno nebo heslo.',
  sk: 'Nesprávne prihlasovacie meno alebo heslo.',
  hu: 'Hibás felhasználónév vagy jelszó.',
  ro: 'Numele de utilizator sau parola sunt incorecte.',
  bg: 'Грешно потребителско име или парола.',
  sr: 'Погрешна лозинка.',
  hr: 'Neispravno korisničko ime ili lozinka.',
  el: 'Λάθος όνομα χρήστη ή κωδικός.',
  ru: 'Неверный логин или пароль.',
  uk: 'Невірний логін або пароль.',
  tr: 'Kullanıcı adı veya şifre hatalı.',
  az: 'İstifadəçi adı və ya şifrə yanlışdır.',
  ar: 'اسم المستخدم أو كلمة المرور غير صحيحة',
  fa: 'نام کاربری یا رمز عبور اشتباه است',
  he: 'שם המשתמש או הסיסמה שגויים',
  hi: 'गलत पासवर्ड',
  th: 'ชื่อผู้ใช้หรือรหัสผ่านไม่ถูกต้อง',
  vi: 'Tên đăng nhập hoặc mật khẩu không đúng.',
  id: 'Nama pengguna atau kata sandi salah.',
  zh: '用户名或密码错误',
  ja: 'ユーザー名またはパスワードが正しくありません',
  ko: '아이디 또는 비밀번호가 올바르지 않습니다',
};
const LOCKED = [
  'Your account has been locked.',
  'Ihr Konto wurde gesperrt.',
  'Votre compte est bloqué.',
  'Su cuenta está bloqueada',
  'Konto zostało zablokowane',
  'Ditt konto har låsts',
  'Din konto er låst',
  'Ваша учетная запись заблокирована',
  'Hesabınız kilitlendi',
  '您的账户已被锁定',
  'アカウントがロックされています',
];
const LIMITED = [
  'Too many login attempts. Try again later.',
  'Zu viele Versuche',
  'Trop de tentatives',
  'Demasiados intentos',
  'Muitas tentativas',
  'Слишком много попыток',
  'Çok fazla deneme',
  '操作过于频繁，请稍后再试',
  'しばらくしてから再度お試しください',
];
const CODES = [
  'The verification code is incorrect',
  'Invalid one-time code',
  'Der Bestätigungscode ist falsch',
  'Code de vérification incorrect',
  'Неверный код подтверждения',
  '验证码错误',
  '認証コードが間違っています',
];

it.each(Object.entries(WRONG))('reads a wrong password in %s', (_language, text) => {
  expect(readMessageCause(text)).toBe('wrong-credentials');
});

it.each([
  ...LOCKED.map((text) => [text, 'locked']),
  ...LIMITED.map((text) => [text, 'rate-limited']),
  ...CODES.map((text) => [text, 'wrong-code']),
  ['Please complete the captcha', 'captcha'],
  ['An account with this email already exists', 'account-exists'],
  ['This e-mail address is already registered.', 'account-exists'],
  ['Please verify your email address before you log in', 'unverified'],
  ['Your session has expired', 'expired'],
  ['Password is too short: at least 8 characters', 'password-rejected'],
  ['Please enter your password', 'field-rejected'],
  ['Incorrect password. Your account will be locked after 2 more attempts.', 'wrong-credentials'],
])('reads the cause of %s', (text, cause) => {
  expect(readMessageCause(text)).toBe(cause);
});

it.each([
  'Welcome back, Ada',
  'You have 3 new messages',
  'Settings saved',
  'Log in',
  'Forgot your password?',
  'Keep your account safe',
  'Keine neuen Nachrichten',
  'This page was last edited on 22 November 2026.',
  'Signed in as Anna',
  '',
])('reads no failure in %s', (text) => {
  expect(readMessageCause(text)).toBeUndefined();
});

const FORM = '<form><input name=username><input type=password><button>Log in</button></form>';

it.runIf(testBrowser).each([
  ['an alert', `<div role=alert>Invalid username or password.</div>${FORM}`, ['wrong-credentials']],
  [
    'a message in red',
    `<p style="color:#d00">Benutzername oder Passwort ist falsch.</p>${FORM}`,
    ['wrong-credentials'],
  ],
  ['the class of an error', `<div class="form-error">Something went awry.</div>${FORM}`, ['error']],
  ['a live region', `<div aria-live=polite>Too many attempts</div>${FORM}`, ['rate-limited']],
  ['a hidden message', `<div role=alert style="display:none">Invalid username or password.</div>${FORM}`, []],
  ['an empty alert', `<div role=alert></div>${FORM}`, []],
  ['an alert of a page that is on its way', `<div role=alert>Loading content.</div>${FORM}`, []],
  ['a good word', `<div class="alert alert-success">Your password was changed.</div>${FORM}`, []],
  ['the foot of a page', `${FORM}<footer><p class="footer-info">The licence has expired</p></footer>`, []],
  ['a banner', `<div class="cookie-message">We use cookies.</div>${FORM}`, []],
])('sees a failure in %s', async (_name, html, causes) => {
  const page = await testBrowser!.open(`<!doctype html><body>${html}`);
  const signals = await readSignals(page);
  expect([...new Set(signals.failures.map(({ cause }) => cause))]).toEqual(causes);
  expect(signals).toMatchObject({ passwordField: true, passwordEmpty: true, logout: undefined });
});

it.runIf(testBrowser).each([
  ['The cache is incomplete, so searching has been deactivated.', []],
  ['Your account has been suspended.', ['suspended']],
])('sees of a page that one can sign out of what keeps one out: %s', async (text, causes) => {
  const page = await testBrowser!.open(
    `<!doctype html><body><h1>Home</h1><div class="alert alert-warning">${text}</div><a href=/logout>Log out</a>`,
  );
  expect((await readSignals(page)).failures.map(({ cause }) => cause)).toEqual(causes);
});

it.runIf(testBrowser).each([
  ['a link', '<a href=/logout>Log out</a>', true, false],
  ['a form', '<form action=/session method=post><button>Abmelden</button></form>', true, false],
  ['a path', '<a href="/users/sign_out"><svg width=9 height=9></svg></a>', true, false],
  [
    'a closed menu',
    '<button class=user-menu>Ada</button><ul style="display:none"><li><a href=/x>ログアウト</a></ul>',
    true,
    true,
  ],
  ['my account', '<a href=/me>My account</a>', false, true],
  ['an avatar', '<button id=avatar aria-label="Ada Lovelace">A</button>', false, true],
  ['somebody who may sign in', '<a href=/login>Log in</a><a href=/join>Create account</a>', false, false],
])('sees who is signed in by %s', async (_name, html, logout, account) => {
  const page = await testBrowser!.open(`<!doctype html><body><h1>Home</h1>${html}`);
  const signals = await readSignals(page);
  expect({ logout: signals.logout !== undefined, account: signals.account !== undefined }).toEqual({ logout, account });
  expect(signals.passwordField).toBe(false);
});

it.runIf(testBrowser).each([
  ['<p>We sent a 6-digit code to a***@site.example</p><input inputmode=numeric>', 'code'],
  ['<p>We have emailed you a sign-in link. Check your inbox.</p>', 'link'],
  ['<p>Hello</p>', undefined],
  ['<h1>E-mail addresses</h1><p>a@site.example: verified</p><button>Re-send verification</button>', undefined],
] as const)('sees what was sent: %s', async (html, sent) => {
  const page = await testBrowser!.open(`<!doctype html><body>${html}`);
  expect((await readSignals(page)).messageSentNotice).toBe(sent);
});

it.runIf(testBrowser).each([
  ['<form method=post><button>Confirm</button></form>', true],
  ['<form method=post><p>Sign in as Ada?</p><input type=hidden name=t><button>Continue</button></form>', true],
  ['<form method=post><input name=email><button>Continue</button></form>', false],
  ['<form method=post><button>Delete</button></form>', false],
  ['<form method=post><button>Confirm</button></form><form method=post><button>Continue</button></form>', false],
])('sees the one button that a link is confirmed by: %s', async (html, there) => {
  const page = await testBrowser!.open(`<!doctype html><body><h1>Your account</h1>${html}`);
  expect((await readSignals(page)).confirm !== undefined).toBe(there);
});
