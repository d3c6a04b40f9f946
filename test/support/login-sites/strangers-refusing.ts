import { enter, form, html } from './strangers.ts';
import type { Stranger } from './strangers.ts';

/** What a wrong password is answered with, in words of their own. */
export const REFUSING: readonly { name: string; error: string; text: string; loud?: boolean }[] = [
  { name: 'de-1', error: 'invalid_credentials', text: 'Die eingegebenen Zugangsdaten sind leider nicht korrekt.' },
  {
    name: 'de-2',
    error: 'invalid_credentials',
    text: 'E-Mail-Adresse oder Passwort stimmen nicht überein.',
    loud: true,
  },
  { name: 'fr-1', error: 'invalid_credentials', text: 'Identifiant ou mot de passe incorrect.' },
  { name: 'fr-2', error: 'invalid_credentials', text: "Nous n'avons pas pu vous identifier.", loud: true },
  { name: 'es-1', error: 'invalid_credentials', text: 'Usuario o contraseña incorrectos.' },
  { name: 'es-2', error: 'invalid_credentials', text: 'Los datos de acceso no coinciden con nuestros registros.' },
  { name: 'pt-1', error: 'invalid_credentials', text: 'Usuário ou senha inválidos.' },
  { name: 'pt-2', error: 'invalid_credentials', text: 'Palavra-passe errada. Tente novamente.', loud: true },
  { name: 'ja-1', error: 'invalid_credentials', text: 'メールアドレスまたはパスワードが正しくありません。' },
  { name: 'ja-2', error: 'invalid_credentials', text: 'ログインできませんでした。', loud: true },
  { name: 'en-1', error: 'invalid_credentials', text: "That email and password combination doesn't work." },
  { name: 'en-2', error: 'invalid_credentials', text: "We can't find an account with these details." },
  {
    name: 'en-3',
    error: 'account_locked',
    text: 'Your account is locked. Try again in 30 minutes or reset your password.',
  },
  { name: 'en-4', error: 'rate_limited', text: 'Too many login attempts. Please try again in 5 minutes.', loud: true },
  {
    name: 'de-3',
    error: 'account_locked',
    text: 'Ihr Benutzerkonto wurde vorübergehend gesperrt. Bitte versuchen Sie es später erneut.',
  },
  {
    name: 'es-3',
    error: 'account_locked',
    text: 'Su cuenta ha sido bloqueada por demasiados intentos fallidos.',
    loud: true,
  },
  { name: 'fr-3', error: 'rate_limited', text: 'Trop de tentatives. Réessayez dans quelques minutes.' },
  { name: 'pt-3', error: 'account_locked', text: 'Conta bloqueada por excesso de tentativas.' },
  { name: 'ja-3', error: 'account_locked', text: 'アカウントがロックされています。' },
];

export const buildRefusing = ({ name, text, loud }: (typeof REFUSING)[number]): Stranger => ({
  name: `refuses-${name}`,
  right: enter,
  wrong: (visit) =>
    loud === true
      ? html(form(visit, `<div class="flash error">${text}</div>`))
      : html(`<p>${text}</p><a href="${visit.base}/login">↩</a>`),
});
