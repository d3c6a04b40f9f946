import { afterAll, expect, it } from 'vitest';
import { buildMatcher, normalizeText } from '../../../src/login/detection/match.ts';
import { FORGOT, REGISTER, SIGN_IN } from '../../../src/login/detection/words/actions.ts';
import { EMAIL, PASSWORD, USERNAME } from '../../../src/login/detection/words/fields.ts';
import { LOGOUT, REMEMBER } from '../../../src/login/detection/words/more-actions.ts';
import { LIMITED, LOCKED, WRONG } from '../../../src/login/detection/words/outcomes.ts';
import { openTestBrowser, plan } from './pages.ts';

const testBrowser = await openTestBrowser();
afterAll(() => testBrowser?.[Symbol.asyncDispose]());

it.each([
  ['txtUserName', 'txt user name'],
  ['user_login-2', 'user login 2'],
  ['Contraseña', 'contrasena'],
  ['ŞİFRE', 'sifre'],
  ['Hasło', 'haslo'],
  ['Κωδικός', 'κωδικος'],
  ['  E-Mail:* ', 'e mail'],
  ['أدخل', 'ادخل'],
])('normalizes %s', (text, normalized) => {
  expect(normalizeText(text)).toBe(normalized);
});

const password = buildMatcher(PASSWORD);
it.each([
  'Password',
  'password2',
  'userPassword',
  'passwd_v',
  'Kennwort:',
  'パスワードを入力',
  'הסיסמה שלך',
  'وكلمة المرور',
  'Wachtwoordveld',
])('finds a password in %s', (text) => {
  expect(password(normalizeText(text))).toBe(true);
});
it.each(['Passport number', 'compass', 'Bypass', ''])('finds no password in %s', (text) => {
  expect(password(normalizeText(text))).toBe(false);
});

it.each(
  Object.entries({ USERNAME, EMAIL, PASSWORD, SIGN_IN, REGISTER, FORGOT, REMEMBER, LOGOUT, WRONG, LOCKED, LIMITED }),
)('knows %s in 25 languages and more, and finds each of its phrases', (_name, words) => {
  expect(Object.keys(words).length).toBeGreaterThanOrEqual(25);
  const matches = buildMatcher(words);
  const phrases = Object.values(words).flatMap((line) => line.split('|'));
  expect(
    phrases.filter((phrase) => phrase === '' || !matches(normalizeText(phrase.replace('…', ' ').replace('*', '')))),
  ).toEqual([]);
});

/** Title, user name, password and button in the words of real sites. */
const SITES: Record<string, readonly [string, string, string, string]> = {
  en: ['Sign in', 'User name', 'Password', 'Sign in'],
  de: ['Anmeldung', 'Benutzername', 'Passwort', 'Anmelden'],
  fr: ['Connexion', 'Identifiant', 'Mot de passe', 'Se connecter'],
  es: ['Acceso', 'Usuario', 'Contraseña', 'Iniciar sesión'],
  pt: ['Acesso', 'Utilizador', 'Palavra-passe', 'Entrar'],
  it: ['Accesso', 'Nome utente', 'Password', 'Accedi'],
  ca: ['Inici de sessió', 'Usuari', 'Contrasenya', 'Accedeix'],
  nl: ['Inloggen', 'Gebruikersnaam', 'Wachtwoord', 'Inloggen'],
  sv: ['Inloggning', 'Användarnamn', 'Lösenord', 'Logga in'],
  da: ['Log ind', 'Brugernavn', 'Adgangskode', 'Log ind'],
  no: ['Innlogging', 'Brukernavn', 'Passord', 'Logg inn'],
  fi: ['Kirjautuminen', 'Käyttäjätunnus', 'Salasana', 'Kirjaudu sisään'],
  et: ['Sisselogimine', 'Kasutajanimi', 'Parool', 'Logi sisse'],
  lv: ['Autorizēties', 'Lietotājvārds', 'Parole', 'Ieiet'],
  lt: ['Prisijungimas', 'Vartotojo vardas', 'Slaptažodis', 'Prisijungti'],
  pl: ['Logowanie', 'Nazwa użytkownika', 'Hasło', 'Zaloguj się'],
  cs: ['Přihlášení', 'Uživatelské jméno', 'Heslo', 'Přihlásit se'],
  sk: ['Prihlásenie', 'Používateľské meno', 'Heslo', 'Prihlásiť sa'],
  hu: ['Bejelentkezés', 'Felhasználónév', 'Jelszó', 'Belépés'],
  ro: ['Autentificare', 'Nume de utilizator', 'Parola', 'Intră în cont'],
  bg: ['Вход', 'Потребителско име', 'Парола', 'Влез'],
  sr: ['Пријава', 'Корисничко име', 'Лозинка', 'Пријави се'],
  hr: ['Prijava', 'Korisničko ime', 'Lozinka', 'Prijavi se'],
  el: ['Σύνδεση', 'Όνομα χρήστη', 'Κωδικός πρόσβασης', 'Είσοδος'],
  ru: ['Вход', 'Логин', 'Пароль', 'Войти'],
  uk: ['Вхід', 'Логін', 'Пароль', 'Увійти'],
  tr: ['Üye girişi', 'Kullanıcı adı', 'Şifre', 'Giriş yap'],
  az: ['Giriş', 'İstifadəçi adı', 'Şifrə', 'Daxil ol'],
  ar: ['تسجيل الدخول', 'اسم المستخدم', 'كلمة المرور', 'دخول'],
  fa: ['ورود', 'نام کاربری', 'رمز عبور', 'ورود'],
  he: ['כניסה', 'שם משתמש', 'סיסמה', 'התחבר'],
  hi: ['लॉग इन', 'उपयोगकर्ता नाम', 'पासवर्ड', 'लॉग इन'],
  th: ['เข้าสู่ระบบ', 'ชื่อผู้ใช้', 'รหัสผ่าน', 'เข้าสู่ระบบ'],
  vi: ['Đăng nhập', 'Tên đăng nhập', 'Mật khẩu', 'Đăng nhập'],
  id: ['Masuk', 'Nama pengguna', 'Kata sandi', 'Masuk'],
  zh: ['用户登录', '用户名', '密码', '登录'],
  ja: ['ログイン', 'ユーザー名', 'パスワード', 'ログイン'],
  ko: ['로그인', '아이디', '비밀번호', '로그인'],
};

// Fields without a telling name or type, between a field and buttons for other purposes, so that only the words
// decide.
it.runIf(testBrowser).each(Object.entries(SITES))(
  'signs in in %s',
  async (_language, [title, username, secret, button]) => {
    const page = await testBrowser!.open(
      `<!doctype html><body><h1>${title}</h1><div><label>${username} <input id=u name=a1></label><label>Xyz <input id=x name=a2></label><label>${secret} <input id=p name=a3 type=password></label><button type=button id=o>Xyzzy</button><button type=button id=s>${button}</button></div>`,
    );
    expect(await plan(page)).toMatchObject({
      kind: 'login',
      reason: 'fill',
      username: 'u',
      password: 'p',
      submit: 's',
    });
  },
);
