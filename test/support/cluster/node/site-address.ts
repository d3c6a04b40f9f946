/** What the pod of the site is called and labelled (`app`), and its Service too. */
export const SITE = 'login-site';
/** Where the pod listens: the site, and a second port that nobody allows. */
export const SITE_PORTS = { site: 8080, other: 8081 };
