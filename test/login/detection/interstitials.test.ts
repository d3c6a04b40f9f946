import { afterAll, expect, it } from 'vitest';
import { planLogin } from '../../../src/login/detection/classify.ts';
import { findShownNumber, readInterstitial } from '../../../src/login/detection/interstitials.ts';
import { readMessageCause, readOutcome } from '../../../src/login/detection/outcome-signals.ts';
import { SIMPLE, observe, openTestBrowser } from './pages.ts';

const testBrowser = await openTestBrowser();
afterAll(() => testBrowser?.[Symbol.asyncDispose]());

async function read(html: string) {
  const page = await testBrowser!.open(`<!doctype html><body>${html}`);
  const observation = await observe(page);
  const plan = planLogin(observation);
  return readInterstitial(observation, plan, readOutcome(observation));
}

const buttons = (...texts: string[]) =>
  `<form method=post>${texts.map((text) => `<button>${text}</button>`).join('')}</form>`;
const list = (...texts: string[]) =>
  `<ul>${texts.map((text, at) => `<li><a href=/o${at}>${text}</a></li>`).join('')}</ul>`;
const passwords =
  '<form method=post><input type=password name=a><input type=password name=b><button>OK</button></form>';
const wall = '<div class=cf-turnstile data-sitekey=x style="width:300px;height:60px"></div>';

/** Heading and text by language, and the controls below them. */
const PAGES: Record<string, { below: (string | string[])[]; texts: string[]; draw: (below: string[]) => string }> = {
  choose_factor: {
    texts: [
      'Verify your identity',
      'Bestätigen Sie Ihre Identität',
      'Vérifiez votre identité',
      'Verifique su identidad',
      'Verifique sua identidade',
    ],
    below: [
      ['Text +X XX42', 'Call +X XX42'],
      ['SMS an +X XX42', 'Anruf an +X XX42'],
      ['SMS au +X XX42', 'Appel au +X XX42'],
      ['Mensaje de texto a +X XX42', 'Llamada a +X XX42'],
      ['Mensagem para +X XX42', 'Ligar para +X XX42'],
    ],
    draw: (below) => list(...below),
  },
  push: {
    texts: [
      'Approve the request on your phone',
      'Anmeldeanforderung genehmigen',
      'Approuvez la demande sur votre téléphone',
      'Apruebe la solicitud en su teléfono',
      'Aprove a solicitação no seu telefone',
    ],
    below: [],
    draw: () => '<p>…</p>',
  },
  number_match: {
    texts: [
      'Approve sign in request: enter the number shown',
      'Geben Sie die angezeigte Nummer in der App ein',
      "Saisissez le nombre affiché dans l'application",
      'Introduzca el número que se muestra en la aplicación',
      'Insira o número mostrado no aplicativo',
    ],
    below: [],
    draw: () => '<div>73</div>',
  },
  security_key: {
    texts: [
      'Use your security key',
      'Verwenden Sie Ihren Sicherheitsschlüssel',
      'Utilisez votre clé de sécurité',
      'Use su llave de seguridad',
      'Use sua chave de segurança',
    ],
    below: [],
    draw: () => '<p>…</p>',
  },
  choose_account: {
    texts: [
      'Choose an organization',
      'Wählen Sie eine Organisation',
      'Choisissez une organisation',
      'Elija una organización',
      'Escolha uma organização',
    ],
    below: [],
    draw: () => list('Acme', 'Globex'),
  },
  consent: {
    texts: [
      'Example App wants to access your account',
      'Example App möchte auf Ihr Konto zugreifen',
      'Example App souhaite accéder à votre compte',
      'Example App quiere acceder a su cuenta',
      'Example App quer acessar sua conta',
    ],
    below: [
      ['Authorize', 'Cancel'],
      ['Zulassen', 'Abbrechen'],
      ['Autoriser', 'Annuler'],
      ['Permitir', 'Cancelar'],
      ['Permitir', 'Cancelar'],
    ],
    draw: (below) => buttons(...below),
  },
  terms: {
    texts: [
      'Please accept our updated terms',
      'Unsere Nutzungsbedingungen haben sich geändert: neue Nutzungsbedingungen',
      "Nos nouvelles conditions d'utilisation",
      'Hemos actualizado nuestros términos: acepte los términos',
      'Aceite os novos termos de uso',
    ],
    below: [['Accept'], ['Akzeptieren'], ['Accepter'], ['Aceptar'], ['Aceitar']],
    draw: (below) => buttons(...below),
  },
  enrolment: {
    texts: [
      'Set up two-factor authentication to continue',
      'Richten Sie die Zwei-Faktor-Authentifizierung ein, um fortzufahren',
      "Configurez l'authentification à deux facteurs pour continuer",
      'Configure la autenticación en dos pasos para continuar',
      'Configure a autenticação em duas etapas para continuar',
    ],
    below: [['Start'], ['Starten'], ['Commencer'], ['Empezar'], ['Começar']],
    draw: (below) => buttons(...below),
  },
  password_change: {
    texts: [
      'Your password has expired. Choose a new password.',
      'Ihr Passwort ist abgelaufen.',
      'Votre mot de passe a expiré.',
      'Su contraseña ha caducado.',
      'Sua senha expirou.',
    ],
    below: [],
    draw: () => passwords,
  },
  suspended: {
    texts: [
      'Your account is under review. You cannot access the dashboard.',
      'Ihr Konto wird überprüft.',
      'Votre compte a été suspendu.',
      'Su cuenta está en revisión.',
      'Sua conta foi suspensa.',
    ],
    below: [],
    draw: () => '<p>…</p>',
  },
  pass: {
    texts: [
      'Stay signed in?',
      'Angemeldet bleiben?',
      'Rester connecté ?',
      '¿Quiere mantener la sesión iniciada?',
      'Continuar conectado?',
    ],
    below: [
      ['No', 'Yes'],
      ['Nein', 'Ja'],
      ['Non', 'Oui'],
      ['No', 'Sí'],
      ['Não', 'Sim'],
    ],
    draw: (below) => buttons(...below),
  },
  bot_wall: {
    texts: [
      'Checking your browser before you access the site',
      'Ihr Browser wird überprüft',
      'Vérification de votre navigateur',
      'Comprobando su navegador',
      'Verificando seu navegador',
    ],
    below: [],
    draw: () => wall,
  },
  site_error: {
    texts: [
      'Something went wrong. An unexpected error occurred.',
      'Etwas ist schiefgelaufen.',
      "Une erreur inattendue s'est produite.",
      'Se ha producido un error inesperado.',
      'Ocorreu um erro inesperado.',
    ],
    below: [],
    draw: () => '<p>…</p>',
  },
};

const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt'];
const cases = Object.entries(PAGES).flatMap(([kind, { texts, below, draw }]) =>
  texts.map((text, at) => ({
    kind,
    language: LANGUAGES[at],
    html: `<h1>${text}</h1>${draw([below[at] ?? []].flat())}`,
  })),
);

it.runIf(testBrowser).each(cases)('reads $kind in $language', async ({ kind, html }) => {
  expect((await read(html))?.kind).toBe(kind);
});

it.runIf(testBrowser).each([
  ['a login form', `<h1>Use your security key or sign in</h1>${SIMPLE}`],
  ['a page of an account', '<h1>Your account</h1><p>Protected.</p><a href=/logout>Log out</a>'],
  ['an expired subscription', '<h1>Subscription expired</h1><p>Renew it to go on.</p><a href=/logout>Log out</a>'],
  [
    'settings',
    `<nav>${list('Home', 'Projects', 'Team', 'Billing', 'Usage', 'Help')}</nav><h1>Security</h1><p>Set up two-factor authentication</p>
    ${list('Profile', 'Password', 'Sessions', 'Keys', 'Danger', 'Export', 'Audit')}<a href=/logout>Log out</a>`,
  ],
  [
    'a code',
    '<h1>Verify your identity</h1><form><label>Verification code <input name=code></label><button>Verify</button></form>',
  ],
  ['a dashboard', `<h1>Dashboard</h1>${list('Orders', 'Customers', 'Reports')}<p>42 orders</p>`],
  ['a form for a new password', `<h1>Account</h1>${passwords}`],
])('reads nothing in between in %s', async (_name, html) => {
  expect(await read(html)).toBeUndefined();
});

it.each([
  ['Enter 42 in your app', '42'],
  ['Approve sign in request 7', '7'],
  ['At 12:30 on 1.2.2026 we saw +49 170 123', null],
])('finds the number to compare in %s', (text, number) => {
  expect(findShownNumber(text)).toBe(number);
});

it.each([
  ['Your account has been locked due to too many failed attempts.', 'locked'],
  ['This account has been locked out, please try again later.', 'locked'],
  ['For your security, we have locked your account after too many attempts. Please reset your password.', 'locked'],
  ['Your account has been temporarily locked because of too many login attempts.', 'locked'],
  ['Your account has been suspended.', 'suspended'],
  ['Too many attempts. Your account will be locked after two more.', 'rate-limited'],
])('a lock comes before a limit: %s', (text, cause) => {
  expect(readMessageCause(text)).toBe(cause);
});
