// Tests: test/login/logins.test.ts
/** The beginning and the domain of a user name. */
export function hintUsername(username: string | undefined): string | null {
  if (username === undefined || username === '') return null;
  const at = username.lastIndexOf('@');
  const [first = ''] = username;
  return at > 0 ? `${first}•••${username.slice(at)}` : `${first}•••`;
}
